import {
  type EventMatcher,
  needsOf,
  type NestedCheck,
  type SaysSpec,
  type ToolSpec,
} from '../../evaluation-definition/index.js';
import { wordsOf } from '../measures/measures.js';
import type { Placed } from '../timeline/call-view.js';
import { otherHearings, withUncertainWords, withUnheardWords, withUnknownWords } from '../timeline/known-words.js';
import type { SpeechEntry } from '../timeline/timeline.js';
import { truncate } from '../timeline/text.js';
import { type Finding, undecided } from './check-result.js';
import { happens, neverHappens } from './happens.js';
import { EventFinder } from './occurrences.js';
import { holdSameValue } from './same-value.js';
import { endsBy, talkRatioWithin } from './shape.js';

export type EvaluateLeaf = (finder: EventFinder) => Finding | Promise<Finding>;

const MAX_EVIDENCE = 5;
const MAX_QUOTE = 240;

/**
 * What a check without others inside it finds, if what the agent said is not known for certain: undecided if words that may
 * or may not have been heard, or words that are not known, could change it.
 */
export async function byHeardWords(check: NestedCheck, finder: EventFinder, evaluate: EvaluateLeaf): Promise<Finding> {
  const finding = await evaluate(finder);
  // A rate is measured where words are known.
  if (check.type === 'speaking_rate' || finding.met === null || !needsOf(check).includes('words')) return finding;
  let { settledBy } = finding;
  let isOpen = await couldChange(check, finding, finder);
  for (const view of otherHearings(finder.view)) {
    const heard = new EventFinder(view, finder.yieldToEventLoop);
    const other = await evaluate(heard);
    if (other.met !== finding.met) return cutOff(finding, finder);
    isOpen ||= await couldChange(check, other, heard);
    const isSettled = settledBy !== undefined && other.settledBy !== undefined;
    settledBy = isSettled ? Math.max(settledBy!, other.settledBy) : undefined;
  }
  const interrupted = withUnheardWords(finder.view);
  if (finding.met === false && interrupted) {
    const other = await evaluate(new EventFinder(interrupted.view, finder.yieldToEventLoop));
    if (other.met !== false) return notLetFinish(finding, interrupted.entries);
  }
  if (isOpen) return { ...unknownAt(finding, finder), met: null, undecided: 'words_unknown' };
  const { settledBy: _, ...rest } = finding;
  return settledBy === undefined ? rest : { ...rest, settledBy };
}

function cutOff({ detail }: Finding, { view }: EventFinder): Finding {
  const cuts = withUncertainWords(view).slice(0, MAX_EVIDENCE);
  const words = cuts.map(({ entry }) => {
    const [first, last] = [entry.uncertain!.at(0)!, entry.uncertain!.at(-1)!];
    return truncate(entry.text.slice(first[0], last[1]), MAX_QUOTE);
  });
  const named = words.map((text) => `"${truncate(text, 60)}"`).join(', ');
  return undecided(
    `${detail}, which cannot be decided because the agent was cut off at ${named}`,
    cuts.map(({ index }, position) => ({ entry: index, quote: words[position]! })),
  );
}

function notLetFinish({ detail }: Finding, interrupted: readonly Placed<SpeechEntry>[]): Finding {
  const named = interrupted.slice(0, MAX_EVIDENCE);
  const words = named.map(({ entry }) => `"${truncate(entry.unheard!, 60)}"`).join(', ');
  return undecided(
    `${detail}, which cannot be decided because the caller interrupted the agent before ${words}`,
    named.map(({ index }) => ({ entry: index, quote: '' })),
  );
}

function unknownAt({ detail }: Finding, { view }: EventFinder): Pick<Finding, 'detail' | 'evidence'> {
  const unknown = withUnknownWords(view);
  const named = unknown.slice(0, MAX_EVIDENCE);
  const moments = named.map(({ entry }) => `${(entry.start / 1_000).toFixed(1)} s`).join(', ');
  const more = unknown.length - named.length;
  const where = `${moments}${more > 0 ? ` and ${more} more` : ''}`;
  return {
    detail: `${detail}, which cannot be decided because not all words of the agent are known (at ${where})`,
    evidence: named.map(({ index }) => ({ entry: index, quote: '' })),
  };
}

