import { Random } from '../../../../../libs/audio/index.js';

export type NoiseType = 'white' | 'brown' | 'hum';

/** Speech at -26 dBFS with noise of its whole length at this signal-to-noise ratio. */
export function withNoise(pcm: Int16Array, type: NoiseType, snrDb: number, seed: number): Int16Array {
  const noise = raw(type, pcm.length, new Random(seed));
  const level = Math.sqrt(noise.reduce((sum, value) => sum + value ** 2, 0) / noise.length);
  const gain = (32_768 * 10 ** ((-26 - snrDb) / 20)) / level;
  return pcm.map((sample, index) => Math.max(-32_768, Math.min(32_767, sample + noise[index]! * gain)));
}

function raw(type: NoiseType, length: number, random: Random): Float64Array {
  const noise = new Float64Array(length);
  let sum = 0;
  for (let index = 0; index < length; index += 1) {
    // The sum of twelve uniform values is close to a normal distribution.
    let value = -6;
    for (let part = 0; part < 12; part += 1) value += random.next();
    sum = 0.98 * sum + value;
    noise[index] = { white: value, brown: sum, hum: Math.sin((2 * Math.PI * 50 * index) / 8_000) }[type];
  }
  return noise;
}
