import { type CheckSpec, normalise, type ScriptStep } from '../../../evaluation-definition/index.js';
import { sample } from '../../../statistics/testing/sample.js';
import { type CallResult, executeCall, type VoiceOptions } from '../../index.js';
import { rawWire } from '../testing/raw-wire.js';
import { type Cue, cued, prepared } from '../testing/virtual-calls.js';
import { virtualCalls } from './virtual-call.js';

const SOUNDS: VoiceOptions['sounds'] = {
  synthesise: async () => prepared(1_000),
  soundOf: async () => prepared(350),
};

interface Case {
  readonly script: readonly ScriptStep[];
  readonly agent: readonly Cue[];
  readonly check: CheckSpec;
  readonly outcome: 'passed' | 'failed';
}

function call(
  { script, agent, check }: Case,
  stalls: readonly { atMs: number; ms: number; unreadMs?: number }[],
): Promise<CallResult> {
  return executeCall({
    definition: normalise({ script: [...script], checks: [{ ...check, required: true }] }),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({ wire: rawWire, agent: cued(...agent), stalls }),
    voice: { sounds: SOUNDS, voice: 'any', firstSpeaker: 'caller' },
  });
}

/** Two steps of the virtual clock. */
const GAP_MS = 16;

const isOverloaded = ({ outcome, failure }: CallResult) =>
  outcome === 'error' && failure?.code === 'tester_overloaded' && failure.retryable;

/** The outcomes for stalls of a length, one in each call, at moments in steps; or two, between which nothing is read. */
async function scanned(one: Case, ms: number, stepMs: number, isTwice = false): Promise<string[]> {
  const outcomes: string[] = [];
  for (let atMs = 50; atMs < 5_500; atMs += stepMs) {
    const second = { atMs: atMs + ms + GAP_MS, ms };
    const result = await call(one, isTwice ? [{ atMs, ms, unreadMs: GAP_MS }, second] : [{ atMs, ms }]);
    outcomes.push(isOverloaded(result) ? 'tester_overloaded' : result.outcome);
  }
  return outcomes;
}

/** A frame of sound every 20 ms, without those that begin in a gap. */
const streaming = (fromMs: number, untilMs: number, gaps: readonly (readonly [number, number])[] = []): Cue[] =>
  Array.from({ length: (untilMs - fromMs) / 20 }, (_, n) => ({ atMs: fromMs + n * 20, playMs: 20 })).filter(
    ({ atMs }) => !gaps.some(([from, to]) => atMs >= from && atMs < to),
  );

// The first line lasts from 0 to 1,000.
const LINE = { say: 'A table.' };
const BARGE_IN = [LINE, { say: 'Stop!', bargeIn: { afterMs: 1_000 } }];
const COUGH = [LINE, { noise: 'cough', afterMs: 1_000 }] as const;
const LONG_ANSWER = { atMs: 1_500, playMs: 6_000 };
const interruptions: CheckSpec = { type: 'max_interruptions', count: 0 };
const GAPS = [
  [2_000, 2_100],
  [2_600, 2_700],
  [3_200, 3_300],
] as const;

const FAR: Readonly<Record<string, Case>> = {
  'an answer well within the limit': {
    script: [LINE],
    agent: [{ atMs: 1_600, playMs: 1_000 }],
    check: { type: 'max_latency_ms', ms: 1_000, percentile: 100 },
    outcome: 'passed',
  },
  'an answer far beyond the limit': {
    script: [LINE],
    agent: [{ atMs: 2_500, playMs: 1_000 }],
    check: { type: 'max_latency_ms', ms: 900, percentile: 100 },
    outcome: 'failed',
  },
  'an interruption of 800 ms': {
    script: [LINE],
    agent: [{ atMs: 200, playMs: 3_000 }],
    check: interruptions,
    outcome: 'failed',
  },
  'no interruption': {
    script: [LINE, LINE],
    agent: [
      { atMs: 1_600, playMs: 1_000 },
      { atMs: 5_500, playMs: 1_000 },
    ],
    check: interruptions,
    outcome: 'passed',
  },
  'a barge-in that is yielded to at once': {
    script: BARGE_IN,
    agent: [LONG_ANSWER, { atMs: 3_000, clear: true }, { atMs: 4_500, playMs: 1_000 }],
    check: { type: 'yields_within_ms', ms: 1_000 },
    outcome: 'passed',
  },
  'a barge-in that is ignored': {
    script: BARGE_IN,
    agent: [LONG_ANSWER],
    check: { type: 'yields_within_ms', ms: 1_000 },
    outcome: 'failed',
  },
  'speech through a cough': {
    script: COUGH,
    agent: [LONG_ANSWER],
    check: { type: 'keeps_speaking' },
    outcome: 'passed',
  },
  'speech that a cough ends at once': {
    script: COUGH,
    agent: [LONG_ANSWER, { atMs: 2_900, clear: true }],
    check: { type: 'keeps_speaking' },
    outcome: 'failed',
  },
  'speech without gaps': {
    script: [LINE],
    agent: streaming(1_500, 5_500),
    check: { type: 'max_choppiness', perMinute: 3 },
    outcome: 'passed',
  },
};

