import { hash } from 'node:crypto';
import { OtherSide } from '../../other-side/other-side.js';
import { findingsOf, type KnownFindings } from '../../voice/wire/known-finding.js';
import type { WireSide } from '../../voice/wire/wire.js';

/** The finding about messages by which the caller loses nothing. */
export const INCOMPLETE_MESSAGE = {
  incomplete_message: {
    severity: 'warning',
    meaning:
      'A message is not JSON or lacks a field, and the caller loses nothing by it: no sound, no words, no tool call. The rest of it counts',
    source: 'The clients of the platforms pass over such messages',
  },
} as const satisfies KnownFindings;

const incomplete = findingsOf(INCOMPLETE_MESSAGE);

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

  /** @param lacks what a message that was understood otherwise does not have */
  protected checkComplete(now: number, lacks: string | undefined, text: string): void {
    if (lacks === undefined) return;
    this.side.finding(now, incomplete('incomplete_message', `Without ${lacks}: ${this.platform.excerpt(text)}`));
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
