import { type AudioFormat, decodeAudio, encodeAudio } from './format.js';

/** Encodings of written files; `mulaw` is WAV format 7. */
export type WavEncoding = Exclude<AudioFormat['encoding'], 'alaw'>;

export interface WavFormat {
  readonly encoding: WavEncoding;
  /** Samples per second and channel. */
  readonly rate: number;
  /** 1 or 2. */
  readonly channels: number;
}

/** Audio of a WAV file, decoded to 16 bits; all channels have the same length. */
export interface WavAudio {
  readonly rate: number;
  /** One or two; stereo is left, right. */
  readonly channels: readonly Int16Array[];
  readonly encoding: AudioFormat['encoding'];
}

/** The file is not WAV, or its format is not supported. */
export class WavError extends Error {
  override readonly name = 'WavError';
}

const FORMAT_CODES = { pcm16: 1, mulaw: 7 } as const;
const ALAW = 6;
/** The sub-format begins with the actual format code. */
const EXTENSIBLE = 0xfffe;
const MAX_LENGTH = 0xffff_ffff;
/** Bytes of its name and its length. */
const CHUNK_HEADER = 8;

/**
 * Header of a WAV file: 44 bytes for `pcm16`; 58 for `mulaw`, whose `fact` chunk is required for formats other than PCM.
 * The length of a header depends on the format alone, so it can be replaced once the length of the audio is known.
 * @param dataLength bytes of audio that follow; a file with an odd number needs a padding byte at the end
 */
export function wavHeader({ encoding, rate, channels }: WavFormat, dataLength: number): Uint8Array {
  const isPcm = encoding === 'pcm16';
  const bytes = isPcm ? 2 : 1;
  const header = new Uint8Array(isPcm ? 44 : 58);
  const view = new DataView(header.buffer);
  let at = 0;
  const name = (text: string) => {
    for (const character of text) view.setUint8(at++, character.charCodeAt(0));
  };
  const uint16 = (value: number) => ((at += 2), view.setUint16(at - 2, value, true));
  const uint32 = (value: number) => ((at += 4), view.setUint32(at - 4, Math.min(value, MAX_LENGTH), true));

  name('RIFF');
  uint32(header.length - 8 + dataLength + (dataLength % 2));
  name('WAVEfmt ');
  uint32(isPcm ? 16 : 18);
  uint16(FORMAT_CODES[encoding]);
  uint16(channels);
  uint32(rate);
  uint32(rate * channels * bytes);
  uint16(channels * bytes);
  uint16(8 * bytes);
  if (!isPcm) {
    // Length of the extension of the format.
    uint16(0);
    name('fact');
    uint32(4);
    uint32(Math.floor(dataLength / channels));
  }
  name('data');
  uint32(dataLength);
  return header;
}

/** A complete WAV file. @param channels one or two of the same length */
export function writeWav({
  channels,
  rate,
  encoding,
}: Pick<WavAudio, 'channels' | 'rate'> & { readonly encoding: WavEncoding }): Uint8Array {
  const data = encodeAudio({ encoding }, interleave(channels));
  const header = wavHeader({ encoding, rate, channels: channels.length }, data.length);
  const file = new Uint8Array(header.length + data.length + (data.length % 2));
  file.set(header);
  file.set(data, header.length);
  return file;
}

/** Where the audio of a WAV file is, and its format. */
export interface WavLayout {
  readonly encoding: WavAudio['encoding'];
  readonly rate: number;
  readonly channels: number;
  /** First byte of the audio. */
  readonly start: number;
  /** Bytes of the audio in the file. */
  readonly length: number;
  /** Bytes of audio according to the header; wrong if the recorder died or streamed. */
  readonly declared: number;
}

/**
 * Reads a WAV file with 16-bit PCM, mu-law or A-law, mono or stereo, and skips other chunks. An impossible length stands for the
 * rest of the file: one beyond its end, or one that no chunk follows.
 * @throws WavError
 */
export function readWav(file: Uint8Array): WavAudio {
  const layout = wavLayout(file, file.length);
  const { channels, start, length } = layout;
  if (channels > 2) {
    throw new WavError(`WAV files with ${channels} channels are not supported; use mono or stereo.`);
  }
  return decode(file.subarray(start, start + length), layout);
}

/**
 * Finds the audio of a WAV file.
 * @param file the file or its beginning, in which the audio must begin
 * @param fileLength bytes of the whole file
 * @param read bytes of the file between two positions
 * @throws WavError
 */
