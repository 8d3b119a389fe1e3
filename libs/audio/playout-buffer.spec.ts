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

  it('discards what exceeds 10 minutes of buffered sound', () => {
    const buffer = new PlayoutBuffer({ rate: RATE });
    const nineMinutes = sound(9 * 60 * RATE);
    expect(buffer.play(0, nineMinutes).discardedMs).toBe(0);
    expect(buffer.play(0, nineMinutes).discardedMs).toBe(8 * 60_000);
    expect(buffer.play(0, sound(FRAME)).discardedMs).toBe(20);
    expect(buffer.bufferedMs(0)).toBe(600_000);
    expect(buffer.arrivals.at(-1)).toEqual({ arrivedMs: 0, playedFromMs: 600_000, playedToMs: 600_000 });
    // Room is measured from the present, not from the first sound.
    expect(buffer.play(20, sound(FRAME)).discardedMs).toBe(0);
  });

  it('behaves like a queue of single samples for any arrivals, marks, clears and reads', () => {
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
        actions.forEach(({ type, after, length }, id) => {
          model.passTo(model.now + after);
          const now = timeOf(model.now);
          if (type === 'play') {
            const { underrun } = buffer.play(now, sound(length, id + 1));
            if (underrun) underruns.push([positionOf(underrun.startMs), positionOf(underrun.endMs)]);
            model.play(length, id + 1);
          } else if (type === 'mark') {
            buffer.mark(now, (ms) => fired.push([id, positionOf(ms)]));
            model.mark(id);
          } else if (type === 'clear') {
            expect(Math.round(buffer.clear(now) * 8)).toBe(model.clear());
          } else if (type === 'advance') {
            buffer.advance(now);
          } else {
            const { pcm, isPlayed } = buffer.read(now);
            expect(isPlayed).toBe(model.played.slice(played).every(Boolean));
            played = model.played.length;
            heard.push(...pcm);
          }
          expect(Math.round(buffer.bufferedMs(now) * 8)).toBe(model.buffered);
        });
        model.passTo(model.now + 5_000);
        heard.push(...buffer.read(timeOf(model.now)).pcm);
        expect(heard).toEqual(model.heard);
        expect(fired).toEqual(model.fired);
        expect(underruns).toEqual(model.underruns);
        const spans = buffer.arrivals.map(({ playedFromMs: a, playedToMs: b }) => positionOf(b) - positionOf(a));
        expect(spans).toEqual(model.lengthsHeard());
      }),
      { numRuns: 300 },
    );
  });
});

const action = fc.record({
  type: fc.constantFrom('play', 'play', 'play', 'mark', 'clear', 'advance', 'read'),
  /** Samples since the action before. */
  after: fc.oneof(fc.constant(0), fc.nat(400)),
  length: fc.integer({ min: 1, max: 300 }),
});

/** The slow model: one queue entry for each sample and mark, one step for each sample of time. */
class SampleQueue {
  now = 0;
  readonly heard: number[] = [];
  readonly played: boolean[] = [];
  readonly fired: [number, number][] = [];
  readonly underruns: number[][] = [];
  private readonly sounds: number[] = [];
  private queue: ({ readonly value: number } | { readonly mark: number })[] = [];
  /** When the buffer last ran empty by itself. */
  private emptySince: number | null = null;

  passTo(position: number): void {
    for (; this.now < position; this.fire()) {
      const next = this.queue.shift();
      const value = next && 'value' in next ? next.value : 0;
      this.heard.push(value);
      this.played.push(value > 0);
      this.now++;
      if (value > 0 && this.buffered === 0) this.emptySince = this.now;
    }
  }

  play(length: number, value: number): void {
    this.sounds.push(value);
    if (this.emptySince !== null && this.emptySince < this.now) this.underruns.push([this.emptySince, this.now]);
    this.emptySince = null;
    for (let n = 0; n < length; n++) this.queue.push({ value });
  }

  mark(mark: number): void {
    this.queue.push({ mark });
    this.fire();
  }

  clear(): number {
    const dropped = this.buffered;
    if (dropped > 0) this.emptySince = null;
    this.queue = this.queue.filter((one) => 'mark' in one);
    this.fire();
    return dropped;
  }

  get buffered(): number {
    return this.queue.filter((one) => 'value' in one).length;
  }

  lengthsHeard(): number[] {
    return this.sounds.map((value) => this.heard.filter((heard) => heard === value).length);
  }

  private fire(): void {
    while (this.queue[0] && 'mark' in this.queue[0]) {
      this.fired.push([this.queue[0].mark, this.now]);
      this.queue.shift();
    }
  }
}
