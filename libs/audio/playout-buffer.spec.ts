import fc from 'fast-check';
import { PlayoutBuffer } from './index.js';

const RATE = 8_000;
const FRAME = 160;

/** `count` samples with the value `value`. */
const sound = (count: number, value = 1): Int16Array => new Int16Array(count).fill(value);

describe('PlayoutBuffer', () => {
  it('plays at once what arrives at an empty buffer, and the rest after what is buffered', () => {
    const buffer = new PlayoutBuffer({ rate: RATE });
    buffer.play(10, sound(FRAME, 1));
    buffer.play(12, sound(FRAME, 2));
    expect(buffer.arrivals).toEqual([
      { arrivedMs: 10, playedFromMs: 10, playedToMs: 30 },
      { arrivedMs: 12, playedFromMs: 30, playedToMs: 50 },
    ]);
    expect(buffer.bufferedMs(15)).toBe(35);
    const { pcm, isPlayed } = buffer.read(60);
    expect(isPlayed).toBe(false);
    expect([...pcm]).toEqual([...sound(80, 0), ...sound(FRAME, 1), ...sound(FRAME, 2), ...sound(80, 0)]);
  });

  it('fires a mark with the time at which the sound before it ended, however late it is advanced', () => {
    const fired: number[] = [];
    const buffer = new PlayoutBuffer({ rate: RATE, startMs: 1_000 });
    buffer.play(1_000, sound(FRAME));
    buffer.mark(1_001, (ms) => fired.push(ms));
    buffer.advance(1_019.9);
    expect(fired).toEqual([]);
    buffer.advance(1_500);
    expect(fired).toEqual([1_020]);
  });

  it('fires a mark at once when nothing is buffered', () => {
    const fired: number[] = [];
    const buffer = new PlayoutBuffer({ rate: RATE });
    buffer.mark(7, (ms) => fired.push(ms));
    expect(fired).toEqual([7]);
  });

  it('drops what was not played and fires all marks when it is cleared', () => {
    const fired: string[] = [];
    const buffer = new PlayoutBuffer({ rate: RATE });
    buffer.play(0, sound(FRAME));
    buffer.mark(0, (ms) => fired.push(`a ${ms}`));
    buffer.play(0, sound(FRAME));
    buffer.play(0, sound(FRAME));
    buffer.mark(0, (ms) => fired.push(`b ${ms}`));
    expect(buffer.clear(30)).toBe(30);
    expect(fired).toEqual(['a 20', 'b 30']);
    expect(buffer.arrivals.map(({ playedFromMs, playedToMs }) => [playedFromMs, playedToMs])).toEqual([
      [0, 20],
      [20, 30],
      [30, 30],
    ]);
    expect([...buffer.read(40).pcm]).toEqual([...sound(240), ...sound(80, 0)]);
  });

  it('plays what a mark causes directly after the sound before the mark', () => {
    const buffer = new PlayoutBuffer({ rate: RATE });
    buffer.play(0, sound(FRAME, 1));
    buffer.mark(0, (ms) => buffer.play(ms, sound(FRAME, 2)));
    expect([...buffer.read(60).pcm]).toEqual([...sound(FRAME, 1), ...sound(FRAME, 2), ...sound(FRAME, 0)]);
  });

  it('reports an underrun between two sounds, but not before the first one or after a clear', () => {
    const buffer = new PlayoutBuffer({ rate: RATE });
    expect(buffer.play(100, sound(FRAME)).underrun).toBeNull();
    expect(buffer.play(150, sound(FRAME)).underrun).toEqual({ startMs: 120, endMs: 150 });
    expect(buffer.play(160, sound(FRAME)).underrun).toBeNull();
    buffer.clear(165);
    expect(buffer.play(200, sound(FRAME)).underrun).toBeNull();
    // Nothing was left to clear, so the sound had run out before.
    buffer.clear(230);
    expect(buffer.play(240, sound(FRAME)).underrun).toEqual({ startMs: 220, endMs: 240 });
  });

  it('discards what exceeds its size', () => {
    const buffer = new PlayoutBuffer({ rate: RATE, maxBufferedMs: 600_000 });
    const nineMinutes = sound(9 * 60 * RATE);
    expect(buffer.play(0, nineMinutes).discardedMs).toBe(0);
    expect(buffer.play(0, nineMinutes).discardedMs).toBe(8 * 60_000);
    expect(buffer.play(0, sound(FRAME)).discardedMs).toBe(20);
    expect(buffer.bufferedMs(0)).toBe(600_000);
    expect(buffer.arrivals.at(-1)).toEqual({ arrivedMs: 0, playedFromMs: 600_000, playedToMs: 600_000, isCut: true });
    // Room is measured from the present, not from the first sound.
    expect(buffer.play(20, sound(FRAME)).discardedMs).toBe(0);
  });

  it('holds sound of any length by default', () => {
    const buffer = new PlayoutBuffer({ rate: RATE });
    expect(buffer.play(0, sound(20 * 60 * RATE)).discardedMs).toBe(0);
    expect(buffer.bufferedMs(0)).toBe(20 * 60_000);
  });

  describe('with items', () => {
    it('drops those up to the cleared one and plays later ones at once', () => {
      const buffer = new PlayoutBuffer({ rate: RATE });
      for (const item of [1, 2, 3]) buffer.play(0, sound(FRAME, item), item);
      expect(buffer.clear(10, 2)).toBe(30);
      expect(buffer.bufferedMs(10)).toBe(20);
      expect(buffer.arrivals).toEqual([
        { arrivedMs: 0, playedFromMs: 0, playedToMs: 10, item: 1, isCut: true },
        { arrivedMs: 0, playedFromMs: 10, playedToMs: 10, item: 2, isCut: true },
        { arrivedMs: 0, playedFromMs: 10, playedToMs: 30, item: 3 },
      ]);
      expect([...buffer.read(40).pcm]).toEqual([...sound(80, 1), ...sound(FRAME, 3), ...sound(80, 0)]);
    });

    it('drops what arrives later of a cleared item, and records it without length', () => {
      const buffer = new PlayoutBuffer({ rate: RATE });
      buffer.play(0, sound(FRAME), 1);
      buffer.clear(10, 2);
      buffer.clear(10, 1);
      expect(buffer.play(20, sound(FRAME), 2)).toEqual({ underrun: null, discardedMs: 0, droppedMs: 20 });
      expect(buffer.play(20, sound(FRAME), 3)).toEqual({ underrun: null, discardedMs: 0, droppedMs: 0 });
      expect(buffer.arrivals.slice(1)).toEqual([
        { arrivedMs: 20, playedFromMs: 20, playedToMs: 20, item: 2, isCut: true },
        { arrivedMs: 20, playedFromMs: 20, playedToMs: 40, item: 3 },
      ]);
    });

    it('keeps sound without an item when one is cleared, and plays more of an item after everything was cleared', () => {
      const buffer = new PlayoutBuffer({ rate: RATE });
      buffer.play(0, sound(FRAME, 1), 1);
      buffer.play(0, sound(FRAME, 2));
      expect(buffer.clear(0, 1)).toBe(20);
      expect(buffer.clear(0)).toBe(20);
      expect(buffer.play(0, sound(FRAME, 3), 2).droppedMs).toBe(0);
      expect([...buffer.read(20).pcm]).toEqual([...sound(FRAME, 3)]);
    });

    it('fires the marks before which everything was played or dropped, and the others later', () => {
      const fired: string[] = [];
      const buffer = new PlayoutBuffer({ rate: RATE });
      for (const item of [1, 2]) {
        buffer.play(0, sound(FRAME), item);
        buffer.mark(0, (ms) => fired.push(`${item} ${ms}`));
      }
      buffer.clear(5, 1);
      expect(fired).toEqual(['1 5']);
      buffer.advance(100);
      expect(fired).toEqual(['1 5', '2 25']);
    });

    it('does not change what was read, also ahead of the time of the clear', () => {
      const buffer = new PlayoutBuffer({ rate: RATE });
      buffer.play(0, sound(2 * FRAME), 1);
      buffer.read(20);
      expect(buffer.clear(10, 1)).toBe(20);
      expect(buffer.heardOfItem(1, 10)).toBe(20);
    });

    it('measures what was heard of an item, over all its sounds', () => {
      const buffer = new PlayoutBuffer({ rate: RATE });
      buffer.play(0, sound(FRAME), 1);
      buffer.play(0, sound(FRAME), 2);
      expect([10, 25, 45].map((now) => buffer.heardOfItem(2, now))).toEqual([0, 5, 20]);
      buffer.play(50, sound(FRAME), 2);
      expect(buffer.heardOfItem(2, 60)).toBe(30);
      expect(buffer.heardOfItem(3, 60)).toBe(0);
    });
  });

  it('behaves like a queue of single samples for any arrivals, marks, clears and reads, with and without items', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), fc.constantFrom(0, 1_234.567, 1e9 + 0.1), (actions, startMs) => {
        const model = new SampleQueue();
        const buffer = new PlayoutBuffer({ rate: RATE, startMs });
        const timeOf = (position: number) => startMs + position / 8;
        const positionOf = (ms: number) => Math.round((ms - startMs) * 8);
        const fired: [number, number][] = [];
        const underruns: number[][] = [];
        const heard: number[] = [];
        let played = 0;
        actions.forEach(({ type, after, length, item }, id) => {
          model.passTo(model.now + after);
          const now = timeOf(model.now);
          if (type === 'play') {
            const { underrun, droppedMs } = buffer.play(now, sound(length, id + 1), item);
            if (underrun) underruns.push([positionOf(underrun.startMs), positionOf(underrun.endMs)]);
            expect(Math.round(droppedMs * 8)).toBe(model.play(length, id + 1, item));
          } else if (type === 'mark') {
            buffer.mark(now, (ms) => fired.push([id, positionOf(ms)]));
            model.mark(id);
          } else if (type === 'clear') {
            expect(Math.round(buffer.clear(now, item) * 8)).toBe(model.clear(item));
          } else if (type === 'advance') {
            buffer.advance(now);
          } else {
            const { pcm, isPlayed } = buffer.read(now);
            expect(isPlayed).toBe(model.played.slice(played).every(Boolean));
            played = model.played.length;
            heard.push(...pcm);
          }
          expect(Math.round(buffer.bufferedMs(now) * 8)).toBe(model.buffered);
          if (item !== undefined) expect(Math.round(buffer.heardOfItem(item, now) * 8)).toBe(model.heardOfItem(item));
        });
        model.passTo(model.now + 5_000);
        heard.push(...buffer.read(timeOf(model.now)).pcm);
        expect(heard).toEqual(model.heard);
        expect(fired).toEqual(model.fired);
        expect(underruns).toEqual(model.underruns);
        const { arrivals } = buffer;
        expect(arrivals.map(({ item }) => item)).toEqual(model.sounds.map(({ item }) => item));
        const positions = arrivals.map((one) => [positionOf(one.playedFromMs), positionOf(one.playedToMs)] as const);
        expect(positions.map(([from, to]) => to - from)).toEqual(model.lengthsHeard());
        // Each in its place, and those without length in the order of the others.
        positions.forEach(([from, to], n) => {
          expect(heard.slice(from, to).every((value) => value === model.sounds[n]!.value)).toBe(true);
        });
        expect(positions.flat()).toEqual(positions.flat().toSorted((a, b) => a - b));
      }),
      { numRuns: 600 },
    );
  });
});

