import type { Outcome } from '../../statistics/index.js';
import type { CheckResult, Undecided } from '../checks/check-result.js';
import { type Failure, failure, type FailureCode, FAILURES } from '../timeline/failure.js';
import type { mistakenResult } from '../conversation/tool-results.js';
import type { CriterionResult } from '../judge/criterion-result.js';
import { truncate } from '../timeline/text.js';
import { END_CODES } from '../timeline/end-codes.js';
import type { EndEntry } from '../timeline/timeline.js';
import type { Invalidity } from '../validity/invalidity.js';

export interface Verdict {
  readonly outcome: Outcome;
  /** Weighted share of met checks and criteria, 0 to 100 with at most one decimal; null unless the call is counted. */
  readonly score: number | null;
  /** Explanation in sentences. */
  readonly reason: string;
  /** The failure of an `error`, or of a call that `failed` because the agent broke it. */
  readonly failure: Failure | null;
}

export interface VerdictInput {
  readonly checks: readonly CheckResult[];
  readonly criteria: readonly CriterionResult[];
  readonly end: Pick<EndEntry, 'code' | 'reason'>;
  readonly failure: Failure | undefined;
  readonly invalidity: Invalidity | undefined;
  /** Why the judge could not decide whether a generated caller kept its role. */
  readonly roleFailure?: Failure | undefined;
  /** Whether the caller gave up waiting for an answer while the tester stalled. */
  readonly gaveUpWhileStalled?: boolean;
  /** Whether the agent may have passed the call on before it no longer answered, as `mayHaveLeft` finds it. */
  readonly mayHaveLeft?: boolean;
  /** Why words of the agent are not known, if a recogniser gave no answer. */
  readonly unheard?: Failure | undefined;
  /** Why the call tested nothing and cannot pass, as `unexercised` says it. */
  readonly unexercised?: string | undefined;
  /** That the agent spoke another language than the call's, as `otherLanguage` says it. */
  readonly otherLanguage?: string | undefined;
  /** A tool call that may have got the wrong result, as `mistakenResult` finds it. */
  readonly mistaken?: ReturnType<typeof mistakenResult>;
  /** Whether the caller was a real one: what cannot be decided on its call is not asked. */
  readonly isProduction?: boolean;
  /** What came before anything else that went wrong, or ended the call, as sentences without full stop, as `rootCauses` finds it. */
  readonly causes?: readonly string[];
}

/** Decides the outcome of a call. */
export function decide(given: VerdictInput): Verdict {
  const input = given.isProduction ? withoutUndecidable(given) : given;
  const { failure: broken, invalidity, causes = [] } = input;
  if (broken?.fault === 'infrastructure') return erroneous(broken, causes);

  const items = [...input.checks.map((check) => ofCheck(check, invalidity)), ...input.criteria.map(ofCriterion)];
  const counted = items.filter(({ met }) => met !== undefined);
  const missed = counted.filter(({ met }) => met === false);
  const isBroken = breakage(input) !== undefined;
  const isFailed = missed.some(({ required }) => required) || isBroken;
  if (invalidity && !isFailed) return uncounted('invalid', textOf([...causes, invalidity.message]));
  const { mistaken } = input;
  // What was decided before the wrong result is the agent's fault all the same.
  const isOwnFault = missed.some(({ required, decidedBy }) => required && decidedBy < (mistaken?.entry ?? Infinity));
  if (isFailed && mistaken && !isOwnFault) return erroneous(mistaken.failure, causes);
  const isSettled = isBroken || missed.some(({ required, isFinal }) => required && isFinal);
  const undecided = isSettled ? undefined : whyUndecided(input, counted.length, isFailed);
  const isNothingAsked = input.isProduction && (counted.length === 0 || undecided?.code === 'not_exercised');
  if (isNothingAsked && (!undecided || UNASKED.has(undecided.code)) && !isFailed) return nothingAsked(undecided);
  if (undecided) return erroneous(undecided, causes);
  const isExplained = isFailed || input.end.code === 'agent_repeats';
  return {
    outcome: isFailed ? 'failed' : 'passed',
    score: scoreOf(counted, isFailed),
    reason: textOf([...(isExplained ? causes : []), sentences(input, items, missed)]),
    failure: broken ?? null,
  };
}

