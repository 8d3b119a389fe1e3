import { hash } from 'node:crypto';
import { OtherSide } from '../../other-side/other-side.js';
import type { WireSide } from '../../voice/wire/wire.js';

/** A wire whose messages are JSON: sends them, and keeps what the wire log shows. */
export abstract class JsonWire {
  protected readonly platform: OtherSide;

  /** @param secrets what must not be shown if the platform repeats it */
  constructor(
    protected readonly side: WireSide,
    secrets: readonly string[],
  ) {
    this.platform = new OtherSide('the platform', secrets);
  }

  protected send(now: number, message: object): void {
    const text = JSON.stringify(message);
    this.side.send(text);
    this.log(now, 'sent', () => this.platform.excerpt(text));
  }

  /** Hashes and redacts only what is kept. */
  protected log(now: number, direction: 'sent' | 'received', message: () => unknown): void {
    if (this.side.isLogged) this.side.log(now, direction, message());
  }
}

/** What the wire log shows of audio. */
export const summary = (bytes: Uint8Array) => ({
  bytes: bytes.length,
  sha256: hash('sha256', bytes, 'hex').slice(0, 16),
});
