import type { Arrival } from '../facts/facts.js';

/** A longer gap in the playout separates two items, if the platform does not name items. */
const ITEM_GAP_MS = 400;

/**
 * Milliseconds played of the last item before a given time.
 * @param latestFirst all audio that arrived
 * @param sinceMs end of the caller's previous line: later audio is the agent's present item
 */
export function playedOfItem(latestFirst: Iterable<Arrival>, atMs: number, sinceMs: number): number {
  let played = 0;
  let itemStart = Infinity;
  let present: number | undefined;
  for (const { arrivedMs, playedFromMs, playedToMs, item } of latestFirst) {
    if (playedFromMs >= atMs) continue;
    const playedTo = Math.min(playedToMs, atMs);
    const isFirst = itemStart === Infinity;
    if (arrivedMs < sinceMs || (!isFirst && (itemStart - playedTo > ITEM_GAP_MS || item !== present))) break;
    played += playedTo - playedFromMs;
    itemStart = playedFromMs;
    present = item;
  }
  return played;
}
