import type { Outcome } from '../statistics/index.js';
import type { CheckResult } from './checks.js';
import { type Failure, failure } from './failure.js';
import type { CriterionResult } from './judge/criterion-result.js';
import { truncate } from './text.js';
import { END_CODES, type EndEntry } from './timeline.js';
import type { Invalidity } from './validity.js';

export interface Verdict {
  readonly outcome: Outcome;
  /** Weighted share of what was met, 0 to 100 with one decimal at most; null unless the call is counted. */
  readonly score: number | null;
  /** Why, in sentences for people. */
  readonly reason: string;
  /** Of an `error`, and of a call that `failed` by the agent's breaking it. */
  readonly failure: Failure | null;
}

export interface VerdictInput {
  readonly checks: readonly CheckResult[];
  readonly criteria: readonly CriterionResult[];
  readonly end: Pick<EndEntry, 'code'>;
  readonly failure: Failure | undefined;
  readonly invalidity: Invalidity | undefined;
}

/** Decides what a call came to. */
export function decide(input: VerdictInput): Verdict {
  const { failure: broken, invalidity } = input;
  if (broken?.fault === 'infrastructure') return uncounted('error', `${broken.message}.`, broken);
  if (invalidity) return uncounted('invalid', `${invalidity.message}.`);

  const items = [...input.checks.map(ofCheck), ...input.criteria.map(ofCriterion)];
  const counted = items.filter(({ met }) => met !== undefined);
  const missed = counted.filter(({ met }) => met === false);
  const isFailedAnyway = missed.some(({ required }) => required) || breakage(input) !== undefined;
  const judgeFailure = input.criteria.find((criterion) => criterion.failure)?.failure;
  if (!isFailedAnyway) {
    if (judgeFailure) return uncounted('error', `${judgeFailure.message}.`, judgeFailure);
    if (counted.length === 0 && items.length > 0) {
      const undecided = failure('nothing_judged', truncate(input.criteria[0]?.reason ?? '', 200));
      return uncounted('error', `${undecided.message}.`, undecided);
    }
  }
  return {
    outcome: isFailedAnyway ? 'failed' : 'passed',
    score: scoreOf(counted, isFailedAnyway),
    reason: sentences(input, items, missed),
    failure: broken ?? null,
  };
}

interface Item {
  readonly name: string;
  readonly detail: string;
  readonly weight: number;
  readonly required: boolean;
  /** Undefined when it is not counted. */
  readonly met: boolean | undefined;
}

const ofCheck = ({ name, detail, weight, required, met }: CheckResult): Item => ({
  name,
  detail,
  weight,
  required,
  met,
});

const ofCriterion = ({ text, reason, weight, required, verdict }: CriterionResult): Item => ({
  name: text,
  detail: reason,
  weight,
  required,
  met: verdict === 'met' ? true : verdict === 'not_met' ? false : undefined,
});

const uncounted = (outcome: 'invalid' | 'error', reason: string, cause: Failure | null = null): Verdict => ({
  outcome,
  score: null,
  reason,
  failure: cause,
});

/** With nothing to weigh, the call itself is what was tested. */
function scoreOf(counted: readonly Item[], isFailed: boolean): number {
  const sum = (items: readonly Item[]) => items.reduce((total, { weight }) => total + weight, 0);
  const all = sum(counted);
  if (all === 0) return isFailed ? 0 : 100;
  return Math.round((sum(counted.filter(({ met }) => met)) / all) * 1000) / 10;
}

/** What the agent did that fails a call whatever was asked of it. */
function breakage({ end, failure: broken }: VerdictInput): string | undefined {
  if (broken) return broken.message;
  return end.code === 'agent_silent' ? `Broken off: ${END_CODES.agent_silent}` : undefined;
}

const MAX_NAMED = 3;

function sentences(input: VerdictInput, items: readonly Item[], missed: readonly Item[]): string {
  const found: string[] = [];
  const broken = breakage(input);
  if (broken !== undefined) found.push(`${broken}.`);
  // What decides the outcome comes first.
  const ordered = [...missed].sort((a, b) => Number(b.required) - Number(a.required));
  if (ordered.length > 0) {
    const named = ordered.slice(0, MAX_NAMED).map(({ name, detail, required }) => {
      const optional = required ? '' : ', not required';
      return `${truncate(name, 120)} (${truncate(detail, 240)}${optional})`;
    });
    const more = ordered.length > MAX_NAMED ? `; and ${ordered.length - MAX_NAMED} more` : '';
    found.push(`Not met: ${named.join('; ')}${more}.`);
  }
  const undecided = items.filter(({ met }) => met === undefined);
  if (found.length === 0) {
    const count = items.length - undecided.length;
    if (items.length === 0) found.push('The call took place; the evaluation asks nothing of it.');
    else found.push(count === 1 ? 'What was asked was met.' : `All ${count} things that were asked were met.`);
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
