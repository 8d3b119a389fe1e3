import fc from 'fast-check';
import { AUDIO_RATES, LINE_RATES, resample, StreamResampler } from './index.js';
import { cut } from './testing/cut.js';

/** From each rate of a platform to each rate of a line, and back. */
const PAIRS = AUDIO_RATES.flatMap((rate) =>
  LINE_RATES.flatMap((line) => [
    [rate, line] as const,
    ...(LINE_RATES.some((one) => one === rate) ? [] : [[line, rate] as const]),
  ]),
);
const samples = (maxLength: number) => fc.int16Array({ maxLength });

describe('StreamResampler', () => {
  it.each(PAIRS)('from %d to %d Hz returns the samples of the whole sound, no matter how it was cut', (from, to) => {
    const resampler = new StreamResampler(from, to);
    fc.assert(
      fc.property(samples(1_200), fc.array(fc.nat(), { maxLength: 12 }), (pcm, places) => {
        const parts = [...cut(pcm, places).map((part) => resampler.push(part)), resampler.flush()];
        expect(parts.flatMap((part) => [...part])).toEqual([...resample(pcm, from, to)]);
      }),
      { numRuns: 40 },
    );
  });

  it.each(PAIRS)('from %d to %d Hz holds back no more than its delay, a few milliseconds', (from, to) => {
    const resampler = new StreamResampler(from, to);
    expect(resampler.delay).toBeLessThanOrEqual(from === to ? 0 : Math.ceil(32.5 * Math.max(1, to / from)));
    let [received, returned] = [0, 0];
    for (const length of [1, 10, 1_000, 7, 0, 480, 441]) {
      received += length;
      returned += resampler.push(new Int16Array(length)).length;
      const total = Math.round((received * to) / from);
      expect(total - returned).toBeGreaterThanOrEqual(0);
      expect(total - returned).toBeLessThanOrEqual(resampler.delay);
    }
    const total = Math.round((received * to) / from);
    expect(resampler.flush()).toHaveLength(total - returned);
  });

  it('returns as much audio as it receives from the second frame of 20 ms on', () => {
    const resampler = new StreamResampler(8_000, 24_000);
    const lengths = Array.from({ length: 4 }, () => resampler.push(new Int16Array(160)).length);
    expect(lengths).toEqual([480 - resampler.delay, 480, 480, 480]);
  });

  it('begins a new sound after a flush', () => {
    const resampler = new StreamResampler(24_000, 8_000);
    const pcm = Int16Array.from({ length: 700 }, (_, n) => 10_000 * Math.sin(n));
    const first = [...resampler.push(pcm), ...resampler.flush()];
    expect(resampler.flush()).toHaveLength(0);
    expect([...resampler.push(pcm), ...resampler.flush()]).toEqual(first);
  });

  it('keeps no reference to pushed samples, which may be reused', () => {
    const resampler = new StreamResampler(16_000, 8_000);
    const frame = new Int16Array(320).fill(5_000);
    const first = resampler.push(frame);
    frame.fill(0);
    const all = [...first, ...resampler.flush()];
    expect(all).toEqual([...resample(new Int16Array(320).fill(5_000), 16_000, 8_000)]);
  });
});
