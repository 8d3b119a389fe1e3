import { type Check, describeCheck, type NestedCheck, type SoundCheckSpec } from '../../evaluation-definition/index.js';
import { TooManySteps } from '../../json-schema/index.js';
import type { CallView } from '../timeline/call-view.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import { type CheckResult, type Finding, undecided } from './check-result.js';
import { allOf, anyOf, notMet, whenMet } from './composition.js';
import { happens, neverHappens } from './happens.js';
import { byHeardWords } from './heard-words.js';
import { speaksLanguage } from './language.js';
import { EventFinder, NotKnown } from './occurrences.js';
import { inOrder, saysBefore } from './order.js';
import { saysNoPersonalData } from './personal-data.js';
import { isRecording, notInRecording, ofRecording } from './recorded.js';
import { holdSameValue } from './same-value.js';
import { answerWordsWithin, endsBy, talkRatioWithin, turnsWithin } from './shape.js';
import { isSpeakable } from './speakable.js';
import { durationWithin, firstWordWithin, latencyWithin, pauseWithin, silenceWithin } from './times.js';

/** Decides a check that needs a voice call, from what was observed on the call. */
export type EvaluateVoiceCheck = (check: SoundCheckSpec, finder: EventFinder) => Finding | Promise<Finding>;

/** Runs do not start with such a check for an agent over text; the agent's connection may change before its calls. */
const withoutVoice: EvaluateVoiceCheck = () => undecided('Needs a voice call');

/**
 * Evaluates every check on a finished timeline.
 * @param view of the timeline
 * @param evaluateVoiceCheck for a voice call
 * @throws the reason of the aborted signal
 */
export async function evaluateChecks(
  checks: readonly Check[],
  view: CallView,
  yieldToEventLoop: YieldToEventLoop,
  evaluateVoiceCheck = withoutVoice,
): Promise<CheckResult[]> {
  const finder = new EventFinder(view, yieldToEventLoop);
  const results: CheckResult[] = [];
  for (const [index, check] of checks.entries()) {
    const { type, weight, required } = check;
    const name = check.name ?? describeCheck(check);
    const { settledBy, ...finding } = await evaluate(check, finder, evaluateVoiceCheck);
    const decided = finding.met === false && settledBy !== undefined ? { decidedByEntry: settledBy } : {};
    results.push({ index, type, name, weight, required, ...finding, ...decided });
  }
  return results;
}

async function evaluate(
  check: NestedCheck,
  finder: EventFinder,
  evaluateVoiceCheck: EvaluateVoiceCheck,
): Promise<Finding> {
  try {
    return await found(check, finder, evaluateVoiceCheck);
  } catch (error) {
    if (!(error instanceof TooManySteps || error instanceof NotKnown)) throw error;
    return undecided(error.message);
  }
}

async function found(
  check: NestedCheck,
  finder: EventFinder,
  evaluateVoiceCheck: EvaluateVoiceCheck,
): Promise<Finding> {
  const inner = (nested: NestedCheck) => evaluate(nested, finder, evaluateVoiceCheck);
  switch (check.type) {
    case 'any_of':
      return anyOf(check, inner);
    case 'all_of':
      return allOf(check, inner);
    case 'not':
      return notMet(check, inner);
    case 'when':
      return whenMet(check, inner);
    default:
      return byHeardWords(check, finder, (heard) => fromWhatIsKnown(check, heard, evaluateVoiceCheck));
  }
}

/** A check without others inside it. */
type Leaf = Exclude<NestedCheck, { readonly type: 'any_of' | 'all_of' | 'not' | 'when' }>;

/** The same for a call that was recorded elsewhere, of which not everything is known. */
async function fromWhatIsKnown(check: Leaf, finder: EventFinder, voice: EvaluateVoiceCheck): Promise<Finding> {
  if (!isRecording(finder.view)) return leaf(check, finder, voice);
  return notInRecording(check, finder.view) ?? ofRecording(await leaf(check, finder, voice));
}

function leaf(check: Leaf, finder: EventFinder, evaluateVoiceCheck: EvaluateVoiceCheck): Finding | Promise<Finding> {
  const { view } = finder;
  switch (check.type) {
    case 'says':
    case 'calls_tool':
      return happens(check, finder);
    case 'never_says':
    case 'never_calls_tool':
      return neverHappens(check, finder);
    case 'in_order':
      return inOrder(check, finder);
    case 'says_before':
      return saysBefore(check, finder);
    case 'same_value':
      return holdSameValue(check.sources, finder);
    case 'ends_by':
      return endsBy(check, view);
    case 'max_turns':
      return turnsWithin(check.turns, view);
    case 'max_answer_words':
      return answerWordsWithin(check.words, view);
    case 'talk_ratio':
      return talkRatioWithin(check, view);
    case 'language':
      return speaksLanguage(check, view);
    case 'speakable':
      return isSpeakable(check, view, finder.yieldToEventLoop);
    case 'no_personal_data':
      return saysNoPersonalData(check, view, finder.yieldToEventLoop);
    case 'max_time_to_first_word_ms':
      return firstWordWithin(check.ms, view);
    case 'max_pause_ms':
      return pauseWithin(check.ms, view);
    case 'max_duration_ms':
      return durationWithin(check.ms, view);
    case 'max_latency_ms':
      return latencyWithin(check.ms, check.percentile, view);
    case 'max_silence_ms':
      return silenceWithin(check.ms, view);
    case 'understood':
      return holdSameValue(check.values, finder);
    default:
      return evaluateVoiceCheck(check, finder);
  }
}