const action = fc.record({
  type: fc.constantFrom('play', 'play', 'play', 'mark', 'clear', 'advance', 'read'),
  /** Samples since the action before. */
  after: fc.oneof(fc.constant(0), fc.nat(400)),
  length: fc.integer({ min: 1, max: 300 }),
  /** Of a sound; of a clear, the last one that is dropped. */
  item: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
});

/** The slow model: one queue entry for each sample and mark, one step for each sample of time. */
class SampleQueue {
  now = 0;
  readonly heard: number[] = [];
  readonly played: boolean[] = [];
  readonly fired: [number, number][] = [];
  readonly underruns: number[][] = [];
  readonly sounds: { readonly value: number; readonly item: number | undefined }[] = [];
  private queue: ({ readonly value: number; readonly item: number | undefined } | { readonly mark: number })[] = [];
  /** When the buffer last ran empty by itself. */
  private emptySince: number | null = null;
  private isEndCleared = false;
  private clearedItem = 0;

  passTo(position: number): void {
    for (; this.now < position; this.fire()) {
      const next = this.queue.shift();
      const value = next && 'value' in next ? next.value : 0;
      this.heard.push(value);
      this.played.push(value > 0);
      this.now++;
      if (value > 0 && this.buffered === 0 && !this.isEndCleared) this.emptySince = this.now;
    }
  }

