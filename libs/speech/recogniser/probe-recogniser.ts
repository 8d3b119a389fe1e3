import type { SpeechEngine } from '../sound.js';
import type { Recogniser } from './recogniser.js';

/** What is said to a recogniser to see whether it understands. */
export const PROBE_SENTENCE = 'Good evening, your table for four people is booked for Friday at seven.';
const RATE = 8_000;
/** Share of the words of a simple sentence that any recogniser understands. */
const UNDERSTOOD = 0.5;

export interface RecogniserProbe {
  readonly said: string;
  /** Null if the recogniser found no words in it. */
  readonly heard: string | null;
  /** Whether at least half of the words were understood: otherwise model or language are probably wrong. */
  readonly isUnderstood: boolean;
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
  const heard = new Set(wordsOf(result?.text ?? ''));
  const wanted = wordsOf(PROBE_SENTENCE);
  return {
    said: PROBE_SENTENCE,
    heard: result?.text ?? null,
    isUnderstood: wanted.filter((word) => heard.has(word)).length >= UNDERSTOOD * wanted.length,
    hasTimes: result?.words !== undefined,
  };
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{L}+/gu) ?? [];
