import type { Arrival, Span } from '../facts/facts.js';
import { Line } from '../facts/line.js';
import type { RecordedLane } from '../hearing/hear-lane.js';

/** The spans of a channel, in whole frames, in which something was sent: a line on which nothing is sent is exactly silent. */
export function sentIn({ rate, pcm }: RecordedLane): Arrival[] {
  const line = new Line(rate);
  const sent: Arrival[] = [];
  for (let from = 0; from < pcm.length; from += line.frameSamples) {
    const to = Math.min(from + line.frameSamples, pcm.length);
    if (pcm.subarray(from, to).every((sample) => sample === 0)) continue;
    const last = sent.at(-1);
    if (last?.playedToMs === line.msOf(from)) sent[sent.length - 1] = { ...last, playedToMs: line.msOf(to) };
    else sent.push({ arrivedMs: line.msOf(from), playedFromMs: line.msOf(from), playedToMs: line.msOf(to) });
  }
  return sent;
}

/** The same spans, cut where they belong to an item. @param items in order, without overlap */
export function withItems(sent: readonly Arrival[], items: readonly (Span & { readonly item: number })[]): Arrival[] {
  return sent.flatMap(({ arrivedMs, playedFromMs, playedToMs }) => {
    const parts: Arrival[] = [];
    const add = (fromMs: number, toMs: number, item?: number) => {
      if (toMs <= fromMs) return;
      const arrived = { arrivedMs: arrivedMs + (fromMs - playedFromMs) };
      parts.push({ ...arrived, playedFromMs: fromMs, playedToMs: toMs, ...(item !== undefined && { item }) });
    };
    let at = playedFromMs;
    for (const { startMs, endMs, item } of items) {
      if (endMs <= at || startMs >= playedToMs) continue;
      const from = Math.max(startMs, at);
      add(at, from);
      at = Math.min(endMs, playedToMs);
      add(from, at, item);
    }
    add(at, playedToMs);
    return parts;
  });
}
