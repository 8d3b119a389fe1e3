import { EncodingStatistic } from '../encoding-statistic.js';
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
    if (this.encoding.add(inspected) === 'pcm16') faults.push('wrong_encoding');
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
