import fc from 'fast-check';
import {
  activeLevel,
  amplitudeOf,
  applyGain,
  ClippingMeter,
  dbfs,
  LevelMeter,
  normaliseLevel,
  Random,
  speechBounds,
  tone,
} from './index.js';

const RATE = 8_000;
const join = (...sounds: Int16Array[]): Int16Array => Int16Array.from(sounds.flatMap((sound) => [...sound]));
const silence = (ms: number): Int16Array => new Int16Array(ms * 8);
const noise = (ms: number, level: number, seed = 1): Int16Array => {
  const random = new Random(seed);
  return Int16Array.from({ length: ms * 8 }, () => Math.round(random.gaussian() * amplitudeOf(level)));
};

describe('dbfs', () => {
  it('is 0 for a square wave and -3 for a sine at full scale, -Infinity for silence', () => {
    expect(dbfs(Int16Array.from({ length: 100 }, (_, n) => (n % 2 ? 32_767 : -32_768)))).toBeCloseTo(0, 3);
    expect(dbfs(Int16Array.from({ length: 800 }, (_, n) => 32_767 * Math.sin(n / 4)))).toBeCloseTo(-3.01, 1);
    expect(dbfs(silence(20))).toBe(-Infinity);
    expect(dbfs(new Int16Array(0))).toBe(-Infinity);
  });

  it('is the same when audio arrives in parts', () => {
    const pcm = noise(500, -20);
    const meter = new LevelMeter();
    expect(meter.dbfs).toBeNull();
    for (let at = 0; at < pcm.length; at += 37) meter.push(pcm.subarray(at, at + 37));
    expect(meter.dbfs).toBeCloseTo(dbfs(pcm), 9);
  });
});

describe('activeLevel', () => {
  it('is the RMS level of audio without pauses', () => {
    for (const level of [-15, -26, -40, -55]) {
      expect(Math.abs(activeLevel(noise(5_000, level), RATE) - level)).toBeLessThan(0.3);
    }
  });

  it('does not count long pauses', () => {
    const speech = noise(2_000, -26);
    const withPauses = join(silence(3_000), speech, silence(2_000), speech, silence(5_000));
    // The RMS level is 5.4 dB lower; the hangover of 200 ms per pause remains.
    expect(dbfs(withPauses)).toBeLessThan(-31);
    expect(Math.abs(activeLevel(withPauses, RATE) + 26)).toBeLessThan(0.7);
  });

  it('counts pauses within speech', () => {
    const syllables = join(...Array.from({ length: 20 }, (_, n) => [noise(150, -26, n), silence(150)]).flat());
    expect(Math.abs(activeLevel(syllables, RATE) - dbfs(syllables))).toBeLessThan(0.3);
  });

  it('is hardly changed by a noise floor 40 dB lower', () => {
    const speech = join(noise(2_000, -26), noise(4_000, -66), noise(2_000, -26, 2));
    expect(Math.abs(activeLevel(speech, RATE) + 26)).toBeLessThan(0.7);
  });

  it('moves with the gain', () => {
    fc.assert(
      fc.property(fc.integer({ min: -20, max: 6 }), (db) => {
        const pcm = join(noise(1_000, -26), silence(800), noise(700, -30, 2));
        expect(Math.abs(activeLevel(applyGain(pcm, db), RATE) - activeLevel(pcm, RATE) - db)).toBeLessThan(0.3);
      }),
      { numRuns: 20 },
    );
  });

  it('is -Infinity for silence and finite for a single sample', () => {
    expect(activeLevel(silence(100), RATE)).toBe(-Infinity);
    expect(activeLevel(Int16Array.of(1), RATE)).toBeCloseTo(-90.3, 1);
  });
});

describe('normaliseLevel', () => {
  it('scales speech to the target regardless of its pauses', () => {
    const pcm = join(silence(500), noise(1_000, -40), silence(1_500), noise(1_000, -35, 2));
    expect(Math.abs(activeLevel(normaliseLevel(pcm, RATE, -26), RATE) + 26)).toBeLessThan(0.3);
  });

  it('leaves silence unchanged and clips instead of overflowing', () => {
    expect([...normaliseLevel(silence(20), RATE, -26)]).toEqual([...silence(20)]);
    expect(Math.max(...applyGain(Int16Array.of(20_000, -20_000), 20))).toBe(32_767);
    expect(Math.min(...applyGain(Int16Array.of(20_000, -20_000), 20))).toBe(-32_768);
  });
});

describe('speechBounds', () => {
  it('has the first sample above the threshold and the one after the last', () => {
    const quiet = Math.floor(amplitudeOf(-45));
    expect(speechBounds(Int16Array.of(0, quiet, quiet + 1, 0, -quiet - 1, quiet, 0))).toEqual({ start: 2, end: 5 });
    expect(speechBounds(Int16Array.of(0, quiet, 0), -50)).toEqual({ start: 1, end: 2 });
    expect(speechBounds(silence(20))).toEqual({ start: 0, end: 0 });
  });
});

describe('ClippingMeter', () => {
  const percent = (...samples: number[]): number => {
    const meter = new ClippingMeter();
    // In parts, since runs go across the ends of frames.
    for (let at = 0; at < samples.length; at += 3) meter.push(Int16Array.from(samples.slice(at, at + 3)));
    return meter.percent;
  };

  it('counts runs of three or more samples at full scale', () => {
    expect(percent(0, 0, 32_767, 32_767, 32_124, 32_767, 0, 0)).toBe(50);
    expect(percent(-32_768, -32_768, -32_124, 0)).toBe(75);
  });

  it('does not count peaks, changes of sign, or empty audio', () => {
    expect(percent(0, 32_767, 32_767, 0, 32_767, 0)).toBe(0);
    expect(percent(32_767, 32_767, -32_768, -32_768)).toBe(0);
    expect(percent(32_123, 32_123, 32_123)).toBe(0);
    expect(percent()).toBe(0);
  });

  it('finds clipped speech but not a loud tone', () => {
    const clip = (pcm: Int16Array) => {
      const meter = new ClippingMeter();
      meter.push(pcm);
      return meter.percent;
    };
    expect(clip(tone([400], { rate: RATE, ms: 1_000, dbfs: -4 }))).toBe(0);
    expect(clip(applyGain(tone([400], { rate: RATE, ms: 1_000, dbfs: -4 }), 6))).toBeGreaterThan(30);
  });
});
