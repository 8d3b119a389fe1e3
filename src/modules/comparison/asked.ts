import { type Check, type Criterion, describeCheck } from '../../../libs/evaluation-definition/index.js';
import { clipped } from '../../../libs/text/index.js';

/** What the calls of a case are asked in one run. */
export interface Asked {
  readonly evaluationId: string;
  readonly checks: readonly Check[];
  readonly criteria: readonly Criterion[];
  /** Hash of scenario and script. */
  readonly caller: string;
  /** Names of the checks that no counted call of the run decided. */
  readonly undecided: readonly string[];
}

/** A case that two runs share. */
export interface AskedTwice {
  readonly name: string;
  readonly current: Asked;
  readonly baseline: Asked;
}

/** Cases with a warning of their own; the rest is only counted. */
const MAX_CASES = 10;
const MAX_NAME = 80;
const MAX_NAMED = 5;

/** Where the calls of a case were not asked the same in both runs, so that a difference may not be the agent's. */
export function askedWarnings(cases: readonly AskedTwice[]): string[] {
  const different = cases.flatMap(({ name, current, baseline }) => {
    const parts = [...conditionDifferences(current, baseline), ...callerDifference(current, baseline)];
    return parts.length === 0 ? [] : [`"${name}": ${parts.join('; ')}.`];
  });
  const more = different.length - MAX_CASES;
  return [
    ...different.slice(0, MAX_CASES),
    ...(more > 0 ? [`${more} more ${more === 1 ? 'case is' : 'cases are'} not asked the same in both runs.`] : []),
  ];
}

function conditionDifferences(current: Asked, baseline: Asked): string[] {
  const [now, then] = [conditionsOf(current), conditionsOf(baseline)];
  const missingIn = (other: ReadonlyMap<string, string>, own: ReadonlyMap<string, string>) =>
    [...own.keys()].filter((name) => !other.has(name));
  const changed = [...now].filter(([name, text]) => then.has(name) && then.get(name) !== text).map(([name]) => name);
  const isShared = (name: string) => now.has(name) && then.has(name);
  return [
    ...listed(missingIn(then, now), 'only in this run'),
    ...listed(missingIn(now, then), 'only in the other run'),
    ...listed(changed, 'not the same in both runs'),
    ...listed(current.undecided.filter(isShared), 'not decided in any call of this run'),
    ...listed(baseline.undecided.filter(isShared), 'not decided in any call of the other run'),
  ];
}

/** Checks and criteria as text, by their names. */
function conditionsOf({ checks, criteria }: Asked): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const add = (name: string, condition: Check | Criterion) =>
    texts.set(name, `${texts.get(name) ?? ''}${JSON.stringify(condition)}`);
  for (const check of checks) add(check.name ?? describeCheck(check), check);
  for (const criterion of criteria) add(criterion.text, criterion);
  return texts;
}

function listed(names: readonly string[], where: string): string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, MAX_NAMED).map((name) => `"${clipped(name, MAX_NAME)}"`);
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return [`${shown.join(', ')}${more} ${names.length === 1 ? 'is' : 'are'} ${where}`];
}

const callerDifference = (current: Asked, baseline: Asked): string[] =>
  current.caller === baseline.caller ? [] : ['the scenario or script of the caller is not the same in both runs'];
