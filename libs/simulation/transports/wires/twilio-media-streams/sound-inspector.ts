import { SteadyPace } from './steady-pace.js';

export type SoundFault = 'file_header_in_media' | 'wrong_encoding' | 'wrong_silence' | 'wrong_rate' | 'tiny_chunks';

const FRAME = 160;
const MIN_SILENCE = FRAME;
const TINY_CHUNKS = 10;
/** Bytes of one message whose content is inspected: a minute. The other calls of the process wait for it. */
const MAX_INSPECTED = 60 * 8_000;
/** A longer time between two chunks is a pause of the agent, and no gap. */
const MAX_GAP_MS = 500;

/**
 * Decides from the bytes and their arrival whether an agent sends something else than mu-law at 8 kHz. Every rule compares
 * properties in which mu-law sound, whatever it contains, differs from the fault; none depends on loudness or content.
 */
export class SoundInspector {
  private readonly encoding = new EncodingStatistic();
  private readonly pace = new SteadyPace();
  private zeros = 0;
  private tinyChunks = 0;
  private lastTinyAt: number | undefined;

  /**
   * @param now when it arrived
   * @param bufferedMs sound in the playout buffer before it
   */
  inspect(now: number, sound: Uint8Array, bufferedMs: number): SoundFault[] {
    const faults: SoundFault[] = [];
    if (hasFileHeader(sound)) faults.push('file_header_in_media');
    const inspected = sound.subarray(0, MAX_INSPECTED);
    if (this.encoding.isPcm(inspected)) faults.push('wrong_encoding');
    if (this.isZeroSilence(inspected)) faults.push('wrong_silence');
    if (this.pace.isTooFast(now, sound.length)) faults.push('wrong_rate');
    if (this.isGap(now, sound.length, bufferedMs)) faults.push('tiny_chunks');
    return faults;
  }

  /** True once for each run of the byte 0x00 that lasts a frame; no other signal stays at full scale for so long. */
  private isZeroSilence(sound: Uint8Array): boolean {
    let isFound = false;
    for (const byte of sound) {
      if (byte !== 0) this.zeros = 0;
      else if (++this.zeros === MIN_SILENCE) isFound = true;
    }
    return isFound;
  }

  private isGap(now: number, length: number, bufferedMs: number): boolean {
    const previous = this.lastTinyAt;
    this.lastTinyAt = length < FRAME ? now : undefined;
    if (length === 0 || length >= FRAME || previous === undefined) return false;
    if (bufferedMs > 0 || now - previous > MAX_GAP_MS) return false;
    return ++this.tinyChunks >= TINY_CHUNKS;
  }
}

/**
 * Beginnings of files, each of at least seven bytes: noise under a voice begins with four given bytes once in some thousand
 * calls. MP3 without ID3 begins with bytes that are common in mu-law silence, and is left to `EncodingStatistic`.
 */
const HEADERS = [
  /^RIF[FX].{4}WAVE/s,
  /^FORM.{4}AIF[FC]/s,
  /^OggS\0[\0-\x07].{4}/s,
  /^fLaC[\0\x80]\0\0\x22/,
  /^ID3[\x02-\x04]\0[^\x01-\x0f][\0-\x7f]{4}/s,
  /^\.snd\0\0.{2}/s,
  /^\x1a\x45\xdf\xa3.{1,60}(webm|matroska)/s,
];
/** Bytes of a message in which a header is looked for. */
const HEADER_BYTES = 80;

function hasFileHeader(sound: Uint8Array): boolean {
  const start = Buffer.from(sound.buffer, sound.byteOffset, Math.min(HEADER_BYTES, sound.length)).toString('latin1');
  return HEADERS.some((header) => header.test(start));
}

/** Pairs of bytes that a decision needs: half a second of 16-bit sound at 8 kHz. */
const PAIRS = 4_000;
/** Bytes without relation are 64 apart on average; on a circle of 256 values the largest distance is 128. */
const RANDOM = 40;
const RATIO = 2;

/**
 * Tells 16-bit PCM from mu-law. Measures how far bytes that are two positions apart differ, for even and odd positions
 * separately, as distance on the circle of 256 values. In mu-law both positions hold samples of the same sound, so their means
 * are equal for speech, music, noise and tones. In 16-bit PCM one position holds the low bytes, which are as good as random
 * (mean about 64), and the other the high bytes, which change little from sample to sample. Decided for each 4,000 pairs
 * that are not constant: the larger mean is at least 40 and at least twice the smaller one.
 */
class EncodingStatistic {
  /** The last two bytes. */
  private readonly last: [number, number] = [0xff, 0xff];
  private readonly sums: [number, number] = [0, 0];
  private pairs = 0;
  private position = 0;
  private distance = 0;

  /** Adds sound. @returns whether it completes a block that is PCM */
  isPcm(sound: Uint8Array): boolean {
    let isFound = false;
    for (const byte of sound) {
      const parity = (this.position++ & 1) as 0 | 1;
      const difference = Math.abs(byte - this.last[parity]);
      const distance = Math.min(difference, 256 - difference);
      this.last[parity] = byte;
      if (parity === 0) this.distance = distance;
      // Constant sound, such as silence, says nothing.
      else if (this.distance !== 0 || distance !== 0) isFound = this.add(this.distance, distance) || isFound;
    }
    return isFound;
  }

  private add(even: number, odd: number): boolean {
    this.sums[0] += even;
    this.sums[1] += odd;
    if (++this.pairs < PAIRS) return false;
    const larger = Math.max(...this.sums) / PAIRS;
    const smaller = Math.min(...this.sums) / PAIRS;
    this.pairs = this.sums[0] = this.sums[1] = 0;
    return larger >= RANDOM && larger >= RATIO * smaller;
  }
}
