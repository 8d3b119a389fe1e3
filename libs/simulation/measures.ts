import { type LatencyMeasures, latencyMeasures } from '../statistics/index.js';
import { CallView, tenths } from './call-view.js';
import type { EndCode, EndEntry, TimelineEntry } from './timeline.js';
import type { TesterUsage } from './tester-usage.js';

export interface Measures {
  readonly durationMs: number;
  /** Number of the caller's turns that the agent answered. */
  readonly turns: number;
  readonly latency: LatencyMeasures;
  /** From the start of the call to the agent's first word; null without one. */
  readonly timeToFirstWordMs: number | null;
  readonly words: { readonly caller: number; readonly agent: number };
  /** The agent's share of all words, 0 to 1; null without words. */
  readonly talkRatio: number | null;
  /** The longest time in which neither side spoke. */
  readonly longestSilenceMs: number;
  readonly toolCalls: number;
  readonly endedBy: EndEntry['by'] | null;
  readonly endCode: EndCode | null;
  readonly endReason: string | null;
  /** Usage of the tester's own models; not part of any other measure. */
  readonly tester: TesterUsage;
}

export function measure(entries: readonly TimelineEntry[], tester: TesterUsage): Measures {
  const view = CallView.of(entries);
  const words = { caller: wordsOf(view, 'caller'), agent: wordsOf(view, 'agent') };
  const firstWord = entries.find((entry) => entry.type === 'speech' && entry.speaker === 'agent');
  const all = words.caller + words.agent;
  return {
    durationMs: view.end?.end ?? 0,
    turns: view.turns,
    latency: latencyMeasures(view.latencies),
    timeToFirstWordMs: firstWord?.start ?? null,
    words,
    talkRatio: all === 0 ? null : Math.round((words.agent / all) * 1000) / 1000,
    longestSilenceMs: longestSilence(entries).ms,
    toolCalls: view.toolCalls.length,
    endedBy: view.end?.by ?? null,
    endCode: view.end?.code ?? null,
    endReason: view.end?.reason ?? null,
    tester,
  };
}

/** The longest time in which neither side spoke, and its start. */
export function longestSilence(entries: readonly TimelineEntry[]): { readonly ms: number; readonly start: number } {
  let longest = { ms: 0, start: 0 };
  let quietSince = 0;
  const end = entries.findLast((entry) => entry.type === 'end');
  for (const entry of [...entries.filter(({ type }) => type === 'speech'), ...(end ? [end] : [])]) {
    const ms = tenths(entry.start - quietSince);
    if (ms > longest.ms) longest = { ms, start: quietSince };
    quietSince = Math.max(quietSince, entry.end);
  }
  return longest;
}

/** Words are separated by white space and contain a letter or digit. */
function wordsOf(view: CallView, speaker: 'agent' | 'caller'): number {
  return view.said(speaker).reduce((sum, { text }) => sum + countWords(text), 0);
}

// Starts at the first letter: a pattern that starts at the beginning of the word takes quadratic time.
const countWords = (text: string): number => text.match(/[\p{L}\p{N}]\S*/gu)?.length ?? 0;
