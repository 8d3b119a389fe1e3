import { type LineRate, resample, TELEPHONE_RATE } from '../../../audio/index.js';
import type { PreparedSound } from '../facts/plan.js';
import type { CallerSounds } from './prepare.js';

/** Audio of the telephone's rate, which the caller's voices have, at the rate of a line. */
export const atRate = (pcm: Int16Array, rate: LineRate): Int16Array =>
  rate === TELEPHONE_RATE ? pcm : resample(pcm, TELEPHONE_RATE, rate);

/** The caller's sounds at the rate of a line. */
export function soundsAt(sounds: CallerSounds, rate: LineRate): CallerSounds {
  if (rate === TELEPHONE_RATE) return sounds;
  const factor = rate / TELEPHONE_RATE;
  const converted = ({ pcm, speechStart, speechEnd, words }: PreparedSound): PreparedSound => ({
    pcm: atRate(pcm, rate),
    speechStart: speechStart * factor,
    speechEnd: speechEnd * factor,
    words,
  });
  return {
    synthesise: async (request, signal) => converted(await sounds.synthesise(request, signal)),
    soundOf: async (name, voice) => converted(await sounds.soundOf(name, voice)),
  };
}