/** What a production call does not show is not required of it. */
const withoutUndecidable = (input: VerdictInput): VerdictInput => ({
  ...input,
  checks: input.checks.map((check) => (isUnasked(check) ? { ...check, required: false } : check)),
  criteria: input.criteria.map((one) =>
    one.verdict === 'not_judged' && !one.failure ? { ...one, required: false } : one,
  ),
});

const isUnasked = (check: CheckResult): boolean =>
  check.undecided === 'evidence' ||
  check.undecided === 'not_exercised' ||
  (check.undecided === 'not_judged' && !judgeFailure(check));

/** Failures of calls on which nothing could be decided. */
const UNASKED: ReadonlySet<FailureCode> = new Set(['check_undecided', 'not_exercised', 'nothing_judged']);

const nothingAsked = (why: Failure | undefined): Verdict =>
  uncounted('invalid', textOf(['Nothing was decided on this production call', ...(why ? [why.message] : [])]));

/** Failures that the agent's own faults may have caused. */
const CONSEQUENCES: ReadonlySet<FailureCode> = new Set([
  ...(Object.keys(FAILURES) as FailureCode[]).filter((code) => FAILURES[code][0] !== 'infrastructure'),
  'not_exercised',
  'check_undecided',
]);

const erroneous = (cause: Failure, causes: readonly string[]): Verdict =>
  uncounted('error', textOf([...(CONSEQUENCES.has(cause.code) ? causes : []), cause.message]), cause);

const textOf = (parts: readonly string[]): string =>
  parts.map((part) => (part.endsWith('.') ? part : `${part}.`)).join(' ');

/** Why a call in which nothing was decided against the agent for good has no verdict. */
function whyUndecided(input: VerdictInput, countedItems: number, isFailed: boolean): Failure | undefined {
  if (input.gaveUpWhileStalled) return failure('tester_overloaded', 'it stalled while it waited for an answer');
  // What is missing may have been still to come, had the connection not broken off.
  const isCutOff = isFailed && input.end.code === 'connection_closed';
  if (isCutOff) return failure('connection_lost', 'it is not known whether the agent hung up');
  if (input.end.code === 'platform_failed') return { ...failure('line_lost'), message: input.end.reason };
  if (isFailed) return input.roleFailure;
  return overload(input, countedItems) ?? missingVerdict(input, countedItems);
}

const UNDECIDED_FAILURES = {
  stalled: 'tester_overloaded',
  evidence: 'check_undecided',
  not_exercised: 'not_exercised',
  words_unknown: 'words_unknown',
  words_unclear: 'words_unclear',
  no_verdict: 'no_verdict',
  not_judged: 'nothing_judged',
} as const satisfies Record<Undecided | 'stalled', FailureCode>;

/** Whether the call tested nothing, or a check is undecided that the outcome depends on. Stalls are the tester's. */
function overload({ checks, unexercised, unheard }: VerdictInput, countedItems: number): Failure | undefined {
  const all = checks.filter(({ met, required }) => met === null && (required || countedItems === 0));
  const stalled = all.find((check) => check.undecided === undefined);
  if (!stalled && unexercised !== undefined) return { ...failure('not_exercised'), message: unexercised };
  const undecided = all[0];
  if (!undecided) return undefined;
  if (unheard && undecided.undecided?.startsWith('words_')) return unheard;
  const cause = judgeFailure(undecided);
  if (cause) return cause;
  return failure(UNDECIDED_FAILURES[undecided.undecided ?? 'stalled'], truncate(undecided.detail, 300));
}

/** Why the judge could not be asked about a criterion in a check that is therefore undecided. */
const judgeFailure = ({ met, parts = [] }: CheckResult): Failure | undefined =>
  met === null ? parts.find(({ judged }) => judged?.verdict === 'not_judged')?.judged?.failure : undefined;

/** Why a call that did not fail cannot pass either. */
function missingVerdict({ checks, criteria, unheard }: VerdictInput, countedItems: number): Failure | undefined {
  const isFatal = ({ failure: cause, required }: { failure?: Failure | undefined; required: boolean }) =>
    required || cause?.code !== 'words_unknown';
  const inChecks = checks.map((check) => ({ failure: judgeFailure(check), required: check.required }));
  const failed = [...criteria, ...inChecks].find((criterion) => criterion.failure && isFatal(criterion))?.failure;
  if (failed) return failed.code === 'words_unknown' ? (unheard ?? failed) : failed;
  const open = criteria.filter(({ verdict }) => verdict === 'no_verdict' || verdict === 'not_judged');
  const required = open.find((criterion) => criterion.required);
  if (required?.verdict === 'no_verdict') return failure('no_verdict', truncate(required.text, 200));
  const isUntested = countedItems === 0 && checks.length + criteria.length > 0;
  return required || isUntested
    ? failure('nothing_judged', truncate((required ?? open[0])?.reason ?? '', 200))
    : undefined;
}

