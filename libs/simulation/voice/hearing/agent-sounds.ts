import { partitionPoint } from '../../../audio/index.js';
import type { AgentSound, Arrival } from '../facts/facts.js';
import type { HeardSounds } from './heard-sounds.js';

interface Surroundings {
  readonly arrivals: readonly Arrival[];
  /** Number of the caller's turn at a moment. */
  readonly turnAt: (atMs: number) => number;
  /** End of the caller's latest line that began before a moment; 0 without one. */
  readonly lineEndBefore: (atMs: number) => number;
  /** Sounds that ended by then are left out. */
  readonly sinceMs?: number;
}

/** What was heard of the agent, without background audio. */
export function agentSounds(
  heard: HeardSounds,
  { arrivals, turnAt, lineEndBefore, sinceMs = -Infinity }: Surroundings,
): AgentSound[] {
  const audible = heard.sounds.filter(({ isBackground }) => !isBackground);
  const first = partitionPoint(audible, ({ endMs }) => endMs <= sinceMs);
  const isUneven = heard.background?.isUneven === true;
  return audible.slice(first).map((sound, index) => {
    const { startMs, endMs, dbfs, breaksOff } = sound;
    const after = Math.max(audible[first + index - 1]?.endMs ?? 0, Math.min(lineEndBefore(startMs), startMs));
    const firstByteMs = firstByteOf(arrivals, startMs, after);
    return {
      startMs,
      endMs,
      dbfs,
      turn: turnAt(startMs),
      firstByteMs,
      ...(breaksOff && { breaksOff }),
      ...(isUneven && { certain: heard.certainPartOf(sound) }),
    };
  });
}

/** Levels as facts have them: digital silence has none. */
export const finite = (dbfs: number | null): number | null => (dbfs === null || Number.isFinite(dbfs) ? dbfs : null);

/** When the first byte of the item arrived that holds an onset. @param afterMs what was sent or played before is another item */
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
