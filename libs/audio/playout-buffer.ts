/** Longest sound that the buffer holds; Twilio discards what exceeds it. */
const MAX_BUFFERED_MS = 600_000;

/** Times are in milliseconds on the clock of the calls' `now`. */
export interface PlayoutSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** A sound that arrived, and the span in which it was or will be heard; empty if all of it was discarded or cleared. */
export interface PlayoutArrival {
  readonly arrivedMs: number;
  readonly playedFromMs: number;
  readonly playedToMs: number;
}

/** What `PlayoutBuffer.play` did with a sound. */
export interface PlayResult {
  /** The buffer had run empty between the sound before and this one. */
  readonly underrun: PlayoutSpan | null;
  /** Length of what exceeded 10 minutes of buffered sound and was discarded. */
  readonly discardedMs: number;
}

interface Chunk {
  /** Position of its first sample. */
  readonly start: number;
  pcm: Int16Array;
}

interface Mark {
  readonly position: number;
  readonly onPlayed: (playedMs: number) => void;
}

/** Positions of an arrival, in samples. */
interface ArrivalPositions {
  readonly arrivedMs: number;
  readonly from: number;
  to: number;
}

/**
 * The buffer through which a telephone platform plays an agent's sound: position = max(position, now) + length of what
 * arrives. What is heard is a function of arrivals and clears alone, exact to the sample.
 *
 * It has no clock: each method takes `now` in milliseconds. A `now` before the latest one counts as the latest.
 */
export class PlayoutBuffer {
  private readonly rate: number;
  private readonly startMs: number;
  /** Positions count samples from `startMs`. Latest `now`. */
  private clock = 0;
  /** End of the last sound in the buffer. */
  private end = 0;
  /** Position from which `read` continues. */
  private readPosition = 0;
  private readonly chunks: Chunk[] = [];
  /** Chunks before this index were read; they are removed in batches. */
  private firstChunk = 0;
  private readonly marks: Mark[] = [];
  private readonly arrived: ArrivalPositions[] = [];
  /** Whether the end of the last sound is where it ran out, not where it was cleared. */
  private isEndNatural = false;

  /** @param startMs time of the first sample that `read` returns */
  constructor({ rate, startMs = 0 }: { readonly rate: number; readonly startMs?: number }) {
    this.rate = rate;
    this.startMs = startMs;
  }

  /** Appends a sound. @param pcm must not be changed afterwards */
  play(now: number, pcm: Int16Array): PlayResult {
    this.advance(now);
    if (pcm.length === 0) return { underrun: null, discardedMs: 0 };
    const from = Math.max(this.end, this.clock);
    const room = Math.round((MAX_BUFFERED_MS * this.rate) / 1_000) - (from - this.clock);
    const length = Math.min(pcm.length, room);
    const to = from + length;
    const discardedMs = this.duration(pcm.length - length);
    this.arrived.push({ arrivedMs: now, from, to });
    if (length === 0) return { underrun: null, discardedMs };
    const underrun = this.isEndNatural && this.end < from ? this.span(this.end, from) : null;
    this.chunks.push({ start: from, pcm: length === pcm.length ? pcm : pcm.subarray(0, length) });
    this.end = to;
    this.isEndNatural = true;
    return { underrun, discardedMs };
  }

  /** Drops the sound that was not played yet; pending marks fire at once. @returns the milliseconds of dropped sound */
  clear(now: number): number {
    this.advance(now);
    const dropped = Math.max(0, this.end - this.clock);
    if (dropped > 0) {
      this.cutAt(this.clock);
      // The silence that follows was asked for, so it is not an underrun.
      this.isEndNatural = false;
    }
    const atMs = this.timeOf(this.clock);
    for (const mark of this.marks.splice(0)) mark.onPlayed(atMs);
    return this.duration(dropped);
  }

