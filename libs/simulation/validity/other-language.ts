import { DEFAULT_LANGUAGE, lineText, type ScriptStep } from '../../evaluation-definition/index.js';
import { languageDetector, nameOfLanguage, wordsIn } from '../matching/spoken-language.js';
import type { CallView } from '../timeline/call-view.js';
import type { Scenario } from '../callers/persona.js';

const ANSWERS = 3;
/** Words of these answers that suffice to name their language. */
const ENOUGH_WORDS = 20;
/** A line of the caller with fewer words is as likely a name. */
const MIN_WORDS_OF_LINE = 2;

/** Languages that the detector took for one another in texts of 20 words and more (decision 123). */
const CONFUSED: readonly (readonly [string, string])[] = [
  ['ca', 'es'],
  ['cs', 'sk'],
  ['da', 'no'],
  ['fa', 'ur'],
  ['hi', 'mr'],
  ['hr', 'sr'],
];

/** Tags for what the detector calls by another one. */
const SAME: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', fil: 'tl' };

export interface LanguageInput {
  readonly view: CallView;
  readonly script: readonly ScriptStep[];
  readonly scenario: Scenario;
}

/**
 * Whether the agent spoke another language than the call's, so that the missing answer is not the caller's fault; as a
 * sentence without full stop. Undefined if that is not certain.
 */
export async function otherLanguage({ view, script, scenario }: LanguageInput): Promise<string | undefined> {
  const answers = view.said('agent').slice(-ANSWERS);
  const text = answers.map((answer) => answer.text).join(' ');
  if (wordsIn(text) < ENOUGH_WORDS) return undefined;
  const { detect, knows } = await languageDetector();
  const spoken = detect(text);
  const wanted = scenario.hasOwnLanguage ? baseOf(scenario.language) : detect(linesOf(script));
  if (spoken === undefined || wanted === undefined || !knows(wanted)) return undefined;
  const lines = view.said('caller').filter((line) => wordsIn(line.text) >= MIN_WORDS_OF_LINE);
  const ofCaller = lines.map((line) => detect(line.text));
  // An agent that is set to a language may speak it.
  const ofAgent = scenario.language === DEFAULT_LANGUAGE ? undefined : baseOf(scenario.language);
  const expected = [wanted, ofAgent, ...ofCaller];
  if (expected.some((language) => language !== undefined && areConfused(language, spoken))) return undefined;
  return `The agent spoke ${nameOfLanguage(spoken)}; the language of the call is ${nameOfLanguage(wanted)}`;
}

function baseOf(tag: string | null | undefined): string | undefined {
  const base = tag?.toLowerCase().split('-')[0];
  return base === undefined ? undefined : (SAME[base] ?? base);
}

const areConfused = (a: string, b: string): boolean =>
  a === b || CONFUSED.some((pair) => pair.includes(a) && pair.includes(b));

const linesOf = (script: readonly ScriptStep[]): string =>
  script
    .flatMap((step) => {
      if ('say' in step) return [lineText(step.say)];
      return 'answers' in step ? [...step.answers.map(({ say }) => lineText(say)), step.otherwise ?? ''] : [];
    })
    .join(' ');
