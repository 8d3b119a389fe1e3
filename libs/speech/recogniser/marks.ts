import { slowestSpeechMs } from '../../audio/index.js';

/** Labels of a model such as SenseVoice: `<|en|>`, `<|HAPPY|>`. */
const LABELS = /<\|[^|<>]*\|>/gu;
/**
 * `[Music]`, `(laughs)`, `【拍手】`, `♪`, `♪ singing ♪`, `*coughs*`. Recognisers invent them in any language, so that only the
 * brackets count; `(800)`, `(a)` and `[U+202E]`, a stand-in of this service, are none, nor are
 * its placeholders of personal data, `[phone number 1]`.
 */
const MARKS =
  /\[(?!U\+|[a-z]\]|(?:card number|phone number|e-mail address|IBAN) \d+\])[^[\]]*\]|【[^【】]*】|[(（](?![a-z][)）])(?=[^()（）]*\p{L})[^()（）\p{N}]*[)）]|[♩-♬]+(?:[^♩-♬]*[♩-♬]+)?|\*[^*]+\*/giu;
const wordsOf = (...texts: string[]): RegExp => new RegExp(`^(?:${texts.join(' ').replace(/ +/g, '|')})$`, 'u');
/** Words that name a sound. Two words of which none names one are written together. */
const SOUNDS = wordsOf(
  '(?:blank|no)(?:audio|speech|sound) silence music applause laughter (?:laugh|chuckle|giggle)(?:s|ing)? laughing chuckling giggling',
  '(?:cough|sigh|gasp|sniff|sob|snort|yawn|groan|beep|click|buzz|clap|chirp|thud)(?:s|ing|ping|bing)? buzz(?:es|er) humming hums',
  'noises? footsteps ringing rings ringtone typing static (?:in|ex)hales breath(?:s|es|ing)? clear(?:s|ing|ed)?throat whistling',
  'cheer(?:s|ing) slam(?:s|ming) creak(?:s|ing) knock(?:s|ing) bark(?:s|ing) rev(?:s|ving) (?:wh|sw)oosh(?:es|ing) wooshing blowing',
  'rustling rumbling rattling crackling crying hissing',
  '(?:hintergrund|titel)?musik gelächter lach(?:en|t) beifall applaus klatschen stille räuspern räuspert husten hustet seufz(?:en|er|t) atmen atmet',
  '(?:hintergrund|tasten)?geräusche? rauschen klick(?:en|t)? klingel(?:n|t) piep(?:en|sen|t|ton)? muziek gelach stilte',
  'm[uú]sica suena aplausos? applausi risas? risos risat[ae] ríen? silencio silêncio silenzio tose tosiendo suspir[oa]s? ruidos? pitidos?',
  'musique applaudissements? rires? rit toux tousse soupir(?:s|e)? bruits? bip sonnerie timbre',
  '(?:歌と)?音[楽乐樂] 拍手 掌声 笑い?声? 効果音 無音 静音 음악 박수 웃음(?:소리)?',
);
/** Words that stand beside them, and say nothing alone. */
const BESIDE = wordsOf(
  'gentle soft quiet loud upbeat dramatic suspenseful tense eerie somber sad calm slow electronic classical ambient instrumental piano guitar',
  'background distant muffled heavy deep(?:ly)? softly loudly nervously playing plays continues fades stops sounds? audience crowd people',
  'phone telephone mobile door car engine wind air birds? dogs? keyboard mouse teléfono telefon téléphone porte puerta tür of in the an? and',
  'sanfte leise laute ruhige sich im de du la le les el los en se il elle et y und fondo fond suave douce dramática dramatique',
);
const TWO_WORDS = /(?<!\p{L})(blank|no|clear(?:s|ing|ed)?)[ _](?=(?:audio|speech|sound|throat)(?!\p{L}))/gu;
/** Marks that only name sounds. Others may stand for words that were said, as do those in asterisks, which may stress a word. */
function mayBeWords(mark: string): boolean {
  const joined = mark.normalize('NFC').toLowerCase().replace(TWO_WORDS, '$1');
  const names = joined.match(/\p{L}+/gu) ?? [];
  const isOfSound =
    names.some((name) => SOUNDS.test(name)) && names.every((name) => SOUNDS.test(name) || BESIDE.test(name));
  return /\*|__/.test(mark) || (names.length > 0 && !isOfSound);
}
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
