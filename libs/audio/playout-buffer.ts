import { ArrivalTable } from './arrival-table.js';
import type { AudioFormat } from './format.js';
import { SampleQueue } from './sample-queue.js';
import { partitionPoint } from './search.js';

/** Chunks received within this interval and played back to back count as one arrival. */
const MERGED_MS = 20;
/** Approximate memory of a pending mark. */
const MARK_BYTES = 128;
/** Approximate memory of the record of an item. */
const ITEM_BYTES = 96;

/** Times are in milliseconds on the clock of the calls' `now`. */
export interface PlayoutSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Audio that arrived, and the span in which it was or will be played; the span is empty if all of it was discarded or cleared.
 * Chunks of one item that arrive within the same 20 ms and are played back to back are one arrival, with the time of the first,
 * unless a clear, a mark or a boundary (`separate`) lies between them.
 */
export interface PlayoutArrival {
  readonly arrivedMs: number;
  readonly playedFromMs: number;
  readonly playedToMs: number;
  /** Absent if none was given. */
  readonly item?: number;
  /** Present if part of it was discarded or cleared. */
  readonly isCut?: true;
  /** Original length, if it belongs to an item and part of it was discarded or cleared. */
  readonly sentMs?: number;
}

/** What `PlayoutBuffer.play` did with a chunk. */
export interface PlayResult {
  /** Span in which the buffer was empty before this chunk. */
  readonly underrun: PlayoutSpan | null;
  /** Length of the audio that exceeded the size of the buffer and was discarded. */
  readonly discardedMs: number;
  /** Length of the chunk, if it was dropped because its item had been cleared. */
  readonly droppedMs: number;
}

const SEARCHED_MS = 60;

interface Mark {
  position: number;
  readonly onPlayed: (playedMs: number) => void;
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
  /** Maximum length of buffered audio; the buffer discards the rest. */
  readonly maxBufferedMs?: number;
  /** Encoding of waiting audio. It must represent all samples exactly. */
  readonly encoding?: AudioFormat['encoding'];
}

/**
 * The buffer through which a platform plays an agent's audio: position = max(position, now) + length of the new audio. What
 * is heard depends on arrivals and clears alone, exact to the sample.
 *
 * Audio may belong to an item, a number that ascends in order of generation, so the audio up to an item can be cleared.
 *
 * It has no clock: each method takes `now` in milliseconds. A `now` before the latest one counts as the latest.
 */
export class PlayoutBuffer {
  private readonly rate: number;
  private readonly startMs: number;
  /** In samples. */
  private readonly maxBuffered: number;
  /** Latest `now`. Positions count samples from `startMs`. */
  private clock = 0;
  /** End of the last sound in the buffer. */
  private end = 0;
  /** Position from which `read` continues. */
  private readPosition = 0;
  /** Samples of all arrivals that were not read yet, in order. */
  private waiting: SampleQueue;
  /** First arrival that was not read completely. */
  private firstUnread = 0;
  private readonly marks: Mark[] = [];
  private readonly arrived = new ArrivalTable();
  /** First arrival of each item, and how many of its samples were read. */
  private readonly items = new Map<number, { readonly first: number; read: number }>();
  /** The next chunk starts a new arrival. */
  private isSeparate = false;
  private boundaryMs = -Infinity;
  /** Whether the last sound ran out, rather than being cleared. */
  private isEndNatural = false;
  /** New audio of items up to this one is dropped. */
  private clearedItem = -Infinity;

  constructor({ rate, startMs = 0, maxBufferedMs = Infinity, encoding = 'pcm16' }: PlayoutBufferOptions) {
    this.waiting = new SampleQueue(encoding);
    this.rate = rate;
    this.startMs = startMs;
    this.maxBuffered = Math.round((maxBufferedMs * rate) / 1_000);
  }

  /** Changes the encoding of waiting audio, before any has arrived. It must represent all samples exactly. */
  keepAs(encoding: AudioFormat['encoding']): void {
    if (this.arrived.length === 0) this.waiting = new SampleQueue(encoding);
  }

  /** Memory use in bytes: arrivals, waiting audio and pending marks. */
  get bytes(): number {
    const notes = this.marks.length * MARK_BYTES + this.items.size * ITEM_BYTES;
    return this.arrived.bytes + this.waiting.bytes + notes;
  }

  /** Chunks from this time on start a new arrival. Only the latest such time is kept. */
  separate(ms: number): void {
    this.boundaryMs = ms;
  }

  /** Appends a sound. */
  play(now: number, pcm: Int16Array, item?: number): PlayResult {
    this.advance(now);
    if (pcm.length === 0) return { underrun: null, discardedMs: 0, droppedMs: 0 };
    const from = Math.max(this.end, this.clock);
    if (item !== undefined && item <= this.clearedItem) {
      this.note(now, from, from, pcm.length, item);
      return { underrun: null, discardedMs: 0, droppedMs: this.duration(pcm.length) };
    }
    const length = Math.min(pcm.length, this.maxBuffered - (from - this.clock));
    const to = from + length;
    const discardedMs = this.duration(pcm.length - length);
    this.note(now, from, to, pcm.length, item);
    if (length === 0) return { underrun: null, discardedMs, droppedMs: 0 };
    const underrun = this.isEndNatural && this.end < from ? this.span(this.end, from) : null;
    this.waiting.push(length === pcm.length ? pcm : pcm.subarray(0, length));
    this.end = to;
    this.isEndNatural = true;
    return { underrun, discardedMs, droppedMs: 0 };
  }

