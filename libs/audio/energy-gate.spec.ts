import fc from 'fast-check';
import {
  amplitudeOf,
  applyGain,
  dbfs,
  EnergyGate,
  LINE_RATES,
  mix,
  Noise,
  NOISE_COLOURS,
  Random,
  resample,
  tone,
} from './index.js';

const RATE = 8_000;
const FRAME = 160;

const silence = (ms: number): Int16Array => new Int16Array(ms * 8);
const join = (...sounds: Int16Array[]): Int16Array => {
  const joined = new Int16Array(sounds.reduce((length, sound) => length + sound.length, 0));
  let at = 0;
  for (const sound of sounds) {
    joined.set(sound, at);
    at += sound.length;
  }
  return joined;
};

/** Samples of equal magnitude with alternating sign: their first and last sample are unmistakable. */
const burst = (samples: number, amplitude: number): Int16Array =>
  Int16Array.from({ length: samples }, (_, n) => (n % 2 ? -amplitude : amplitude));

const whiteNoise = (ms: number, level: number, seed = 1): Int16Array => {
  const random = new Random(seed);
  return Int16Array.from({ length: ms * 8 }, () => random.gaussian() * amplitudeOf(level));
};

/** Harmonics of a voice in syllables of 4 Hz that fall by more than 30 dB, and a stop of 100 ms each second. */
function speechLike(ms: number, level: number, seed = 1): Int16Array {
  const random = new Random(seed);
  const pitch = random.between(90, 220);
  const raw = Int16Array.from({ length: ms * 8 }, (_, n) => {
    const seconds = n / RATE;
    const syllable = Math.sin(Math.PI * 4 * seconds) ** 4;
    const isStop = seconds % 1 > 0.68 && seconds % 1 < 0.78;
    const voice = [1, 2, 3, 5, 8].reduce((sum, k) => sum + Math.sin(2 * Math.PI * pitch * k * seconds) / k, 0);
    return isStop ? 0 : 6_000 * (0.02 + syllable) * voice;
  });
  return applyGain(raw, level - dbfs(raw));
}

/** Onset and end of each sound in milliseconds. */
function soundsIn(pcm: Int16Array, { wasPlayed = true, rate = RATE } = {}): [number, number][] {
  const gate = new EnergyGate(rate);
  const frame = rate / 50;
  const found: [number, number][] = [];
  const add = (event: ReturnType<EnergyGate['push']>) => {
    if (event?.type === 'end') found.push([event.onsetMs, event.atMs]);
  };
  for (let at = 0; at + frame <= pcm.length; at += frame) add(gate.push(pcm.subarray(at, at + frame), wasPlayed));
  add(gate.finish());
  return found;
}