const NEAR: Readonly<Record<string, Case>> = {
  'an answer just within the limit': {
    script: [LINE],
    agent: [{ atMs: 1_860, playMs: 1_000 }],
    check: { type: 'max_latency_ms', ms: 900, percentile: 100 },
    outcome: 'passed',
  },
  'an interruption of little more than 300 ms': {
    script: [LINE],
    agent: [{ atMs: 640, playMs: 3_000 }],
    check: interruptions,
    outcome: 'failed',
  },
  'a collision just before the time for it ends': {
    script: [LINE, LINE],
    // The second line begins at 3,200.
    agent: [
      { atMs: 1_500, playMs: 1_000 },
      { atMs: 3_600, playMs: 900 },
      { atMs: 5_000, playMs: 1_000 },
    ],
    check: interruptions,
    outcome: 'passed',
  },
  'a barge-in that is yielded to just in time': {
    script: BARGE_IN,
    agent: [LONG_ANSWER, { atMs: 4_400, clear: true }, { atMs: 5_000, playMs: 1_000 }],
    check: { type: 'yields_within_ms', ms: 5_000 },
    outcome: 'passed',
  },
  'speech that a cough ends after almost a second': {
    script: COUGH,
    agent: [LONG_ANSWER, { atMs: 3_420, clear: true }],
    check: { type: 'keeps_speaking' },
    outcome: 'failed',
  },
  'an answer to a noise after almost two seconds': {
    script: [LINE, { noise: 'cough' }],
    // The cough is heard at 3,200.
    agent: [
      { atMs: 1_500, playMs: 1_000 },
      { atMs: 5_100, playMs: 1_000 },
    ],
    check: { type: 'keeps_speaking' },
    outcome: 'failed',
  },
  'three gaps in the speech': {
    script: [LINE],
    agent: streaming(1_500, 5_500, GAPS),
    check: { type: 'max_choppiness', perMinute: 3 },
    outcome: 'failed',
  },
};

const PAUSED = [
  { atMs: 1_600, playMs: 600 },
  { atMs: 2_700, playMs: 600 },
] as const;

/** Times on both sides of their limits, by less than a stall. */
const TIMES: Readonly<Record<string, Case>> = Object.fromEntries(
  (
    [
      ['an answer', [{ atMs: 1_860, playMs: 1_000 }], (ms) => ({ type: 'max_latency_ms', ms, percentile: 100 }), 870],
      ['a pause', PAUSED, (ms) => ({ type: 'max_pause_ms', ms }), 500],
      ['a silence', [{ atMs: 2_500, playMs: 1_000 }], (ms) => ({ type: 'max_silence_ms', ms }), 1_510],
      ['an overlap', [{ atMs: 640, playMs: 3_000 }], (ms) => ({ type: 'max_overlap_ms', ms }), 350],
    ] as readonly (readonly [string, readonly Cue[], (ms: number) => CheckSpec, number])[]
  ).flatMap(([name, agent, checkOf, ms]) => [
    [`${name} just within its limit`, { script: [LINE], agent, check: checkOf(ms + 30), outcome: 'passed' }],
    [`${name} just beyond its limit`, { script: [LINE], agent, check: checkOf(ms - 30), outcome: 'failed' }],
  ]),
);

describe('a stall of 150 ms, whenever it is,', () => {
  it.each(sample(Object.entries(FAR)))('leaves the verdict on %s as it is', async (_name, one) => {
    expect((await call(one, [])).outcome).toBe(one.outcome);
    expect(new Set(await scanned(one, 150, 130))).toEqual(new Set([one.outcome]));
  });

  it.each(sample(Object.entries(NEAR)))(
    'never reverses the verdict on %s, which it may leave undecided',
    async (_name, one) => {
      expect((await call(one, [])).outcome).toBe(one.outcome);
      expect(new Set(await scanned(one, 150, 50))).toEqual(new Set([one.outcome, 'tester_overloaded']));
    },
  );
});

describe('two stalls, 16 ms apart, in between which nothing is read,', () => {
  it.each(sample(Object.entries({ ...FAR, ...NEAR, ...TIMES }), 2))(
    'never reverse the verdict on %s',
    async (_name, one) => {
      expect((await call(one, [])).outcome).toBe(one.outcome);
      const outcomes = [...(await scanned(one, 80, 50, true)), ...(await scanned(one, 150, 90, true))];
      expect(new Set([...outcomes, one.outcome, 'tester_overloaded'])).toEqual(
        new Set([one.outcome, 'tester_overloaded']),
      );
    },
  );
});

describe('a stall of 300 ms', () => {
  it.each(sample(Object.entries({ ...FAR, ...NEAR }), 1))('never reverses the verdict on %s', async (_name, one) => {
    expect(new Set([one.outcome, 'tester_overloaded'])).toEqual(
      new Set([one.outcome, 'tester_overloaded', ...(await scanned(one, 300, 210))]),
    );
  });

  it.each([
    ['the caller’s line', 'no interruption', 300],
    ['the wait for an answer', 'an answer far beyond the limit', 1_200],
    ['the time to yield', 'a barge-in that is ignored', 2_700],
    ['the time after a cough', 'speech through a cough', 2_900],
  ] as const)('inside %s is an error, and the call is repeated', async (_span, name, atMs) => {
    expect(isOverloaded(await call(FAR[name]!, [{ atMs, ms: 300 }]))).toBe(true);
  });

  it.each([
    ['a barge-in that is ignored', 6_500],
    ['speech through a cough', 4_500],
    ['an answer well within the limit', 1_800],
  ] as const)('outside the measured spans decides %s', async (name, atMs) => {
    expect((await call(FAR[name]!, [{ atMs, ms: 300 }])).outcome).toBe(FAR[name]!.outcome);
  });
});
