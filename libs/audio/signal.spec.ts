import fc from 'fast-check';
import { dbfs, dtmfTone, mix, peaks, Random, resample, tone } from './index.js';

/** RMS level of one frequency in dBFS (Goertzel). */
function levelAt(pcm: Int16Array, hz: number, rate: number): number {
  let [real, imaginary] = [0, 0];
  pcm.forEach((sample, n) => {
    real += sample * Math.cos((2 * Math.PI * hz * n) / rate);
    imaginary += sample * Math.sin((2 * Math.PI * hz * n) / rate);
  });
  return 20 * Math.log10((Math.SQRT2 * Math.hypot(real, imaginary)) / pcm.length / 32_768);
}

describe('resample', () => {
  const RATES: [number, number][] = [
    [24_000, 8_000],
    [22_050, 8_000],
    [16_000, 8_000],
    [44_100, 8_000],
    [48_000, 16_000],
    [8_000, 16_000],
    [8_000, 24_000],
  ];

  it.each(RATES)('keeps tones of the telephone band from %d to %d Hz', (from, to) => {
    for (const hz of [300, 1_000, 3_300]) {
      const result = resample(tone([hz], { rate: from, ms: 1_000, dbfs: -20 }), from, to);
      expect(result).toHaveLength(to);
      expect(Math.abs(levelAt(result, hz, to) + 20)).toBeLessThan(0.2);
    }
  });

  it.each(RATES.filter(([from, to]) => from > to))(
    'suppresses frequencies that would fold back from %d to %d Hz',
    (from, to) => {
      const above = tone([to * 0.55], { rate: from, ms: 1_000, dbfs: -10 });
      expect(dbfs(resample(above, from, to))).toBeLessThan(-70);
    },
  );

  it('adds no images when it raises the rate', () => {
    const result = resample(tone([3_000], { rate: 8_000, ms: 1_000, dbfs: -10 }), 8_000, 16_000);
    expect(levelAt(result, 5_000, 16_000)).toBeLessThan(-75);
  });

  it('does not move audio in time', () => {
    const pulse = new Int16Array(2_400);
    pulse[1_200] = 20_000;
    const result = resample(pulse, 24_000, 8_000);
    expect(result.indexOf(Math.max(...result))).toBe(400);
  });

  it('keeps a constant, has the rounded length, and returns the same audio for the same rate', () => {
    const rate = fc.constantFrom(8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_000 }), rate, rate, (length, from, to) => {
        const result = resample(new Int16Array(length).fill(1_000), from, to);
        expect(result).toHaveLength(Math.round((length * to) / from));
        const inner = result.slice(100 * Math.max(1, to / from), -100 * Math.max(1, to / from));
        expect(inner.filter((sample) => Math.abs(sample - 1_000) > 1)).toHaveLength(0);
        if (from === to) expect(result).toEqual(new Int16Array(length).fill(1_000));
      }),
    );
  });
});

describe('Random', () => {
  const draw = (seed: number, stream?: string) => {
    const random = new Random(seed, stream);
    return Array.from({ length: 1_000 }, () => random.next());
  };

  it('repeats only with the same seed and stream', () => {
    expect(draw(1, 'loss')).toEqual(draw(1, 'loss'));
    expect(draw(1, 'loss')).not.toEqual(draw(2, 'loss'));
    expect(draw(1, 'loss')).not.toEqual(draw(1, 'noise'));
  });

  it('has the moments of its distributions', () => {
    const random = new Random(7);
    const uniform = Array.from({ length: 100_000 }, () => random.next());
    expect(uniform.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(uniform.reduce((sum, value) => sum + value) / 1e5).toBeCloseTo(0.5, 2);
    const normal = Array.from({ length: 100_000 }, () => random.gaussian());
    expect(normal.reduce((sum, value) => sum + value) / 1e5).toBeCloseTo(0, 1);
    expect(normal.reduce((sum, value) => sum + value * value) / 1e5).toBeCloseTo(1, 1);
    expect(normal.filter((value) => Math.abs(value) > 1.96).length / 1e5).toBeCloseTo(0.05, 2);
    const between = Array.from({ length: 100 }, () => random.between(-3, 5));
    expect(between.every((value) => value >= -3 && value < 5)).toBe(true);
  });
});

describe('dtmfTone', () => {
  it.each([...'0123456789*#ABCD'])('has the two frequencies of key %s and no other', (key) => {
    const row = ['123A', '456B', '789C', '*0#D'].findIndex((keys) => keys.includes(key));
    const column = ['147*', '2580', '369#', 'ABCD'].findIndex((keys) => keys.includes(key));
    const pcm = dtmfTone(key, { rate: 8_000 });
    expect(pcm).toHaveLength(800);
    const levels = [697, 770, 852, 941, 1_209, 1_336, 1_477, 1_633].map((hz) => levelAt(pcm, hz, 8_000));
    const loud = levels.flatMap((level, n) => (level > -18 ? [n] : []));
    expect(loud).toEqual([row, 4 + column]);
    expect(Math.max(...levels.filter((_, n) => !loud.includes(n)))).toBeLessThan(-30);
  });

  it.each(['', '12', 'x', 'E'])('rejects "%s"', (key) => {
    expect(() => dtmfTone(key, { rate: 8_000 })).toThrow(RangeError);
  });
});

describe('mix', () => {
  it('adds sounds of different lengths and clips at full scale', () => {
    const sum = mix(Int16Array.of(1, 30_000, -30_000), Int16Array.of(2, 30_000, -30_000, 4));
    expect([...sum]).toEqual([3, 32_767, -32_768, 4]);
    expect(mix()).toHaveLength(0);
  });
});

describe('peaks', () => {
  it('has the smallest and largest sample of each bucket', () => {
    fc.assert(
      fc.property(fc.int16Array({ maxLength: 100 }), fc.integer({ min: 1, max: 20 }), (pcm, size) => {
        const buckets = Array.from({ length: Math.ceil(pcm.length / size) }, (_, n) => [
          ...pcm.slice(n * size, (n + 1) * size),
        ]);
        expect([...peaks(pcm, size)]).toEqual(buckets.flatMap((one) => [Math.min(...one), Math.max(...one)]));
      }),
    );
  });
});
