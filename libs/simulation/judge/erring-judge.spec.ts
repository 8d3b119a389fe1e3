import type { LanguageModel, TimelineEntry } from '../index.js';
import { ModelMeter } from '../measures/tester-usage.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { Judge, type JudgeSamples } from './judge.js';

const ENTRIES: TimelineEntry[] = [
  { type: 'speech', speaker: 'agent', text: 'Your table is booked.', start: 0, end: 0, turn: 1 },
];
const TRUE = 'A true statement';
const FALSE = 'A false statement';

/** Mulberry32: a small generator of random numbers in [0, 1). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Share of wrong verdicts on statements of this kind, by a model that errs at this rate. */
async function wrongShare(text: string, errorRate: number, samples: JudgeSamples, count = 4_000): Promise<number> {
  const random = seeded(14);
  const ask = async (messages: readonly { readonly content: string }[]) => {
    const met = messages[1]!.content.includes(TRUE) !== random() < errorRate;
    return JSON.stringify({ met, quote: 'Your table is booked', reasoning: 'So it is.' });
  };
  const judge = new Judge({
    model: { ask } as unknown as LanguageModel,
    entries: ENTRIES,
    scenario: { scenarioText: '' },
    clock: new VirtualClock(),
    signal: new AbortController().signal,
    meter: new ModelMeter(undefined),
    samples,
  });
  const results = await judge.statements(Array.from({ length: count }, () => ({ text })));
  const right = text === TRUE ? 'met' : 'not_met';
  return results.filter(({ verdict }) => verdict !== right).length / count;
}

describe('a judge that errs in 20 % of its answers', () => {
  it.each([TRUE, FALSE])('gives at most 12 %% wrong verdicts on: %s', async (text) => {
    const share = await wrongShare(text, 0.2, 3);
    expect(share).toBeLessThanOrEqual(0.12);
    // Two of three independent answers are wrong with 3 × 0.2² × 0.8 + 0.2³ = 10.4 %.
    expect(share).toBeGreaterThan(0.09);
  });

  it('is wrong in 20 % of its verdicts if asked once', async () => {
    for (const text of [TRUE, FALSE]) expect(await wrongShare(text, 0.2, 1)).toBeGreaterThan(0.18);
  });
});
