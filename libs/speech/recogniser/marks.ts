import { slowestSpeechMs } from '../../audio/index.js';

/** Labels of a model such as SenseVoice: `<|en|>`, `<|HAPPY|>`. */
const LABELS = /<\|[^|<>]*\|>/gu;
/**
 * `[Music]`, `(laughs)`, `【拍手】`, `♪`, `♪ singing ♪`, `*coughs*`. Recognisers invent them in any language, so that only the
 * brackets count; `(800)`, `(a)` and `[U+202E]`, a stand-in of this service, are none.
 */
const MARKS =
  /\[(?!U\+|[a-z]\])[^[\]]*\]|【[^【】]*】|[(（](?![a-z][)）])(?=[^()（）]*\p{L})[^()（）\p{N}]*[)）]|[♩-♬]+(?:[^♩-♬]*[♩-♬]+)?|\*[^*]+\*/giu;
/** Marks of sounds. Any other one may stand for words that were said, as do those in asterisks, which may stress a word. */
const OF_SOUND =
  /blank|music|musi[kq]|música|musica|silen[ct]|stille|ruhe|applau|aplau|laugh|lach|gelächter|ris[ae]s|rires|cough|hust|tos\b|sigh|seufz|breath|atm|noise|geräusch|ruido|bruit|cheer|clap|sound|beep|piep|ring|click|klick|static|throat|räusper|sniff|gasp|door|typing|keyboard|pause|wind|engine|bird|chuckl|hum\b|buzz|no (?:speech|audio)|音|拍手|笑|음악|박수|웃음/iu;
const OF_SPEECH = /\*|inaud|intellig|inintel|indistinct|incompr|unverst|foreign|speak|cross-?talk|overlap/iu;
const mayBeWords = (mark: string): boolean => OF_SPEECH.test(mark) || (/\p{L}/u.test(mark) && !OF_SOUND.test(mark));
/** Silence around a piece of audio, at most. */
const MARGINS_MS = 800;
/** In place of the characters of a mark. */
const CUT = '\uffff';

/** What was spoken of a text that a recogniser wrote. */
export interface Spoken {
  /** For each word of the text what was spoken of it; "" for a part of a mark. */
  readonly words: readonly string[];
  readonly text: string;
  /** Whether a mark may stand for words: it names no sound, or the words are too few for the audio. */
  readonly isPartial: boolean;
}

/** @param written without other white space than single spaces @param durationMs length of its audio */
export function withoutMarks(written: string, durationMs: number): Spoken {
  const marks: string[] = [];
  const masked = written.replace(LABELS, masks).replace(MARKS, (mark) => {
    marks.push(mark);
    return masks(mark);
  });
  const words = masked.split(' ').map((word) => (word.includes(CUT) ? lettered(word.replace(CUTS, ' ').trim()) : word));
  const text = words.filter((word) => word !== '').join(' ');
  const isTooShort = () => slowestSpeechMs(text) + MARGINS_MS < durationMs;
  return { words, text, isPartial: marks.length > 0 && (marks.some(mayBeWords) || isTooShort()) };
}

const CUTS = new RegExp(`${CUT}+`, 'gu');
const masks = (mark: string): string => mark.replace(/\S/gu, CUT);
/** Punctuation alone belongs to a mark. */
const lettered = (word: string): string => (/[\p{L}\p{N}]/u.test(word) ? word : '');
