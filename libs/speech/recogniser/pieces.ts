/** In milliseconds of the audio. */
interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** A part of the audio that is transcribed by itself. */
export interface Piece extends Span {
  /** Where its voice begins and ends; the piece has a margin around it. */
  readonly voice: Span;
}

export interface PieceOptions {
  /** Silence after which a new piece begins. */
  readonly silenceMs?: number;
  readonly marginMs?: number;
}

const SILENCE_MS = 300;
const MARGIN_MS = 200;
const MAX_MS = 25_000;
/** Speech without silence is cut at the lowest level of the last part of this length. */
const SEARCH_MS = 2_000;
const WINDOW_MS = 20;

/**
 * The parts of audio that have voice, for a recogniser, in order: never audio without voice, beyond the margins.
 * @param voices in order, without overlap
 */
export function piecesOf(
  pcm: Int16Array,
  rate: number,
  voices: readonly Span[],
  { silenceMs = SILENCE_MS, marginMs = MARGIN_MS }: PieceOptions = {},
): Piece[] {
  const lengthMs = (pcm.length / rate) * 1_000;
  const joined: Span[] = [];
  for (const { startMs, endMs } of voices) {
    const last = joined.at(-1);
    if (last && startMs - last.endMs < silenceMs) joined[joined.length - 1] = { startMs: last.startMs, endMs };
    else joined.push({ startMs, endMs });
  }
  const parts = joined.flatMap((span) => cut(pcm, rate, span));
  return parts.map((voice, index) => {
    // Each half of a short silence belongs to one piece: a word is never in two of them.
    const before = (voice.startMs - (parts[index - 1]?.endMs ?? -Infinity)) / 2;
    const after = ((parts[index + 1]?.startMs ?? Infinity) - voice.endMs) / 2;
    const startMs = Math.max(0, voice.startMs - Math.min(marginMs, before));
    return { startMs, endMs: Math.min(lengthMs, voice.endMs + Math.min(marginMs, after)), voice };
  });
}

function cut(pcm: Int16Array, rate: number, { startMs, endMs }: Span): Span[] {
  const parts: Span[] = [];
  let from = startMs;
  while (endMs - from > MAX_MS) {
    const to = quietest(pcm, rate, from + MAX_MS - SEARCH_MS, from + MAX_MS);
    parts.push({ startMs: from, endMs: to });
    from = to;
  }
  return [...parts, { startMs: from, endMs }];
}

/** The middle of the window with the least power; the last of several. */
function quietest(pcm: Int16Array, rate: number, fromMs: number, toMs: number): number {
  let [best, least] = [toMs, Infinity];
  for (let ms = fromMs; ms + WINDOW_MS <= toMs; ms += WINDOW_MS) {
    const window = pcm.subarray(Math.round((ms * rate) / 1_000), Math.round(((ms + WINDOW_MS) * rate) / 1_000));
    const power = window.reduce((sum, sample) => sum + sample * sample, 0);
    if (power <= least) [best, least] = [ms + WINDOW_MS / 2, power];
  }
  return best;
}
