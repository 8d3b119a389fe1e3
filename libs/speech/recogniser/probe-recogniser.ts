import { distance } from 'fastest-levenshtein';
import { spokenWords } from '../../audio/index.js';
import type { SpeechEngine } from '../sound.js';
import type { Recogniser } from './recogniser.js';

/** What is said to a recogniser to see whether it understands. */
export const PROBE_SENTENCE = 'Good evening, your table for four people is booked for Friday at seven.';
const RATE = 8_000;

export interface RecogniserProbe {
  readonly said: string;
  /** Null if the recogniser found no words in it. */
  readonly heard: string | null;
  /** Words that were replaced, missing or added, of each word that was said: 0 is perfect, and 1 that none was understood. */
  readonly wrongShare: number;
  /** Whether the recogniser gives the times of words. */
  readonly hasTimes: boolean;
}

/**
 * Whether a recogniser understands a sentence that is known, before words of agents are judged by it.
 * @param voice of the engine
 * @throws RecogniserError; SpeechError; the signal's reason
 */
export async function probeRecogniser(
  recogniser: Recogniser,
  { speech, voice, signal }: { readonly speech: SpeechEngine; readonly voice: string; readonly signal?: AbortSignal },
): Promise<RecogniserProbe> {
  const { pcm } = await speech.synthesise({ text: PROBE_SENTENCE, voice }, signal);
  const result = await recogniser.transcribe({ pcm, rate: RATE, language: 'en', ...(signal && { signal }) });
  return {
    said: PROBE_SENTENCE,
    heard: result?.text ?? null,
    wrongShare: wrongShare(PROBE_SENTENCE, result?.text ?? ''),
    hasTimes: result?.words !== undefined,
  };
}

/** The least edits that make the words that were heard of those that were said. */
function wrongShare(said: string, heard: string): number {
  const [wanted, found] = [wordsOf(said), wordsOf(heard)];
  const known = [...new Set([...wanted, ...found])];
  const asText = (words: readonly string[]) => String.fromCharCode(...words.map((word) => known.indexOf(word)));
  return distance(asText(wanted), asText(found)) / wanted.length;
}

/** Without what recognisers write in other ways: figures, and what they add to the time. */
const wordsOf = (text: string): readonly string[] =>
  spokenWords(
    text
      .replace(/\b7([:.]00)?(?=\D|$)/g, 'seven')
      .replace(/\b4\b/g, 'four')
      .replace(/seven\s*(o['’ ]?clock|p\.?m\b\.?)/gi, 'seven'),
  );
