import { authored } from '../../evaluation-definition/index.js';
import {
  type Attempt,
  afterAttempt,
  type CallOptions,
  type CallResult,
  executeCall,
  type Clock,
  type Transport,
} from '../../simulation/index.js';
import {
  EVALUATION_KEYS,
  type EvaluationKey,
  type Expectation,
  expectationOf,
  FAULT_NAMES,
  type FaultName,
  referenceEvaluations,
} from '../index.js';

/** Faults that can be planted, and the sound agent. */
export const AGENTS: readonly (FaultName | undefined)[] = [undefined, ...FAULT_NAMES];

/** One call that the tester makes in order to be judged itself. */
export interface Trial {
  readonly fault: FaultName | undefined;
  readonly key: EvaluationKey;
  /** Counts from 0; what is not to decide the outcome differs from one to the next. */
  readonly repetition: number;
}

export interface Tried extends Trial {
  readonly expected: Expectation;
  readonly result: CallResult;
  /** Whether the reason of a failed call is the planted one, and no other. */
  readonly isRightReason: boolean;
}

const evaluations = new Map(
  referenceEvaluations('c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251').map((input) => [input.key, authored(input, '')]),
);

/** Every evaluation with every agent, so many times. */
export function trials(repetitions: number): Trial[] {
  return AGENTS.flatMap((fault) =>
    EVALUATION_KEYS.flatMap((key) =>
      Array.from({ length: repetitions }, (_, repetition) => ({ fault, key, repetition })),
    ),
  );
}

/** Carries out a call with its retries, and compares what it came to with what was planted. */
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
  return { ...trial, expected, result, isRightReason: isRightReason(expected, result) };
}

async function untilEnd(options: CallOptions & { readonly clock: Clock }): Promise<CallResult> {
  const earlier: Attempt[] = [];
  for (;;) {
    const startedAt = new Date().toISOString();
    const result = await executeCall(options);
    const after = afterAttempt(result, earlier);
    if (after.next === 'end') return after.result;
    const { outcome, failure, reason } = result;
    const endedAt = new Date().toISOString();
    earlier.push({ outcome, failureCode: failure?.code ?? null, reason, startedAt, endedAt });
    await options.clock.sleep(after.delayMs);
  }
}

function isRightReason(expected: Expectation, { outcome, failure, checks, end }: CallResult): boolean {
  if (expected.outcome === 'passed' || outcome !== 'failed') return false;
  if ('failure' in expected) return failure?.code === expected.failure;
  if (failure || (expected.endCode === 'agent_silent') !== (end.code === 'agent_silent')) return false;
  const failed = checks.filter(({ met }) => !met).map(({ name }) => name);
  const allowed: readonly string[] = [...expected.fails, ...(expected.mayFail ?? [])];
  return expected.fails.every((name) => failed.includes(name)) && failed.every((name) => allowed.includes(name));
}

/** How the tester did with one agent, or with all. */
export interface Tally {
  readonly calls: number;
  readonly wanted: { readonly failed: number; readonly passed: number };
  readonly found: { readonly failed: number; readonly passed: number; readonly uncounted: number };
  /** Calls that were to fail and did; with the reason that was planted. */
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
  /** Of the calls found `failed`, the share that was to fail; of those that were to fail, the share found. */
  readonly precision: number;
  readonly recall: number;
  /** The same for those found `failed` for the reason that was planted. */
  readonly reasonPrecision: number;
  readonly reasonRecall: number;
}

export function accuracyOf({ wanted, found, rightlyFailed, rightReason }: Tally): Accuracy {
  // Of none, all are right.
  const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);
  return {
    precision: share(rightlyFailed, found.failed),
    recall: share(rightlyFailed, wanted.failed),
    reasonPrecision: share(rightReason, found.failed),
    reasonRecall: share(rightReason, wanted.failed),
  };
}

/** Whether nothing was missed, nothing wrongly blamed, no reason wrong, and no call left uncounted. */
export const isPerfect = (all: Tally): boolean =>
  all.found.uncounted === 0 && Object.values(accuracyOf(all)).every((share) => share === 1);
