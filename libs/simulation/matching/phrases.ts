import { normaliseText } from '../../text/index.js';

/*
 * What utterances do, in the most common languages: enough to see through a caller that plainly misbehaves. What these
 * patterns miss is left to the judge.
 */

const GOODBYE =
  /\b(good ?bye|bye|farewell|see you|have an? (nice|good|great|lovely|wonderful) (day|evening|night|afternoon|weekend|one)|auf wiederh?sehen|auf wiederhören|tschüss|adiós|hasta luego|au revoir|arrivederci)\b/u;
const CLOSING_QUESTION =
  /\b(any|some)thing (else|more|further)\b|\belse (can|could|may|do) (i|we|you)\b|\b(is|was|be) that (all|everything)\b|\bthat be (all|everything)\b|\b(any )?(other|further|more) questions\b|noch etwas|sonst noch|algo más|autre chose|altro\b/u;
const HOLDS_ON =
  /\b(one|a|just a) (moment|second|minute)\b|\bhold on\b|\blet me (check|look|see|find)\b|\bbear with me\b|\beinen (moment|augenblick)\b|\bun momento\b|\bun instant\b/u;
const REQUEST = new RegExp(
  [
    /\b(please|kindly)\b.*\b(tell|give|say|provide|confirm|spell|repeat|enter|state|share|choose|send|specify|name)\b/,
    /^((and|so|now|then|ok|okay|great|thanks|thank you|sure|alright),? )*(tell|give|provide|confirm|spell|state|repeat|specify|choose) (me|us|your|the|it)\b/,
    /\b(tell|give|provide|confirm|spell|state|repeat|specify)\b.*,? please\b/,
    /\b(i|we)(('ll| will| would|'d)? (just |only |still |also )?(need|require|like)) (to (know|have)|your)\b/,
    /\b(may|can|could) (i|we) (just |please )?(have|get|ask|take)\b/,
    /\byour( \w+){1,3},? please\b/,
    /\blet me know\b/,
    /\bbitte\b.*\b(nennen|sagen|geben|wiederholen|buchstabieren|bestätigen)\b|\b(nennen|sagen|geben|buchstabieren|bestätigen) sie\b/,
    /\bpor favor\b.*\b(diga|dígame|indique|deme|confirme|repita)|\b(dígame|indíqueme|deme) su\b/,
    /\b(veuillez|s'il vous plaît)\b.*\b(donner|indiquer|dire|confirmer|épeler|répéter)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'u',
);
const SAY_AGAIN =
  /\b(sorry|pardon|excuse me|come again|repeat|rephrase|(say|tell me) (that|it|this) again|once more|(did not|didn't|do not|don't|could not|couldn't|can't|cannot) (\w+ )?(understand|catch|hear|get (that|it|you)|follow))\b|wie bitte|nicht verstanden|perdón|no (le|te) (entiendo|oigo)|pas compris/u;

/** The sentences of an utterance that contain words, normalised. */
const sentencesOf = (text: string): string[] =>
  normaliseText(text)
    .split(/(?<=[.!?]) /)
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));

export const saysGoodbye = (text: string): boolean => GOODBYE.test(normaliseText(text));

/** Whether the speaker looks something up: the other side has to wait. */
export const holdsOn = (text: string): boolean => HOLDS_ON.test(sentencesOf(text).at(-1) ?? '');

/** Whether the speaker did not understand and wants to hear the last words again. */
export const wantsRepetition = (text: string): boolean => SAY_AGAIN.test(normaliseText(text));

/** Whether an utterance ends with a question or a request, other than whether there is anything else. */
export function asks(text: string): boolean {
  const last = sentencesOf(text).slice(-2);
  if (GOODBYE.test(last.at(-1) ?? '')) return false;
  return last.some((sentence) => {
    if (CLOSING_QUESTION.test(sentence)) return false;
    return /\?[^\p{L}\p{N}]*$/u.test(sentence) || (REQUEST.test(sentence) && !/\b(if|don't hesitate)\b/.test(sentence));
  });
}

/** The words of a text, normalised. */
export const wordsOf = (text: string): string[] => normaliseText(text).match(/[\p{L}\p{N}]+('\p{L}+)?/gu) ?? [];

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const FAREWELL = words(
  "thank thanks you very much so a lot many goodbye good bye have nice great lovely wonderful day evening night afternoon weekend one take care see soon later then well okay ok all right alright for your help time assistance and now that's that is it fine everything i'm done sorry oh talk to danke schön vielen dank auf wiedersehen tschüss gracias adiós merci au revoir the rest of",
);
const AGREEMENT = words(
  "yes yeah yep yup no nope okay ok sure right correct exactly please thanks thank you that's that is fine great good perfect wonderful alright all absolutely of course indeed mhm hm uh huh ja nein sí oui non bitte danke",
);

const consistsOf = (text: string, allowed: ReadonlySet<string>): boolean => {
  const said = wordsOf(text);
  return said.length > 0 && said.every((word) => allowed.has(word));
};

/** Whether an utterance thanks or says goodbye and nothing else: it answers no question. */
export const isOnlyFarewell = (text: string): boolean => consistsOf(text, FAREWELL);

/** Whether an utterance only agrees or declines: such lines repeat in ordinary conversations. */
export const isOnlyAgreement = (text: string): boolean => consistsOf(text, AGREEMENT);

const COURTESY = new Set([...FAREWELL, ...AGREEMENT]);

/** Whether an utterance has no content beyond courtesy. */
export const isOnlyCourtesy = (text: string): boolean => consistsOf(text, COURTESY);
