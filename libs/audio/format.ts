import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from './g711.js';
import type { AudioRate } from './rates.js';

/** Mono audio as a platform sends or expects it. */
export interface AudioFormat {
  /** `mulaw`, `alaw`: G.711; `pcm16`: linear, little endian. */
  readonly encoding: 'mulaw' | 'alaw' | 'pcm16';
  readonly rate: AudioRate;
}

type Encoding = Pick<AudioFormat, 'encoding'>;

export const bytesPerSecond = ({ encoding, rate }: AudioFormat): number => (encoding === 'pcm16' ? 2 : 1) * rate;

/** Decodes whole samples and ignores half a sample at the end. For audio that arrives in parts, see `AudioDecoder`. */
export function decodeAudio({ encoding }: Encoding, bytes: Uint8Array): Int16Array {
  switch (encoding) {
    case 'mulaw':
      return decodeMulaw(bytes);
    case 'alaw':
      return decodeAlaw(bytes);
    case 'pcm16':
      return decodePcm16(bytes);
  }
}

export function encodeAudio({ encoding }: Encoding, pcm: Int16Array): Uint8Array {
  switch (encoding) {
    case 'mulaw':
      return encodeMulaw(pcm);
    case 'alaw':
      return encodeAlaw(pcm);
    case 'pcm16':
      return encodePcm16(pcm);
  }
}

/** Decodes audio that arrives in parts of any length: half a sample at the end of a part belongs to the next one. */
export class AudioDecoder {
  private readonly format: Encoding;
  /** First byte of a sample whose second has not arrived. */
  private pending: number | undefined;

  constructor(format: Encoding) {
    this.format = format;
  }

  push(bytes: Uint8Array): Int16Array {
    if (this.format.encoding !== 'pcm16') return decodeAudio(this.format, bytes);
    const joined = this.pending === undefined ? bytes : prepend(this.pending, bytes);
    this.pending = joined.length % 2 === 1 ? joined.at(-1) : undefined;
    return decodePcm16(joined);
  }
}

function prepend(byte: number, bytes: Uint8Array): Uint8Array {
  const joined = new Uint8Array(1 + bytes.length);
  joined[0] = byte;
  joined.set(bytes, 1);
  return joined;
}

/** Little endian on every machine. */
function encodePcm16(pcm: Int16Array): Uint8Array {
  const bytes = new Uint8Array(pcm.length * 2);
  const view = new DataView(bytes.buffer);
  for (let n = 0; n < pcm.length; n++) view.setInt16(2 * n, pcm[n]!, true);
  return bytes;
}

function decodePcm16(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pcm = new Int16Array(bytes.length >> 1);
  for (let n = 0; n < pcm.length; n++) pcm[n] = view.getInt16(2 * n, true);
  return pcm;
}