/** Whether words that are not known, whatever they are, could change a finding. */
async function couldChange(check: NestedCheck, finding: Finding, finder: EventFinder): Promise<boolean> {
  const unknown = withUnknownWords(finder.view);
  if (unknown.length === 0) return false;
  const first = unknown[0]!.index;
  const { settledBy, evidence, met } = finding;
  if (settledBy !== undefined && settledBy < first) return false;
  const isBeforeAll = evidence.every(({ entry }) => entry < first);
  switch (check.type) {
    case 'says':
    case 'never_says':
    case 'calls_tool':
    case 'never_calls_tool':
      return couldHappen(check, met === true, first, finder);
    // What is known is the least that was said.
    case 'max_answer_words':
    case 'speakable':
    case 'no_personal_data':
      return met === true;
    case 'language':
      return settledBy === undefined;
    case 'talk_ratio':
      return wordsOf(finder.view, 'agent') === 0 || talkRatioWithin({ ...check, min: 0 }, finder.view).met === true;
    case 'hears_keys':
      return met === false;
    // The first goodbye counts.
    case 'ends_by': {
      const { withinMs: _, ...side } = check;
      return endsBy(side, finder.view).met === true && !(evidence.length > 1 && evidence[0]!.entry < first);
    }
    // The first times count.
    case 'says_before':
      return !(met && isBeforeAll);
    case 'same_value':
    case 'understood': {
      const sources = check.type === 'same_value' ? check.sources : check.values;
      const others = sources.filter((source) => 'value' in source || 'tool' in source || source.speaker === 'caller');
      if (others.length > 0 && (await holdSameValue(others, finder)).met === false) return false;
      const held = sources.flatMap((source) => ('value' in source ? [] : [source]));
      const areFirst = held.every(({ occurrence }) => occurrence === 'first');
      return !(areFirst && evidence.length === held.length && isBeforeAll);
    }
    default:
      return true;
  }
}

/**
 * More words of the agent can only be more of the event, unless its place depends on them.
 * @param first entry with words that are not known
 */
async function couldHappen(
  check: SaysSpec | ToolSpec,
  met: boolean,
  first: number,
  finder: EventFinder,
): Promise<boolean> {
  const { after, before, times } = check;
  const isProhibition = check.type === 'never_says' || check.type === 'never_calls_tool';
  const isPlaced = (await isOpen(after, first, finder)) || (await isOpen(before, first, finder));
  if ('tool' in check || check.speaker === 'caller') {
    if (!isPlaced) return false;
    // Their number is known, wherever they count.
    const { after: _after, before: _before, ...anywhere } = check;
    const never = await neverHappens({ ...anywhere, times: { min: times?.min ?? 1 } }, finder);
    return never.met !== true || met !== isProhibition;
  }
  if (isPlaced) return true;
  if (!isInUnknownTurn(check, finder)) return false;
  if (isProhibition) return met;
  if (times?.max === undefined) return !met;
  if (met) return true;
  return (await happens({ ...check, times: { min: times.max + 1 } }, finder)).met !== true;
}

/** Whether words that are not known could be the first time of an event. */
async function isOpen(event: EventMatcher | undefined, first: number, finder: EventFinder): Promise<boolean> {
  if (!event || 'tool' in event || event.speaker === 'caller') return false;
  const found = await finder.first(event);
  return found === undefined || found.evidence.entry >= first;
}

/** Whether a turn in which the words count has some that are not known. */
function isInUnknownTurn({ turn }: SaysSpec, { view }: EventFinder): boolean {
  if (turn === undefined) return true;
  const said = view.said('agent');
  const chosen = turn === 'first' ? said[0]?.turn : turn === 'last' ? said.at(-1)?.turn : turn;
  return withUnknownWords(view).some(({ entry }) => entry.turn === chosen);
}
