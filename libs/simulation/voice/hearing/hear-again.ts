import type { VoiceFacts } from '../facts/facts.js';
import { agentSounds, finite } from './agent-sounds.js';
import { hearLane, type RecordedLane } from './hear-lane.js';

export type { RecordedLane };

/**
 * Replaces the agent's sounds in the facts by those that the gate finds in the recording. The caller's acts stay, and so do the
 * agent's turns as the caller saw them. Facts without `hearing` are returned unchanged.
 */
export function hearAgain(facts: VoiceFacts, lane: RecordedLane): VoiceFacts {
  const { hearing, arrivals, end, level } = facts;
  if (!hearing) return facts;
  const turnEnds = [...hearing.turnEnds];
  const heard = hearLane(lane, {
    frames: hearing.frames,
    endMs: end.atMs,
    arrivals,
    before: (sounds, frame) => {
      while (turnEnds[0] && turnEnds[0].afterFrames <= frame) sounds.turnEnded(turnEnds.shift()!.playedAtMs);
    },
  });
  const agent = agentSounds(heard, { arrivals, ...linesOf(facts.caller) });
  const wasSent = level.inaudible || facts.agent.length > 0;
  return {
    ...facts,
    agent,
    background: heard.background,
    level: {
      ...level,
      dbfs: agent.length > 0 ? finite(heard.activeDbfs) : null,
      inaudible: agent.length === 0 && wasSent,
    },
  };
}

/** The caller's lines around a given time, for `agentSounds`. */
export function linesOf(caller: VoiceFacts['caller']) {
  const lines = caller.filter(({ type }) => type === 'say');
  return {
    turnAt: (atMs: number) => lines.findLastIndex(({ startMs }) => startMs <= atMs) + 1,
    lineEndBefore: (atMs: number) => lines.findLast(({ startMs }) => startMs < atMs)?.endMs ?? 0,
  };
}
