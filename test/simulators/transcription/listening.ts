import { Random } from '../../../libs/audio/index.js';
import type { TranscribedWord } from '../../../libs/speech/index.js';
import { COMMON_WORDS } from './common-words.js';
import type { SentenceListener } from './sentence-listener.js';
import type { ReceivedAudio, ServerAnswer } from './transcription-server.js';

/** Formats of the answer. `plain` refuses requests for times of words; `fragile` answers them with status 500. */
export const LISTENING_DIALECTS = ['words', 'spaced', 'pieces', 'null', 'plain', 'fragile'] as const;
export type ListeningDialect = (typeof LISTENING_DIALECTS)[number];

export interface ListeningBehaviour {
  readonly dialect?: ListeningDialect;
  /** Share of the words that it mishears, drawn for each request. */
  readonly wordErrors?: number;
  readonly seed?: number;
  /** The answer to audio in which it hears no word. */
  readonly inventedText?: string;
  /** Milliseconds by which its times are wrong. */
  readonly timesOffMs?: number;
  /** Milliseconds after which it answers. */
  readonly afterMs?: number;
  /** The answer to every request, instead of listening. */
  readonly failure?: { readonly status: number; readonly body: unknown } | 'hang up';
  /** The only model that it has. */
  readonly model?: string;
}

/** Answers of a transcription server that recognises words by the audio alone, with the given errors. */
export function listening(
  listener: SentenceListener,
  behaviour: ListeningBehaviour = {},
): (audio: ReceivedAudio) => ServerAnswer {
  const { dialect = 'words', afterMs = 0, failure, inventedText, model, seed = 1 } = behaviour;
  const random = new Random(seed, 'mishearing');
  const vocabulary = [...new Set([...listener.words, ...COMMON_WORDS])];
  return (audio) => {
    if (failure === 'hang up') return failure;
    if (failure) return { ...failure, afterMs };
    if (model !== undefined && audio.fields['model'] !== model)
      return { status: 404, body: { detail: 'The model is not installed. Download it with POST /v1/models' } };
    if (audio.fields['response_format'] === 'verbose_json') {
      if (dialect === 'plain')
        return { status: 400, body: { error: { message: 'response_format verbose_json is not supported' } } };
      if (dialect === 'fragile') return { status: 500, body: 'Internal Server Error' };
    }
    const heard = misheard(listener.hear(audio.pcm, audio.rate), behaviour, vocabulary, random);
    if (heard.length === 0 && inventedText !== undefined) return { body: { text: inventedText }, afterMs };
    return { body: written(heard, dialect, audio), afterMs };
  };
}

/**
 * A misheard word is any word that the server knows. From a list of a few words, two requests would often draw the same
 * one for the same place, though their errors are to be independent.
 */
function misheard(
  words: readonly TranscribedWord[],
  { wordErrors = 0, timesOffMs = 0 }: ListeningBehaviour,
  vocabulary: readonly string[],
  random: Random,
): TranscribedWord[] {
  return words.map(({ text, startMs, endMs }) => ({
    text: random.next() < wordErrors ? vocabulary[Math.floor(random.next() * vocabulary.length)]! : text,
    startMs: startMs + timesOffMs,
    endMs: endMs + timesOffMs,
  }));
}

function written(words: readonly TranscribedWord[], dialect: ListeningDialect, { fields, pcm, rate }: ReceivedAudio) {
  const text = words.map((word) => word.text).join(' ');
  if (fields['response_format'] !== 'verbose_json') return { text };
  const duration = pcm.length / rate;
  switch (dialect) {
    case 'spaced':
      return { text: ` ${text}\n`, duration: String(duration), words: words.map(spaced) };
    case 'pieces':
      return { text: ` ${text}\n`, segments: [{ text: ` ${text}`, words: words.flatMap(piecesOf) }] };
    case 'null':
      return { text, duration, words: null };
    default:
      return { text, duration, words: words.map(bare) };
  }
}

const seconds = (ms: number): number => Math.round(ms) / 1_000;

const spaced = ({ text, startMs, endMs }: TranscribedWord) => ({
  word: ` ${text}`,
  start: String(seconds(startMs)),
  end: String(seconds(endMs)),
});

/** OpenAI writes words without punctuation. */
const bare = ({ text, startMs, endMs }: TranscribedWord) => ({
  word: text.replace(/[.,?!]/g, ''),
  start: seconds(startMs),
  end: seconds(endMs),
});

function piecesOf({ text, startMs, endMs }: TranscribedWord) {
  const half = Math.ceil(text.length / 2);
  const middle = (startMs + endMs) / 2;
  const first = { word: ` ${text.slice(0, half)}`, start: seconds(startMs), end: seconds(middle) };
  return half === text.length
    ? [{ ...first, end: seconds(endMs) }]
    : [first, { word: text.slice(half), start: seconds(middle), end: seconds(endMs) }];
}
