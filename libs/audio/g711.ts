/**
 * G.711 (ITU-T, 11/1988): mu-law and A-law as tables over all 16-bit samples. 16-bit full scale is the scale of the
 * recommendation times 4 (mu-law, 14 bits) or 8 (A-law, 13 bits).
 */

/** Mu-law silence: positive zero. */
export const MULAW_SILENCE = 0xff;

/** Largest sample that mu-law can express: full scale on the telephone. */
export const MULAW_FULL_SCALE = 32_124;

const MULAW_BIAS = 33 << 2;
const MULAW_CLIP = (8_159 << 2) - 1;

const mulawDecoded = Int16Array.from({ length: 256 }, (_, code) => {
  const inverted = ~code & 0xff;
  const magnitude = ((((inverted & 0x0f) << 3) + MULAW_BIAS) << ((inverted >> 4) & 7)) - MULAW_BIAS;
  return inverted & 0x80 ? -magnitude : magnitude;
});

const mulawEncoded = encodeTable((sample) => {
  const biased = Math.min(Math.abs(sample), MULAW_CLIP) + MULAW_BIAS;
  const segment = 24 - Math.clz32(biased);
  const code = (segment << 4) | ((biased >> (segment + 3)) & 0x0f);
  return ~(sample < 0 ? code | 0x80 : code) & 0xff;
});

const alawDecoded = Int16Array.from({ length: 256 }, (_, code) => {
  const inverted = code ^ 0x55;
  const segment = (inverted >> 4) & 7;
  const step = ((inverted & 0x0f) << 4) + 8;
  const magnitude = segment === 0 ? step : (step + 0x100) << (segment - 1);
  return inverted & 0x80 ? magnitude : -magnitude;
});

const alawEncoded = encodeTable((sample) => {
  const magnitude = sample < 0 ? ~sample : sample;
  const segment = Math.max(0, 24 - Math.clz32(magnitude));
  const code = (segment << 4) | ((magnitude >> Math.max(4, segment + 3)) & 0x0f);
  return (sample < 0 ? code : code | 0x80) ^ 0x55;
});

/** Entry n is the code of the sample whose lower 16 bits are n. */
function encodeTable(encode: (sample: number) => number): Uint8Array {
  return Uint8Array.from({ length: 0x1_0000 }, (_, bits) => encode((bits << 16) >> 16));
}

/** @param sample 16 bits */
export const encodeMulawSample = (sample: number): number => mulawEncoded[sample & 0xffff]!;
export const decodeMulawSample = (code: number): number => mulawDecoded[code & 0xff]!;
/** @param sample 16 bits */
export const encodeAlawSample = (sample: number): number => alawEncoded[sample & 0xffff]!;
export const decodeAlawSample = (code: number): number => alawDecoded[code & 0xff]!;

export const encodeMulaw = (pcm: Int16Array): Uint8Array => encodeWith(mulawEncoded, pcm);
export const decodeMulaw = (codes: Uint8Array): Int16Array => decodeWith(mulawDecoded, codes);
export const encodeAlaw = (pcm: Int16Array): Uint8Array => encodeWith(alawEncoded, pcm);
export const decodeAlaw = (codes: Uint8Array): Int16Array => decodeWith(alawDecoded, codes);

function encodeWith(table: Uint8Array, pcm: Int16Array): Uint8Array {
  const codes = new Uint8Array(pcm.length);
  for (let n = 0; n < pcm.length; n++) codes[n] = table[pcm[n]! & 0xffff]!;
  return codes;
}

function decodeWith(table: Int16Array, codes: Uint8Array): Int16Array {
  const pcm = new Int16Array(codes.length);
  for (let n = 0; n < codes.length; n++) pcm[n] = table[codes[n]!]!;
  return pcm;
}
