import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Heard, Recogniser } from './ear.js';
import { BANDS, featuresOf } from './features.js';
import { match, type Sample, sampleOf, type Template, templateOf } from './matching.js';

/** A sound that the agent knows, in one voice. */
export interface KnownSound {
  readonly type: 'line' | 'sound';
  /** The line's words, or the sound's name. */
  readonly text: string;
  readonly pcm: Int16Array;
}

/** Mean difference of a band, in decibels, above which a sound is unknown. */
const MOST_DIFFERENT = 6.5;
/** Frames that may be missing of a complete line: noise hides the last consonants, and pauses are cut short. */
const COMPLETE_FRAMES = 18;
/**
 * Added to the difference of what is only the beginning of a line: "Yes." is a line of its own, and begins others; in noise,
 * the beginning of a line is hardly more like an "mm-hmm" than another one.
 */
const INCOMPLETE_DB = 1.05;
/** Bands this much below the loudest one, or less than this above the noise, are not compared. */
const DYNAMIC_DB = 45;
const OVER_NOISE_DB = 3;

interface Known {
  readonly type: KnownSound['type'];
  readonly text: string;
  readonly template: Template;
}

/** Recognises a closed set of sounds by the course of their spectrum. */
export class TemplateRecogniser implements Recogniser {
  private readonly known: readonly Known[];
  /** Calls with the same script have the same sounds, to the sample. */
  private readonly cache = new LRUCache<string, Heard>({ max: 2_000 });

  constructor(sounds: readonly KnownSound[]) {
    this.known = sounds.map(({ type, text, pcm }) => ({ type, text, template: templateOf(featuresOf(pcm)) }));
  }

  recognise(pcm: Int16Array, noise: Int16Array): Heard {
    const key = createHash('sha1').update(pcm).update(noise).digest('base64');
    const heard = this.cache.get(key) ?? this.compare(pcm, noise);
    this.cache.set(key, heard);
    return heard;
  }

  private compare(pcm: Int16Array, noise: Int16Array): Heard {
    const sample = heardSample(pcm, noise);
    let best: { known: Known; score: number; isComplete: boolean } | undefined;
    for (const known of this.known) {
      const limit = best?.score ?? MOST_DIFFERENT;
      const { distance, missingFrames } = match(sample, known.template, limit);
      const isComplete = missingFrames <= COMPLETE_FRAMES;
      const score = distance + (isComplete ? 0 : INCOMPLETE_DB);
      if (score < limit) best = { known, score, isComplete };
    }
    if (!best) return { type: 'unknown' };
    const { type, text } = best.known;
    return type === 'sound' ? { type, name: text } : { type, text, isComplete: best.isComplete };
  }
}

function heardSample(pcm: Int16Array, noise: Int16Array): Sample {
  const heard = templateOf(featuresOf(pcm));
  const least = (heard.loudest[heard.frames - 1] ?? 0) - DYNAMIC_DB;
  const floor = meanOf(featuresOf(noise)).map((level) => Math.max(least, level + OVER_NOISE_DB));
  return sampleOf(heard, floor);
}

/** Mean energy of each band in decibels; very low in silence. */
function meanOf(features: Float32Array): Float32Array {
  const sums = new Float64Array(BANDS);
  const frames = features.length / BANDS;
  features.forEach((level, index) => (sums[index % BANDS]! += 10 ** (level / 10)));
  return Float32Array.from(sums, (sum) => 10 * Math.log10(sum / Math.max(1, frames) + 1e-10));
}
