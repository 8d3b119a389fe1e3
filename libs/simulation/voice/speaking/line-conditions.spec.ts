import fc from 'fast-check';
import { activeLevel, dbfs, normaliseLevel, Random, TELEPHONE_RATE, tone } from '../../../audio/index.js';
import { LineConditionsFilter, type LineConditionsOptions } from './line-conditions.js';
import type { LineConditions } from '../facts/plan.js';

const FRAME = 160;
const random = new Random(5);
const babble = Int16Array.from({ length: 40_000 }, () => random.gaussian() * 500);
const OPTIONS: LineConditionsOptions = { rate: TELEPHONE_RATE, babble, backgroundNoise: false, seed: 7 };

const silence = (frames: number): Int16Array => new Int16Array(frames * FRAME);
const noiseOf = (seed: number): Int16Array => {
  const source = new Random(seed);
  return Int16Array.from({ length: 100 * FRAME }, () => source.gaussian() * 3_000);
};
const speech = normaliseLevel(noiseOf(1), TELEPHONE_RATE, -26);

/** The caller's sound after the line. */
function through(
  conditions: LineConditions,
  {
    caller = silence(100),
    agent = silence(100),
    ...options
  }: Partial<LineConditionsOptions> & {
    caller?: Int16Array;
    agent?: Int16Array;
  } = {},
): Int16Array {
  const filter = new LineConditionsFilter(conditions, { ...OPTIONS, ...options });
  const result = new Int16Array(caller.length);
  for (let at = 0; at < caller.length; at += FRAME) {
    result.set(filter.apply(caller.subarray(at, at + FRAME), agent.subarray(at, at + FRAME)), at);
  }
  return result;
}

describe('LineConditionsFilter', () => {
  it('changes nothing without conditions', () => {
    const conditions: LineConditions[] = [{}, { gainDb: 0, band: 'wide', packetLossPercent: 0, jitterMs: 0 }];
    for (const one of conditions) expect(through(one, { caller: speech, agent: noiseOf(2) })).toEqual(speech);
  });

  it.each(['white', 'pink', 'brown', 'hum', 'babble'] as const)(
    'adds noise of type %s at its distance from the active speech level, in silence too',
    (type) => {
      for (const snrDb of [0, 10, 20]) {
        expect(Math.abs(dbfs(through({ noise: { type, snrDb } })) + 26 + snrDb)).toBeLessThan(
          type === 'brown' ? 1.5 : 0.5,
        );
      }
    },
  );

  it('lays a bed of babble 15 dB under the speech for background noise', () => {
    expect(dbfs(through({}, { rate: TELEPHONE_RATE, backgroundNoise: true }))).toBeCloseTo(-41, 0);
  });

  it('changes speech, noise and background by the gain alike', () => {
    expect(activeLevel(through({ gainDb: -6 }, { caller: speech }), TELEPHONE_RATE)).toBeCloseTo(-32, 0);
    expect(dbfs(through({ gainDb: -6, noise: { type: 'white', snrDb: 10 } }))).toBeCloseTo(-42, 0);
    expect(dbfs(through({ gainDb: -6 }, { rate: TELEPHONE_RATE, backgroundNoise: true }))).toBeCloseTo(-47, 0);
  });

  it('adds the echo of the agent at its own level and time', () => {
    const agent = noiseOf(3);
    const echo = through({ echoDb: -20, gainDb: -6 }, { agent });
    expect(echo).toEqual(agent.map((sample) => Math.round(sample * 0.1)));
  });

  it('limits speech, noise and echo to the telephone band', () => {
    const low = tone([100], { rate: TELEPHONE_RATE, ms: 2_000, dbfs: -26 });
    const options = { caller: low, agent: low };
    expect(dbfs(through({ band: 'telephone', echoDb: -6 }, options))).toBeLessThan(-55);
    const brown = { noise: { type: 'brown', snrDb: 0 } } as const;
    expect(dbfs(through({ band: 'telephone', ...brown }))).toBeLessThan(dbfs(through(brown)) - 5);
  });

  it('clips instead of overflowing', () => {
    const loud = new Int16Array(FRAME).fill(30_000);
    expect([...through({ gainDb: 12 }, { caller: loud })]).toEqual(Array<number>(FRAME).fill(32_767));
  });

  it('repeats with its seed; the seed of the conditions goes before the seed of the call', () => {
    const conditions: LineConditions = {
      ...{ noise: { type: 'pink', snrDb: 15 }, gainDb: -3, echoDb: -30, band: 'telephone' },
      ...{ packetLossPercent: 5, jitterMs: 40 },
    };
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (seed, other) => {
        const result = through({ ...conditions, seed }, { caller: speech, agent: noiseOf(2), seed: other });
        expect(through(conditions, { caller: speech, agent: noiseOf(2), seed })).toEqual(result);
        const [a, b] = [seed, other].map(
          (one) => new LineConditionsFilter({ ...conditions, seed }, { ...OPTIONS, seed: one }),
        );
        for (let n = 0; n < 50; n++) expect([a!.isLost(n), a!.delayMs(n)]).toEqual([b!.isLost(n), b!.delayMs(n)]);
      }),
      { numRuns: 10 },
    );
    expect(through({ ...conditions, seed: 1 })).not.toEqual(through({ ...conditions, seed: 2 }));
  });

  it('loses and delays frames as the conditions say', () => {
    const filter = new LineConditionsFilter({ packetLossPercent: 10, jitterMs: 30 }, OPTIONS);
    const frames = Array.from({ length: 2_000 }, (_, n) => n);
    expect(Math.abs(frames.filter((n) => filter.isLost(n)).length - 200)).toBeLessThan(70);
    const delays = frames.map((n) => filter.delayMs(n));
    expect(Math.max(...delays)).toBeGreaterThan(28);
    expect(Math.max(...delays)).toBeLessThan(30);
    const clean = new LineConditionsFilter({}, OPTIONS);
    expect(frames.some((n) => clean.isLost(n) || clean.delayMs(n) > 0)).toBe(false);
  });

  it('needs babble where it is asked for', () => {
    const message = 'The plan of the call has no babble, although its noise needs it.';
    expect(() => new LineConditionsFilter({}, { rate: TELEPHONE_RATE, backgroundNoise: true, seed: 1 })).toThrow(
      message,
    );
    const conditions: LineConditions = { noise: { type: 'babble', snrDb: 10 } };
    expect(
      () => new LineConditionsFilter(conditions, { rate: TELEPHONE_RATE, backgroundNoise: false, seed: 1 }),
    ).toThrow(message);
  });
});
