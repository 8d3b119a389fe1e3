import type { Speaker } from '../evaluation-definition/index.js';
import type { EndEntry, SpeechEntry, TimelineEntry, ToolCallEntry } from './timeline.js';

/** A timeline entry with its index, which evidence refers to. */
export interface Placed<T extends TimelineEntry = TimelineEntry> {
  readonly index: number;
  readonly entry: T;
}

/** Everything one side said in one turn, possibly in several entries. */
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
  /** Undefined when there was no answer; `ms` is then a lower bound. */
  readonly answer: Placed<SpeechEntry> | undefined;
  /** The caller's words before the wait. */
  readonly words: Placed<SpeechEntry>;
}

/** A timeline, prepared for checks and measures. */
export class CallView {
  private static readonly views = new WeakMap<readonly TimelineEntry[], CallView>();

  /** The view of a finished call, computed once. */
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

  /** The agent's answers to the caller's turns. */
  get answers(): Utterance[] {
    return this.said('agent').filter(({ turn }) => turn > 0);
  }

  /** Number of the caller's turns that the agent answered. */
  get turns(): number {
    return this.answers.length;
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
    // An agent that interrupts the caller has a latency of 0.
    return [{ ms: Math.max(0, tenths(until - words.entry.end)), answer, words }];
  });
}

/** Rounds to a tenth of a millisecond, the precision of the timeline. */
export const tenths = (ms: number): number => Math.round(ms * 10) / 10;
