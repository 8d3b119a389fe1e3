import { authored } from '../../../../libs/evaluation-definition/index.js';
import {
  type Attempt,
  afterAttempt,
  attemptOf,
  type CallOptions,
  type CallResult,
  executeCall,
  type Clock,
  type Transport,
} from '../../../../libs/simulation/index.js';
import {
  EVALUATION_KEYS,
  type EvaluationKey,
  type Expectation,
  expectationOf,
  FAULT_NAMES,
  type FaultName,
  referenceEvaluations,
} from '../index.js';

/** Faults that can be planted, and the healthy agent. */
export const AGENTS: readonly (FaultName | undefined)[] = [undefined, ...FAULT_NAMES];

/** One call of the accuracy measurement. */
export interface Trial {
  readonly fault: FaultName | undefined;
  readonly key: EvaluationKey;
  /** Counts from 0; varies details that must not affect the outcome. */
  readonly repetition: number;
}

export interface Tried extends Trial {
  readonly expected: Expectation;
  readonly result: CallResult;
  /** Whether the planted fault is the only reason of a failed call. */
  readonly isRightReason: boolean;
}

/** Protocols of platforms, whose status does not say whose error it is. */
const PLATFORM = /^(retell|vapi)-/;

const evaluations = new Map(
  referenceEvaluations('c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251').map((input) => [input.key, authored(input, '')]),
);

/** Every evaluation with every agent, `repetitions` times. */
export function trials(repetitions: number): Trial[] {
  return AGENTS.flatMap((fault) =>
    EVALUATION_KEYS.flatMap((key) =>
      Array.from({ length: repetitions }, (_, repetition) => ({ fault, key, repetition })),
    ),
  );
}

/** Executes a call with its retries, and compares the result with the planted fault. */
export async function executeTrial(trial: Trial, transport: Transport, clock: Clock): Promise<Tried> {
  const definition = evaluations.get(trial.key)!;
  const { scenarioText } = definition;
  const result = await untilEnd({
    definition,
    scenario: { scenarioText },
    personality: { name: 'Plain' },
    transport,
    clock,
  });
  const expected = expectationOf(trial.fault, trial.key);
  return { ...trial, expected, result, isRightReason: isRightReason(expected, result, PLATFORM.test(transport.name)) };
}

/** Executes a call with its retries. */
export async function untilEnd(options: CallOptions & { readonly clock: Clock }): Promise<CallResult> {
  const earlier: Attempt[] = [];
  for (;;) {
    const startedAt = new Date().toISOString();
    const result = await executeCall(options);
    const after = afterAttempt(result, earlier);
    if (after.next === 'end') return after.result;
    earlier.push(attemptOf(result, { startedAt, endedAt: new Date().toISOString() }));
    await options.clock.sleep(after.delayMs);
  }
}

function isRightReason(
  expected: Expectation,
  { outcome, failure, checks, end }: CallResult,
  isOverPlatform: boolean,
): boolean {
  if (expected.outcome === 'passed' || outcome !== 'failed') return false;
  if ('failure' in expected) {
    const isOwn = expected.failure !== 'agent_status' || !isOverPlatform;
    return failure?.code === (isOwn ? expected.failure : 'http_status');
  }
  if (failure || (expected.endCode === 'agent_silent') !== (end.code === 'agent_silent')) return false;
  const failed = checks.filter(({ met }) => met === false).map(({ name }) => name);
  const allowed: readonly string[] = [...expected.fails, ...(expected.mayFail ?? [])];
  return expected.fails.every((name) => failed.includes(name)) && failed.every((name) => allowed.includes(name));
}

/** Results of the tester with one agent, or with all. */
export interface Tally {
  readonly calls: number;
  readonly wanted: { readonly failed: number; readonly passed: number };
  readonly found: { readonly failed: number; readonly passed: number; readonly uncounted: number };
  /** Calls that had to fail and failed; `rightReason` counts those with the planted reason. */
  readonly rightlyFailed: number;
  readonly rightReason: number;
}

export function tally(tried: readonly Tried[]): Tally {
  const count = (holds: (one: Tried) => boolean) => tried.filter(holds).length;
  const found = {
    failed: count(({ result }) => result.outcome === 'failed'),
    passed: count(({ result }) => result.outcome === 'passed'),
  };
  return {
    calls: tried.length,
    wanted: {
      failed: count(({ expected }) => expected.outcome === 'failed'),
      passed: count(({ expected }) => expected.outcome === 'passed'),
    },
    found: { ...found, uncounted: tried.length - found.failed - found.passed },
    rightlyFailed: count(({ expected, result }) => expected.outcome === 'failed' && result.outcome === 'failed'),
    rightReason: count(({ isRightReason }) => isRightReason),
  };
}

export interface Accuracy {
  /** Precision: share of the `failed` calls that had to fail. Recall: share of the calls that had to fail and are `failed`. */
  readonly precision: number;
  readonly recall: number;
  /** The same for calls that are `failed` for the planted reason. */
  readonly reasonPrecision: number;
  readonly reasonRecall: number;
}

export function accuracyOf({ wanted, found, rightlyFailed, rightReason }: Tally): Accuracy {
  // No calls means no mistakes.
  const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);
  return {
    precision: share(rightlyFailed, found.failed),
    recall: share(rightlyFailed, wanted.failed),
    reasonPrecision: share(rightReason, found.failed),
    reasonRecall: share(rightReason, wanted.failed),
  };
}

/** Whether precision and recall are 100 %, all reasons are right, and every call is counted. */
export const isPerfect = (all: Tally): boolean =>
  all.found.uncounted === 0 && Object.values(accuracyOf(all)).every((share) => share === 1);
