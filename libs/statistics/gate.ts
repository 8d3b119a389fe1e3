import { type Baseline, compareWithBaseline, NO_PREVIOUS_RUN, type PlannedCase } from './baseline.js';
import { type CountedCall, runScore } from './run-statistics.js';

/** The conditions of a run's gate that its user can set. Strict unless loosened. */
export interface GateSettings {
  /** 0 to 100; null for no minimum. */
  readonly minimumScore: number | null;
  /** Passed among counted calls, 0 to 1; null for no minimum. */
  readonly minimumPassRate: number | null;
  /** Number of calls that may end as `error` or `invalid`. */
  readonly allowedUncounted: number;
  /** Run that no case may be worse than, by more than chance: an id, or `previous`; null for none. */
  readonly notWorseThan: string | null;
}

/** A case of a critical evaluation: it must have a counted call, and each of them must pass. */
export interface CriticalCase {
  readonly caseKey: string;
  /** Display name. */
  readonly name: string;
}

export interface GateInput extends GateSettings {
  /** Every planned call; all have ended. */
  readonly calls: readonly CountedCall[];
  readonly critical: readonly CriticalCase[];
  /** Every planned case, in order. */
  readonly cases: readonly PlannedCase[];
  /** What a derived run leaves out of the plan of the run that it is derived from. */
  readonly leftOut?: {
    readonly calls: number;
    /** Display names of the critical cases of which no call is left. */
    readonly critical: readonly string[];
  };
  /** Calls of provisional evaluations, which are not in `calls`. */
  readonly provisional?: number;
  /** The run of `notWorseThan`; null if there is none, also if it is `previous` and there was no run. */
  readonly baseline: Baseline | null;
}

/**
 * Exit code of a test command: 0 the gate is met, 1 the agent does not meet it, 2 not everything could be tested, which
 * says nothing about the agent.
 */
export type GateExitCode = 0 | 1 | 2;

export interface Gate {
  readonly met: boolean;
  readonly exitCode: GateExitCode;
  /** Each condition that is not met, as a sentence with its numbers. */
  readonly reasons: readonly string[];
  /** What the comparison with the baseline could not show. */
  readonly warnings: readonly string[];
}

/** Decides whether a run passes; its status, webhook, report, JUnit case and exit code all follow from it. */
export function gate(input: GateInput): Gate {
  const { calls } = input;
  const passed = calls.filter(({ outcome }) => outcome === 'passed').length;
  const failed = calls.filter(({ outcome }) => outcome === 'failed').length;
  const counted = passed + failed;
  const comparison = compared(input);
  const byCase = grouped(calls);
  const ofAgent = [
    ...input.critical.flatMap(({ caseKey, name }) => criticalReason(name, byCase.get(caseKey) ?? []) ?? []),
    ...(input.leftOut?.critical ?? []).flatMap((name) => criticalReason(name, []) ?? []),
    ...(counted === 0 ? [] : rateReasons(input, { passed, failed, score: runScore(calls) ?? 0 })),
    ...comparison.reasons,
  ];
  const uncounted = plannedCalls(input) - counted;
  const isTooMany = counted === 0 || uncounted > input.allowedUncounted;
  const ofTester = isTooMany ? [uncountedReason(input, counted)] : [];
  const reasons = [...ofAgent, ...ofTester];
  const exitCode = ofAgent.length > 0 ? 1 : reasons.length > 0 ? 2 : 0;
  return { met: reasons.length === 0, exitCode, reasons, warnings: comparison.warnings };
}

function compared({ calls, cases, baseline, notWorseThan }: GateInput) {
  if (notWorseThan === null) return { reasons: [], warnings: [] };
  return baseline ? compareWithBaseline(calls, cases, baseline) : { reasons: [], warnings: [NO_PREVIOUS_RUN] };
}

function grouped(calls: readonly CountedCall[]): ReadonlyMap<string, readonly CountedCall[]> {
  const byCase = new Map<string, CountedCall[]>();
  for (const call of calls) {
    const others = byCase.get(call.caseKey);
    if (others) others.push(call);
    else byCase.set(call.caseKey, [call]);
  }
  return byCase;
}

function criticalReason(name: string, own: readonly CountedCall[]): string | undefined {
  const failed = own.filter(({ outcome }) => outcome === 'failed').length;
  const counted = failed + own.filter(({ outcome }) => outcome === 'passed').length;
  if (counted === 0) return `The critical evaluation "${name}" has no counted calls.`;
  return failed > 0 ? `The critical evaluation "${name}" failed in ${failed} of ${countedCalls(counted)}.` : undefined;
}

function rateReasons(
  { minimumScore, minimumPassRate }: GateSettings,
  { passed, failed, score }: { readonly passed: number; readonly failed: number; readonly score: number },
): string[] {
  const counted = passed + failed;
  const reasons: string[] = [];
  if (minimumScore === null && minimumPassRate === null && failed > 0) {
    reasons.push(
      `${failed} of ${countedCalls(counted)} failed; without a minimum score or pass rate, every one must pass.`,
    );
  }
  if (minimumScore !== null && score < minimumScore) {
    reasons.push(`The score of ${score} is below the minimum of ${minimumScore}.`);
  }
  if (minimumPassRate !== null && passed / counted < minimumPassRate) {
    const rate = Math.floor((passed / counted) * 1_000) / 1_000;
    reasons.push(
      `The pass rate of ${rate} (${passed} of ${countedCalls(counted)}) is below the minimum of ${minimumPassRate}.`,
    );
  }
  return reasons;
}

const plannedCalls = ({ calls, leftOut }: GateInput): number => calls.length + (leftOut?.calls ?? 0);

function uncountedReason(input: GateInput, counted: number): string {
  const { calls, leftOut, allowedUncounted, provisional = 0 } = input;
  const count = (outcome: 'error' | 'invalid') => calls.filter((call) => call.outcome === outcome).length;
  const parts = (['error', 'invalid'] as const)
    .filter((outcome) => count(outcome) > 0)
    .map((outcome) => `${count(outcome)} ended as ${outcome}`);
  if (leftOut && leftOut.calls > 0) parts.push(`${leftOut.calls} left out`);
  if (counted === 0 && provisional > 0) parts.push(`${provisional} provisional`);
  if (counted === 0) return `No call could be counted${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`;
  const all = plannedCalls(input);
  const planned = `${all} planned ${all === 1 ? 'call' : 'calls'}`;
  return `${all - counted} of ${planned} could not be tested (${parts.join(', ')}); allowed: ${allowedUncounted}.`;
}

const countedCalls = (counted: number): string => `${counted} counted ${counted === 1 ? 'call' : 'calls'}`;

/** The conditions of a gate in words, to be joined after "Required: ". @param critical number of critical evaluations */
export function gateConditions(
  { minimumScore, minimumPassRate, allowedUncounted, notWorseThan }: GateSettings,
  critical: number,
): string[] {
  return [
    allowedUncounted === 0 ? 'every planned call tested' : `at most ${allowedUncounted} planned calls not tested`,
    ...(critical > 0 ? [`every counted call of the critical evaluations (${critical}) passed`] : []),
    ...(minimumScore === null && minimumPassRate === null ? ['every counted call passed'] : []),
    ...(minimumScore === null ? [] : [`a score of at least ${minimumScore}`]),
    ...(minimumPassRate === null ? [] : [`a pass rate of at least ${minimumPassRate}`]),
    ...(notWorseThan === null
      ? []
      : [`no case worse than in ${notWorseThan === 'previous' ? 'the previous run' : `run ${notWorseThan}`}`]),
  ];
}
