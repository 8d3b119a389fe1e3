import {
  criteriaIn,
  DEFAULT_LANGUAGE,
  type EvaluationDefinition,
  isProhibition,
  linesOf,
  lineText,
  personalityFields,
  placeholders,
  readDate,
} from '../evaluation-definition/index.js';
import { hasCallerWords, PROTOCOLS } from '../simulation/index.js';
import { callerVoice, type VoiceServers } from '../speech/index.js';
import { ambiguousAnchors } from './ambiguous-anchors.js';
import type { Equipment } from './misfits.js';
import type { PlannedEvaluation } from './planned-evaluation.js';
import { lackOf, protocolsWith, transcriptionWarnings, withTranscription } from './words.js';

/** Names listed in one warning; the rest is only counted. */
const MAX_NAMED = 10;

/**
 * Weaknesses of evaluations that are run with this protocol and these engines, one sentence each.
 * @param repeat calls of each case
 */
export function evaluationWarnings(
  evaluations: readonly PlannedEvaluation[],
  equipment: Equipment,
  repeat = 1,
): string[] {
  const { protocol, connectionOptions, hasModel, speechServers } = equipment;
  const { medium, provides } = withTranscription(PROTOCOLS.of(protocol, connectionOptions), equipment);
  const hasWords = provides.words;
  const isJudged = hasModel && hasWords;
  const weaknesses: readonly [string, readonly string[]][] = [
    ['has neither checks nor criteria, so every completed call passes', namesOf(evaluations, asksNothing)],
    [
      'has only checks for what must never happen, so an agent that does nothing useful passes',
      namesOf(evaluations, (evaluation) => asksOnlyNever(evaluation, isJudged)),
    ],
    [
      'its caller says braces or tags as they are written: {{name}} needs variables, and \\{{ stands for braces that are said',
      namesOf(evaluations, saysMarkup),
    ],
    [
      hasWords
        ? 'the criteria are not judged, because no language model is configured (LLM_BASE_URL, LLM_MODEL)'
        : `the criteria are not judged, because ${protocol} does not provide the agent's words (${protocolsWith('words')} them), and ${lackOf(equipment)}`,
      isJudged ? [] : namesOf(evaluations, ({ snapshot: { definition } }) => hasCriteria(definition)),
    ],
    ...(medium === 'text' ? textWeaknesses(evaluations) : voiceWeaknesses(evaluations)),
    [
      provides.toolCalls === 'seen'
        ? `its toolResults do not apply, because over ${protocol} the platform runs the agent's tools itself`
        : `its toolResults have no effect, because ${protocol} does not provide the agent's tool calls`,
      provides.toolCalls === 'answered'
        ? []
        : namesOf(evaluations, ({ snapshot }) => snapshot.definition.toolResults.length > 0),
    ],
  ];
  const ambiguous = evaluations.flatMap((evaluation) => {
    const weakness = ambiguousAnchors(evaluation);
    return weakness === undefined ? [] : [`"${evaluation.snapshot.name}": ${weakness}.`];
  });
  return [
    ...weaknesses.flatMap(([weakness, names]) => (names.length > 0 ? [`${listed(names)}: ${weakness}.`] : [])),
    ...listedWarnings(ambiguous),
    ...(medium === 'text' ? unusedVoiceWarnings(evaluations) : chosenVoiceWarnings(evaluations, speechServers)),
    ...transcriptionWarnings(evaluations, equipment, repeat),
  ];
}

/** The first of many warnings that are about one evaluation each. */
function listedWarnings(warnings: readonly string[]): string[] {
  const more = warnings.length - MAX_NAMED;
  const rest = `${more} more evaluations have an after or before that fits several lines of the script.`;
  return more > 0 ? [...warnings.slice(0, MAX_NAMED), rest] : [...warnings];
}

/** How the voices of callers differ from what their personalities ask for. */
function chosenVoiceWarnings(evaluations: readonly PlannedEvaluation[], servers: VoiceServers): string[] {
  const warnings = evaluations.flatMap(({ snapshot: { language, personality } }) => {
    const { name, voice } = personality;
    const warning = voice && callerVoice(voice, language ?? DEFAULT_LANGUAGE, servers)?.warning;
    return warning === undefined ? [] : [`Personality "${name}": ${warning}.`];
  });
  return [...new Set(warnings)];
}

