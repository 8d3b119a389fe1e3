import type { Speaker } from '../evaluation-definition/index.js';
import type { EndEntry, SpeechEntry, TimelineEntry, ToolCallEntry } from './timeline.js';

/** A timeline entry with its position, by which evidence names it. */
export interface Placed<T extends TimelineEntry = TimelineEntry> {
  readonly index: number;
  readonly entry: T;
}

/** What one side said in one turn, which may be several entries. */
export interface Utterance {
  readonly speaker: Speaker;
  readonly turn: number;
  readonly text: string;
  readonly parts: readonly Placed<SpeechEntry>[];
}

/** How long the caller waited for an answer. */
export interface Wait {
  /** From the end of the caller's words to the agent's first word. */
  readonly ms: number;
  /** Undefined when no answer began: the wait was at least so long. */
  readonly answer: Placed<SpeechEntry> | undefined;
  /** The caller's words that were waited after. */
  readonly words: Placed<SpeechEntry>;
}

/** A timeline as checks and measures look at it. */
export class CallView {
  private static readonly views = new WeakMap<readonly TimelineEntry[], CallView>();

  /** The one view of a call that is over, whoever looks at it. */
  static of(entries: readonly TimelineEntry[]): CallView {
    let view = CallView.views.get(entries);
    if (!view) CallView.views.set(entries, (view = new CallView(entries)));
    return view;
  }

  readonly utterances: readonly Utterance[];
  readonly toolCalls: readonly Placed<ToolCallEntry>[];
  readonly waits: readonly Wait[];
  readonly end: EndEntry | undefined;

  constructor(readonly entries: readonly TimelineEntry[]) {
    const placed = entries.map((entry, index) => ({ entry, index }));
    this.utterances = utterancesOf(placed.filter(isSpeech));
    this.toolCalls = placed.filter((item): item is Placed<ToolCallEntry> => item.entry.type === 'tool_call');
    this.end = entries.findLast((entry) => entry.type === 'end');
    this.waits = waitsOf(placed.filter(isSpeech), this.end);
  }

  /** Response latencies in order, in milliseconds. */
  get latencies(): number[] {
    return this.waits.flatMap(({ ms, answer }) => (answer ? [ms] : []));
  }

  /** Exchanges: the caller spoke, the agent answered. */
  get turns(): number {
    return this.utterances.filter(({ speaker, turn }) => speaker === 'agent' && turn > 0).length;
  }

  said(speaker: Speaker): Utterance[] {
    return this.utterances.filter((utterance) => utterance.speaker === speaker);
  }
}

const isSpeech = (item: Placed): item is Placed<SpeechEntry> => item.entry.type === 'speech';

function utterancesOf(speech: readonly Placed<SpeechEntry>[]): Utterance[] {
  const groups = new Map<string, Placed<SpeechEntry>[]>();
  for (const item of speech) {
    const key = `${item.entry.turn} ${item.entry.speaker}`;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()].map((parts) => ({
    speaker: parts[0]!.entry.speaker,
    turn: parts[0]!.entry.turn,
    text: parts.map(({ entry }) => entry.text).join(' '),
    parts,
  }));
}

function waitsOf(speech: readonly Placed<SpeechEntry>[], end: EndEntry | undefined): Wait[] {
  return speech.flatMap((words, position) => {
    if (words.entry.speaker !== 'caller') return [];
    const answer = speech.find(({ entry }) => entry.speaker === 'agent' && entry.turn === words.entry.turn);
    const until = answer?.entry.start ?? speech[position + 1]?.entry.start ?? end?.start;
    if (until === undefined) return [];
    // An agent that talks into the caller's words has no latency.
    return [{ ms: Math.max(0, tenths(until - words.entry.end)), answer, words }];
  });
}

/** To a tenth of a millisecond, as the timeline's times are. */
export const tenths = (ms: number): number => Math.round(ms * 10) / 10;
