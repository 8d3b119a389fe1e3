import fc from 'fast-check';
import { decodeAudio, PlayoutBuffer } from './index.js';

const RATE = 8_000;
const FRAME = 160;

/** `count` samples with the value `value`. */
const sound = (count: number, value = 1): Int16Array => new Int16Array(count).fill(value);

describe('PlayoutBuffer', () => {
  it('plays audio at once if the buffer is empty, and otherwise after the buffered audio', () => {
    const buffer = new PlayoutBuffer({ rate: RATE });
    buffer.play(10, sound(FRAME, 1));
    buffer.play(22, sound(FRAME, 2));
    expect(buffer.arrivals).toEqual([
      { arrivedMs: 10, playedFromMs: 10, playedToMs: 30 },
      { arrivedMs: 22, playedFromMs: 30, playedToMs: 50 },
    ]);
    expect(buffer.bufferedMs(25)).toBe(25);
    const { pcm, isPlayed } = buffer.read(60);
    expect(isPlayed).toBe(false);
    expect([...pcm]).toEqual([...sound(80, 0), ...sound(FRAME, 1), ...sound(FRAME, 2), ...sound(80, 0)]);
  });

  it('fires a mark with the exact end of the sound before it, even if it is advanced late', () => {
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

  it('drops unplayed audio and fires all marks when it is cleared', () => {
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
    ]);
    expect([...buffer.read(40).pcm]).toEqual([...sound(240), ...sound(80, 0)]);
  });

  it('plays audio that a mark triggers directly after the sound before the mark', () => {
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

  it('discards audio that exceeds its size', () => {
    const buffer = new PlayoutBuffer({ rate: RATE, maxBufferedMs: 600_000 });
    const nineMinutes = sound(9 * 60 * RATE);
    expect(buffer.play(0, nineMinutes).discardedMs).toBe(0);
    expect(buffer.play(0, nineMinutes).discardedMs).toBe(8 * 60_000);
    expect(buffer.play(0, sound(FRAME)).discardedMs).toBe(20);
    expect(buffer.bufferedMs(0)).toBe(600_000);
    expect(buffer.arrivals).toEqual([{ arrivedMs: 0, playedFromMs: 0, playedToMs: 600_000, isCut: true }]);
    // Room is measured from the present, not from the first sound.
    expect(buffer.play(20, sound(FRAME)).discardedMs).toBe(0);
  });

  describe('merges what arrives in the same 20 ms', () => {
    const times = (buffer: PlayoutBuffer) => buffer.arrivals.map((one) => one.arrivedMs);
    const buffers = () => new PlayoutBuffer({ rate: RATE });

    it('into one arrival with the time of the first', () => {
      const buffer = buffers();
      for (const now of [41, 50, 59.9, 60]) buffer.play(now, sound(FRAME));
      expect(buffer.arrivals).toEqual([
        { arrivedMs: 41, playedFromMs: 41, playedToMs: 101 },
        { arrivedMs: 60, playedFromMs: 101, playedToMs: 121 },
      ]);
    });

    it.each<[string, (buffer: PlayoutBuffer) => void]>([
      ['a mark', (buffer) => buffer.mark(5, () => undefined)],
      ['a clear', (buffer) => buffer.clear(5)],
      ['a boundary', (buffer) => buffer.separate(5)],
    ])('unless %s lies between', (_name, between) => {
      const buffer = buffers();
      buffer.play(1, sound(FRAME));
      between(buffer);
      for (const now of [6, 7]) buffer.play(now, sound(FRAME));
      expect(times(buffer)).toEqual([1, 6]);
    });

    it('unless the buffer ran empty between them, or they belong to different items', () => {
      const buffer = buffers();
      buffer.play(1, sound(8));
      buffer.play(3, sound(8));
      buffer.play(3, sound(8), 1);
      buffer.play(3, sound(8), 1);
      buffer.play(3, sound(8), 2);
      expect(times(buffer)).toEqual([1, 3, 3, 3]);
    });
  });

  it('keeps a million messages in no more memory than their audio and times need', () => {
    const buffer = new PlayoutBuffer({ rate: RATE, encoding: 'mulaw' });
    for (let n = 0; n < 1_000_000; n++) buffer.play(n / 100, sound(1));
    // 10 s of call time are at most 500 arrivals of 28 bytes; 125 s of sound, a byte for each sample.
    expect(buffer.arrivals.length).toBeLessThanOrEqual(500);
    expect(buffer.bytes).toBeLessThan(1_000_000 + 500 * 28 * 1.25 + 8_000);
    expect(buffer.read(1_000).isPlayed).toBe(true);
  });

  it.each(['mulaw', 'alaw', 'pcm16'] as const)('plays samples as they are in %s', (encoding) => {
    const every = Int16Array.from(
      { length: 256 },
      (_, code) => decodeAudio({ encoding }, Uint8Array.of(code, code))[0]!,
    );
    const buffer = new PlayoutBuffer({ rate: RATE, encoding });
    for (let n = 0; n < 100; n++) buffer.play(n, every);
    for (let n = 0; n < 100; n++) expect(buffer.read((n + 1) * 32).pcm).toEqual(every);
  });

  it('holds sound of any length by default', () => {
    const buffer = new PlayoutBuffer({ rate: RATE });
    expect(buffer.play(0, sound(20 * 60 * RATE)).discardedMs).toBe(0);
    expect(buffer.bufferedMs(0)).toBe(20 * 60_000);
  });

  describe('with items', () => {
    it('drops items up to the cleared one and plays later ones at once', () => {
      const buffer = new PlayoutBuffer({ rate: RATE });
      for (const item of [1, 2, 3]) buffer.play(0, sound(FRAME, item), item);
      expect(buffer.clear(10, 2)).toBe(30);
      expect(buffer.bufferedMs(10)).toBe(20);
      expect(buffer.arrivals).toEqual([
        { arrivedMs: 0, playedFromMs: 0, playedToMs: 10, item: 1, isCut: true, sentMs: 20 },
        { arrivedMs: 0, playedFromMs: 10, playedToMs: 10, item: 2, isCut: true, sentMs: 20 },
        { arrivedMs: 0, playedFromMs: 10, playedToMs: 30, item: 3 },
      ]);
      expect([...buffer.read(40).pcm]).toEqual([...sound(80, 1), ...sound(FRAME, 3), ...sound(80, 0)]);
    });

    it('drops later audio of a cleared item, and records it without length', () => {
      const buffer = new PlayoutBuffer({ rate: RATE });
      buffer.play(0, sound(FRAME), 1);
      buffer.clear(10, 2);
      buffer.clear(10, 1);
      expect(buffer.play(20, sound(FRAME), 2)).toEqual({ underrun: null, discardedMs: 0, droppedMs: 20 });
      expect(buffer.play(20, sound(FRAME), 3)).toEqual({ underrun: null, discardedMs: 0, droppedMs: 0 });
      expect(buffer.arrivals.slice(1)).toEqual([
        { arrivedMs: 20, playedFromMs: 20, playedToMs: 20, item: 2, isCut: true, sentMs: 20 },
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

    it('fires the marks with nothing left before them, and the others later', () => {
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

    it('does not change audio that was already read, even ahead of the clear', () => {
      const buffer = new PlayoutBuffer({ rate: RATE });
      buffer.play(0, sound(2 * FRAME), 1);
      buffer.read(20);
      expect(buffer.clear(10, 1)).toBe(20);
      expect(buffer.heardOfItem(1, 10)).toBe(20);
    });

    it('measures how much of an item was heard, over all its sounds', () => {
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
        // As the buffer sees it, whose clock may have fractions.
        model.windowOf = (position) => Math.floor(timeOf(position) / 20);
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
        expect(arrivals.map(({ item }) => item)).toEqual(model.groups.map(([first]) => first!.item));
        const positions = arrivals.map((one) => [positionOf(one.playedFromMs), positionOf(one.playedToMs)] as const);
        const lengths = model.groups.map((group) => group.reduce((sum, one) => sum + model.lengthHeard(one), 0));
        expect(positions.map(([from, to]) => to - from)).toEqual(lengths);
        // Each in its place, and those without length in the order of the others.
        positions.forEach(([from, to], n) => {
          const values = model.groups[n]!.map(({ value }) => value);
          expect(heard.slice(from, to).every((value) => values.includes(value))).toBe(true);
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

interface QueuedSound {
  readonly value: number;
  readonly item: number | undefined;
}

/** The slow model: one queue entry for each sample and mark, one step for each sample of time. */
class SampleQueue {
  now = 0;
  readonly heard: number[] = [];
  readonly played: boolean[] = [];
  readonly fired: [number, number][] = [];
  readonly underruns: number[][] = [];
  readonly sounds: QueuedSound[] = [];
  /** Sounds that arrived together. */
  readonly groups: QueuedSound[][] = [];
  windowOf = (_position: number) => 0;
  private isSeparate = true;
  private lastWindow = 0;
  private lastEnd = 0;
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
    const sound = { value, item };
    this.sounds.push(sound);
    const from = this.now + this.buffered;
    const last = this.groups.at(-1);
    const isOne = last?.[0]!.item === item && from === this.lastEnd && this.windowOf(this.now) === this.lastWindow;
    if (last && !this.isSeparate && isOne) last.push(sound);
    else {
      this.groups.push([sound]);
      this.lastWindow = this.windowOf(this.now);
    }
    this.isSeparate = false;
    const dropped = this.enqueue(length, value, item);
    this.lastEnd = this.now + this.buffered;
    return dropped;
  }

  private enqueue(length: number, value: number, item: number | undefined): number {
    if (item !== undefined && item <= this.clearedItem) return length;
    if (this.emptySince !== null && this.emptySince < this.now) this.underruns.push([this.emptySince, this.now]);
    this.emptySince = null;
    this.isEndCleared = false;
    for (let n = 0; n < length; n++) this.queue.push({ value, item });
    return 0;
  }

  mark(mark: number): void {
    this.isSeparate = true;
    this.queue.push({ mark });
    this.fire();
  }

  clear(upTo: number | undefined): number {
    this.clearedItem = Math.max(this.clearedItem, upTo ?? 0);
    this.isSeparate = true;
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

  lengthHeard({ value }: QueuedSound): number {
    return this.heard.filter((heard) => heard === value).length;
  }

  heardOfItem(item: number): number {
    return this.sounds.reduce((sum, one) => sum + (one.item === item ? this.lengthHeard(one) : 0), 0);
  }

  private fire(): void {
    while (this.queue[0] && 'mark' in this.queue[0]) {
      this.fired.push([this.queue[0].mark, this.now]);
      this.queue.shift();
    }
  }
}
