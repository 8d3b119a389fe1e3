import type { SpeechEntry, TimelineEntry } from './timeline.js';

/** Whether this is a line with which a caller without a script interrupted the agent: prepared words, not its model's. */
export const isInterruption = (entry: TimelineEntry): entry is SpeechEntry =>
  entry.type === 'speech' && entry.speaker === 'caller' && entry.bargeIn !== undefined && entry.script === undefined;

/** Numbers of the turns in which the agent was interrupted by the caller, or answered an interruption. */
export function interruptedTurns(entries: readonly TimelineEntry[]): Set<number> {
  return new Set(entries.filter(isInterruption).flatMap(({ turn }) => [turn - 1, turn]));
}
