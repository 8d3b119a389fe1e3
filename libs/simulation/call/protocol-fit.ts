import {
  actsOf,
  type Check,
  describeCheck,
  type EvaluationDefinition,
  historyOf,
  linesOf,
  type Need,
  needsOf,
  type ScriptStep,
  type SpokenLine,
} from '../../evaluation-definition/index.js';
import { coversLanguage } from '../../text/index.js';
import { nameOfLanguage } from '../matching/spoken-language.js';
import { truncate } from '../timeline/text.js';
import type { ProtocolModule } from '../transports/modules/module.js';
import { CALLER_WORD_LANGUAGES, callerWords } from '../voice/speaking/caller-words.js';

/** A part of an evaluation that needs what the protocol lacks. */
interface Lack {
  readonly need: Need;
  /** `script[2] (answers)`. */
  readonly part: string;
}

const NAMES: Readonly<Record<Need, string>> = {
  words: "the agent's words",
  toolCalls: "the agent's tool calls",
  voice: 'a voice call',
};

/** What the voices of the caller speak. */
export interface CallerLanguages {
  /** BCP 47. */
  readonly languages: readonly string[];
  /** What would add a language: the rest of a sentence. */
  readonly cure: string;
}

/** Parts named for each need; the rest is only counted. */
const MAX_NAMED = 5;
const MAX_CHECK = 80;

/**
 * Why an evaluation cannot be run over a protocol, as the rest of a sentence about it that names the steps, checks and
 * criteria; undefined if it can.
 * @param language BCP 47 language of the call
 */
export function misfitOf(
  definition: Pick<EvaluationDefinition, 'script' | 'checks' | 'criteria' | 'history' | 'toolResults'> &
    Partial<Pick<EvaluationDefinition, 'agentVariables'>>,
  language: string,
  module: Pick<ProtocolModule, 'name' | 'medium' | 'provides' | 'takes' | 'lackingInMocks'>,
  spoken: CallerLanguages,
): string | undefined {
  const { name, medium, provides, takes, lackingInMocks = [] } = module;
  const isThere: Readonly<Record<Need, boolean>> = {
    words: provides.words,
    toolCalls: provides.toolCalls !== 'none',
    voice: medium === 'voice',
  };
  const lacks = partsOf(definition).filter(({ need }) => !isThere[need]);
  const reasons = (['voice', 'words', 'toolCalls'] as const).flatMap((need) => {
    const parts = lacks.filter((lack) => lack.need === need).map(({ part }) => part);
    return parts.length === 0 ? [] : [`it needs ${NAMES[need]}, which ${name} does not provide: ${listed(parts)}`];
  });
  if (historyOf(definition).length > 0 && !takes?.history)
    reasons.push(`it has a history, which ${name} does not take`);
  const unmocked = definition.toolResults.flatMap((entry, index) =>
    lackingInMocks.flatMap((field) => (entry[field] === undefined ? [] : [`toolResults[${index}].${field}`])),
  );
  for (const [variable, value] of Object.entries(definition.agentVariables ?? {})) {
    const fault = takes?.variableFault?.(variable, value);
    if (fault !== undefined) reasons.push(`its variable "${truncate(variable, 64)}" ${fault}`);
  }
  if (unmocked.length > 0) reasons.push(`the mocks of ${name} cannot do this: ${listed(unmocked)}`);
  // Words of another language would be unintelligible, and the agent would be blamed for it.
  if (medium === 'voice') reasons.push(...languageReasons(definition, language, spoken));
  const keys = medium === 'voice' && !provides.keys ? keySteps(definition) : [];
  if (keys.length > 0) reasons.push(`it presses keys, which ${name} does not transmit: ${listed(keys)}`);
  const silent = medium === 'voice' ? silentLines(definition.script) : [];
  if (silent.length > 0) reasons.push(`it has lines without a word to speak: ${listed(silent)}`);
  return reasons.length === 0 ? undefined : reasons.join('; ');
}

function languageReasons(
  { script }: Pick<EvaluationDefinition, 'script'>,
  language: string,
  { languages, cure }: CallerLanguages,
): string[] {
  if (!coversLanguage(languages, language)) {
    const names = languages.map(nameOfLanguage).join(', ');
    return [`its language is ${truncate(language, 64)}, and the voices of the caller speak ${names} (${cure})`];
  }
  const backchannels = script.flatMap((step, index) => ('backchannel' in step ? [`script[${index}]`] : []));
  if (backchannels.length === 0 || callerWords(language)) return [];
  const names = CALLER_WORD_LANGUAGES.map(nameOfLanguage).join(', ');
  return [
    `its language is ${truncate(language, 64)}, and backchannels exist in ${names} only: ${listed(backchannels)}`,
  ];
}

/** Whether its script, its caller, a check or a criterion depends on words of the agent. */
export const needsWords = (definition: Pick<EvaluationDefinition, 'script' | 'checks' | 'criteria'>): boolean =>
  definition.criteria.length > 0 || partsOf(definition).some(({ need }) => need === 'words');

function partsOf({ script, checks, criteria }: Pick<EvaluationDefinition, 'script' | 'checks' | 'criteria'>): Lack[] {
  return [
    ...openParts(script).map((part) => ({ need: 'words', part }) as const),
    ...checks.flatMap((check, index) => needsOf(check).map((need) => ({ need, part: checkName(check, index) }))),
    ...criteria.flatMap(({ required }, index) =>
      required ? [{ need: 'words', part: `criteria[${index}]` } as const] : [],
    ),
  ];
}

/** What the caller can only decide by the words of the agent. */
const openParts = (script: readonly ScriptStep[]): string[] => [
  ...(script.length === 0 ? ['the caller, which has no script'] : []),
  ...script.flatMap((step, index) => conditionsOf(step).map((field) => `script[${index}] (${field})`)),
];

/** The fields of a step that depend on what the agent says. */
const conditionsOf = (step: ScriptStep): string[] => [
  ...(step.when ? ['when'] : []),
  ...('say' in step && step.to ? ['to'] : []),
  ...('end' in step && step.unless ? ['unless'] : []),
  ...('answers' in step ? ['answers'] : []),
];

/** Steps that press keys, and checks of what follows them. */
function keySteps({ script, checks }: Pick<EvaluationDefinition, 'script' | 'checks'>): string[] {
  const steps = script.flatMap((step, index) => ('press' in step ? [`script[${index}] (press)`] : []));
  const about = checks.flatMap((check, index) => (actsOf(check).includes('keys') ? [checkName(check, index)] : []));
  return [...steps, ...about];
}

/** Lines that no voice can speak, such as "...". */
function silentLines(script: readonly ScriptStep[]): string[] {
  return script.flatMap((step, index) => (linesOf(step).every(isSpoken) ? [] : [`script[${index}]`]));
}

function isSpoken(line: SpokenLine): boolean {
  const texts = typeof line === 'string' ? [line] : line.filter((part) => typeof part === 'string');
  return texts.every((text) => /[\p{L}\p{N}]/u.test(text));
}

const checkName = (check: Check, index: number): string =>
  `${check.step === undefined ? `checks[${index}]` : `script[${check.step}].expect`} (${truncate(check.name ?? describeCheck(check), MAX_CHECK)})`;

function listed(parts: readonly string[]): string {
  const more = parts.length - MAX_NAMED;
  return `${parts.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
