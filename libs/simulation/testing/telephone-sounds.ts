/** mu-law of ITU-T G.711, written independently of the codec of the product. */
export function toMulaw(pcm: Int16Array): Uint8Array {
  return Uint8Array.from(pcm, (sample) => {
    const sign = sample < 0 ? 0x80 : 0;
    const magnitude = Math.min(Math.abs(sample), 32_635) + 132;
    const exponent = Math.floor(Math.log2(magnitude)) - 7;
    const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
    return ~(sign | (exponent << 4) | mantissa) & 0xff;
  });
}

const RATE = 8_000;

/** A repeatable sequence of numbers from 0 to 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const samples = (seconds: number, at: (t: number) => number, rate = RATE): Int16Array =>
  Int16Array.from({ length: seconds * rate }, (_, index) => Math.max(-32_768, Math.min(32_767, at(index / rate))));

/** Sounds of 16 bits that have little in common, each at a sampling rate and a level (peak of 32,768). */
export const SOUNDS: Readonly<Record<string, (level: number, rate?: number) => Int16Array>> = {
  /** Harmonics of a gliding pitch in syllables, with hissing between them. */
  speech: (level, rate) => {
    const noise = random(1);
    return samples(
      2,
      (t) => {
        const pitch = 110 + 30 * Math.sin(2 * Math.PI * 0.7 * t);
        const syllable = Math.max(0, Math.sin(2 * Math.PI * 3 * t));
        let voice = 0;
        for (let n = 1; n <= 8; n++) voice += Math.sin(2 * Math.PI * pitch * n * t) / n;
        return level * (0.4 * syllable * voice + 0.1 * (1 - syllable) * (noise() - 0.5));
      },
      rate,
    );
  },
  music: (level, rate) =>
    samples(
      2,
      (t) => (level / 4) * [220, 277.2, 329.6, 880.5].reduce((sum, hz) => sum + Math.sin(2 * Math.PI * hz * t), 0),
      rate,
    ),
  'white noise': (level, rate) => {
    const noise = random(2);
    return samples(2, () => level * (2 * noise() - 1), rate);
  },
  'a tone at half the rate': (level, rate = RATE) => samples(2, (t) => level * Math.cos(Math.PI * t * rate), rate),
  'a tone of 1 kHz': (level, rate) => samples(2, (t) => level * Math.sin(2 * Math.PI * 1_000 * t), rate),
  'clipped noise': (level, rate) => {
    const noise = random(3);
    return samples(2, () => 4 * level * (2 * noise() - 1), rate);
  },
};

export const silence = (ms: number, byte = 0xff): Uint8Array => new Uint8Array(ms * 8).fill(byte);

/** The bytes of 16-bit PCM, the low byte first. */
export const pcmBytes = (pcm: Int16Array): Uint8Array => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);

export const chunks = (sound: Uint8Array, size = 160): Uint8Array[] =>
  Array.from({ length: Math.ceil(sound.length / size) }, (_, index) =>
    sound.subarray(index * size, (index + 1) * size),
  );
