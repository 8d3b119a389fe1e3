import { amplitudeOf } from '../level.js';

const RATE = 8_000;

/** Where somebody speaks, in milliseconds. */
export type Spans = readonly (readonly [number, number])[];

/** Harmonics of a voice in syllables of 4 Hz, at -23 dBFS or so while it speaks. */
export function voice(ms: number, spans: Spans, dbfs = -23): Float64Array {
  const pcm = new Float64Array(ms * 8);
  for (const [from, to] of spans) {
    for (let n = from * 8; n < to * 8; n++) {
      const seconds = (n - from * 8) / RATE;
      const syllable = 0.02 + Math.abs(Math.sin(Math.PI * 4 * seconds + 0.8));
      const tone = [1, 2, 3, 5].reduce((sum, k) => sum + Math.sin(2 * Math.PI * 140 * k * seconds) / k, 0);
      pcm[n] = 1.25 * amplitudeOf(dbfs) * syllable * tone;
    }
  }
  return pcm;
}
