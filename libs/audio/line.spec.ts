import fc from 'fast-check';
import {
  dbfs,
  Hum,
  Loop,
  Noise,
  NOISE_COLOURS,
  PacketSchedule,
  Random,
  saturate,
  type SoundSource,
  TelephoneBandFilter,
  tone,
} from './index.js';

const RATE = 8_000;
const random = (seed = 1) => new Random(seed, 'test');

/** Sound of a source in frames of 160 samples. */
function listen(source: SoundSource, frames: number): Int16Array {
  const pcm = new Int16Array(frames * 160);
  for (let at = 0; at < pcm.length; at += 160) {
    const frame = new Float64Array(160);
    source.addTo(frame);
    pcm.set(Array.from(frame, saturate), at);
  }
  return pcm;
}

const COSINE = Float64Array.from({ length: 400 }, (_, n) => Math.cos((2 * Math.PI * n) / 400));

/** Level of the sound from `low` to `high` Hz, by the discrete Fourier transform of blocks of 400 samples (20 Hz each). */
function bandLevel(pcm: Int16Array, low: number, high: number): number {
  let power = 0;
  const blocks = Math.floor(pcm.length / 400);
  for (let block = 0; block < blocks; block++) {
    for (let bin = low / 20; bin < high / 20; bin++) {
      let [real, imaginary] = [0, 0];
      for (let n = 0; n < 400; n++) {
        const value = pcm[block * 400 + n]! * (1 - COSINE[n]!);
        real += value * COSINE[(bin * n) % 400]!;
        imaginary += value * COSINE[(bin * n + 300) % 400]!;
      }
      power += real * real + imaginary * imaginary;
    }
  }
  return 10 * Math.log10(power / blocks);
}

describe('Noise', () => {
  it.each(NOISE_COLOURS)('of colour %s has the given level', (colour) => {
    for (const level of [-30, -46, -56]) {
      const pcm = listen(new Noise(colour, { dbfs: level, random: random() }), 1_000);
      // The energy of brown noise is in few, slow waves.
      expect(Math.abs(dbfs(pcm) - level)).toBeLessThan(colour === 'brown' ? 0.8 : 0.3);
    }
  });

  it.each(NOISE_COLOURS)('of colour %s repeats only with the same seed', (colour) => {
    const pcm = (seed: number) => listen(new Noise(colour, { dbfs: -46, random: random(seed) }), 20);
    expect(pcm(1)).toEqual(pcm(1));
    expect(pcm(2)).not.toEqual(pcm(1));
  });

  it.each([
    // An octave is twice as wide as the one below, hence 3 dB more for white noise.
    ['white', 3],
    ['pink', 0],
    ['brown', -3],
  ] as const)('of colour %s has octaves with a difference of %d dB', (colour, difference) => {
    const pcm = listen(new Noise(colour, { dbfs: -20, random: random() }), 250);
    const octaves = [200, 400, 800, 1_600].map((low) => bandLevel(pcm, low, 2 * low));
    octaves.slice(1).forEach((level, n) => expect(Math.abs(level - octaves[n]! - difference)).toBeLessThan(1.2));
  });

  it('has its level from the first frame on', () => {
    const first = Array.from({ length: 300 }, (_, seed) => {
      const frame = new Float64Array(1);
      new Noise('brown', { dbfs: -20, random: random(seed) }).addTo(frame);
      return saturate(frame[0]!);
    });
    expect(Math.abs(dbfs(Int16Array.from(first)) + 20)).toBeLessThan(1);
  });
});

describe('Hum', () => {
  it('has its level and nothing but multiples of 50 Hz up to 600 Hz', () => {
    const pcm = listen(new Hum({ rate: RATE, dbfs: -40, random: random() }), 100);
    expect(Math.abs(dbfs(pcm) + 40)).toBeLessThan(0.05);
    expect(pcm.slice(0, 160)).toEqual(pcm.slice(1_600, 1_760));
    expect(bandLevel(pcm, 700, 4_000) - bandLevel(pcm, 40, 640)).toBeLessThan(-40);
  });
});