describe('EnergyGate', () => {
  it('dates onset and end to the first and last active sample, at any position in their frames', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2_000 }),
        fc.integer({ min: 800, max: 4_000 }),
        fc.integer({ min: 500, max: 30_000 }),
        (start, length, amplitude) => {
          const pcm = join(new Int16Array(start), burst(length, amplitude), silence(300));
          expect(soundsIn(pcm)).toEqual([[start / 8, (start + length) / 8]]);
        },
      ),
    );
  });

  it('opens after 60 active milliseconds and closes after 200 silent ones', () => {
    const gate = new EnergyGate(RATE);
    const events = [3, 10, 10].map((frames, n) => {
      const frame = n === 1 ? silence(20) : burst(FRAME, 1_000);
      return Array.from({ length: frames }, () => gate.push(frame, true)?.type ?? '-').join(' ');
    });
    expect(events).toEqual(['- - onset', '- - - - - - - - - end', '- - onset - - - - - - -']);
  });

  it('ignores clicks of up to 40 ms', () => {
    expect(soundsIn(join(silence(200), burst(320, 10_000), silence(400)))).toEqual([]);
  });

  it('ignores audio below -55 dBFS, and hears louder audio', () => {
    expect(soundsIn(tone([440], { rate: RATE, ms: 500, dbfs: -56 }))).toEqual([]);
    expect(soundsIn(tone([440], { rate: RATE, ms: 500, dbfs: -54 }))).toHaveLength(1);
  });

  it('does not hear a constant, such as zero bytes as mu-law', () => {
    expect(soundsIn(new Int16Array(8_000).fill(-32_124))).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5])('does not cut modulated sound into pieces (seed %d)', (seed) => {
    const pcm = join(silence(500), speechLike(10_000, -26, seed), silence(500));
    const found = soundsIn(pcm);
    expect(found).toHaveLength(1);
    expect(Math.abs(found[0]![0] - 500)).toBeLessThan(60);
    expect(Math.abs(found[0]![1] - 10_500)).toBeLessThan(60);
  });

  it('does not close during a constant tone above the largest floor', () => {
    const found = soundsIn(join(silence(500), tone([440], { rate: RATE, ms: 30_000, dbfs: -30 }), silence(500)));
    expect(found).toHaveLength(1);
    expect(found[0]![1] - found[0]![0]).toBeGreaterThan(29_990);
  });

  it.each([1, 2, 3, 4, 5])('finds each utterance over noise 20 dB below it (seed %d)', (seed) => {
    const spans = [1_500, 5_000, 8_000, 12_000];
    const speech = join(
      ...spans.flatMap((start, n) => [
        silence(start - (n === 0 ? 0 : spans[n - 1]! + 2_000)),
        speechLike(2_000, -26, seed + n),
      ]),
      silence(1_000),
    );
    const found = soundsIn(mix(speech, whiteNoise(speech.length / 8, -46, seed)));
    // The noise is only known after a second; what it made of the start has no length.
    expect(found[0]).toEqual([expect.closeTo(0, 0), expect.closeTo(0, 0)]);
    expect(found).toHaveLength(1 + spans.length);
    spans.forEach((start, n) => {
      expect(Math.abs(found[n + 1]![0] - start)).toBeLessThan(90);
      expect(Math.abs(found[n + 1]![1] - start - 2_000)).toBeLessThan(90);
    });
  });

  it('ends speech at its last active frame if noise that began with it continues', () => {
    const pcm = mix(speechLike(2_000, -26), whiteNoise(6_000, -46));
    const found = soundsIn(pcm);
    expect(found).toHaveLength(1);
    expect(Math.abs(found[0]![1] - 2_000)).toBeLessThan(90);
  });

  it.each(NOISE_COLOURS)(
    'dates speech again when %s noise that began before it turns out to be background',
    (colour) => {
      for (let seed = 1; seed <= 4; seed++) {
        const noise = new Float64Array(6_000 * 8);
        new Noise(colour, { dbfs: -46, random: new Random(seed) }).addTo(noise);
        const found = soundsIn(mix(join(silence(400), speechLike(2_000, -26, seed)), Int16Array.from(noise)));
        expect(found).toHaveLength(1);
        expect(Math.abs(found[0]![0] - 400)).toBeLessThan(90);
        expect(Math.abs(found[0]![1] - 2_400)).toBeLessThan(90);
      }
    },
  );

  it('does not learn the noise floor from silence that was not played', () => {
    const hiss = whiteNoise(5_000, -57);
    const quiet = tone([440], { rate: RATE, ms: 500, dbfs: -52 });
    expect(soundsIn(join(hiss, quiet), { wasPlayed: false })).toHaveLength(1);
    expect(soundsIn(join(hiss, quiet), { wasPlayed: true })).toEqual([]);
  });

  it('hears speech again soon after noise has stopped', () => {
    const pcm = join(whiteNoise(5_000, -45), silence(400), tone([440], { rate: RATE, ms: 500, dbfs: -50 }));
    expect(soundsIn(pcm)).toHaveLength(2);
  });

  it('reports the level of active frames', () => {
    const gate = new EnergyGate(RATE);
    const frames = [...Array<Int16Array>(20).fill(burst(FRAME, 3_277)), ...Array<Int16Array>(10).fill(silence(20))];
    const event = frames.map((frame) => gate.push(frame, true)).find((one) => one?.type === 'end');
    expect(event).toMatchObject({ onsetMs: 0, atMs: 400, dbfs: expect.closeTo(-20, 2), frames: 20 });
  });

  it('ends an open sound at the end of the call', () => {
    const gate = new EnergyGate(RATE);
    for (let n = 0; n < 5; n++) gate.push(burst(FRAME, 1_000), true);
    expect(gate.onsetMs).toBe(0);
    expect(gate.finish()).toMatchObject({ type: 'end', atMs: 100 });
    expect(gate.finish()).toBeNull();
  });

  it('reports whether audio of any length is active at present', () => {
    const gate = new EnergyGate(RATE);
    expect(gate.isActive(burst(20, 100))).toBe(true);
    expect(gate.isActive(burst(20, 30))).toBe(false);
    expect(gate.isActive(new Int16Array(0))).toBe(false);
  });

  it.each([
    ['a tone', tone([440], { rate: RATE, ms: 777, dbfs: -30 })],
    ['speech', speechLike(3_011, -26)],
    ['speech over noise', mix(speechLike(3_011, -26), whiteNoise(3_011, -46))],
    ['noise', whiteNoise(503, -35)],
  ])('dates %s alike at each rate of a line, within 1 ms', (_what, pcm) => {
    const whole = join(silence(333), pcm, silence(400), pcm, silence(299));
    const [first, ...others] = LINE_RATES.map((rate) => soundsIn(resample(whole, RATE, rate), { rate }));
    expect(first).toHaveLength(2);
    for (const found of others) {
      expect(found).toHaveLength(2);
      found.flat().forEach((ms, n) => expect(Math.abs(ms - first!.flat()[n]!)).toBeLessThanOrEqual(1));
    }
  });

  it.each([0, 11_025, 22_050, 48_000])('rejects sound at %d Hz', (rate) => {
    expect(() => new EnergyGate(rate)).toThrow(
      new RangeError(`The energy gate needs sound at 8000, 16000, 24000 Hz, not ${rate}.`),
    );
  });

  it('rejects frames of another length', () => {
    expect(() => new EnergyGate(RATE).push(new Int16Array(80), true)).toThrow(
      new RangeError('The energy gate needs frames of 160 samples, not 80.'),
    );
  });
});
