import {
  type Check,
  type CriterionSpec,
  leavesOf,
  needsOf,
  type NestedCheck,
} from '../../evaluation-definition/index.js';
import type { Judged } from '../judge/criterion-result.js';
import { type CheckResult, type Finding, type PartResult, resultOf } from './check-result.js';
import { fromParts } from './composed.js';
import { type Leaf, WITHOUT_WORDS } from './kind.js';
import { ofTimes } from './windows.js';

/** The verdicts of the judge on the criteria in checks. */
export type Verdicts = ReadonlyMap<NestedCheck, Judged>;

/** How the criteria in checks are evaluated: the judge saw what was heard, and decided what follows from words that were not. */
export const judgedLeaf = (verdicts: Verdicts): Leaf<CriterionSpec> => ({
  ...WITHOUT_WORDS,
  evaluate: (criterion) => findingOf(verdicts.get(criterion)),
});

const NOT_JUDGED: Judged = {
  ...{ verdict: 'not_judged', reason: 'The judge was not asked', evidence: null, samples: [], disagreement: false },
};

function findingOf(judged: Judged = NOT_JUDGED): Finding {
  const { verdict, reason: detail, evidence: quote, failure } = judged;
  const evidence = quote ? [quote] : [];
  if (verdict === 'met' || verdict === 'not_met') return { met: verdict === 'met', detail, evidence, judged };
  const undecided = failure?.code === 'words_unknown' ? 'words_unknown' : verdict;
  return { met: null, detail, evidence, undecided, judged };
}

/** Pairs criteria in checks with their verdicts, in order. */
export const verdictsOn = (criteria: readonly CriterionSpec[], judged: readonly Judged[]): Verdicts =>
  new Map(judged.flatMap((each, index) => (criteria[index] ? [[criteria[index], each] as const] : [])));

/** The verdicts on the criteria in recorded checks, in order. @param checks of the evaluation */
export const recordedVerdicts = (checks: readonly Check[], results: readonly CheckResult[]): Judged[] =>
  checks.flatMap((check, index) => {
    const parts = results.find((result) => result.index === index)?.parts ?? [];
    return leavesOf(check).flatMap((leaf, at) => (leaf.type === 'criterion' ? [parts[at]?.judged ?? NOT_JUDGED] : []));
  });

/**
 * Results of checks with other verdicts on the criteria in them: everything else is as it was found on the call.
 * @param isMisheard whether a recogniser may have misheard the words of the agent, which cannot be heard again
 */
export async function withVerdicts(
  checks: readonly Check[],
  results: readonly CheckResult[],
  verdicts: Verdicts,
  isMisheard: boolean,
): Promise<CheckResult[]> {
  const changed = results.map(async (result) => {
    const check = checks[result.index];
    const leaves = check ? leavesOf(check) : [];
    const parts = result.parts ?? [];
    // A line that was said several times has the parts of each time.
    const times = Array.from({ length: parts.length / leaves.length || 0 }, (_, time) =>
      leaves.map((leaf, at) => [leaf, findingAgain(leaf, parts[time * leaves.length + at]!, verdicts)] as const),
    );
    if (!check || times.length === 0 || result.undecided === 'words_unclear') return result;
    const found = await Promise.all(times.map((each) => fromParts(check, new Map(each))));
    const again = resultOf(check, result.index, ofTimes(found), times.flat());
    const isByWords = leaves.some((leaf) => leaf.type !== 'criterion' && needsOf(leaf).includes('words'));
    if (!isMisheard || !isByWords || again.met === result.met || again.met === null) return again;
    const { decidedByEntry: _, ...rest } = again;
    const detail = `${again.detail}, which is not certain: the agent cannot be heard again`;
    return { ...rest, met: null, detail, undecided: 'words_unclear' } as const;
  });
  return Promise.all(changed);
}

function findingAgain(leaf: NestedCheck, part: PartResult, verdicts: Verdicts): Finding {
  if (leaf.type === 'criterion') return findingOf(verdicts.get(leaf));
  const { name: _, ...finding } = part;
  return finding;
}
