import { partitionPoint } from '../../../../audio/index.js';
import type { SayAct, VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import { type MissedClear, missedClears } from '../barge-in.js';
import { twilioFinding } from './findings.js';

type CallFacts = Omit<VoiceFacts, 'wireFindings'>;

/** Sound that arrives within this time after `clear` belongs to what was cleared. */
const AFTER_CLEAR_MS = 300;

/** Findings about how the agent reacted to a caller that spoke over it. */
export function reviewCall(facts: CallFacts): WireFinding[] {
  const lines = facts.caller.filter((act): act is SayAct => act.type === 'say');
  return [...missedClears(facts).map(missingClear), ...lines.flatMap((line) => mediaAfterClear(facts, line))];
}

function missingClear({ atMs, buffered }: MissedClear): WireFinding {
  const detail = `The caller interrupted while ${buffered}, and all of it was played: the agent sent no clear`;
  return { ...twilioFinding('no_clear_on_barge_in', detail), atMs };
}

function mediaAfterClear({ clears, arrivals }: CallFacts, { startMs, endMs }: SayAct): WireFinding[] {
  return clears
    .filter(({ atMs, droppedMs }) => droppedMs > 0 && atMs >= startMs && atMs <= endMs)
    .flatMap(({ atMs }) => {
      const until = Math.min(endMs, atMs + AFTER_CLEAR_MS);
      const late = arrivals[partitionPoint(arrivals, ({ arrivedMs }) => arrivedMs <= atMs)];
      if (!late || late.arrivedMs > until) return [];
      const after = Math.round(late.arrivedMs - atMs);
      const detail = `Sound arrived ${after} ms after clear, while the caller still spoke`;
      return [{ ...twilioFinding('media_after_clear', detail), atMs: late.arrivedMs }];
    });
}