/** What voice calls leave out. */
const voiceWeaknesses = (evaluations: readonly PlannedEvaluation[]): [string, readonly string[]][] => [
  [
    'its fillers are left out, because the caller has none in its language',
    namesOf(
      evaluations,
      ({ snapshot: { definition, language } }) => definition.fillers && !hasCallerWords(language ?? DEFAULT_LANGUAGE),
    ),
  ],
];

/** What text calls leave out of evaluations for voice calls. */
function textWeaknesses(evaluations: readonly PlannedEvaluation[]): [string, readonly string[]][] {
  const having = (matches: (definition: EvaluationDefinition) => boolean) =>
    namesOf(evaluations, ({ snapshot }) => matches(snapshot.definition));
  return [
    [
      'lines with bargeIn are said after the response, because the agent is called over text',
      having(({ script }) => script.some((step) => 'bargeIn' in step)),
    ],
    [
      'backchannels, noises and keys are left out, because the agent is called over text',
      having(({ script }) => script.some((step) => 'backchannel' in step || 'noise' in step || 'press' in step)),
    ],
    [
      'its conditions have no effect, because the agent is called over text',
      having(({ conditions }) => Object.keys(conditions).length > 0),
    ],
    ['its fillers are left out, because the agent is called over text', having(({ fillers }) => fillers)],
  ];
}

const namesOf = (evaluations: readonly PlannedEvaluation[], matches: (evaluation: PlannedEvaluation) => boolean) =>
  evaluations.filter(matches).map(({ snapshot }) => snapshot.name);

/** What templates of other tools and speech markup look like, besides `{{name}}`. */
const MARKUP = /\{%|\$\{|\{[a-z_]\w*\}(?!\})|<(?:break|speak|prosody|say-as)\b/i;

function saysMarkup({ snapshot: { definition }, cases }: PlannedEvaluation): boolean {
  const variables = cases[0]?.variables ?? {};
  const lines = definition.script.flatMap(linesOf).map(lineText);
  const isLiteral = ({ name }: { name: string }) => !Object.hasOwn(variables, name) && !readDate(name);
  return placeholders(lines).some(isLiteral) || lines.some((line) => MARKUP.test(line));
}

const hasCriteria = ({ criteria, checks }: EvaluationDefinition): boolean =>
  criteria.length + criteriaIn(checks).length > 0;

const asksNothing = ({ snapshot: { definition } }: PlannedEvaluation): boolean =>
  definition.checks.length + definition.criteria.length === 0;

function asksOnlyNever({ snapshot: { definition } }: PlannedEvaluation, isJudged: boolean): boolean {
  const { checks, criteria } = definition;
  if (isJudged && criteria.length > 0) return false;
  return checks.length > 0 && checks.every(isProhibition);
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  const shown = names.slice(0, MAX_NAMED).map((name) => `"${name}"`);
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Each personality once. */
const personalitiesOf = (evaluations: readonly PlannedEvaluation[]): Personality[] => [
  ...new Map(evaluations.map(({ snapshot: { personality } }) => [personality.id, personality])).values(),
];

type Personality = PlannedEvaluation['snapshot']['personality'];

/** Settings of personalities that only a caller with a voice needs, one warning per combination. */
function unusedVoiceWarnings(evaluations: readonly PlannedEvaluation[]): string[] {
  const namesBySettings = new Map<string, string[]>();
  const personalities = personalitiesOf(evaluations).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, voice } of personalities) {
    const settings =
      voice === undefined
        ? []
        : VOICE_FIELDS.filter((key) => (voice[key] ?? 'never') !== personalityFields[key].default);
    if (settings.length === 0) continue;
    const key = settings.join(', ');
    namesBySettings.set(key, [...(namesBySettings.get(key) ?? []), name]);
  }
  return [...namesBySettings].map(([settings, names]) => {
    const subject = names.length === 1 ? 'Personality' : 'Personalities';
    return `${subject} ${listed(names)}: without effect, because the agent is called over text: ${settings}.`;
  });
}

const VOICE_FIELDS = ['accent', 'backgroundNoise', 'gender', 'provider', 'voice_id', 'interrupts'] as const;
