import { needsOf, type NestedCheck } from '../../evaluation-definition/index.js';
import type { Placed } from '../timeline/call-view.js';
import {
  firstUnknown,
  otherHearings,
  withUncertainWords,
  withUnheardWords,
  withUnknownWords,
} from '../timeline/known-words.js';
import type { SpeechEntry } from '../timeline/timeline.js';
import { truncate } from '../timeline/text.js';
import { type Finding, undecided } from './check-result.js';
import type { Leaf } from './kind.js';
import { EventFinder } from './occurrences.js';

const MAX_EVIDENCE = 5;
const MAX_QUOTE = 240;

/**
 * What a check without others inside it finds, if what the agent said is not known for certain: undecided if words that may
 * or may not have been heard, or words that are not known, could change it.
 */
export async function byHeardWords(check: NestedCheck, finder: EventFinder, leaf: Leaf<NestedCheck>): Promise<Finding> {
  const finding = await leaf.evaluate(check, finder);
  if (finding.met === null || !needsOf(check).includes('words')) return finding;
  let { settledBy } = finding;
  let isOpen = await couldChange(leaf, check, finding, finder);
  for (const view of otherHearings(finder.view)) {
    const heard = new EventFinder(view, finder.yieldToEventLoop);
    const other = await leaf.evaluate(check, heard);
    if (other.met !== finding.met) return cutOff(finding, finder);
    isOpen ||= await couldChange(leaf, check, other, heard);
    const isSettled = settledBy !== undefined && other.settledBy !== undefined;
    settledBy = isSettled ? Math.max(settledBy!, other.settledBy) : undefined;
  }
  const interrupted = withUnheardWords(finder.view);
  if (finding.met === false && interrupted) {
    const other = await leaf.evaluate(check, new EventFinder(interrupted.view, finder.yieldToEventLoop));
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
function couldChange(leaf: Leaf<NestedCheck>, check: NestedCheck, finding: Finding, finder: EventFinder) {
  const first = firstUnknown(finder.view);
  const isCertain = first === Infinity || (finding.settledBy ?? Infinity) < first;
  return !isCertain && leaf.couldChange(check, finding, finder);
}
