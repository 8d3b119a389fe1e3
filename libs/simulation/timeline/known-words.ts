import { CallView, type Placed } from './call-view.js';
import type { SpeechEntry, TimelineEntry } from './timeline.js';

/** Numbers of words at a cut that are tried one by one; between them and all of them they are spread evenly. */
const MAX_CUTS = 8;
/** Cuts that are tried independently of the others. */
const MAX_SINGLE = 8;

type AgentSpeech = Placed<SpeechEntry>;

const agentSpeech = (entries: readonly TimelineEntry[]): AgentSpeech[] =>
  entries.flatMap((entry, index) => (entry.type === 'speech' && entry.speaker === 'agent' ? [{ entry, index }] : []));

/** What the agent was heard to say without all its words being known; only on voice calls. */
export const withUnknownWords = ({ entries }: Pick<CallView, 'entries'>): AgentSpeech[] =>
  agentSpeech(entries).filter(({ entry }) => entry.words === 'unknown' || entry.words === 'partly');

/** Whether the agent was heard on a voice call and not one of its words is known. */
export function areAllWordsUnknown(entries: readonly TimelineEntry[]): boolean {
  const speech = agentSpeech(entries);
  return speech.length > 0 && speech.every(({ entry }) => entry.words === 'unknown');
}

/** What the agent was heard to say up to a cut, where it is not certain which of its words were still heard. */
export const withUncertainWords = ({ entries }: Pick<CallView, 'entries'>): AgentSpeech[] =>
  agentSpeech(entries).filter(({ entry }) => entry.uncertain !== undefined);

/**
 * The call with fewer of the uncertain words: what may have been heard instead. Those before a cut are heard in their order,
 * so that only the number of them is open. Without uncertain words there is none.
 */
export function otherHearings(view: CallView): CallView[] {
  const cuts = withUncertainWords(view);
  const most = Math.max(0, ...cuts.map(({ entry }) => entry.uncertain!.length));
  const alike = spread(most).map((heard) => shortened(view, cuts, () => heard));
  const single = cuts.length === 1 ? [] : cuts.slice(0, MAX_SINGLE).flatMap((cut) => alone(view, cuts, cut));
  return [...alike, ...single];
}

/** One cut without its uncertain words and all others with them, and the other way round. */
const alone = (view: CallView, cuts: readonly AgentSpeech[], chosen: AgentSpeech): CallView[] => [
  shortened(view, cuts, (cut) => (cut === chosen ? 0 : Infinity)),
  shortened(view, cuts, (cut) => (cut === chosen ? Infinity : 0)),
];

/** Numbers from 0 to below `most`, all of them or spread evenly. */
function spread(most: number): number[] {
  const count = Math.min(most, MAX_CUTS);
  return Array.from({ length: count }, (_, n) => Math.floor((n * most) / count));
}

function shortened(view: CallView, cuts: readonly AgentSpeech[], heardOf: (cut: AgentSpeech) => number): CallView {
  const entries = [...view.entries];
  for (const cut of cuts) entries[cut.index] = withFirst(cut.entry, heardOf(cut));
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
