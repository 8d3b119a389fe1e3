import type { AgentSound, CallerAct, Span, VoiceFacts } from '../facts/facts.js';
import { UNKNOWN_ENDS } from '../../timeline/end-codes.js';
import type { VoiceMeasures } from '../facts/results.js';
import { takesFloor } from './lines.js';
import { tenth } from '../facts/spans.js';
import { type Uncertainty, uncertaintyWithin } from './uncertainty.js';

/** A silence in which the agent should have spoken. */
export interface HeardSilence extends Span, Uncertainty {
  readonly ms: number;
}

/** Shorter silences are ordinary in a conversation (tau-voice and voxprobe use the same limit). */
export const DEAD_AIR_MS = 3_000;

/**
 * The agent's silences: from the end of the caller's words or keys to the agent's next onset, and between two of the
 * agent's sounds without the caller between them. They exclude the waits for the greeting and for the end of the agent's turn,
 * the caller's own waits and its thinking.
 */
export function silencesOf(facts: VoiceFacts): HeardSilence[] {
  const { agent, caller, end, silences, thinking = [] } = facts;
  const isHeard = (act: CallerAct) => act.endMs > act.startMs || act.type === 'press';
  const heard: readonly (Span & { readonly by: 'agent' | 'caller' | 'listener' })[] = [
    ...caller.filter(isHeard).map((act) => ({ ...spanOf(act), by: takesFloor(act) ? 'caller' : 'listener' }) as const),
    ...silences.filter(({ of }) => of === 'caller').map((wait) => ({ ...spanOf(wait), by: 'caller' }) as const),
    ...thinking.map((thought) => ({ ...spanOf(thought), by: 'caller' }) as const),
    ...agent.map((sound) => ({ ...spanOf(sound), by: 'agent' }) as const),
  ].sort((a, b) => a.startMs - b.startMs);
  const found: HeardSilence[] = [];
  let quietSince: number | undefined;
  let wasCaller = false;
  const add = (startMs: number, endMs: number) => {
    if (endMs <= startMs) return;
    const span = { startMs: tenth(startMs), endMs: tenth(endMs) };
    found.push({ ...span, ms: tenth(endMs - startMs), ...uncertaintyWithin(facts, span) });
  };
  for (const { startMs, endMs, by } of heard) {
    // From the agent's last sound to the caller's next words, the caller waits for the end of the agent's turn.
    if (quietSince !== undefined && (by === 'agent' || wasCaller)) add(quietSince, startMs);
    // A backchannel or noise does not change who has the turn.
    if (by !== 'listener' && (quietSince === undefined || endMs >= quietSince)) wasCaller = by === 'caller';
    quietSince = Math.max(quietSince ?? 0, endMs);
  }
  // A recording does not show who hung up, nor whether the caller still waited.
  const isWaiting = end.by === 'caller' ? end.code === 'agent_silent' : !UNKNOWN_ENDS.has(end.code);
  if (quietSince !== undefined && wasCaller && isWaiting) add(quietSince, end.atMs);
  return found;
}

const spanOf = ({ startMs, endMs }: Span): Span => ({ startMs, endMs });

/** Total and longest of the silences over `DEAD_AIR_MS`, without ordinary gaps. */
export function deadAirOf(silences: readonly HeardSilence[]): VoiceMeasures['deadAir'] {
  const long = silences.filter(({ ms }) => ms > DEAD_AIR_MS).map(({ ms }) => ms);
  return {
    totalMs: tenth(long.reduce((sum, ms) => sum + ms, 0)),
    longestMs: Math.max(0, ...long),
    over3s: long.length,
  };
}

/** Pauses between two sounds of one turn of the agent. */
export function pausesOf(facts: VoiceFacts): (HeardSilence & { readonly before: AgentSound })[] {
  const { agentTurns, agent } = facts;
  return agentTurns.flatMap((turn) => {
    const sounds = agent.filter(({ startMs }) => startMs >= turn.startMs && startMs < turn.endMs);
    return sounds.slice(1).map((before, index) => {
      const span = { startMs: sounds[index]!.endMs, endMs: before.startMs };
      return { ...span, ms: tenth(span.endMs - span.startMs), ...uncertaintyWithin(facts, span), before };
    });
  });
}