  /**
   * Calls `onPlayed` when everything before has been played or cleared, at once if nothing is buffered.
   * @param onPlayed takes the exact time, which may be earlier than the `now` that noticed it
   */
  mark(now: number, onPlayed: (playedMs: number) => void): void {
    this.advance(now);
    if (this.end <= this.clock) onPlayed(this.timeOf(this.clock));
    else this.marks.push({ position: this.end, onPlayed });
  }

  /** Fires the marks that are due. */
  advance(now: number): void {
    const target = this.positionOf(now);
    while (this.marks.length > 0 && this.marks[0]!.position <= target) {
      const { position, onPlayed } = this.marks.shift()!;
      // A mark may cause calls of this object at its own time.
      this.clock = Math.max(this.clock, position);
      onPlayed(this.timeOf(position));
    }
    this.clock = Math.max(this.clock, target);
  }

  /** Milliseconds of sound that were not played yet. */
  bufferedMs(now: number): number {
    return this.duration(Math.max(0, this.end - Math.max(this.clock, this.positionOf(now))));
  }

  /** Time at which the last sound ends or ended, null before the first one. */
  get endMs(): number | null {
    return this.arrived.length === 0 ? null : this.timeOf(this.end);
  }

  /** Everything that arrived, in order. */
  get arrivals(): PlayoutArrival[] {
    return this.arrived.map(({ arrivedMs, from, to }) => ({
      arrivedMs,
      playedFromMs: this.timeOf(from),
      playedToMs: this.timeOf(to),
    }));
  }

  /**
   * What was heard from the end of the last read to `until`, silence where nothing was buffered. It is final: `until` counts
   * as the present, so later sounds are played after it.
   * @returns `isPlayed`: whether all of it came from the buffer
   */
  read(until: number): { readonly pcm: Int16Array; readonly isPlayed: boolean } {
    this.advance(until);
    const from = this.readPosition;
    const to = Math.max(from, this.positionOf(until));
    const pcm = new Int16Array(to - from);
    let played = 0;
    for (; this.firstChunk < this.chunks.length; this.firstChunk++) {
      const chunk = this.chunks[this.firstChunk]!;
      if (chunk.start >= to) break;
      const begin = Math.max(chunk.start, from);
      const part = chunk.pcm.subarray(begin - chunk.start, to - chunk.start);
      pcm.set(part, begin - from);
      played += part.length;
      if (chunk.start + chunk.pcm.length > to) break;
    }
    this.readPosition = to;
    this.removeReadChunks();
    return { pcm, isPlayed: played === pcm.length };
  }

  /** In batches, since removing from the front of a long array costs its length. */
  private removeReadChunks(): void {
    if (this.firstChunk < 256) return;
    this.chunks.splice(0, this.firstChunk);
    this.firstChunk = 0;
  }

  /** Removes the sound from `position` on. */
  private cutAt(position: number): void {
    while (this.chunks.length > this.firstChunk) {
      const last = this.chunks.at(-1)!;
      if (last.start + last.pcm.length <= position) break;
      if (last.start < position) last.pcm = last.pcm.subarray(0, position - last.start);
      else this.chunks.pop();
    }
    for (let n = this.arrived.length - 1; n >= 0 && this.arrived[n]!.to > position; n--) {
      const one = this.arrived[n]!;
      if (one.from < position) one.to = position;
      else this.arrived[n] = { arrivedMs: one.arrivedMs, from: position, to: position };
    }
    this.end = position;
  }

  /** Rounds, so that clocks with fractions and an origin other than 0 do not lose or gain a sample. */
  private positionOf(now: number): number {
    return Math.max(0, Math.round(((now - this.startMs) * this.rate) / 1_000));
  }

  private timeOf(position: number): number {
    return this.startMs + this.duration(position);
  }

  private duration(samples: number): number {
    return (samples * 1_000) / this.rate;
  }

  private span(from: number, to: number): PlayoutSpan {
    return { startMs: this.timeOf(from), endMs: this.timeOf(to) };
  }
}
