import { activeLevel, normaliseLevel, resample, speechBounds, TELEPHONE_RATE } from '../audio/index.js';
import type { Sound } from './sound.js';

const ACTIVE_LEVEL_DBFS = -26;
/** Below it an engine's audio is not speech but its noise, which must not be amplified. */
const SILENCE_DBFS = -50;
/** Kept around the speech, in samples: a cut at the first loud sample would click. */
const MARGIN_BEFORE = 80;
const MARGIN_AFTER = 240;

/** Audio as an engine returns it. */
export interface RawSpeech {
  readonly pcm: Int16Array;
  readonly sampleRate: number;
  readonly words: readonly { readonly text: string; readonly startSeconds: number; readonly endSeconds: number }[];
}

/**
 * Makes audio of an engine ready for the telephone: 8,000 Hz, -26 dBFS active level, without the silence around it.
 *
 * @returns undefined if it is silent
 */
export function prepareSound({ pcm, sampleRate, words }: RawSpeech): Sound | undefined {
  const resampled = resample(pcm, sampleRate, TELEPHONE_RATE);
  if (activeLevel(resampled, TELEPHONE_RATE) < SILENCE_DBFS) return undefined;
  const rough = trim(normaliseLevel(resampled, TELEPHONE_RATE, ACTIVE_LEVEL_DBFS));
  // Again, because the level of speech depends a little on the silence around it.
  const exact = trim(normaliseLevel(rough.pcm, TELEPHONE_RATE, ACTIVE_LEVEL_DBFS));
  const { start, end } = speechBounds(exact.pcm);
  const offsetSeconds = (rough.from + exact.from) / TELEPHONE_RATE;
  const durationMs = (exact.pcm.length / TELEPHONE_RATE) * 1_000;
  const timeOf = (seconds: number) => Math.round(Math.min(durationMs, Math.max(0, (seconds - offsetSeconds) * 1_000)));
  return {
    pcm: exact.pcm,
    speechStart: start,
    speechEnd: end,
    words: words.map(({ text, startSeconds, endSeconds }) => ({
      text,
      startMs: timeOf(startSeconds),
      endMs: timeOf(endSeconds),
    })),
  };
}

function trim(pcm: Int16Array): { readonly pcm: Int16Array; readonly from: number } {
  const { start, end } = speechBounds(pcm);
  const from = Math.max(0, start - MARGIN_BEFORE);
  return { pcm: pcm.slice(from, end + MARGIN_AFTER), from };
}
