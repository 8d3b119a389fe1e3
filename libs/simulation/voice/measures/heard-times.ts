import type { HeardTimes, Placed } from '../../call-view.js';
import type { SpeechEntry, TimelineEntry } from '../../timeline.js';
import type { VoiceFacts } from '../facts.js';
import { floorWaitsOf } from './latencies.js';
import { pausesOf, silencesOf } from './silences.js';

/**
 * The times of a call with sound for checks and measures that text calls share. Entries alone do not show them: which
 * silence is the agent's depends on how its turns ended.
 */
export function heardTimes(facts: VoiceFacts, entries: readonly TimelineEntry[]): HeardTimes {
  const speech = entries.flatMap((entry, index): Placed<SpeechEntry>[] =>
    entry.type === 'speech' ? [{ entry, index }] : [],
  );
  const agentAt = (ms: number) =>
    speech.find(({ entry }) => entry.speaker === 'agent' && Math.abs(entry.start - ms) < 1);
  const lineBefore = (ms: number) => speech.findLast(({ entry }) => entry.speaker === 'caller' && entry.start <= ms);
  return {
    waits: floorWaitsOf(facts).flatMap(({ latency, sinceMs }) => {
      const words = lineBefore(sinceMs);
      if (latency.heardMs === null || !words) return [];
      const answer = latency.answered ? agentAt(sinceMs + latency.heardMs) : undefined;
      return [{ ms: latency.heardMs, plusMinusMs: latency.plusMinusMs, words, answer }];
    }),
    gaps: silencesOf(facts).map(({ startMs, ms, plusMinusMs }) => ({ start: startMs, ms, plusMinusMs })),
    pauses: pausesOf(facts).flatMap(({ before, ms, plusMinusMs }) => {
      const part = agentAt(before.startMs);
      return part ? [{ ms, plusMinusMs, part }] : [];
    }),
  };
}