  /**
   * Drops the audio that was not played yet. A mark fires at once if everything before it was played or dropped.
   * @param upTo drops only audio of items up to this one, also if it arrives later; other audio moves forward
   * @returns the milliseconds of dropped audio
   */
  clear(now: number, upTo?: number): number {
    this.advance(now);
    if (upTo !== undefined) this.clearedItem = Math.max(this.clearedItem, upTo);
    this.isSeparate = true;
    const endBefore = this.end;
    this.closeGaps(this.dropUnplayed((item) => upTo === undefined || item <= upTo));
    const dropped = this.duration(endBefore - this.end);
    const due = partitionPoint(this.marks, ({ position }) => position <= this.clock);
    const atMs = this.timeOf(this.clock);
    for (const mark of this.marks.splice(0, due)) mark.onPlayed(atMs);
    return dropped;
  }

  /**
   * Finds 60 ms of audio not played yet whose level is above a threshold.
   * @param threshold mean square of samples @returns the end of that audio; null if there is none
   */
  firstAbove(now: number, threshold: number): number | null {
    const { arrived, waiting } = this;
    const from = this.positionOf(now);
    const wanted = (this.rate * SEARCHED_MS) / 1_000;
    let [squares, length, next] = [0, 0, 0];
    for (let row = this.firstUnread; row < arrived.length; row++) {
      const to = arrived.to(row);
      for (let position = Math.max(arrived.from(row), this.readPosition); position < to; position++) {
        const sample = waiting.at(next++);
        if (position < from) continue;
        squares += sample * sample;
        if (++length < wanted) continue;
        if (squares > threshold * length) return this.timeOf(position + 1);
        squares = length = 0;
      }
    }
    return null;
  }

  /**
   * Calls `onPlayed` once everything buffered before has been played or cleared; at once if nothing is buffered.
   * @param onPlayed receives the exact time, which may be earlier than the `now` that triggered the call
   */
  mark(now: number, onPlayed: (playedMs: number) => void): void {
    this.advance(now);
    this.isSeparate = true;
    if (this.end <= this.clock) onPlayed(this.timeOf(this.clock));
    else this.marks.push({ position: this.end, onPlayed });
  }

  /** Fires the marks that are due. */
  advance(now: number): void {
    const target = this.positionOf(now);
    while (this.marks.length > 0 && this.marks[0]!.position <= target) {
      const { position, onPlayed } = this.marks.shift()!;
      // The callback may call this object, at the time of the mark.
      this.clock = Math.max(this.clock, position);
      onPlayed(this.timeOf(position));
    }
    this.clock = Math.max(this.clock, target);
  }

  /** Milliseconds of audio not played yet. */
  bufferedMs(now: number): number {
    return this.duration(Math.max(0, this.end - Math.max(this.clock, this.positionOf(now))));
  }

  /** Milliseconds of an item that were played. */
  heardOfItem(item: number, now: number): number {
    const until = Math.max(this.clock, this.positionOf(now));
    const { arrived, readPosition } = this;
    let heard = this.items.get(item)?.read ?? 0;
    for (let row = this.firstUnread; row < arrived.length && arrived.from(row) < until; row++) {
      const from = Math.max(arrived.from(row), readPosition);
      if (arrived.item(row) === item) heard += Math.max(0, Math.min(arrived.to(row), until) - from);
    }
    return this.duration(heard);
  }

  /** When the last sound ends or ended; null before the first one. */
  get endMs(): number | null {
    return this.arrived.length === 0 ? null : this.timeOf(this.end);
  }

  /** All arrivals in order. */
  get arrivals(): PlayoutArrival[] {
    return Array.from({ length: this.arrived.length }, (_, row) => this.arrival(row));
  }

  /** Arrivals played after a time, in order, with all other arrivals of their items. */
  arrivalsSince(ms: number): PlayoutArrival[] {
    const { arrived } = this;
    const since = arrived.firstAfter(this.positionOf(ms));
    const items = new Set<number>();
    for (let row = since; row < arrived.length; row++) items.add(arrived.item(row));
    let first = since;
    for (const item of items) first = Math.min(first, this.items.get(item)?.first ?? since);
    const arrivals: PlayoutArrival[] = [];
    for (let row = first; row < arrived.length; row++) {
      if (row >= since || items.has(arrived.item(row))) arrivals.push(this.arrival(row));
    }
    return arrivals;
  }

  /** All arrivals, latest first. */
  *latestArrivals(): Generator<PlayoutArrival, void> {
    for (let row = this.arrived.length - 1; row >= 0; row--) yield this.arrival(row);
  }

