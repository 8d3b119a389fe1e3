import type { Speaker } from '../../evaluation-definition/index.js';
import { joined, type Stall, stalledMs, tenths, UNREAD_MS } from '../time/stalls.js';
import { interruptedTurns } from './interruptions.js';
import { type EndEntry, joinSpeech, type SpeechEntry, type TimelineEntry, type ToolCallEntry } from './timeline.js';

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
  /** By how much `ms` may be off, because the tester stalled during the wait or a bed was heard. */
  readonly plusMinusMs: number;
  /** Present on a voice call with background audio under the agent's voice. */
  readonly isBesideBed?: true;
  /** Undefined when there was no answer; `ms` is then a lower bound. */
  readonly answer: Placed<SpeechEntry> | undefined;
  /** The caller's words before the wait. */
  readonly words: Placed<SpeechEntry>;
}

/** A time in which neither side spoke. The caller's own waits do not count. */
export interface Gap {
  readonly start: number;
  readonly ms: number;
  readonly plusMinusMs: number;
  readonly isBesideBed?: true;
}

/** A silence of the agent inside an answer. */
export interface Pause {
  readonly ms: number;
  readonly plusMinusMs: number;
  readonly isBesideBed?: true;
  /** What the agent said after it. */
  readonly part: Placed<SpeechEntry>;
}

/** A part of a call: indices of entries. */
export interface CallPart {
  readonly entries: ReadonlySet<number>;
  /** What may belong to it, too: the agent did it while the caller spoke. */
  readonly open: ReadonlySet<number>;
}

/** Times of a voice call, which do not follow from its entries alone. */
export interface HeardTimes {
  readonly waits: readonly Wait[];
  readonly gaps: readonly Gap[];
  readonly pauses: readonly Pause[];
  /** How far the time of the agent's first sound may be off. */
  readonly firstSound: Pick<Wait, 'plusMinusMs' | 'isBesideBed'>;
  /** When the caller thought about what to say. */
  readonly thinking: readonly { readonly start: number; readonly end: number }[];
}

/** Times of a transcript are rough: nothing is measured. */
const NO_TIMES: HeardTimes = { waits: [], gaps: [], pauses: [], firstSound: { plusMinusMs: 0 }, thinking: [] };

/** A timeline, prepared for checks and measures. */
export class CallView {
  private static readonly views = new WeakMap<readonly TimelineEntry[], CallView>();

  /** The view of a finished call, computed once. @param stalls of the tester during the call, in call time */
  static of(
    entries: readonly TimelineEntry[],
    stalls: readonly Stall[] = [],
    heard?: HeardTimes,
    unknownTools?: string | null,
  ): CallView {
    let view = CallView.views.get(entries);
    if (!view) CallView.views.set(entries, (view = new CallView(entries, stalls, heard, unknownTools)));
    return view;
  }

  readonly utterances: readonly Utterance[];
  readonly toolCalls: readonly Placed<ToolCallEntry>[];
  readonly waits: readonly Wait[];
  readonly end: EndEntry | undefined;
  private readonly stalls: readonly Stall[];
  private readonly heard: HeardTimes | undefined;

  constructor(
    readonly entries: readonly TimelineEntry[],
    stalls: readonly Stall[] = [],
    heard?: HeardTimes,
    /** Why not all tool calls of the agent are known; null if they are; absent if the protocol shows them, if any. */
    readonly unknownTools?: string | null,
    readonly part?: CallPart,
  ) {
    this.stalls = joined(stalls);
    const placed = entries.map((entry, index) => ({ entry, index }));
    const counted = placed.filter((item) => this.counts(item));
    this.utterances = utterancesOf(counted.filter(isSpeech));
    this.toolCalls = counted.filter((item): item is Placed<ToolCallEntry> => item.entry.type === 'tool_call');
    this.end = entries.findLast((entry) => entry.type === 'end');
    this.heard = this.end?.recorded?.by === 'transcript' ? NO_TIMES : heard;
    const waits = this.heard?.waits ?? waitsOf(placed, this.end, this.stalls);
    this.waits = waits.filter(({ words }) => this.counts(words));
  }

  /** The same call, of which only a part counts: what was said, tool calls, waits and pauses. Evidence refers to the whole. */
  within(part: CallPart): CallView {
    return new CallView(this.entries, this.stalls, this.heard, this.unknownTools, part);
  }

  readonly counts = ({ index }: Pick<Placed, 'index'>): boolean => this.part?.entries.has(index) ?? true;

  /** The same call with other words: the times stay what they are. */
  withEntries(entries: readonly TimelineEntry[]): CallView {
    return new CallView(entries, this.stalls, this.heard, this.unknownTools, this.part);
  }

  /** Time of the call until a moment, without the time in which the caller of a voice call thought. */
  withoutThinking(untilMs: number): number {
    const thinking = this.heard?.thinking ?? [];
    return untilMs - thinking.reduce((sum, { start, end }) => sum + Math.max(0, Math.min(end, untilMs) - start), 0);
  }

  /** How long the tester stalled in a span of the call. @param after what the span follows: the agent may have been read late */
  stallWithin(start: number, end: number, after: Speaker = 'caller'): number {
    const before = this.stalls.find((stall) => stall.start < start && stall.end > start - UNREAD_MS);
    return stalledMs(this.stalls, after === 'agent' && before ? before.start : start, end);
  }

