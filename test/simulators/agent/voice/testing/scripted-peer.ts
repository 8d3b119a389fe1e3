import { decodeMulaw, encodeMulaw } from '../../../../../libs/audio/index.js';
import { type AgentSocket, TwilioAgentSession } from '../../../twilio/twilio-session.js';
import type { VoiceAgentOptions } from '../voice-agent.js';

const BYTES_PER_MS = 8;
const FRAME_MS = 20;
const SILENCE = 0xff;
const MOST_MS = 200_000;
/** Samples up to here are not audible. */
const FAINT = 50;

export const STREAM_SID = `MZ${'a1'.repeat(16)}`;
export const CALL_SID = `CA${'b2'.repeat(16)}`;

interface Sent {
  readonly atMs: number;
  readonly message: {
    readonly event: string;
    readonly streamSid: string;
    readonly media?: { readonly payload: string };
    readonly mark?: { readonly name?: string };
  };
}

/**
 * Twilio and a caller in one, on a virtual clock: plays what the agent sends by the rules of Media Streams and keeps what
 * the caller hears. It shares no code with the simulation, so that a fault of one cannot hide in both.
 */
export class ScriptedPeer {
  readonly sent: Sent[] = [];
  now = 0;
  closedAt: number | undefined;

  private readonly session: TwilioAgentSession;
  private track: Uint8Array = new Uint8Array(0);
  /** What the caller hears, decoded, up to now. */
  private readonly heard = new Int16Array(MOST_MS * BYTES_PER_MS);
  private heardAt = -Infinity;
  private buffer: Uint8Array = new Uint8Array(0);
  private marks: { readonly name: string; readonly after: number }[] = [];
  private played = 0;
  private chunk = 0;

  constructor(options: VoiceAgentOptions) {
    const socket: AgentSocket = {
      send: (data) => this.receive(data),
      close: () => (this.closedAt ??= this.now),
    };
    this.session = new TwilioAgentSession(socket, options);
    this.deliver({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    this.deliver({ event: 'start', streamSid: STREAM_SID, start: { streamSid: STREAM_SID, callSid: CALL_SID } });
  }

  /** The caller begins to speak now. */
  say(pcm: Int16Array): this {
    this.track = Buffer.concat([this.track, encodeMulaw(pcm)]);
    return this;
  }

  press(digit: string): this {
    this.deliver({ event: 'dtmf', streamSid: STREAM_SID, dtmf: { track: 'inbound_track', digit } });
    return this;
  }

  run(ms: number): this {
    const until = this.now + ms;
    while (this.now < until) this.frame();
    return this;
  }

  /** @throws after a minute */
  runUntil(isDone: () => boolean): this {
    for (const start = this.now; !isDone(); this.frame()) {
      if (this.now - start > 60_000) throw new Error(`Nothing has happened since ${start} ms`);
    }
    return this;
  }

  /** Runs until the caller has finished. */
  untilSaid(): this {
    return this.runUntil(() => this.track.length === 0);
  }

  untilAgentSpeaks(): this {
    return this.runUntil(() => this.heardAt === this.now);
  }

  /** Runs until the agent was silent for `ms`. */
  untilAgentIsSilent(ms = 700): this {
    return this.runUntil(() => this.now >= ms && this.now - this.heardAt >= ms);
  }

  /** Audio of the agent as heard, by the sample. */
  hearing(fromMs: number, toMs: number): Int16Array {
    return this.heard.subarray(Math.max(0, fromMs) * BYTES_PER_MS, toMs * BYTES_PER_MS);
  }

  isHeard(fromMs: number, toMs: number): boolean {
    return this.hearing(fromMs, toMs).some(isAudible);
  }

  /** First moment from `fromMs` on at which the agent is heard. */
  onsetAfter(fromMs: number): number {
    const index = this.hearing(fromMs, this.now).findIndex(isAudible);
    return index === -1 ? Infinity : fromMs + index / BYTES_PER_MS;
  }

  messages(event: string): Sent[] {
    return this.sent.filter(({ message }) => message.event === event);
  }

  get bufferedMs(): number {
    return this.buffer.length / BYTES_PER_MS;
  }

  /** 20 ms: the platform plays, and the caller's frame is sent when it was spoken. */
  private frame(): void {
    for (let sub = 0; sub < 2; sub += 1) {
      this.play((FRAME_MS / 2) * BYTES_PER_MS);
      this.now += FRAME_MS / 2;
      this.echoMarks();
      if (sub === 1) this.sendFrame();
      if (this.closedAt === undefined) this.session.tick(this.now);
    }
  }

  private play(bytes: number): void {
    const playing = decodeMulaw(this.buffer.subarray(0, bytes));
    this.heard.set(playing, this.now * BYTES_PER_MS);
    if (playing.some(isAudible)) this.heardAt = this.now + FRAME_MS / 2;
    this.buffer = this.buffer.subarray(bytes);
    this.played += playing.length;
  }

  private sendFrame(): void {
    const frame = Buffer.alloc(FRAME_MS * BYTES_PER_MS, SILENCE);
    frame.set(this.track.subarray(0, frame.length));
    this.track = this.track.subarray(frame.length);
    const payload = frame.toString('base64');
    const timestamp = String(this.chunk * FRAME_MS);
    this.chunk += 1;
    this.deliver({ event: 'media', streamSid: STREAM_SID, media: { track: 'inbound', timestamp, payload } });
  }

  private receive(data: string): void {
    const message = JSON.parse(data) as Sent['message'];
    this.sent.push({ atMs: this.now, message });
    if (message.streamSid !== STREAM_SID) return;
    if (message.media) this.buffer = Buffer.concat([this.buffer, Buffer.from(message.media.payload, 'base64')]);
    if (message.mark?.name) this.marks.push({ name: message.mark.name, after: this.played + this.buffer.length });
    if (message.event === 'clear') {
      this.buffer = new Uint8Array(0);
      this.marks = this.marks.map(({ name }) => ({ name, after: 0 }));
    }
  }

  private echoMarks(): void {
    const due = this.marks.filter(({ after }) => after <= this.played);
    this.marks = this.marks.filter((mark) => !due.includes(mark));
    for (const { name } of due) this.deliver({ event: 'mark', streamSid: STREAM_SID, mark: { name } });
  }

  private deliver(message: object): void {
    if (this.closedAt === undefined) this.session.onMessage(this.now, JSON.stringify(message));
  }
}

const isAudible = (sample: number): boolean => Math.abs(sample) > FAINT;
