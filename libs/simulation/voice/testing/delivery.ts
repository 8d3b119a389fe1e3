import { amplitudeOf, encodeMulaw, FRAME_MS, Random, TELEPHONE_RATE } from '../../../audio/index.js';

const FRAME_BYTES = (TELEPHONE_RATE * FRAME_MS) / 1_000;
const ROOM_TONE_DBFS = -70;
const AHEAD_MS = 40;
const MAX_JITTER_MS = 40;

/** How an agent sends its audio. */
export const DELIVERY_STYLES = ['burst', 'paced', 'room tone', '40 ms ahead', 'jitter'] as const;
export type DeliveryStyle = (typeof DELIVERY_STYLES)[number];

/** Mu-law, or another message of the protocol that takes its place in the audio. */
export type Delivered = Uint8Array | string;

/** Sends what an agent says in a style. Times are call time. */
export class Delivery {
  private readonly random = new Random(1);
  private readonly isStreaming: boolean;
  /** What is left to be said. */
  private unsaid: Uint8Array = new Uint8Array(0);
  private notes: { readonly text: string; left: number }[] = [];
  private producedMs = 0;
  private underway: { readonly atMs: number; readonly what: Delivered }[] = [];

  constructor(
    private readonly style: DeliveryStyle,
    private readonly send: (what: Delivered) => void,
  ) {
    this.isStreaming = style === 'room tone' || style === 'jitter' || style === '40 ms ahead';
  }

  say(bytes: Uint8Array): void {
    const all = new Uint8Array(this.unsaid.length + bytes.length);
    all.set(this.unsaid);
    all.set(bytes, this.unsaid.length);
    this.unsaid = all;
  }

  /** A message that is sent behind what was said so far. */
  note(text: string): void {
    this.notes.push({ text, left: this.unsaid.length });
  }

  /** Drops what was not sent yet; the notes behind it are sent at once. */
  clear(): void {
    this.unsaid = new Uint8Array(0);
    this.underway = this.underway.filter(({ what }) => typeof what === 'string');
    for (const note of this.notes) note.left = 0;
  }

  tick(now: number): void {
    this.produce(now);
    this.passNotes(now);
    while (this.underway.length > 0 && this.underway[0]!.atMs <= now) this.send(this.underway.shift()!.what);
  }

  private produce(now: number): void {
    if (this.style === 'burst') {
      if (this.unsaid.length > 0) this.pass(now, this.taken(this.unsaid.length));
      return;
    }
    if (!this.isStreaming && this.unsaid.length === 0) return;
    const aheadMs = this.style === '40 ms ahead' ? AHEAD_MS : 0;
    this.producedMs = Math.max(this.producedMs, now - FRAME_MS);
    while (this.producedMs <= now + aheadMs && (this.isStreaming || this.unsaid.length > 0)) {
      this.pass(now, this.frame());
      this.passNotes(now);
      this.producedMs += FRAME_MS;
    }
  }

  private frame(): Uint8Array {
    const level = amplitudeOf(ROOM_TONE_DBFS);
    const bytes = encodeMulaw(Int16Array.from({ length: FRAME_BYTES }, () => this.random.gaussian() * level));
    bytes.set(this.taken(FRAME_BYTES));
    return bytes;
  }

  private taken(length: number): Uint8Array {
    const bytes = this.unsaid.subarray(0, length);
    this.unsaid = this.unsaid.subarray(length);
    for (const note of this.notes) note.left -= bytes.length;
    return bytes;
  }

  private passNotes(now: number): void {
    for (const { text } of this.notes.filter(({ left }) => left <= 0)) this.pass(now, text);
    this.notes = this.notes.filter(({ left }) => left > 0);
  }

  private pass(now: number, what: Delivered): void {
    const last = this.underway.at(-1)?.atMs ?? 0;
    const lateMs = this.style === 'jitter' ? this.random.next() * MAX_JITTER_MS : 0;
    this.underway.push({ atMs: Math.max(last, now + lateMs), what });
  }
}