  /**
   * Reads what was heard from the end of the last read to `until`, with silence where nothing was buffered. The result is final:
   * `until` counts as the present, so later audio is played after it.
   * @returns `isPlayed`: whether all of it came from the buffer
   */
  read(until: number): { readonly pcm: Int16Array; readonly isPlayed: boolean } {
    this.advance(until);
    const from = this.readPosition;
    const to = Math.max(from, this.positionOf(until));
    const pcm = new Int16Array(to - from);
    const { arrived } = this;
    let played = 0;
    for (; this.firstUnread < arrived.length; this.firstUnread++) {
      const [start, end] = [arrived.from(this.firstUnread), arrived.to(this.firstUnread)];
      if (start >= to) break;
      const begin = Math.max(start, from);
      const length = Math.max(0, Math.min(end, to) - begin);
      this.waiting.shift(pcm.subarray(begin - from, begin - from + length));
      const item = this.items.get(arrived.item(this.firstUnread));
      if (item) item.read += length;
      played += length;
      if (end > to) break;
    }
    this.readPosition = to;
    return { pcm, isPlayed: played === pcm.length };
  }

  private arrival(row: number): PlayoutArrival {
    const { arrived } = this;
    const [from, to, item] = [arrived.from(row), arrived.to(row), arrived.item(row)];
    const isCut = to - from < arrived.samples(row);
    return {
      arrivedMs: arrived.arrivedMs(row),
      playedFromMs: this.timeOf(from),
      playedToMs: this.timeOf(to),
      ...(!Number.isNaN(item) && { item }),
      ...(isCut && { isCut: true }),
      ...(isCut && !Number.isNaN(item) && { sentMs: this.duration(arrived.samples(row)) }),
    };
  }

  private note(now: number, from: number, to: number, length: number, item = Number.NaN): void {
    const { arrived } = this;
    const last = arrived.length - 1;
    if (!Number.isNaN(item) && !this.items.has(item)) this.items.set(item, { first: arrived.length, read: 0 });
    if (last >= 0 && this.isOneWith(last, now, from, item)) {
      arrived.extend(to, length);
      // It has unread samples again.
      this.firstUnread = Math.min(this.firstUnread, last);
    } else {
      arrived.push({ arrivedMs: now, from, to, length, item });
    }
    this.isSeparate = false;
  }

  private isOneWith(row: number, now: number, from: number, item: number): boolean {
    const { arrived, boundaryMs } = this;
    const before = arrived.arrivedMs(row);
    const isBetween = before < boundaryMs && boundaryMs <= now;
    if (this.isSeparate || isBetween || arrived.to(row) !== from) return false;
    return Object.is(arrived.item(row), item) && Math.floor(before / MERGED_MS) === Math.floor(now / MERGED_MS);
  }

  /** Removes unplayed audio. @returns the gaps in the audio that was buffered, in order */
  private dropUnplayed(isDropped: (item: number) => boolean): Gap[] {
    const { arrived, clock } = this;
    const gaps: Gap[] = [];
    const first = arrived.firstAfter(clock);
    let left = 0;
    for (let row = first; row < arrived.length; row++) {
      left += arrived.to(row) - Math.max(arrived.from(row), this.readPosition);
    }
    // Audio that was played but not read yet always stays.
    let at = this.waiting.length - left;
    const kept = [{ from: 0, to: at }];
    for (let row = first; row < arrived.length; row++) {
      const begin = Math.max(arrived.from(row), this.readPosition);
      const [from, to] = [Math.max(begin, clock), arrived.to(row)];
      const played = Math.max(0, Math.min(to, clock) - begin);
      const unplayed = Math.max(0, to - from);
      const drops = unplayed > 0 && isDropped(arrived.item(row));
      if (drops) {
        const last = gaps.at(-1);
        if (last?.to === from) last.to = to;
        else gaps.push({ from, to, before: last ? last.before + last.to - last.from : 0 });
      }
      const end = at + played + (drops ? 0 : unplayed);
      const before = kept.at(-1);
      if (before?.to === at) before.to = end;
      else if (end > at) kept.push({ from: at, to: end });
      at += played + unplayed;
    }
    if (gaps.length > 0) this.waiting.keep(kept);
    // The clear asked for the silence that follows, so it is not an underrun.
    if (gaps.at(-1)?.to === this.end) this.isEndNatural = false;
    return gaps;
  }

  /** Moves everything after the gaps forward. */
  private closeGaps(gaps: readonly Gap[]): void {
    if (gaps.length === 0) return;
    const { arrived, clock } = this;
    const moved = (position: number) => {
      const gap = gaps[partitionPoint(gaps, ({ from }) => from < position) - 1];
      return gap ? position - gap.before - (Math.min(position, gap.to) - gap.from) : position;
    };
    for (let row = arrived.firstAfter(clock); row < arrived.length; row++) {
      arrived.move(row, moved(arrived.from(row)), moved(arrived.to(row)));
    }
    for (const mark of this.marks) mark.position = moved(mark.position);
    this.end = moved(this.end);
  }

  /** Rounds, so that clocks with fractions or another origin neither lose nor gain a sample. */
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
