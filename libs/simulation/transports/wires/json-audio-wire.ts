import { type AudioFormat, encodeAudio } from '../../../audio/index.js';
import type { WireFinding } from '../../voice/facts/facts.js';
import type { WireSide } from '../../voice/wire/wire.js';
import { JsonWire, summary } from './json-wire.js';

/** A wire that sends the caller's audio in JSON, too. `Message` is what it reads: `invalid` where nothing is understood. */
export abstract class JsonAudioWire<
  Message extends { readonly type: string; readonly lacks?: string },
> extends JsonWire {
  /** When the platform became ready. */
  protected readyAt: number | undefined;

  /** @param toAgent format of the caller's audio, until the platform names one */
  constructor(
    side: WireSide,
    secrets: readonly string[],
    protected toAgent: AudioFormat,
  ) {
    super(side, secrets);
  }

  frame(now: number, pcm: Int16Array): void {
    const bytes = encodeAudio(this.toAgent, pcm);
    this.side.send(JSON.stringify(this.audioMessage(Buffer.from(bytes).toString('base64'))));
    this.log(now, 'sent', () => this.audioMessage(summary(bytes)));
  }

  /** The platform knows no gaps: without its length, later sound would be heard too early. */
  lostFrame(now: number): void {
    this.frame(now, new Int16Array(this.toAgent.rate / 50));
  }

  message(now: number, data: string | Uint8Array): void {
    const isText = typeof data === 'string';
    const message = isText ? this.read(data) : ({ type: 'invalid' } as Message);
    // `obey` logs audio, whose bytes it has.
    if (message.type !== 'audio') {
      this.log(now, 'received', () => this.platform.excerpt(isText ? data : `${data.length} bytes`));
    }
    if (message.type !== 'invalid') {
      this.checkComplete(now, message.lacks, String(data));
      return this.obey(now, message as Exclude<Message, { type: 'invalid' }>);
    }
    const shown = isText ? this.platform.excerpt(data) : 'a binary message';
    const reason = message as Extract<Message, { type: 'invalid' }>;
    this.side.finding(now, this.invalid(`Not understood: ${shown}`, reason));
  }

  /** @param audio base64, or what the wire log shows of it */
  protected abstract audioMessage(audio: unknown): object;
  protected abstract read(text: string): Message;
  protected abstract obey(now: number, message: Exclude<Message, { type: 'invalid' }>): void;
  protected abstract invalid(detail: string, message: Extract<Message, { type: 'invalid' }>): Omit<WireFinding, 'atMs'>;

  /** Milliseconds since the platform became ready. */
  protected callTime(now: number): number {
    return now - (this.readyAt ?? now);
  }
}
