import { normaliseText } from '../../text/index.js';
import type { CallView, Utterance } from '../timeline/call-view.js';
import { type CallerConduct, evidenceOf, type Invalidity } from './invalidity.js';
import { areSimilar } from '../matching/similarity.js';
import { wordsOf } from '../matching/phrases.js';

/** Shorter utterances may be equal by chance. */
const MIN_WORDS = 5;
const MIN_QUESTION = 3;
/** A label of the agent, also in a line of a dialogue that the caller writes on its own. */
const AGENT_LABEL = /(^|\n)[\s*_"[]*(agent|assistant|ai|bot|voice agent|receptionist|operator|system)[\s*_"\]]*:/iu;
const AGENT_PHRASES =
  /\bhow (can|may|could) (i|we) (help|assist|be of (help|service|assistance))\b|\b(can|may) i (help|assist) you\b|\bthank you for calling\b(?! (me|back))|\belse (i|we) can (help|assist|do for)\b/u;
const MODEL_PHRASES =
  /\bas an? (ai|artificial intelligence|(large )?language model)\b|\bi('m| am) an? (ai|language model|virtual assistant|ai assistant)\b|\bi('m| am) sorry,? but i (can't|cannot) (assist|help|comply) with (that|this)\b/u;
/** An utterance that is nothing but a stage direction: "(hangs up)". */
const STAGE_DIRECTION = /^\s*(\([^()]*\)|\*[^*]*\*|\[[^[\]]*\])\s*$/u;

/** Detects the agent's words in the mouth of the caller. */
export function spokeAsAgent({ view, scenario }: CallerConduct): Invalidity | undefined {
  const told = normaliseText(`${scenario.scenarioText} ${scenario.generalInstructions ?? ''}`);
  const heard: string[] = [];
  const questions = new Set<Utterance>(echoedQuestions(view));
  for (const utterance of view.utterances) {
    const { speaker, text } = utterance;
    if (speaker === 'agent') heard.push(text);
    else {
      const isLong = wordsOf(text).length >= MIN_WORDS;
      const isEcho = questions.has(utterance) || (isLong && heard.some((said) => areSimilar(said, text)));
      const [phrase] = AGENT_PHRASES.exec(normaliseText(text)) ?? [];
      if (isEcho || AGENT_LABEL.test(text) || (phrase !== undefined && !told.includes(phrase))) {
        return { code: 'spoke_as_agent', message: 'The caller spoke as the agent', evidence: [evidenceOf(utterance)] };
      }
    }
  }
  return undefined;
}

/** Questions that the caller asks back word for word, unless it did so only once. */
function echoedQuestions({ utterances }: CallView): Utterance[] {
  const echoes = utterances.filter(({ speaker, text }, position) => {
    const before = utterances[position - 1];
    const isQuestion = speaker === 'caller' && text.trim().endsWith('?') && wordsOf(text).length >= MIN_QUESTION;
    return isQuestion && before?.speaker === 'agent' && areSimilar(before.text, text);
  });
  return echoes.length > 1 ? echoes : [];
}

/** Detects a language model that speaks as itself, or describes instead of speaking. */
export function leftRole({ view }: CallerConduct): Invalidity | undefined {
  const broken = view
    .said('caller')
    .find(({ text }) => MODEL_PHRASES.test(normaliseText(text)) || STAGE_DIRECTION.test(text));
  if (!broken) return undefined;
  const isModel = MODEL_PHRASES.test(normaliseText(broken.text));
  const what = isModel ? 'spoke as a language model' : 'described what it does instead of speaking';
  return { code: 'left_role', message: `The caller left its role: it ${what}`, evidence: [evidenceOf(broken)] };
}
