import type { HeardTimes, Placed } from '../../timeline/call-view.js';
import type { SpeechEntry, TimelineEntry } from '../../timeline/timeline.js';
import type { VoiceFacts } from '../facts/facts.js';
import { floorWaitsOf } from './latencies.js';
import { pausesOf, silencesOf } from './silences.js';
import { uncertaintyWithin } from './uncertainty.js';

/**
 * Times of a voice call for the checks and measures that text calls have as well. Entries alone do not show them: whether a
 * silence is the agent's depends on how its turns ended.
 */
export function heardTimes(facts: VoiceFacts, entries: readonly TimelineEntry[]): HeardTimes {
  const speech = entries.flatMap((entry, index): Placed<SpeechEntry>[] =>
    entry.type === 'speech' ? [{ entry, index }] : [],
  );
  const agentAt = (ms: number) =>
    speech.find(({ entry }) => entry.speaker === 'agent' && Math.abs(entry.start - ms) < 1);
  const spokenBefore = (ms: number) => speech.filter(({ entry }) => entry.start <= ms);
  const lineBefore = (ms: number) => spokenBefore(ms).findLast(({ entry }) => entry.speaker === 'caller');
  return {
    waits: floorWaitsOf(facts).flatMap(({ latency, sinceMs, isBesideBed }) => {
      if (latency.heardMs === null) return [];
      const answer = latency.answered ? agentAt(sinceMs + latency.heardMs) : undefined;
      // The caller has only pressed keys so far, and said nothing.
      const words = lineBefore(sinceMs) ?? spokenBefore(sinceMs).at(-1) ?? answer;
      if (!words) return [];
      const { heardMs: ms, plusMinusMs } = latency;
      return [{ ms, plusMinusMs, words, answer, ...(isBesideBed && { isBesideBed }) }];
    }),
    gaps: silencesOf(facts).map(({ startMs, endMs: _, ...gap }) => ({ start: startMs, ...gap })),
    pauses: pausesOf(facts).flatMap(({ before, startMs: _start, endMs: _end, ...pause }) => {
      const part = agentAt(before.startMs);
      return part ? [{ ...pause, part }] : [];
    }),
    firstSound: uncertaintyWithin(facts, { startMs: 0, endMs: facts.agent[0]?.startMs ?? 0 }),
    thinking: (facts.thinking ?? []).map(({ startMs, endMs }) => ({ start: startMs, end: endMs })),
  };
}
