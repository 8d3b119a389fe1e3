import { piecesOf } from '../../../speech/index.js';
import type { AgentSound, Span } from '../facts/facts.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import { overlapOf } from '../facts/spans.js';

const MARGIN_MS = 400;

/** Cuts each turn of the agent as one piece with wide margins. There is no voice between the given pieces. */
export function recut(pieces: readonly HeardPiece[], agent: readonly AgentSound[]): HeardPiece[] {
  const turns = new Map<number | undefined, HeardPiece[]>();
  for (const piece of pieces) {
    const turn = agent.find((sound) => overlapOf(sound, piece.voice) > 0)?.turn;
    turns.set(turn, [...(turns.get(turn) ?? []), piece]);
  }
  return [...turns.values()].flatMap(asOne);
}

function asOne(pieces: readonly HeardPiece[]): HeardPiece[] {
  const [first, last] = [pieces[0]!, pieces.at(-1)!];
  const { rate } = first;
  const fromMs = first.voice.startMs - MARGIN_MS;
  const samplesAt = (ms: number) => Math.max(0, Math.round(((ms - fromMs) * rate) / 1_000));
  const pcm = new Int16Array(samplesAt(Math.max(last.voice.endMs + MARGIN_MS, last.endMs)));
  for (const piece of pieces) {
    const skipped = Math.max(0, Math.round(((fromMs - piece.startMs) * rate) / 1_000));
    pcm.set(piece.pcm.subarray(skipped, skipped + pcm.length - samplesAt(piece.startMs)), samplesAt(piece.startMs));
  }
  const at = ({ startMs, endMs }: Span, ms: number) => ({ startMs: startMs + ms, endMs: endMs + ms });
  const voices = pieces.map(({ voice }) => at(voice, -fromMs));
  return piecesOf(pcm, rate, voices, { silenceMs: Infinity, marginMs: MARGIN_MS }).map(({ voice, ...span }) => ({
    pcm: pcm.slice(Math.round((span.startMs * rate) / 1_000), Math.round((span.endMs * rate) / 1_000)),
    rate,
    ...at(span, fromMs),
    voice: at(voice, fromMs),
  }));
}
