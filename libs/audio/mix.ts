import { saturate } from './level.js';

/** Adds sounds that begin together. The result is as long as the longest; sums beyond full scale are clipped. */
export function mix(...sounds: readonly Int16Array[]): Int16Array {
  const length = Math.max(0, ...sounds.map((sound) => sound.length));
  return Int16Array.from({ length }, (_, n) => saturate(sounds.reduce((sum, sound) => sum + (sound[n] ?? 0), 0)));
}

/** Smallest and largest sample of each bucket, for drawing: min, max, min, max, … The last bucket may be shorter. */
export function peaks(pcm: Int16Array, samplesPerBucket: number): Int16Array {
  const result = new Int16Array(2 * Math.ceil(pcm.length / samplesPerBucket));
  for (let bucket = 0; bucket < result.length / 2; bucket++) {
    const part = pcm.subarray(bucket * samplesPerBucket, (bucket + 1) * samplesPerBucket);
    let min = part[0]!;
    let max = min;
    for (let n = 1; n < part.length; n++) {
      if (part[n]! < min) min = part[n]!;
      else if (part[n]! > max) max = part[n]!;
    }
    result[2 * bucket] = min;
    result[2 * bucket + 1] = max;
  }
  return result;
}
