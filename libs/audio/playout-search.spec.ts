import { ArrivalTable } from './arrival-table.js';
import { type AudioFormat, decodeAudio, encodeAudio, PlayoutBuffer } from './index.js';

const RATE = 8_000;
const FRAME = 160;

const sound = (count: number, value: number): Int16Array => new Int16Array(count).fill(value);

/** What remains of samples in an encoding. */
const inCodesOf = (encoding: AudioFormat['encoding'], pcm: Int16Array): Int16Array =>
  decodeAudio({ encoding }, encodeAudio({ encoding }, pcm));

describe('PlayoutBuffer', () => {
  it.each(['pcm16', 'mulaw', 'alaw'] as const)('finds loud audio in waiting %s', (encoding) => {
    const loud = inCodesOf(encoding, sound(2_400, 4_000));
    const quiet = inCodesOf(encoding, sound(16_000, 400));
    const buffer = new PlayoutBuffer({ rate: RATE, encoding });
    buffer.play(0, quiet);
    buffer.play(0, loud);
    buffer.play(0, quiet);
    expect(buffer.firstAbove(0, 1_000 ** 2)).toBe(2_040);
    buffer.read(2_100);
    // From what is left of it.
    expect(buffer.firstAbove(2_120, 1_000 ** 2)).toBe(2_180);
    expect(buffer.firstAbove(2_290, 1_000 ** 2)).toBeCloseTo(2_350, 0);
    expect(buffer.firstAbove(2_350, 1_000 ** 2)).toBeNull();
    buffer.clear(2_360);
    buffer.play(5_000, loud);
    expect(buffer.firstAbove(4_000, 1_000 ** 2)).toBe(5_060);
  });
});

describe('a PlayoutBuffer with many arrivals', () => {
  const COUNT = 2_000;

  /** A buffer with that many arrivals of two items in turn, whose reads are counted. */
  function counted() {
    const from = jest.spyOn(ArrivalTable.prototype, 'from');
    const buffer = new PlayoutBuffer({ rate: RATE });
    for (let n = 0; n < COUNT; n++) buffer.play(0, sound(FRAME, 1), 1 + (n % 2));
    return { buffer, looks: () => from.mock.calls.length, forget: () => from.mockClear() };
  }
  afterEach(() => jest.restoreAllMocks());

  it('does not scan them to measure how much of an item was heard', () => {
    const { buffer, looks, forget } = counted();
    for (let at = 20; at <= 20 * (COUNT / 2); at += 20) buffer.read(at);
    forget();
    expect([buffer.heardOfItem(1, 20_000), buffer.heardOfItem(2, 20_010)]).toEqual([10_000, 10_000]);
    expect(looks()).toBeLessThan(20);
  });

  it('does not scan earlier clears to clear more', () => {
    const { buffer, looks, forget } = counted();
    buffer.clear(10, 2);
    forget();
    buffer.play(10, sound(FRAME, 1), 3);
    expect(buffer.clear(20, 3)).toBe(10);
    expect(looks()).toBeLessThan(20);
  });

  it('finds the audio played after a given time, with all of its items', () => {
    const buffer = new PlayoutBuffer({ rate: RATE });
    for (const [n, item] of [1, 2, 3, 2, 4].entries()) buffer.play(n * 20, sound(FRAME, 1), item);
    expect(buffer.arrivalsSince(0)).toEqual(buffer.arrivals);
    expect(buffer.arrivalsSince(60).map(({ item, playedFromMs }) => [item, playedFromMs])).toEqual([
      [2, 20],
      [2, 60],
      [4, 80],
    ]);
    expect(buffer.arrivalsSince(100)).toEqual([]);
  });
});