  /** @returns the number of dropped samples */
  play(length: number, value: number, item: number | undefined): number {
    this.sounds.push({ value, item });
    if (item !== undefined && item <= this.clearedItem) return length;
    if (this.emptySince !== null && this.emptySince < this.now) this.underruns.push([this.emptySince, this.now]);
    this.emptySince = null;
    this.isEndCleared = false;
    for (let n = 0; n < length; n++) this.queue.push({ value, item });
    return 0;
  }

  mark(mark: number): void {
    this.queue.push({ mark });
    this.fire();
  }

  clear(upTo: number | undefined): number {
    this.clearedItem = Math.max(this.clearedItem, upTo ?? 0);
    const before = this.buffered;
    const isDropped = ({ item }: { readonly item: number | undefined }) =>
      upTo === undefined || (item !== undefined && item <= upTo);
    const last = this.queue.findLast((one) => 'value' in one);
    if (last && isDropped(last)) this.isEndCleared = true;
    this.queue = this.queue.filter((one) => 'mark' in one || !isDropped(one));
    this.fire();
    return before - this.buffered;
  }

  get buffered(): number {
    return this.queue.filter((one) => 'value' in one).length;
  }

  lengthsHeard(): number[] {
    return this.sounds.map(({ value }) => this.heard.filter((heard) => heard === value).length);
  }

  heardOfItem(item: number): number {
    const lengths = this.lengthsHeard();
    return this.sounds.reduce((sum, one, n) => sum + (one.item === item ? lengths[n]! : 0), 0);
  }

  private fire(): void {
    while (this.queue[0] && 'mark' in this.queue[0]) {
      this.fired.push([this.queue[0].mark, this.now]);
      this.queue.shift();
    }
  }
}
