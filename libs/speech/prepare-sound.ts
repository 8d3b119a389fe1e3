import { activeLevel, normaliseLevel, resample, speechBounds, TELEPHONE_RATE } from '../audio/index.js';
import type { Sound } from './sound.js';

const ACTIVE_LEVEL_DBFS = -26;
/** Below it an engine's audio is not speech but its noise, which must not be amplified. */
const SILENCE_DBFS = -50;
/** Kept around the speech, in seconds: a cut at the first loud sample would click. */
const MARGIN_BEFORE = 0.01;
const MARGIN_AFTER = 0.03;

/** Audio as an engine returns it. */
export interface RawSpeech {
  readonly pcm: Int16Array;
  readonly sampleRate: number;
  readonly words: readonly {
    readonly text: string;
    readonly startSeconds: number;
    readonly endSeconds: number;
    readonly estimated?: true;
  }[];
}

/**
 * Makes audio of an engine ready for a call: -26 dBFS active level, without the silence around it.
 *
 * @param rate of the sound: by default that of the telephone
 * @returns undefined if it is silent
 */
export function prepareSound({ pcm, sampleRate, words }: RawSpeech, rate = TELEPHONE_RATE): Sound | undefined {
  const resampled = resample(pcm, sampleRate, rate);
  if (activeLevel(resampled, rate) < SILENCE_DBFS) return undefined;
  const rough = trim(normaliseLevel(resampled, rate, ACTIVE_LEVEL_DBFS), rate);
  // Again, because the level of speech depends a little on the silence around it.
  const exact = trim(normaliseLevel(rough.pcm, rate, ACTIVE_LEVEL_DBFS), rate);
  const { start, end } = speechBounds(exact.pcm);
  const offsetSeconds = (rough.from + exact.from) / rate;
  const durationMs = (exact.pcm.length / rate) * 1_000;
  const timeOf = (seconds: number) => Math.round(Math.min(durationMs, Math.max(0, (seconds - offsetSeconds) * 1_000)));
  return {
    pcm: exact.pcm,
    ...(rate !== TELEPHONE_RATE && { rate }),
    speechStart: start,
    speechEnd: end,
    words: words.map(({ text, startSeconds, endSeconds, estimated }) => ({
      text,
      startMs: timeOf(startSeconds),
      endMs: timeOf(endSeconds),
      ...(estimated && { estimated }),
    })),
  };
}

function trim(pcm: Int16Array, rate: number): { readonly pcm: Int16Array; readonly from: number } {
  const { start, end } = speechBounds(pcm);
  const from = Math.max(0, start - MARGIN_BEFORE * rate);
  return { pcm: pcm.slice(from, end + MARGIN_AFTER * rate), from };
}
