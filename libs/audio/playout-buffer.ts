import { partitionPoint } from './search.js';

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
  /** Absent if none was given. */
  readonly item?: number;
  /** Present if a part of it was discarded or cleared. */
  readonly isCut?: true;
}

/** What `PlayoutBuffer.play` did with a sound. */
export interface PlayResult {
  /** The buffer had run empty between the sound before and this one. */
  readonly underrun: PlayoutSpan | null;
  /** Length of what exceeded the size of the buffer and was discarded. */
  readonly discardedMs: number;
  /** Length of the sound if it was dropped because its item had been cleared. */
  readonly droppedMs: number;
}

const SEARCHED_MS = 60;

interface Chunk {
  /** Position of its first sample. */
  start: number;
  readonly pcm: Int16Array;
  readonly item: number | undefined;
}

interface Mark {
  position: number;
  readonly onPlayed: (playedMs: number) => void;
}

/** Positions of an arrival, in samples. */
interface ArrivalPositions {
  readonly arrivedMs: number;
  from: number;
  to: number;
  /** Number of samples that arrived. */
  readonly length: number;
  readonly item: number | undefined;
}

/** A span of dropped audio. */
interface Gap {
  readonly from: number;
  to: number;
  /** Length of the gaps before it. */
  readonly before: number;
}

interface PlayoutBufferOptions {
  readonly rate: number;
  /** Time of the first sample that `read` returns. */
  readonly startMs?: number;
  /** Longest audio that is buffered; what exceeds it is discarded. */
  readonly maxBufferedMs?: number;
}

/**
 * The buffer through which a platform plays an agent's audio: position = max(position, now) + length of what arrives. What
 * is heard is a function of arrivals and clears alone, exact to the sample.
 *
 * Audio may belong to an item, a number that ascends in order of generation, so that the audio up to an item can be cleared.
 *
 * It has no clock: each method takes `now` in milliseconds. A `now` before the latest one counts as the latest.
 */
export class PlayoutBuffer {
  private readonly rate: number;
  private readonly startMs: number;
  /** In samples. */
  private readonly maxBuffered: number;
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
  /** Sound of items up to this one is dropped when it arrives. */
  private clearedItem = -Infinity;

  constructor({ rate, startMs = 0, maxBufferedMs = Infinity }: PlayoutBufferOptions) {
    this.rate = rate;
    this.startMs = startMs;
    this.maxBuffered = Math.round((maxBufferedMs * rate) / 1_000);
  }

  /** Appends a sound. @param pcm must not be changed afterwards */
  play(now: number, pcm: Int16Array, item?: number): PlayResult {
    this.advance(now);
    if (pcm.length === 0) return { underrun: null, discardedMs: 0, droppedMs: 0 };
    const from = Math.max(this.end, this.clock);
    if (item !== undefined && item <= this.clearedItem) {
      this.arrived.push({ arrivedMs: now, from, to: from, length: pcm.length, item });
      return { underrun: null, discardedMs: 0, droppedMs: this.duration(pcm.length) };
    }
    const length = Math.min(pcm.length, this.maxBuffered - (from - this.clock));
    const to = from + length;
    const discardedMs = this.duration(pcm.length - length);
    this.arrived.push({ arrivedMs: now, from, to, length: pcm.length, item });
    if (length === 0) return { underrun: null, discardedMs, droppedMs: 0 };
    const underrun = this.isEndNatural && this.end < from ? this.span(this.end, from) : null;
    this.chunks.push({ start: from, pcm: length === pcm.length ? pcm : pcm.subarray(0, length), item });
    this.end = to;
    this.isEndNatural = true;
    return { underrun, discardedMs, droppedMs: 0 };
  }

  /**
   * Drops the audio that was not played yet. Marks fire at once if all before them was played or dropped.
   * @param upTo only audio of items up to this one, now and when more of it arrives; later audio moves forward
   * @returns the milliseconds of dropped audio
   */
  clear(now: number, upTo?: number): number {
    this.advance(now);
    if (upTo !== undefined) this.clearedItem = Math.max(this.clearedItem, upTo);
    const endBefore = this.end;
    this.closeGaps(this.dropChunks((item) => upTo === undefined || (item !== undefined && item <= upTo)));
    const dropped = this.duration(endBefore - this.end);
    const due = partitionPoint(this.marks, ({ position }) => position <= this.clock);
    const atMs = this.timeOf(this.clock);
    for (const mark of this.marks.splice(0, due)) mark.onPlayed(atMs);
    return dropped;
  }

