import { encodeAudio, type WavFormat } from '../../../audio/index.js';
import type { Line } from '../facts/line.js';
import { recordingFormat } from '../facts/recording-format.js';
import type { RecordingSink } from '../wire/voice-transport.js';
import { WireLog } from './wire-log.js';

const MAX_LINES = 500;
/** So much of the latest audio is not passed on yet, because sound can come late. */
const HELD_MS = 600;
/** Memory of a message beside its text. */
const MESSAGE_BYTES = 64;

type Direction = 'sent' | 'received';

/** Collects the two channels and the wire log of a call, and passes them on in batches. */
export class Recorder {
  /** Interval at which audio and log are passed on. */
  private readonly stereo: Int16Array;
  private readonly format: WavFormat;
  private filled = 0;
  /** Samples of each channel that were passed on. */
  private passed = 0;
  private readonly log = new WireLog();
  /** Call time 0 on the driver's clock. */
  private origin: number | undefined;
  /** Messages to log once call time 0 is known. */
  private early: { readonly now: number; readonly direction: Direction; readonly json: string }[] = [];
  private earlyBytes = 0;

  constructor(
    private readonly sink: RecordingSink,
    private readonly line: Line,
  ) {
    const { rate } = line;
    this.format = recordingFormat(rate);
    this.stereo = new Int16Array((rate + line.samplesOf(HELD_MS)) * this.format.channels);
  }

  /** Bytes of the messages not passed on yet. */
  get bytes(): number {
    return this.log.bytes + this.earlyBytes;
  }

  /** Sets call time 0; only the first call counts. Earlier messages have negative times. */
  begin(origin: number): void {
    if (this.origin !== undefined) return;
    this.origin = origin;
    for (const { now, direction, json } of this.early) this.add(now - origin, direction, json);
    this.early = [];
    this.earlyBytes = 0;
  }

  /**
   * Appends the next samples of both channels. A shorter or missing channel is filled with silence.
   * @param caller as sent @param agent as heard
   */
  audio(length: number, caller: Int16Array | null, agent: Int16Array): void {
    for (let index = 0; index < length; index++) {
      if (this.filled === this.stereo.length) this.flushAudio(this.line.rate * this.format.channels);
      this.stereo[this.filled++] = caller?.[index] ?? 0;
      this.stereo[this.filled++] = agent[index] ?? 0;
    }
  }

  /** Puts audio of the agent in the place where it was missing. */
  late(atMs: number, pcm: Int16Array): void {
    const first = 2 * (this.line.samplesOf(atMs) - this.passed) + 1;
    for (const [n, sample] of pcm.entries()) {
      const index = first + 2 * n;
      if (index > 0 && index < this.filled) this.stereo[index] = sample;
    }
  }

  /** @param now on the driver's clock */
  wire(now: number, direction: Direction, message: unknown): void {
    const json = JSON.stringify(message);
    if (this.origin !== undefined) return this.add(now - this.origin, direction, json);
    this.early.push({ now, direction, json });
    this.earlyBytes += json.length + MESSAGE_BYTES;
  }

  /** Passes on the rest at the end of the call. */
  flush(): void {
    this.flushAudio();
    this.flushLines(true);
  }

  private add(atMs: number, direction: Direction, json: string): void {
    const at = Math.round(atMs * 1_000) / 1_000;
    this.log.add(atMs, `{"atMs":${at},"direction":"${direction}","message":${json}}`);
    if (this.log.length >= MAX_LINES) this.flushLines(false);
  }

  private flushAudio(count = this.filled): void {
    if (count === 0) return;
    // New bytes, since the sink may transfer them to another thread.
    this.sink.audio(encodeAudio(this.format, this.stereo.subarray(0, count)));
    this.stereo.copyWithin(0, count, this.filled);
    this.filled -= count;
    this.passed += count / this.format.channels;
    this.flushLines(false);
  }

  private flushLines(isEnd: boolean): void {
    const lines = this.log.take(isEnd);
    if (lines.length > 0) this.sink.wire(lines);
  }
}
