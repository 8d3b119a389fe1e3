import { type Sound, SpeechError } from './sound.js';

/** Milliseconds per letter or digit, at the rate 1; the embedded voices need 40 to 700 (a digit may be a word). */
const MIN_MS = 10;
const MAX_MS = 1_500;
const SLACK_MS = 2_000;

/**
 * Refuses a sound whose duration cannot be that of its text. Speech servers sometimes answer with success and a cut or
 * endless sound.
 *
 * @throws SpeechError
 */
export function checkSound(sound: Sound, { text, rate = 1 }: { readonly text: string; readonly rate?: number }): void {
  const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const ms = (sound.speechEnd - sound.speechStart) / 8;
  const isPossible = ms >= (letters * MIN_MS) / rate && ms <= (letters * MAX_MS) / rate + SLACK_MS;
  if (!isPossible) throw new SpeechError('duration', text, `${Math.round(ms)} ms of audio for ${letters} letters`);
}