interface Item {
  readonly name: string;
  readonly detail: string;
  readonly weight: number;
  readonly required: boolean;
  /** Undefined when not counted. */
  readonly met: boolean | undefined;
  /** Whether it was decided against the agent, whatever followed. */
  readonly isFinal: boolean;
  /** Number of the entry that decided it; Infinity if none alone did. */
  readonly decidedBy: number;
}

/** After the caller broke its role, only what was decided against the agent before counts as not met. */
function ofCheck({ name, detail, weight, required, met, decidedByEntry }: CheckResult, invalidity?: Invalidity): Item {
  const brokenAt = invalidity?.evidence[0]?.entry ?? Infinity;
  const decidedBy = decidedByEntry ?? Infinity;
  const isFinal = met === false && decidedByEntry !== undefined && decidedByEntry <= brokenAt;
  const isOpen = met === null || (invalidity && !met && !isFinal);
  return { name, detail, weight, required, met: isOpen ? undefined : met, isFinal, decidedBy };
}

const ofCriterion = ({ text, reason, weight, required, verdict }: CriterionResult): Item => ({
  name: text,
  detail: reason,
  weight,
  required,
  met: verdict === 'met' ? true : verdict === 'not_met' ? false : undefined,
  isFinal: false,
  decidedBy: Infinity,
});

const uncounted = (outcome: 'invalid' | 'error', reason: string, cause: Failure | null = null): Verdict => ({
  outcome,
  score: null,
  reason,
  failure: cause,
});

/** Without checks and criteria, the call itself was the test. */
function scoreOf(counted: readonly Item[], isFailed: boolean): number {
  const sum = (items: readonly Item[]) => items.reduce((total, { weight }) => total + weight, 0);
  const all = sum(counted);
  if (all === 0) return isFailed ? 0 : 100;
  return Math.round((sum(counted.filter(({ met }) => met)) / all) * 1000) / 10;
}

/** Why the agent failed the call regardless of its checks and criteria. */
function breakage(input: VerdictInput): string | undefined {
  const { end, failure: broken, invalidity, gaveUpWhileStalled, mayHaveLeft, otherLanguage } = input;
  if (broken) return broken.message;
  if (otherLanguage !== undefined) return otherLanguage;
  const wasSilent = end.code === 'agent_silent' && !invalidity && !gaveUpWhileStalled && !mayHaveLeft;
  return wasSilent ? `Broken off: ${END_CODES.agent_silent}` : undefined;
}

const MAX_NAMED = 3;

function sentences(input: VerdictInput, items: readonly Item[], missed: readonly Item[]): string {
  const found: string[] = [];
  const broken = breakage(input);
  if (broken !== undefined) found.push(`${broken}.`);
  else if (input.unexercised !== undefined) found.push(`${input.unexercised}.`);
  // Required ones decide the outcome, so they come first.
  const ordered = [...missed].sort((a, b) => Number(b.required) - Number(a.required));
  if (ordered.length > 0) {
    const named = ordered.slice(0, MAX_NAMED).map(({ name, detail, required }) => {
      const optional = required ? '' : ', not required';
      return `${truncate(name, 120)} (${truncate(detail, 240)}${optional})`;
    });
    const more = ordered.length > MAX_NAMED ? `; and ${ordered.length - MAX_NAMED} more` : '';
    found.push(`Not met: ${named.join('; ')}${more}.`);
  }
  if (input.invalidity) found.push(`Decided before the caller broke its role: ${input.invalidity.message}.`);
  const undecided = items.filter(({ met }) => met === undefined);
  if (found.length === 0) {
    const count = items.length - undecided.length;
    if (items.length === 0) found.push('The call took place; the evaluation has no checks or criteria.');
    else found.push(count === 1 ? 'The only requirement was met.' : `All ${count} requirements were met.`);
  }
  if (undecided.length > 0) {
    const [first] = undecided;
    const others = undecided.length > 1 ? ` and ${undecided.length - 1} more` : '';
    found.push(
      `Not decided and not counted: ${truncate(first!.name, 120)} (${truncate(first!.detail, 240)})${others}.`,
    );
  }
  return found.join(' ');
}
