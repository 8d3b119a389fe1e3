import { type LatencyMeasures, latencyMeasures } from '../statistics/index.js';
import { CallView, type Gap } from './call-view.js';
import type { Stall } from './stalls.js';
import type { EndCode, EndEntry, TimelineEntry } from './timeline.js';
import type { TesterUsage } from './tester-usage.js';

export interface Measures {
  readonly durationMs: number;
  /** Number of the caller's turns that the agent answered. */
  readonly turns: number;
  /** `plusMinusMs`: the largest of all latencies. */
  readonly latency: LatencyMeasures & { readonly plusMinusMs?: number };
  /** From the start of the call to the agent's first word; null without one. */
  readonly timeToFirstWordMs: number | null;
  readonly words: { readonly caller: number; readonly agent: number };
  /** The agent's share of all words, 0 to 1; null without words. */
  readonly talkRatio: number | null;
  /** The longest time in which neither side spoke. */
  readonly longestSilenceMs: number;
  /** By how much these times may be off, because the tester stalled. Missing in results of version 1. */
  readonly plusMinusMs?: {
    readonly durationMs: number;
    readonly timeToFirstWordMs: number;
    readonly longestSilenceMs: number;
  };
  readonly toolCalls: number;
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
  const words = { caller: wordsOf(view, 'caller'), agent: wordsOf(view, 'agent') };
  const firstWord = entries.find((entry) => entry.type === 'speech' && entry.speaker === 'agent');
  const all = words.caller + words.agent;
  return {
    durationMs,
    turns: view.turns,
    latency: {
      ...latencyMeasures(view.latencies),
      plusMinusMs: view.waits.reduce((worst, { answer, plusMinusMs }) => Math.max(worst, answer ? plusMinusMs : 0), 0),
    },
    timeToFirstWordMs: firstWord?.start ?? null,
    words,
    talkRatio: all === 0 ? null : Math.round((words.agent / all) * 1000) / 1000,
    longestSilenceMs: silence.ms,
    plusMinusMs: {
      durationMs: view.stallWithin(0, durationMs),
      timeToFirstWordMs: firstWord ? view.stallWithin(0, firstWord.start) : 0,
      longestSilenceMs: silence.plusMinusMs,
    },
    toolCalls: view.toolCalls.length,
    endedBy: view.end?.by ?? null,
    endCode: view.end?.code ?? null,
    endReason: view.end?.reason ?? null,
    tester,
  };
}

export const longestOf = (gaps: readonly Gap[]): Gap =>
  gaps.reduce((longest, gap) => (gap.ms > longest.ms ? gap : longest), { start: 0, ms: 0, plusMinusMs: 0 });

/** Words are separated by white space and contain a letter or digit. */
export function wordsOf(view: CallView, speaker: 'agent' | 'caller'): number {
  return view.said(speaker).reduce((sum, { text }) => sum + countWords(text), 0);
}

// Starts at the first letter: a pattern that starts at the beginning of the word takes quadratic time.
export const countWords = (text: string): number => text.match(/[\p{L}\p{N}]\S*/gu)?.length ?? 0;
