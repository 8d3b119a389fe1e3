import { TELEPHONE_RATE } from '../../../../audio/index.js';

/** Beeps of answering machines and tones of fax are one frequency in this range, for at least this time. */
const [LEAST_HZ, MOST_HZ] = [420, 2_200];
const BEEP_MS = 300;
const DRIFT_HZ = 15;
/** Root mean square: -45 dBFS. */
const LEAST_LEVEL = 184;
/** Of the energy: what no single frequency explains. */
const MOST_REST = 0.01;
/** 5 ms, in which two close frequencies, as those of ringing, are beats. */
const BLOCK = 40;
const SAMPLES_PER_MS = TELEPHONE_RATE / 1_000;

/** Finds a beep in sound that comes in pieces. */
export class BeepFinder {
  private beep: { readonly hz: number; readonly startMs: number; endMs: number } | undefined;

  /** @returns whether a beep is long enough with this piece */
  hear(atMs: number, pcm: Int16Array): boolean {
    const hz = frequencyOf(pcm);
    const endMs = atMs + pcm.length / SAMPLES_PER_MS;
    const { beep } = this;
    if (hz === undefined) this.beep = undefined;
    else if (beep && Math.abs(hz - beep.hz) <= DRIFT_HZ && atMs - beep.endMs < 1) beep.endMs = endMs;
    else this.beep = { hz, startMs: atMs, endMs };
    return this.beep !== undefined && this.beep.endMs - this.beep.startMs >= BEEP_MS;
  }
}

/** The frequency of a single sine of one level; undefined for other sound. */
function frequencyOf(pcm: Int16Array): number | undefined {
  // Of a sine, the sum of the samples beside one is 2 cos(angle) times that one.
  let [energy, product, beside] = [0, 0, 0];
  let [quietest, loudest] = [Infinity, 0];
  for (let start = 1, block = 0; start + BLOCK < pcm.length; start += BLOCK, block = 0) {
    for (let n = start; n < start + BLOCK; n++) {
      const sum = pcm[n - 1]! + pcm[n + 1]!;
      block += pcm[n]! ** 2;
      product += sum * pcm[n]!;
      beside += sum ** 2;
    }
    energy += block;
    [quietest, loudest] = [Math.min(quietest, block), Math.max(loudest, block)];
  }
  if (quietest < BLOCK * LEAST_LEVEL ** 2 || quietest < loudest / 2 || energy === 0) return undefined;
  if (beside - product ** 2 / energy > MOST_REST * energy) return undefined;
  const hz = (Math.acos(Math.max(-1, Math.min(1, product / energy / 2))) * TELEPHONE_RATE) / (2 * Math.PI);
  return hz >= LEAST_HZ && hz <= MOST_HZ ? hz : undefined;
}
