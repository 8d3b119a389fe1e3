import { readWav } from '../../audio/index.js';
import { FLITE_VOICES, type FliteVoiceName } from './voices.js';
import { speakableWords, type SpeakableWord } from './speakable.js';
import { runWasi } from './wasi.js';
import { type Phone, type WordSpan, wordSpans } from './word-times.js';

/** What flite made of a text, at the voice's own rate and level, with the silence at both ends. */
export interface FliteSpeech {
  readonly pcm: Int16Array;
  readonly sampleRate: number;
  /** Words that are audible, in seconds from the first sample. */
  readonly words: readonly ({ readonly text: string } & WordSpan)[];
}

/** flite's time grows with the square of an utterance's length, so a long text is spoken in several; in letters. */
const MAX_UTTERANCE_LENGTH = 300;
/** A digit is a word, and in a number a little more. */
const LETTERS_PER_DIGIT = 4;

/**
 * Speaks a text with flite; a pure function, and slow: never to be called in a thread that serves anything else.
 *
 * @throws Error if flite fails
 */
export function speakWithFlite(
  module: WebAssembly.Module,
  { text, voice, rate }: { readonly text: string; readonly voice: FliteVoiceName; readonly rate: number },
): FliteSpeech {
  const words = speakableWords(text).filter(({ spoken }) => spoken !== '');
  const utterances = utterancesOf(words).map((part) => ({
    part,
    ...speakUtterance(module, part.map(({ spoken }) => spoken).join(' '), voice, FLITE_VOICES[voice].stretch / rate),
  }));
  const transcriptions = transcribe(module, words);
  const spans: ({ readonly text: string } & WordSpan)[] = [];
  let offsetSeconds = 0;
  let done = 0;
  for (const { part, pcm, sampleRate, phones } of utterances) {
    wordSpans(phones, transcriptions.slice(done, done + part.length)).forEach((span, index) => {
      if (!span) return;
      spans.push({
        text: part[index]!.text,
        startSeconds: offsetSeconds + span.startSeconds,
        endSeconds: offsetSeconds + span.endSeconds,
      });
    });
    done += part.length;
    offsetSeconds += pcm.length / sampleRate;
  }
  return { pcm: concatenate(utterances), sampleRate: utterances[0]?.sampleRate ?? 8_000, words: spans };
}

/** Cuts where a sentence ends if possible, otherwise between two words. */
function utterancesOf(words: readonly SpeakableWord[]): SpeakableWord[][] {
  const result: SpeakableWord[][] = [];
  let current: SpeakableWord[] = [];
  let length = 0;
  for (const word of words) {
    if (length + lengthOf(word) > MAX_UTTERANCE_LENGTH && current.length > 0) {
      const sentences = current.findLastIndex(({ spoken }) => /[.!?]["')]*$/.test(spoken)) + 1;
      const cut = sentences > 0 ? sentences : current.length;
      result.push(current.slice(0, cut));
      current = current.slice(cut);
      length = current.reduce((sum, rest) => sum + lengthOf(rest), 0);
    }
    current.push(word);
    length += lengthOf(word);
  }
  if (current.length > 0) result.push(current);
  return result;
}

const lengthOf = ({ spoken }: SpeakableWord): number =>
  spoken.length + 1 + (spoken.match(/\d/g)?.length ?? 0) * (LETTERS_PER_DIGIT - 1);

const WAVE = 'speech.wav';
const WORDS = 'words.txt';

function speakUtterance(
  module: WebAssembly.Module,
  text: string,
  voice: FliteVoiceName,
  stretch: number,
): { readonly pcm: Int16Array; readonly sampleRate: number; readonly phones: readonly Phone[] } {
  // What follows `-t` is text, whatever it looks like.
  const { stdout, ...sound } = synthesise(module, { voice, stretch, input: ['-t', text] });
  const phones = [...stdout.matchAll(/(\S+):(\d+\.\d+) /g)].map(([, name, end]) => ({
    name: name!,
    endSeconds: Number(end),
  }));
  return { ...sound, phones };
}

/** Speaks phones in flite's notation, separated by spaces, with a flat melody. */
export function speakPhones(
  module: WebAssembly.Module,
  { phones, voice, stretch }: { readonly phones: string; readonly voice: FliteVoiceName; readonly stretch: number },
): Pick<FliteSpeech, 'pcm' | 'sampleRate'> {
  const { pcm, sampleRate } = synthesise(module, { voice, stretch, input: ['-p', phones] });
  return { pcm, sampleRate };
}

function synthesise(
  module: WebAssembly.Module,
  { voice, stretch, input }: { voice: FliteVoiceName; stretch: number; input: readonly ['-t' | '-p', string] },
): Pick<FliteSpeech, 'pcm' | 'sampleRate'> & { readonly stdout: string } {
  const { files, stdout } = flite(
    module,
    ['-psdur', '-voice', voice, '--setf', `duration_stretch=${stretch}`, '-o', WAVE, ...input],
    { outputs: [WAVE] },
  );
  const { rate, channels } = readWav(files.get(WAVE)!);
  return { pcm: channels[0]!, sampleRate: rate, stdout };
}

/**
 * The phones of each word in isolation. A blank line ends an utterance of flite, which prints one line for each. Only the
 * phones are wanted, so the fastest voice says them in a fiftieth of the time.
 */
function transcribe(module: WebAssembly.Module, words: readonly SpeakableWord[]): string[][] {
  if (words.length === 0) return [];
  const text = new TextEncoder().encode(words.map(({ spoken }) => `${spoken}\n\n`).join('') + '\n');
  const { stdout } = flite(
    module,
    ['-ps', '-voice', 'kal', '--setf', 'duration_stretch=0.02', '-o', 'none', '-f', WORDS],
    { inputs: { [WORDS]: text } },
  );
  const lines = stdout.split('\n').slice(0, -1);
  // A line per letter is the next best guess: it keeps the words in order and their times in proportion.
  if (lines.length !== words.length) return words.map(({ spoken }) => [...spoken]);
  return lines.map((line) => line.split(' ').filter(Boolean));
}

function flite(
  module: WebAssembly.Module,
  args: readonly string[],
  files: { readonly inputs?: Record<string, Uint8Array>; readonly outputs?: readonly string[] },
): { readonly stdout: string; readonly files: ReadonlyMap<string, Uint8Array> } {
  const result = runWasi(module, { args, ...files });
  if (result.exitCode !== 0)
    throw new Error(`flite ended with code ${result.exitCode}: ${result.stderr.slice(0, 500)}`);
  return result;
}

function concatenate(parts: readonly { readonly pcm: Int16Array }[]): Int16Array {
  const result = new Int16Array(parts.reduce((sum, { pcm }) => sum + pcm.length, 0));
  let at = 0;
  for (const { pcm } of parts) {
    result.set(pcm, at);
    at += pcm.length;
  }
  return result;
}
