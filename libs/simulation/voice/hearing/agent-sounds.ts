import { partitionPoint } from '../../../audio/index.js';
import type { AgentSound, Arrival } from '../facts/facts.js';
import type { HeardSounds } from './heard-sounds.js';

interface Surroundings {
  readonly arrivals: readonly Arrival[];
  /** Number of the caller's turn at a given time. */
  readonly turnAt: (atMs: number) => number;
  /** End of the caller's latest line that began before a given time; 0 without one. */
  readonly lineEndBefore: (atMs: number) => number;
  /** Omits sounds that ended by then. */
  readonly sinceMs?: number;
}

/** The agent's sounds as heard, without background audio. */
export function agentSounds(
  heard: HeardSounds,
  { arrivals, turnAt, lineEndBefore, sinceMs = -Infinity }: Surroundings,
): AgentSound[] {
  const first = partitionPoint(heard.sounds, ({ endMs }) => endMs <= sinceMs);
  let beforeMs = heard.sounds.slice(0, first).findLast(({ isBackground }) => !isBackground)?.endMs ?? 0;
  return heard.sounds.slice(first).flatMap((sound) => {
    const voice = sound.isBackground ? null : heard.voiceIn(sound);
    if (!voice) return [];
    const { dbfs, breaksOff } = sound;
    const { startMs, endMs } = voice;
    const after = Math.max(beforeMs, Math.min(lineEndBefore(startMs), startMs));
    beforeMs = endMs;
    const firstByteMs = firstByteOf(arrivals, startMs, after);
    const ending = { ...(breaksOff && { breaksOff }), ...(heard.mayGoOn(sound) && { mayGoOn: true }) };
    return [{ ...voice, dbfs, turn: turnAt(startMs), firstByteMs, ...ending }];
  });
}

/** Levels for the facts; digital silence has none. */
export const finite = (dbfs: number | null): number | null => (dbfs === null || Number.isFinite(dbfs) ? dbfs : null);

/** When the first byte of the item with the onset arrived. @param afterMs earlier audio belongs to another item */
function firstByteOf(arrivals: readonly Arrival[], onsetMs: number, afterMs: number): number {
  const next = partitionPoint(arrivals, ({ playedFromMs }) => playedFromMs <= onsetMs);
  let first = arrivals[next - 1];
  for (let index = next - 2; index >= 0 && first; index--) {
    const before = arrivals[index]!;
    const isSameItem = before.playedToMs >= first.playedFromMs && before.arrivedMs >= afterMs;
    if (!isSameItem) break;
    first = before;
  }
  return first?.arrivedMs ?? onsetMs;
}
