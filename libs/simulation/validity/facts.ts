import { normaliseText } from '../../text/index.js';
import { sanitizeText, truncate } from '../timeline/text.js';
import { type CallerConduct, evidenceOf, type Invalidity } from './invalidity.js';
import { wordsOf } from '../matching/phrases.js';

/** Shorter numbers may be dates, times or amounts. Only the last digits are compared, to ignore country codes. */
const MIN_DIGITS = 7;
/** Digits of a number that the caller calls a reference or the like. */
const MIN_NAMED_DIGITS = 3;
const NAMED_NUMBER =
  /\b(?:reference|order|booking|reservation|account|customer|policy|ticket|confirmation|membership|card|phone|telephone|mobile|zip|postal|post|passport|invoice)\b(?: \w+){0,2} (?:is|was)[ :#]*([a-z]{0,4}[- ]?\d[a-z\d -]*)/gu;
/** Two or more words may follow: "My name is Anna Maria Rossi". */
const NAME =
  /\b(?:[Mm]y (?:full |last |first |sur)?name is|[Mm]y name's|[Uu]nder the name(?: of)?|[Ii]n the name of|[Mm]ein Name ist|[Ii]ch heiße|[Mm]e llamo|[Mm]i nombre es|[Jj]e m'appelle|[Mm]on nom est)\s+(\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*)*)/gu;
const DIGIT_WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** Detects e-mail addresses, names and numbers that neither the scenario nor the agent mentioned. */
export function inventedFact({ view, personality, scenario }: CallerConduct): Invalidity | undefined {
  const known = new Knowledge();
  const { name, description, prompt } = personality;
  for (const text of [name, description, prompt, scenario.scenarioText, scenario.generalInstructions]) {
    known.learn(text ?? '');
  }
  for (const utterance of view.utterances) {
    if (utterance.speaker === 'agent') known.learn(utterance.text);
    else {
      const invented = known.firstUnknown(utterance.text);
      if (invented !== undefined) {
        const message = `The caller stated "${truncate(invented, 60)}", which is not in its scenario`;
        return { code: 'invented_fact', message, evidence: [evidenceOf(utterance)] };
      }
    }
  }
  return undefined;
}

/** What the caller may know so far. */
class Knowledge {
  private text = '';
  private digits = '';
  private readonly words = new Set<string>();

  learn(text: string): void {
    const normalised = normaliseText(sanitizeText(text));
    this.text += ` ${normalised}`;
    const words = wordsOf(normalised);
    for (const word of words) this.words.add(word);
    this.digits += normalised.replace(/\D+/g, '');
    this.digits += ` ${words.map(digitOf).join('')} `;
  }

  /** The first fact of a caller's line that is not known. */
  firstUnknown(line: string): string | undefined {
    const text = sanitizeText(line);
    const folded = normaliseText(text);
    const addresses = (folded.match(/[\w.+-]+@[\w-]+\.[\w.-]*\w/g) ?? []).filter((each) => !this.text.includes(each));
    const numbers = (folded.match(/\d(?:[\d\s().-]*\d)?/g) ?? [])
      .map(digitsOf)
      .filter((number) => number.length >= MIN_DIGITS && !this.digits.includes(number.slice(-MIN_DIGITS)));
    const named = Array.from(folded.matchAll(NAMED_NUMBER), ([, number]) => number!.trim()).filter((number) => {
      const digits = digitsOf(number);
      return digits.length >= MIN_NAMED_DIGITS && !this.digits.includes(digits.slice(-MIN_DIGITS));
    });
    const plain = text.replace(/[’‘]/g, "'");
    const names = Array.from(plain.matchAll(NAME), ([, name]) => name!).filter(
      (name) => !wordsOf(name).some((word) => this.words.has(word) || this.words.has(word.replace(/'s$/, ''))),
    );
    return [...addresses, ...numbers, ...named, ...names][0];
  }
}

const digitsOf = (text: string): string => text.replace(/\D+/g, '');

/** The digit that a word stands for; other words separate numbers. */
function digitOf(word: string): string {
  if (word === 'oh') return '0';
  const digit = DIGIT_WORDS.indexOf(word);
  return digit === -1 ? ' ' : String(digit);
}
