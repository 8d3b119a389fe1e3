import type { VoiceFacts } from '../../voice/facts/facts.js';
import { BUFFERED_MS, hasClear, speechAt } from '../../voice/measures/index.js';

export interface MissedClear {
  readonly atMs: number;
  /** What was in the buffer, as the subject of a sentence. */
  readonly buffered: string;
}

/** Interruptions of the caller after which the whole buffer was played. */
export const missedClears = (facts: Omit<VoiceFacts, 'wireFindings'>): MissedClear[] =>
  facts.caller.flatMap((act) => {
    if (act.type !== 'say' || !act.bargeIn?.possible || act.bargeIn.bufferedMs < BUFFERED_MS) return [];
    const { startMs, bargeIn } = act;
    const { bufferedMs } = bargeIn;
    const endMs = speechAt(facts, startMs).at(-1)?.endMs ?? startMs + bufferedMs;
    // The call ended before: it is not known what the agent would have done.
    if (facts.end.atMs < startMs + bufferedMs || hasClear(facts, { startMs, bufferedMs, endMs })) return [];
    return [{ atMs: startMs, buffered: `${Math.round(bufferedMs)} ms of the agent's sound were buffered` }];
  });