describe('Loop', () => {
  it('repeats its sound at the given level from a random position on', () => {
    const sound = Int16Array.from({ length: 1_000 }, (_, n) => 10 * (n + 1));
    const pcm = listen(new Loop(sound, { dbfs: dbfs(sound), random: random() }), 20);
    const start = pcm[0]! / 10 - 1;
    expect(start).toBeGreaterThan(0);
    expect([...pcm]).toEqual([...pcm].map((_, n) => sound[(start + n) % 1_000]));
    expect(dbfs(listen(new Loop(sound, { dbfs: -40, random: random() }), 100))).toBeCloseTo(-40, 1);
  });

  it('rejects silence', () => {
    expect(() => new Loop(new Int16Array(9), { dbfs: -40, random: random() })).toThrow(RangeError);
  });
});

describe('TelephoneBandFilter', () => {
  const through = (pcm: Int16Array, length = 160): Int16Array => {
    const filter = new TelephoneBandFilter(RATE);
    const result = new Int16Array(pcm.length);
    for (let at = 0; at < pcm.length; at += length) {
      const frame = Float64Array.from(pcm.subarray(at, at + length));
      filter.apply(frame);
      result.set(Array.from(frame, saturate), at);
    }
    return result;
  };
  const gainAt = (hz: number): number => {
    const pcm = tone([hz], { rate: RATE, ms: 1_000, dbfs: -10 });
    return dbfs(through(pcm).subarray(1_000)) - dbfs(pcm.subarray(1_000));
  };

  it('passes 400 to 3,200 Hz, is 3 dB down at its limits, and blocks what lies outside', () => {
    for (const hz of [450, 1_000, 2_000, 3_000, 3_200]) expect(Math.abs(gainAt(hz))).toBeLessThan(0.7);
    for (const hz of [300, 3_400]) expect(Math.abs(gainAt(hz) + 3)).toBeLessThan(0.3);
    expect(gainAt(100)).toBeLessThan(-35);
    expect(gainAt(3_800)).toBeLessThan(-30);
  });

  it('does not depend on the length of the frames', () => {
    const pcm = listen(new Noise('white', { dbfs: -20, random: random() }), 4);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 640 }), (length) => {
        expect(through(pcm, length)).toEqual(through(pcm));
      }),
      { numRuns: 30 },
    );
  });
});

describe('PacketSchedule', () => {
  const schedule = (seed: number, lossPercent: number, jitterMs: number) =>
    new PacketSchedule({ seed, lossPercent, jitterMs, packetMs: 20 });
  const packets = Array.from({ length: 5_000 }, (_, n) => n);

  it.each([0, 1, 5, 20, 100])('loses %d %% of the packets', (percent) => {
    const lost = packets.filter((n) => schedule(1, percent, 0).isLost(n)).length;
    // Five standard deviations.
    const tolerance = 5 * Math.sqrt((5_000 * percent * (100 - percent)) / 1e4);
    expect(Math.abs(lost - 50 * percent)).toBeLessThanOrEqual(tolerance);
  });

  it('loses packets independently of each other', () => {
    const line = schedule(3, 20, 0);
    const pairs = packets.filter((n) => line.isLost(n) && line.isLost(n + 1)).length;
    expect(Math.abs(pairs - 200)).toBeLessThan(60);
  });

  it('delays each packet by less than the jitter and keeps their order', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 200 }), (seed, jitterMs) => {
        const line = schedule(seed, 0, jitterMs);
        let before = 0;
        for (let n = 0; n < 50; n++) {
          const delay = line.delayMs(n);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThan(jitterMs);
          expect(n * 20 + delay).toBeGreaterThanOrEqual(before);
          before = n * 20 + delay;
        }
      }),
    );
    expect(schedule(1, 0, 0).delayMs(7)).toBe(0);
  });

  it('has delays over the whole range, also of packets that are lost', () => {
    const delays = packets.map((n) => schedule(1, 50, 20).delayMs(n));
    expect(Math.min(...delays)).toBeLessThan(1);
    expect(Math.max(...delays)).toBeGreaterThan(19);
    expect(delays.reduce((sum, delay) => sum + delay) / delays.length).toBeCloseTo(10, 0);
  });

  it('repeats with its seed, in any order', () => {
    const facts = (order: readonly number[], seed: number) => {
      const line = schedule(seed, 10, 50);
      return new Map(order.map((n) => [n, [line.isLost(n), line.delayMs(n)]]));
    };
    const backwards = facts(packets.toReversed(), 4);
    facts(packets, 4).forEach((fact, n) => expect(backwards.get(n)).toEqual(fact));
    expect(facts(packets, 5)).not.toEqual(facts(packets, 4));
  });
});
