import { LINE_RATES, readWav, slowestSpeechMs, speechBounds, TELEPHONE_RATE, WavError } from '../../audio/index.js';
import { prepareSound, type RawSpeech } from '../prepare-sound.js';
import type { Sound, SpeechFailure } from '../sound.js';

/** Why the body of a successful answer is not a sound of its text. */
export class BadSound extends Error {
  override readonly name = 'BadSound';

  constructor(
    readonly failure: SpeechFailure,
    reason: string,
  ) {
    super(reason);
  }
}

/** Most bytes of an answer: eleven minutes at 24 kHz. */
export const MAX_BYTES = 32 * 1024 * 1024;
const MIN_MS_PER_WORD = 40;
const PAUSES_MS = 3_000;
/** How many times longer than a slow speaker with pauses a sound may be. */
const MAX_EXCESS = 2;
/** A sound that lacks less of what its header declares is complete: some servers count their header as audio. */
const COMPLETE_SHARE = 0.95;
/** In which chunks with texts are looked for behind the audio. */
const TRAILER_BYTES = 4_096;
const SILENT = 'a silent sound';

type Bounds = ReturnType<typeof speechBounds>;

/** Other formats by their first bytes. */
const FORMATS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^OggS/, 'Ogg (Opus or Vorbis)'],
  [/^\x1a\x45\xdf\xa3/, 'WebM (Opus)'],
  [/^fLaC/, 'FLAC'],
  [/^ID3|^\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]/, 'MP3'],
  [/^\xff[\xf0\xf1\xf8\xf9]|^....ftyp/s, 'AAC'],
];

/** What a server answered to a request. */
export interface SpokenBody {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly text: string;
  /** Speaking rate. */
  readonly rate: number;
}

/** Takes some 30 ms for a second of audio. @throws BadSound */
export function readSpeech({ body: bytes, contentType, text, rate }: SpokenBody): Sound {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (body.length === 0) throw new BadSound('engine', 'an empty body');
  const start = body.toString('latin1', 0, 12);
  if (!start.startsWith('RIFF')) throw new BadSound('engine', otherThanWav(start, contentType));
  if (headersIn(body) > 1) throw new BadSound('engine', 'several RIFF headers in one body');
  const { channels, rate: sampleRate } = wavOf(body);
  const pcm = channels[0]!;
  const bounds = speechBounds(pcm);
  checkDuration(((bounds.end - bounds.start) / sampleRate) * 1_000, text, rate);
  const words = estimatedWords(bounds, sampleRate, text);
  const sound = prepareSound({ pcm, sampleRate, words }, keptRate(sampleRate));
  if (!sound) throw new BadSound('silent', SILENT);
  return sound;
}

function otherThanWav(start: string, contentType: string): string {
  const format = FORMATS.find(([pattern]) => pattern.test(start))?.[1];
  if (format) return `${format}, although WAV was asked for`;
  if (/json|^text\//i.test(contentType) || /^\s*[{["<]/.test(start)) return 'text in place of sound';
  return 'a body that is not a WAV file';
}

function headersIn(body: Buffer): number {
  let count = 0;
  for (let at = body.indexOf('RIFF'); at >= 0; at = body.indexOf('RIFF', at + 4)) {
    if (body.toString('latin1', at + 8, at + 16) === 'WAVEfmt ') count++;
  }
  return count;
}

function wavOf(body: Buffer): ReturnType<typeof readWav> {
  checkComplete(body);
  try {
    return readWav(withoutTrailer(body));
  } catch (error) {
    if (error instanceof WavError) throw new BadSound('engine', `a WAV file that cannot be read: ${error.message}`);
    throw error;
  }
}

/** A stream declares a length that no answer has. A possible one was meant: then a part of the line is missing. */
function checkComplete(body: Buffer): void {
  for (let at = 12; at + 8 <= body.length;) {
    const declared = body.readUInt32LE(at + 4);
    const present = body.length - at - 8;
    if (body.toString('latin1', at, at + 4) !== 'data') {
      at += 8 + declared + (declared % 2);
      continue;
    }
    if (declared <= MAX_BYTES && present < declared * COMPLETE_SHARE) {
      throw new BadSound('engine', `a sound that was cut after ${present} of ${declared} bytes`);
    }
    return;
  }
}

/** Without a chunk of texts behind the audio: it would be heard as a click where the length of the audio is unknown. */
function withoutTrailer(body: Buffer): Buffer {
  const from = Math.max(12, body.length - TRAILER_BYTES);
  for (const name of ['LIST', 'id3 ', 'ID3 ']) {
    const at = body.indexOf(name, from, 'latin1');
    if (at < 0 || at + 8 > body.length) continue;
    const end = at + 8 + body.readUInt32LE(at + 4);
    if (end === body.length || end + 1 === body.length) return body.subarray(0, at);
  }
  return body;
}

/** The highest rate of a line that loses none of the sound's band, or the nearest below. */
const keptRate = (sampleRate: number): number => LINE_RATES.findLast((line) => line <= sampleRate) ?? TELEPHONE_RATE;

/** Speech servers give no times of words: they are spread over the letters. */
function estimatedWords({ start, end }: Bounds, sampleRate: number, text: string): RawSpeech['words'] {
  const words = wordsIn(text);
  const total = words.reduce((sum, { length }) => sum + length, 0);
  let before = 0;
  return words.map((word) => {
    const from = before;
    before += word.length;
    const secondsAt = (letters: number) => (start + ((end - start) * letters) / total) / sampleRate;
    return { text: word, startSeconds: secondsAt(from), endSeconds: secondsAt(before), estimated: true };
  });
}

const wordsIn = (text: string): string[] => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));

/** Before the audio is prepared, so that an endless one costs nothing. @param ms without the silence around it */
function checkDuration(ms: number, text: string, speed: number): void {
  if (ms === 0) throw new BadSound('silent', SILENT);
  const words = wordsIn(text).length;
  const expected = slowestSpeechMs(text) / speed + PAUSES_MS;
  const is = ms < (words * MIN_MS_PER_WORD) / speed ? 'too short' : ms > expected * MAX_EXCESS && 'too long';
  if (is) throw new BadSound('duration', `${Math.round(ms)} ms of audio for ${words} words, ${is}`);
}
