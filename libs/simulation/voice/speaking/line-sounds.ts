import { type LineRate, resample, speechBounds, TELEPHONE_RATE } from '../../../audio/index.js';
import type { PreparedSound } from '../facts/plan.js';
import type { CallerSounds, EngineSound, EngineSounds } from './prepare.js';

/** Audio of the telephone's rate, which the caller's embedded voices have, at the rate of a line. */
export const atRate = (pcm: Int16Array, rate: LineRate): Int16Array =>
  rate === TELEPHONE_RATE ? pcm : resample(pcm, TELEPHONE_RATE, rate);

/** The caller's sounds at the rate of a line. */
export function soundsAt(sounds: EngineSounds, rate: LineRate): CallerSounds {
  return {
    synthesise: async (request, signal) => converted(await sounds.synthesise(request, signal), rate),
    soundOf: async (name, voice) => converted(await sounds.soundOf(name, voice), rate),
  };
}

function converted({ rate: own = TELEPHONE_RATE, ...sound }: EngineSound, rate: LineRate): PreparedSound {
  if (own === rate) return sound;
  const pcm = resample(sound.pcm, own, rate);
  // A lower rate loses a part of the band: the edges may fall below the threshold.
  const { start, end } = own > rate ? speechBounds(pcm) : scaled(sound, rate / own);
  return { ...sound, pcm, speechStart: start, speechEnd: end };
}

const scaled = ({ speechStart, speechEnd }: PreparedSound, factor: number) => ({
  start: speechStart * factor,
  end: speechEnd * factor,
});
