import { CallView, type Placed } from './call-view.js';
import type { SpeechEntry, TimelineEntry } from './timeline.js';

/** Ways in which a call may have been heard that are all tried; of more of them, some. */
const MAX_WAYS = 64;
/** Then: numbers of words that are tried at all cuts alike, spread evenly, and cuts that are tried apart from the others. */
const MAX_ALIKE = 8;
const MAX_APART = 8;

type AgentSpeech = Placed<SpeechEntry>;

type Heard = Pick<CallView, 'entries'> & Partial<Pick<CallView, 'part'>>;

const agentSpeech = ({ entries, part }: Heard): AgentSpeech[] =>
  entries.flatMap((entry, index) =>
    entry.type === 'speech' && entry.speaker === 'agent' && (part?.entries.has(index) ?? true)
      ? [{ entry, index }]
      : [],
  );

/** What the agent was heard to say without all its words being known; only on voice calls. */
export const withUnknownWords = (heard: Heard): AgentSpeech[] =>
  agentSpeech(heard).filter(({ entry }) => entry.words === 'unknown' || entry.words === 'partly');

/** The entry with the first of these words; infinite if all are known. */
export const firstUnknown = (view: Heard): number => withUnknownWords(view)[0]?.index ?? Infinity;

/** Whether the agent was heard on a voice call and not one of its words is known. */
export function areAllWordsUnknown(entries: readonly TimelineEntry[]): boolean {
  const speech = agentSpeech({ entries });
  return speech.length > 0 && speech.every(({ entry }) => entry.words === 'unknown');
}

/** What the agent was heard to say up to a cut, where it is not certain which of its words were still heard. */
export const withUncertainWords = (heard: Heard): AgentSpeech[] =>
  agentSpeech(heard).filter(({ entry }) => entry.uncertain !== undefined);

/**
 * The call with fewer of the uncertain words: what may have been heard instead. Those before a cut are heard in their order,
 * so that only the number of them is open. Without uncertain words there is none.
 */
export function otherHearings(view: CallView): CallView[] {
  const cuts = withUncertainWords(view);
  const most = cuts.map(({ entry }) => entry.uncertain!.length);
  const ways = most.reduce((product, words) => product * (words + 1), 1) <= MAX_WAYS ? allWays(most) : someWays(most);
  return ways.map((heard) => shortened(view, cuts, heard));
}

/**
 * The call as it would have been heard if a caller without a script had let the agent finish, and what it was about to say.
 * Undefined if it had nothing more ready.
 */
export function withUnheardWords(view: CallView) {
  const entries = agentSpeech(view).filter(({ entry }) => entry.unheard !== undefined);
  if (entries.length === 0) return undefined;
  const whole = [...view.entries];
  for (const { entry, index } of entries) {
    const { unheard, uncertain: _, ...rest } = entry;
    whole[index] = { ...rest, text: `${entry.text} ${unheard}` };
  }
  return { entries, view: view.withEntries(whole) };
}

/** Every number of words heard at each cut but all of them. */
const allWays = (most: readonly number[]): number[][] =>
  most
    .reduce<number[][]>(
      (ways, words) => ways.flatMap((way) => Array.from({ length: words + 1 }, (_, heard) => [...way, heard])),
      [[]],
    )
    .slice(0, -1);

/** The same number at all cuts, and none or all of one cut where it is the other way round at the others. */
function someWays(most: readonly number[]): number[][] {
  const longest = Math.max(...most);
  const count = Math.min(longest, MAX_ALIKE);
  const alike = Array.from({ length: count }, (_, n) => most.map(() => Math.floor((n * longest) / count)));
  const apart = [...most.keys()]
    .slice(0, MAX_APART)
    .flatMap((cut) => [
      most.map((words, index) => (index === cut ? 0 : words)),
      most.map((words, index) => (index === cut ? words : 0)),
    ]);
  return [...alike, ...apart];
}

function shortened(view: CallView, cuts: readonly AgentSpeech[], heard: readonly number[]): CallView {
  const entries = [...view.entries];
  for (const [index, cut] of cuts.entries()) entries[cut.index] = withFirst(cut.entry, heard[index]!);
  return view.withEntries(entries);
}

/** An entry with only the first of its uncertain words. */
function withFirst(entry: SpeechEntry, heard: number): SpeechEntry {
  const { uncertain = [], ...rest } = entry;
  let text = '';
  let from = 0;
  for (const [start, end] of uncertain.slice(heard)) {
    text += entry.text.slice(from, start).trimEnd();
    from = end;
  }
  return { ...rest, text: text + entry.text.slice(from) };
}
