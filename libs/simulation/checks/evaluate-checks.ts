import {
  type Check,
  type CheckType,
  describeCheck,
  type NestedCheck,
  type SoundCheckSpec,
} from '../../evaluation-definition/index.js';
import { TooManySteps } from '../../json-schema/index.js';
import type { CallView } from '../timeline/call-view.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import { AMOUNTS } from './amounts.js';
import { type CheckResult, type Finding, undecided } from './check-result.js';
import { COMPOSED } from './composed.js';
import { ENDS_BY } from './ends-by.js';
import { HAPPENS } from './happens.js';
import { byHeardWords } from './heard-words.js';
import { type Composed, type Leaf, type Leaves, WITHOUT_WORDS } from './kind.js';
import { LANGUAGE } from './language.js';
import { EventFinder, NotKnown } from './occurrences.js';
import { ORDER } from './order.js';
import { PERSONAL_DATA } from './personal-data.js';
import { isRecording, notInRecording, ofRecording } from './recorded.js';
import { SAME_VALUE } from './same-value.js';
import { SPEAKABLE } from './speakable.js';
import { TIMES } from './times.js';

/** Runs do not start with such a check for an agent over text; the agent's connection may change before its calls. */
const WITHOUT_VOICE: Leaf<SoundCheckSpec> = { ...WITHOUT_WORDS, evaluate: () => undecided('Needs a voice call') };

/**
 * Evaluates every check on a finished timeline.
 * @param view of the timeline
 * @param sounds evaluation of the checks that need a voice call
 * @throws the reason of the aborted signal
 */
export async function evaluateChecks(
  checks: readonly Check[],
  view: CallView,
  yieldToEventLoop: YieldToEventLoop,
  sounds = WITHOUT_VOICE,
): Promise<CheckResult[]> {
  const finder = new EventFinder(view, yieldToEventLoop);
  const results: CheckResult[] = [];
  for (const [index, check] of checks.entries()) {
    const { type, weight, required } = check;
    const name = check.name ?? describeCheck(check);
    const { settledBy, ...finding } = await evaluate(check, finder, sounds);
    const decided = finding.met === false && settledBy !== undefined ? { decidedByEntry: settledBy } : {};
    results.push({ index, type, name, weight, required, ...finding, ...decided });
  }
  return results;
}

async function evaluate(check: NestedCheck, finder: EventFinder, sounds: Leaf<SoundCheckSpec>): Promise<Finding> {
  try {
    return await found(check, finder, sounds);
  } catch (error) {
    if (!(error instanceof TooManySteps || error instanceof NotKnown)) throw error;
    return undecided(error.message);
  }
}

/** The evaluation of every check that is neither composed nor needs a voice call. */
const LEAVES: Leaves = {
  ...HAPPENS,
  ...ORDER,
  ...ENDS_BY,
  ...AMOUNTS,
  ...TIMES,
  ...LANGUAGE,
  ...SPEAKABLE,
  ...PERSONAL_DATA,
  ...SAME_VALUE,
};

type OfAnyType<T> = Readonly<Partial<Record<CheckType, T>>>;

function found(check: NestedCheck, finder: EventFinder, sounds: Leaf<SoundCheckSpec>): Promise<Finding> {
  const composed = (COMPOSED as OfAnyType<Composed<NestedCheck>>)[check.type];
  if (composed) return composed.evaluate(check, (nested) => evaluate(nested, finder, sounds));
  const leaf = (LEAVES as OfAnyType<Leaf<NestedCheck>>)[check.type] ?? sounds;
  return byHeardWords(check, finder, { ...leaf, evaluate: (_, heard) => fromWhatIsKnown(check, heard, leaf) });
}

/** The same for a call that was recorded elsewhere, of which not everything is known. */
async function fromWhatIsKnown(check: NestedCheck, finder: EventFinder, leaf: Leaf<NestedCheck>): Promise<Finding> {
  if (!isRecording(finder.view)) return leaf.evaluate(check, finder);
  return notInRecording(check, finder.view) ?? ofRecording(await leaf.evaluate(check, finder));
}