export function wavLayout(
  file: Uint8Array,
  fileLength: number,
  read = (from: number, to: number): Uint8Array => file.subarray(from, to),
): WavLayout {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const id = text(file, 0);
  if (id === 'RF64') throw new WavError('RF64, WAV of more than 4 GiB, is not supported; use RIFF.');
  if (file.length < 12 || id !== 'RIFF' || text(file, 8) !== 'WAVE') {
    throw new WavError('Not a WAV file: it does not begin with RIFF and WAVE.');
  }
  let format: ReturnType<typeof readFormat> | undefined;
  for (let at = 12; at + 8 <= file.length;) {
    const name = text(file, at);
    const declared = view.getUint32(at + 4, true);
    const start = at + 8;
    const rest = fileLength - start;
    if (name === 'data') {
      if (!format) throw new WavError('The WAV file has no fmt chunk before its data.');
      const end = Math.min(start + declared + (declared % 2), fileLength);
      const isWhole = endsAudio(read(end, end + CHUNK_HEADER), fileLength - end);
      return { ...format, start, declared, length: isWhole ? Math.min(declared, rest) : rest };
    }
    if (declared > rest) throw new WavError(`The WAV file ends inside its chunk ${JSON.stringify(name)}.`);
    if (name === 'fmt ') {
      if (start + declared > file.length) break;
      format = readFormat(new DataView(file.buffer, file.byteOffset + start, declared));
    }
    at = start + declared + (declared % 2);
  }
  throw new WavError('The WAV file has no data chunk.');
}

/** Whether the end of the file or another chunk follows the audio. @throws WavError if more audio follows */
function endsAudio(header: Uint8Array, rest: number): boolean {
  if (rest < CHUNK_HEADER) return true;
  const name = text(header, 0);
  if (name === 'RIFF' || name === 'data') {
    throw new WavError(`The WAV file has more audio behind its audio, in another ${name}; join them in one chunk.`);
  }
  const size = new DataView(header.buffer, header.byteOffset).getUint32(4, true);
  return /^[ -~]{4}$/.test(name) && size <= rest - CHUNK_HEADER;
}

const text = (file: Uint8Array, at: number): string => String.fromCharCode(...file.subarray(at, at + 4));

function readFormat(view: DataView): Omit<WavLayout, 'start' | 'length' | 'declared'> {
  if (view.byteLength < 16) throw new WavError('The fmt chunk of the WAV file is too short.');
  const declared = view.getUint16(0, true);
  const code = declared === EXTENSIBLE && view.byteLength >= 26 ? view.getUint16(24, true) : declared;
  const channels = view.getUint16(2, true);
  const rate = view.getUint32(4, true);
  const bits = view.getUint16(14, true);
  const encoding =
    code === FORMAT_CODES.pcm16 && bits === 16
      ? 'pcm16'
      : code === FORMAT_CODES.mulaw && bits === 8
        ? 'mulaw'
        : code === ALAW && bits === 8
          ? 'alaw'
          : undefined;
  if (!encoding) {
    throw new WavError(
      `WAV format ${code} with ${bits} bits is not supported; use 16-bit PCM (1), mu-law (7) or A-law (6).`,
    );
  }
  if (channels < 1) throw new WavError('The WAV file has no channels.');
  if (rate < 1_000 || rate > 384_000)
    throw new WavError(`A WAV file with ${rate} samples per second is not supported.`);
  return { encoding, rate, channels };
}

function decode(data: Uint8Array, { encoding, rate, channels }: WavLayout): WavAudio {
  return { encoding, rate, channels: deinterleave(decodeAudio({ encoding }, data), channels) };
}

/** Leaves out an incomplete last frame. @param channels of the same length */
export function deinterleave(samples: Int16Array, channels: number): Int16Array[] {
  if (channels === 1) return [samples];
  const length = Math.floor(samples.length / channels);
  return Array.from({ length: channels }, (_, channel) =>
    Int16Array.from({ length }, (_value, n) => samples[n * channels + channel]!),
  );
}

export function interleave(channels: readonly Int16Array[]): Int16Array {
  if (channels.length === 1) return channels[0]!;
  const interleaved = new Int16Array(channels[0]!.length * channels.length);
  channels.forEach((samples, channel) =>
    samples.forEach((value, n) => (interleaved[n * channels.length + channel] = value)),
  );
  return interleaved;
}
