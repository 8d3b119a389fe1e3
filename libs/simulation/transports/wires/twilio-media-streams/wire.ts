import { hash } from 'node:crypto';
import { decodeMulaw, encodeMulaw, FRAME_MS, TELEPHONE_RATE } from '../../../../audio/index.js';
import { Redaction } from '../../../../text/index.js';
import { SEND_LIMITS } from '../../../other-side/send-limits.js';
import type { VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import type { Wire, WireEntry, WireSide, WireState } from '../../../voice/wire/wire.js';
import { type TwilioFindingCode, twilioFinding } from './findings.js';
import { HANG_UP_CODES } from '../../../voice/call/closing.js';
import { type AgentMessage, readMessage } from './messages.js';
import { reviewCall } from './review.js';
import { type SoundFault, SoundInspector } from './sound-inspector.js';

export interface TwilioStream extends WireState {
  readonly accountSid: string;
  readonly callSid: string;
  readonly streamSid: string;
  readonly customParameters: Readonly<Record<string, string>>;
}

/** Twilio discards what exceeds it. */
const MAX_BUFFERED_MS = SEND_LIMITS.bufferedMs.telephone;
/** Marks that wait for their sound; more are a fault of the agent that must not fill the memory. */
const MAX_PENDING_MARKS = 10_000;
const MAX_SHOWN = 200;
/** Mu-law at 8,000 Hz in both directions. */
const FORMAT = { encoding: 'mulaw', rate: TELEPHONE_RATE } as const;

const FAULTS: Readonly<Record<SoundFault, string>> = {
  file_header_in_media: 'A media message begins with the header of a file',
  wrong_encoding: 'The sound is 16-bit PCM instead of mu-law',
  wrong_silence: 'The sound has 20 ms or more of the byte 0x00',
  wrong_rate: 'Sound arrives steadily at a multiple of the rate of the line',
  tiny_chunks: 'The sound before a message of less than 20 ms had been played when it arrived',
};

/** Twilio's side of a bidirectional media stream. */
const twilioWire: WireEntry<TwilioStream> = (stream) => (side) => new TwilioWire(stream, side);
export default twilioWire;

class TwilioWire implements Wire {
  private sequenceNumber = 0;
  private chunk = 0;
  private pendingMarks = 0;
  private hasStopped = false;
  private hasPlayed = false;
  private readonly inspector = new SoundInspector();
  private readonly redaction: Redaction;

  constructor(
    private readonly stream: TwilioStream,
    private readonly side: WireSide,
  ) {
    this.redaction = new Redaction(stream.secrets);
  }

  open(now: number): void {
    this.side.ready(now, { toAgent: FORMAT, fromAgent: FORMAT });
    const { accountSid, callSid, streamSid, customParameters } = this.stream;
    this.send(now, { event: 'connected', protocol: 'Call', version: '1.0.0' });
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const start = { accountSid, streamSid, callSid, tracks: ['inbound'], mediaFormat, customParameters };
    const message = { event: 'start', sequenceNumber: this.nextNumber(), start, streamSid };
    this.side.send(JSON.stringify(message));
    this.log(now, 'sent', () => {
      const shown = Object.entries(customParameters).map(([name, value]) => [this.shown(name), this.shown(value)]);
      return { ...message, start: { ...start, customParameters: Object.fromEntries(shown) as object } };
    });
  }

  frame(now: number, pcm: Int16Array, frameNumber: number): void {
    const payload = encodeMulaw(pcm);
    const media = { track: 'inbound', chunk: String(++this.chunk), timestamp: String(frameNumber * FRAME_MS) };
    const { streamSid } = this.stream;
    const message = { event: 'media', sequenceNumber: this.nextNumber(), media, streamSid };
    const base64 = Buffer.from(payload.buffer).toString('base64');
    this.side.send(JSON.stringify({ ...message, media: { ...media, payload: base64 } }));
    this.log(now, 'sent', () => ({ ...message, media: { ...media, payload: summary(payload) } }));
  }

  key(now: number, digit: string): void {
    const { streamSid } = this.stream;
    const dtmf = { track: 'inbound_track', digit };
    this.send(now, { event: 'dtmf', streamSid, sequenceNumber: this.nextNumber(), dtmf });
  }

  message(now: number, data: string | Uint8Array): void {
    if (this.hasStopped) return;
    const message = readMessage(data);
    switch (message.event) {
      case 'media':
        return this.media(now, message);
      case 'mark':
        return this.mark(now, message);
      case 'clear':
        return this.clear(now, message);
      case 'unknown':
        this.log(now, 'received', () => ({ event: this.shown(message.name) }));
        return this.report(now, 'unknown_event', `The agent sent the event "${this.shown(message.name)}"`);
      case 'binary':
        this.log(now, 'received', () => ({ binary: summary(data as Uint8Array) }));
        return this.report(now, 'binary_frame', 'The agent sent a binary message');
      case 'invalid':
        this.log(now, 'received', () => ({ invalid: this.shown(String(data)) }));
        return this.report(now, 'invalid_message', `The message ${message.problem}: ${this.shown(String(data))}`);
    }
  }

  stop(now: number): void {
    if (this.hasStopped) return;
    this.hasStopped = true;
    const { accountSid, callSid, streamSid } = this.stream;
    const sequenceNumber = this.nextNumber();
    this.send(now, { event: 'stop', sequenceNumber, stop: { accountSid, callSid }, streamSid });
  }

  /** Any end of the WebSocket ends `<Connect>`, and the call goes on in the TwiML: Twilio tells no codes apart. */
  closed(now: number, code: number, reason: string): void {
    const how = `with code ${code}${reason === '' ? '' : `: ${reason}`}`;
    if (code >= 4_000) return this.side.hangUp(now, `The agent hung up ${how}`);
    if (HANG_UP_CODES.has(code) || !this.hasPlayed) return;
    this.report(now, 'closed_abnormally', `The agent's WebSocket was closed ${how}`);
    this.side.hangUp(now, `The connection was closed ${how}`, 'connection_closed');
  }

  review(facts: Omit<VoiceFacts, 'wireFindings'>): readonly WireFinding[] {
    return reviewCall(facts);
  }

  private media(now: number, { sound, streamSid, isUnusual }: Extract<AgentMessage, { event: 'media' }>): void {
    this.logReceived(now, streamSid, () => ({ event: 'media', media: { payload: summary(sound) } }));
    if (!this.isOurs(now, 'media', streamSid) || sound.length === 0) return;
    if (isUnusual) this.report(now, 'unusual_base64', 'The payload has line breaks, - or _, or no padding');
    this.hasPlayed = true;
    const buffered = this.side.bufferedMs(now);
    for (const fault of this.inspector.inspect(now, sound, buffered)) this.report(now, fault, FAULTS[fault]);
    const room = Math.max(0, Math.floor((MAX_BUFFERED_MS - buffered) * 8));
    if (sound.length > room) {
      const [waiting, arrived] = [buffered, sound.length / 8].map((ms) => `${Math.round(ms / 1_000)} s`);
      this.report(now, 'media_discarded', `${arrived} of sound arrived while ${waiting} were buffered`);
    }
    if (room > 0) this.side.play(now, decodeMulaw(sound.subarray(0, room)));
  }

  private mark(now: number, { name, streamSid, isNumber }: Extract<AgentMessage, { event: 'mark' }>): void {
    this.logReceived(now, streamSid, () => ({
      event: 'mark',
      mark: name === undefined ? {} : { name: this.shown(name) },
    }));
    if (!this.isOurs(now, 'mark', streamSid)) return;
    if (name === undefined) return this.report(now, 'mark_without_name', 'A mark message has no mark.name');
    if (isNumber) this.report(now, 'mark_name_not_text', `The mark.name ${name} is a number`);
    if (this.pendingMarks >= MAX_PENDING_MARKS) {
      return this.report(now, 'invalid_message', `More than ${MAX_PENDING_MARKS} marks wait for their sound`);
    }
    this.pendingMarks++;
    this.side.mark(now, (played) => {
      this.pendingMarks--;
      if (!this.hasStopped) this.echo(played, name);
    });
  }

  private echo(now: number, name: string): void {
    const message = { event: 'mark', sequenceNumber: this.nextNumber(), streamSid: this.stream.streamSid };
    this.side.send(JSON.stringify({ ...message, mark: { name } }));
    this.log(now, 'sent', () => ({ ...message, mark: { name: this.shown(name) } }));
  }

  private clear(now: number, { streamSid }: Extract<AgentMessage, { event: 'clear' }>): void {
    this.logReceived(now, streamSid, () => ({ event: 'clear' }));
    if (this.isOurs(now, 'clear', streamSid)) this.side.clear(now);
  }

  private isOurs(now: number, event: string, streamSid: unknown): boolean {
    if (streamSid === this.stream.streamSid) return true;
    const what = typeof streamSid === 'string' ? `the streamSid "${this.shown(streamSid)}"` : 'no streamSid';
    this.report(now, 'wrong_stream_sid', `A ${event} message has ${what}; the stream is ${this.stream.streamSid}`);
    return false;
  }

  private logReceived(now: number, streamSid: unknown, message: () => object): void {
    this.log(now, 'received', () => ({
      ...message(),
      streamSid: typeof streamSid === 'string' ? this.shown(streamSid) : null,
    }));
  }

  /** Hashes and redacts only what is kept. */
  private log(now: number, direction: 'sent' | 'received', message: () => object): void {
    if (this.side.isLogged) this.side.log(now, direction, message());
  }

  private report(now: number, code: TwilioFindingCode, detail: string): void {
    this.side.finding(now, twilioFinding(code, detail));
  }

  private send(now: number, message: object): void {
    this.side.send(JSON.stringify(message));
    this.log(now, 'sent', () => message);
  }

  private nextNumber(): string {
    return String(++this.sequenceNumber);
  }

  /** The beginning of what the agent sent, without secrets. */
  private shown(text: string): string {
    if (text === this.stream.streamSid) return text;
    return this.redaction.clean(text.slice(0, 4 * MAX_SHOWN)).slice(0, MAX_SHOWN);
  }
}

/** What the wire log shows of sound. */
const summary = (sound: Uint8Array) => ({
  bytes: sound.length,
  sha256: hash('sha256', sound, 'hex').slice(0, 16),
});