  /**
   * Searches what was not played yet for audio whose level, over 60 ms, is above a threshold.
   * @param threshold mean square of samples @returns the end of such a part; null if there is none
   */
  firstAbove(now: number, threshold: number): number | null {
    const from = this.positionOf(now);
    const wanted = (this.rate * SEARCHED_MS) / 1_000;
    let [squares, length] = [0, 0];
    for (const { start, pcm } of this.chunks.slice(this.firstChunk)) {
      for (let n = Math.max(0, from - start); n < pcm.length; n++) {
        squares += pcm[n]! * pcm[n]!;
        if (++length < wanted) continue;
        if (squares > threshold * length) return this.timeOf(start + n + 1);
        squares = length = 0;
      }
    }
    return null;
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

  /** Milliseconds of audio that were not played yet. */
  bufferedMs(now: number): number {
    return this.duration(Math.max(0, this.end - Math.max(this.clock, this.positionOf(now))));
  }

  /** Milliseconds of an item that were played. */
  heardOfItem(item: number, now: number): number {
    const until = Math.max(this.clock, this.positionOf(now));
    let heard = 0;
    for (const one of this.arrived) {
      if (one.item === item) heard += Math.max(0, Math.min(one.to, until) - one.from);
    }
    return this.duration(heard);
  }

  /** Time at which the last sound ends or ended, null before the first one. */
  get endMs(): number | null {
    return this.arrived.length === 0 ? null : this.timeOf(this.end);
  }

  /** Everything that arrived, in order. */
  get arrivals(): PlayoutArrival[] {
    return this.arrived.map(({ arrivedMs, from, to, length, item }) => ({
      arrivedMs,
      playedFromMs: this.timeOf(from),
      playedToMs: this.timeOf(to),
      ...(item !== undefined && { item }),
      ...(to - from < length && { isCut: true }),
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

  /** Removes unplayed audio. @returns the gaps in the audio that was buffered, in order */
  private dropChunks(isDropped: (item: number | undefined) => boolean): Gap[] {
    const { clock } = this;
    const gaps: Gap[] = [];
    const unplayed = this.chunks.splice(partitionPoint(this.chunks, (chunk) => endOf(chunk) <= clock));
    for (const chunk of unplayed) {
      if (!isDropped(chunk.item)) {
        this.chunks.push(chunk);
        continue;
      }
      const from = Math.max(chunk.start, clock);
      const last = gaps.at(-1);
      if (last?.to === from) last.to = endOf(chunk);
      else gaps.push({ from, to: endOf(chunk), before: last ? last.before + last.to - last.from : 0 });
      if (chunk.start < clock) this.chunks.push({ ...chunk, pcm: chunk.pcm.subarray(0, clock - chunk.start) });
    }
    // The silence that follows was asked for, so it is not an underrun.
    if (gaps.at(-1)?.to === this.end) this.isEndNatural = false;
    return gaps;
  }

  /** Moves everything after the gaps forward. */
  private closeGaps(gaps: readonly Gap[]): void {
    if (gaps.length === 0) return;
    const { chunks, arrived, clock } = this;
    const moved = (position: number) => {
      const gap = gaps[partitionPoint(gaps, ({ from }) => from < position) - 1];
      return gap ? position - gap.before - (Math.min(position, gap.to) - gap.from) : position;
    };
    for (const one of chunks.slice(partitionPoint(chunks, ({ start }) => start <= clock))) one.start = moved(one.start);
    for (const one of arrived.slice(partitionPoint(arrived, ({ to }) => to <= clock))) {
      one.from = moved(one.from);
      one.to = moved(one.to);
    }
    for (const mark of this.marks) mark.position = moved(mark.position);
    this.end = moved(this.end);
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

const endOf = ({ start, pcm }: Chunk): number => start + pcm.length;
