import {
  type Check,
  type CheckType,
  type CriterionSpec,
  leavesOf,
  type NestedCheck,
  type SoundCheckSpec,
} from '../../evaluation-definition/index.js';
import { TooManySteps } from '../../json-schema/index.js';
import type { CallView } from '../timeline/call-view.js';
import { partOfTurns } from '../timeline/parts.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import { AMOUNTS } from './amounts.js';
import { ANSWERS } from './answers.js';
import { type CheckResult, type Finding, type Part, resultOf, undecided } from './check-result.js';
import { fromParts } from './composed.js';
import { judgedLeaf } from './criterion.js';
import { ENDS_BY } from './ends-by.js';
import { HAPPENS } from './happens.js';
import { byHeardWords } from './heard-words.js';
import { type Leaf, type Leaves, WITHOUT_WORDS } from './kind.js';
import { LANGUAGE } from './language.js';
import { EventFinder, NotKnown } from './occurrences.js';
import { ORDER } from './order.js';
import { PERSONAL_DATA } from './personal-data.js';
import { isRecording, notInRecording, ofRecording } from './recorded.js';
import { SAME_VALUE } from './same-value.js';
import { SPEAKABLE } from './speakable.js';
import { TIMES } from './times.js';
import { TRANSFERS } from './transfers.js';
import { neverSaid, ofTimes, timesOf, within, withOpenActs } from './windows.js';

/** Runs do not start with such a check for an agent over text; the agent's connection may change before its calls. */
const WITHOUT_VOICE: Leaf<SoundCheckSpec> = { ...WITHOUT_WORDS, evaluate: () => undecided('Needs a voice call') };

/**
 * Evaluates every check on a finished timeline.
 * @param view of the timeline
 * @param sounds evaluation of the checks that need a voice call
 * @param judged evaluation of the criteria in them
 * @throws the reason of the aborted signal
 */
export async function evaluateChecks(
  checks: readonly Check[],
  view: CallView,
  yieldToEventLoop: YieldToEventLoop,
  sounds = WITHOUT_VOICE,
  judged = judgedLeaf(new Map()),
): Promise<CheckResult[]> {
  const finder = new EventFinder(view, yieldToEventLoop);
  const results: CheckResult[] = [];
  for (const [index, check] of checks.entries()) {
    const times = timesOf(check, finder);
    const found: { readonly finding: Finding; readonly parts: readonly Part[] }[] = [];
    for (const time of times) {
      const parts: Part[] = [];
      for (const part of leavesOf(check)) parts.push([part, await evaluate(part, time, { sounds, judged })]);
      found.push({ finding: await fromParts(check, new Map(parts)), parts });
    }
    const finding = found.length === 0 ? neverSaid(check, view) : ofTimes(found.map((each) => each.finding));
    results.push(
      resultOf(
        check,
        index,
        finding,
        found.flatMap(({ parts }) => parts),
      ),
    );
  }
  return results;
}

interface OtherLeaves {
  readonly sounds: Leaf<SoundCheckSpec>;
  readonly judged: Leaf<CriterionSpec>;
}

async function evaluate(check: NestedCheck, finder: EventFinder, others: OtherLeaves): Promise<Finding> {
  try {
    return await found(check, finder, others);
  } catch (error) {
    if (!(error instanceof TooManySteps || error instanceof NotKnown)) throw error;
    return undecided(error.message);
  }
}

/** The evaluation of every check that is neither composed nor a criterion, and needs no voice call. */
const LEAVES: Leaves = {
  ...HAPPENS,
  ...ORDER,
  ...ANSWERS,
  ...TRANSFERS,
  ...ENDS_BY,
  ...AMOUNTS,
  ...TIMES,
  ...LANGUAGE,
  ...SPEAKABLE,
  ...PERSONAL_DATA,
  ...SAME_VALUE,
};

function found(check: NestedCheck, finder: EventFinder, { sounds, judged }: OtherLeaves): Promise<Finding> {
  const known = LEAVES as Readonly<Partial<Record<CheckType, Leaf<NestedCheck>>>>;
  const leaf = known[check.type] ?? (check.type === 'criterion' ? judged : sounds);
  const turn = turnOf(check);
  const inTurn = turn === undefined ? finder : within(finder, partOfTurns(finder.view, new Set([turn])));
  return withOpenActs(inTurn, (each) =>
    byHeardWords(check, each, { ...leaf, evaluate: (_, heard) => fromWhatIsKnown(check, heard, leaf) }),
  );
}

/** The only turn that counts; words find theirs themselves, since it may be the first or last. */
const turnOf = (check: NestedCheck): number | undefined =>
  'turn' in check && typeof check.turn === 'number' && check.type !== 'says' && check.type !== 'never_says'
    ? check.turn
    : undefined;

/** The same for a call that was recorded elsewhere, of which not everything is known. */
async function fromWhatIsKnown(check: NestedCheck, finder: EventFinder, leaf: Leaf<NestedCheck>): Promise<Finding> {
  if (!isRecording(finder.view)) return leaf.evaluate(check, finder);
  return notInRecording(check, finder.view) ?? ofRecording(await leaf.evaluate(check, finder));
}