  /** How far the time of the agent's first word may be off. */
  firstWordDoubt(atMs: number): HeardTimes['firstSound'] {
    return this.heard?.firstSound ?? { plusMinusMs: this.stallWithin(0, atMs) };
  }

  /** The longest that the tester stalled while the caller waited for an answer in vain. */
  get stallInSilences(): number {
    return this.entries.reduce((worst, entry) => {
      if (entry.type !== 'silence' || entry.of !== 'agent') return worst;
      return Math.max(worst, this.stallWithin(entry.start, entry.end));
    }, 0);
  }

  /** In order of their start. */
  get gaps(): readonly Gap[] {
    if (this.heard) return this.heard.gaps;
    const gaps: Gap[] = [];
    let quietSince = 0;
    let after: Speaker = 'caller';
    for (const entry of this.entries) {
      if (entry.type !== 'end' && entry.type !== 'speech' && !isCallersWait(entry)) continue;
      const ms = tenths(entry.start - quietSince);
      if (ms > 0) gaps.push({ start: quietSince, ms, plusMinusMs: this.stallWithin(quietSince, entry.start, after) });
      if (entry.end >= quietSince) after = entry.type === 'speech' ? entry.speaker : 'caller';
      quietSince = Math.max(quietSince, entry.end);
    }
    return gaps;
  }

  /** Whether this is a voice call and the agent was never heard. */
  get isUnheard(): boolean {
    return this.heard !== undefined && this.said('agent').length === 0;
  }

  /** Whether this is a voice call in which the caller never waited: the agent sounded whenever the caller's words ended. */
  get isAlwaysSounding(): boolean {
    const isHeard = this.said('agent').length > 0 && this.said('caller').length > 0;
    return this.heard !== undefined && this.waits.length === 0 && isHeard;
  }

  /** Whether this is a voice call and the agent hung up while it was heard. */
  get hungUpInSpeech(): boolean {
    const last = this.said('agent').at(-1)?.parts.at(-1);
    return this.heard !== undefined && this.end?.by === 'agent' && last?.entry.cut === true;
  }

  /** Inside answers, in order. */
  get pauses(): readonly Pause[] {
    if (this.heard) return this.heard.pauses.filter(({ part }) => this.counts(part));
    return this.said('agent').flatMap(({ parts }) =>
      parts.slice(1).map((part, index) => {
        const [from, to] = [parts[index]!.entry.end, part.entry.start];
        return { ms: Math.max(0, to - from), plusMinusMs: this.stallWithin(from, to, 'agent'), part };
      }),
    );
  }

  /** Response latencies in order, in milliseconds. */
  get latencies(): number[] {
    return this.waits.flatMap(({ ms, answer }) => (answer ? [ms] : []));
  }

  /** The agent's answers to the caller's turns. */
  get answers(): Utterance[] {
    return this.said('agent').filter(({ turn }) => turn > 0);
  }

  /** The same without those that the caller of its own accord interrupted, and those to its interruptions. */
  get wholeAnswers(): Utterance[] {
    const interrupted = interruptedTurns(this.entries);
    return this.answers.filter(({ turn }) => !interrupted.has(turn));
  }

  /** Number of the caller's turns that the agent answered. */
  get turns(): number {
    return this.wholeAnswers.length;
  }

  /** Index of the agent's words with which the tool call at an index came in one message. */
  wordsBefore(index: number): number | undefined {
    const at = this.entries.findLastIndex(({ type }, at) => at < index && type === 'speech');
    return at === -1 ? undefined : at;
  }

  said(speaker: Speaker): Utterance[] {
    return this.utterances.filter((utterance) => utterance.speaker === speaker);
  }
}

/** The part of an utterance that has the character at a position of its text, and where in the part it stands. */
export function partAt(
  { parts }: Utterance,
  position: number,
): { readonly part: Placed<SpeechEntry>; readonly offset: number } {
  let start = 0;
  for (const [index, part] of parts.entries()) {
    // As `joinSpeech` puts a space between.
    if (index > 0 && !part.entry.continues) start++;
    const { length } = part.entry.text;
    if (position < start + length) return { part, offset: Math.max(0, position - start) };
    start += length;
  }
  const last = parts.at(-1)!;
  return { part: last, offset: last.entry.text.length };
}

/** Whether the agent was heard to say it on a voice call. */
export const isVoice = ({ words }: SpeechEntry): boolean => words !== undefined;

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
    text: joinSpeech(parts.map(({ entry }) => entry)),
    parts,
  }));
}

const isCallersWait = (entry: TimelineEntry): boolean => entry.type === 'silence' && entry.of === 'caller';

function waitsOf(placed: readonly Placed[], end: EndEntry | undefined, stalls: readonly Stall[]): Wait[] {
  const heard = placed.filter((item) => isSpeech(item) || isCallersWait(item.entry));
  return heard.flatMap((words, position) => {
    if (!isSpeech(words) || words.entry.speaker !== 'caller') return [];
    const answer = heard
      .filter(isSpeech)
      .find(({ entry }) => entry.speaker === 'agent' && entry.turn === words.entry.turn);
    const until = answer?.entry.start ?? heard[position + 1]?.entry.start ?? end?.start;
    if (until === undefined) return [];
    // An agent that interrupts the caller has a latency of 0.
    const ms = Math.max(0, tenths(until - words.entry.end));
    return [{ ms, plusMinusMs: stalledMs(stalls, words.entry.end, until), answer, words }];
  });
}
