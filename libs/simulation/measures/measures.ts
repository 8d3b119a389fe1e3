import { type LatencyMeasures, latencyMeasures } from '../../statistics/index.js';
import { CallView, type Gap } from '../timeline/call-view.js';
import { areAllWordsUnknown, withUnknownWords } from '../timeline/known-words.js';
import type { Stall } from '../time/stalls.js';
import type { EndCode } from '../timeline/end-codes.js';
import type { EndEntry, TimelineEntry } from '../timeline/timeline.js';
import type { TesterUsage } from './tester-usage.js';

export interface Measures {
  readonly durationMs: number;
  /** Number of the caller's turns that the agent answered. */
  readonly turns: number;
  /** `plusMinusMs`: the largest of all latencies. */
  readonly latency: LatencyMeasures & { readonly plusMinusMs?: number };
  /** From the start of the call to the agent's first word; null without one, and for a call of which there is no sound. */
  readonly timeToFirstWordMs: number | null;
  /** `agent`: null if not all its words are known, as in a voice call whose protocol transmits no words. */
  readonly words: { readonly caller: number; readonly agent: number | null };
  /** The agent's share of all words, 0 to 1; null without words or if the agent's are not known. */
  readonly talkRatio: number | null;
  /** The longest time in which neither side spoke; null for a call of which there is no sound. */
  readonly longestSilenceMs: number | null;
  /** By how much these times may be off, because the tester stalled. Missing in results of version 1. */
  readonly plusMinusMs?: {
    readonly durationMs: number;
    readonly timeToFirstWordMs: number;
    readonly longestSilenceMs: number;
  };
  /** Null if they are not known. */
  readonly toolCalls: number | null;
  readonly endedBy: EndEntry['by'] | null;
  readonly endCode: EndCode | null;
  readonly endReason: string | null;
  /** Usage of the tester's own models; not part of any other measure. */
  readonly tester: TesterUsage;
}

/** @param stalls of the tester during the call, in call time */
export function measure(
  entries: readonly TimelineEntry[],
  tester: TesterUsage,
  stalls: readonly Stall[] = [],
): Measures {
  const view = CallView.of(entries, stalls);
  const silence = longestOf(view.gaps);
  const durationMs = view.end?.end ?? 0;
  const firstWord = entries.find((entry) => entry.type === 'speech' && entry.speaker === 'agent');
  const isWordless = withUnknownWords(view).length > 0;
  const callerWords = wordsOf(view, 'caller');
  const hasTimes = view.end?.recorded?.by !== 'transcript';
  const agentWords = isWordless ? null : wordsOf(view, 'agent');
  return {
    durationMs,
    turns: view.turns,
    latency: {
      ...latencyMeasures(view.latencies),
      plusMinusMs: view.waits.reduce((worst, { answer, plusMinusMs }) => Math.max(worst, answer ? plusMinusMs : 0), 0),
    },
    timeToFirstWordMs: (hasTimes && firstWord?.start) || null,
    words: { caller: callerWords, agent: agentWords },
    talkRatio: talkRatio(callerWords, agentWords),
    longestSilenceMs: hasTimes ? silence.ms : null,
    plusMinusMs: {
      durationMs: view.stallWithin(0, durationMs),
      timeToFirstWordMs: firstWord ? view.stallWithin(0, firstWord.start) : 0,
      longestSilenceMs: silence.plusMinusMs,
    },
    toolCalls: toolCallsOf(view),
    endedBy: view.end?.by ?? null,
    endCode: view.end?.code ?? null,
    endReason: view.end?.reason ?? null,
    tester,
  };
}

function toolCallsOf({ entries, toolCalls, unknownTools }: CallView): number | null {
  // A protocol that shows no words shows no tool calls either.
  const isUnknown = unknownTools === undefined ? areAllWordsUnknown(entries) && toolCalls.length === 0 : unknownTools;
  return isUnknown ? null : toolCalls.length;
}

function talkRatio(caller: number, agent: number | null): number | null {
  if (agent === null || caller + agent === 0) return null;
  return Math.round((agent / (caller + agent)) * 1000) / 1000;
}

export const longestOf = (gaps: readonly Gap[]): Gap =>
  gaps.reduce((longest, gap) => (gap.ms > longest.ms ? gap : longest), { start: 0, ms: 0, plusMinusMs: 0 });

/** Words are separated by white space and contain a letter or digit. */
export function wordsOf(view: CallView, speaker: 'agent' | 'caller'): number {
  return view.said(speaker).reduce((sum, { text }) => sum + countWords(text), 0);
}

// Starts at the first letter: a pattern that starts at the beginning of the word takes quadratic time.
export const countWords = (text: string): number => text.match(/[\p{L}\p{N}]\S*/gu)?.length ?? 0;
