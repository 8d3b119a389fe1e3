import type { EvaluationDefinition, NestedCheck } from '../../../../libs/evaluation-definition/index.js';
import { type Medium, type ProtocolName, PROTOCOLS } from '../../../../libs/simulation/index.js';
import { voiceOf } from '../../../../libs/speech/index.js';
import { comparisonWarnings, NO_PREVIOUS_RUN } from '../../../../libs/statistics/index.js';
import { caseName, count } from '../../../../libs/text/index.js';
import { slotsOfOne } from '../execution/fair-slots.js';
import type { Plan, PlannedEvaluation } from './plan.js';

/** Names listed in one warning; the rest is only counted. */
const MAX_NAMED = 10;

/** What a plan depends on beside its evaluations. */
export interface PlanContext {
  /** How the agent is called. */
  readonly protocol: ProtocolName;
  readonly hasModel: boolean;
  /** Calls that one process executes at once, by the medium of their protocol. */
  readonly concurrency: Readonly<Record<Medium, number>>;
  /** Personalities of the plan with settings that only a caller with a voice needs. */
  readonly voices: readonly { readonly name: string; readonly settings: readonly string[] }[];
}

/** Weaknesses of a plan, one sentence each. */
export function planWarnings(plan: Plan, context: PlanContext): string[] {
  const { evaluations, concurrency } = plan;
  const { protocol, hasModel, voices } = context;
  const { medium, provides } = PROTOCOLS.of(protocol);
  const hasWords = provides.words;
  const isJudged = hasModel && hasWords;
  const weaknesses: readonly [string, readonly string[]][] = [
    ['has neither checks nor criteria, so every completed call passes', namesOf(evaluations, asksNothing)],
    [
      'has only checks for what must never happen, so an agent that does nothing useful passes',
      namesOf(evaluations, (evaluation) => asksOnlyNever(evaluation, isJudged)),
    ],
    [
      hasWords
        ? 'the criteria are not judged, because no language model is configured (LLM_BASE_URL, LLM_MODEL)'
        : `the criteria are not judged, because ${protocol} does not provide the agent's words`,
      isJudged ? [] : namesOf(evaluations, ({ snapshot }) => snapshot.definition.criteria.length > 0),
    ],
    ...(medium === 'text' ? textWeaknesses(evaluations) : []),
    [
      `its toolResults have no effect, because ${protocol} does not provide the agent's tool calls`,
      provides.toolCalls === 'answered'
        ? []
        : namesOf(evaluations, ({ snapshot }) => snapshot.definition.toolResults.length > 0),
    ],
  ];
  return [
    ...weaknesses.flatMap(([weakness, names]) => (names.length > 0 ? [`${listed(names)}: ${weakness}.`] : [])),
    ...(medium === 'text' ? voiceWarnings(voices) : []),
    ...(medium === 'voice' ? chosenVoiceWarnings(evaluations) : []),
    ...concurrencyWarnings(concurrency, medium, context.concurrency[medium]),
    ...baselineWarnings(plan),
  ];
}

const CONCURRENCY_SETTINGS = { text: 'WORKER_CONCURRENCY', voice: 'VOICE_CONCURRENCY' } as const;

function concurrencyWarnings(concurrency: number, medium: Medium, perProcess: number): string[] {
  const slots = slotsOfOne(perProcess);
  if (concurrency <= slots) return [];
  return [
    `A concurrency of ${concurrency} needs more than one process: one executes at most ${count(slots, 'call')} of a workspace at once (nine tenths of ${CONCURRENCY_SETTINGS[medium]}, ${perProcess}).`,
  ];
}

/** How the voices of callers differ from what their personalities ask for. */
function chosenVoiceWarnings(evaluations: readonly PlannedEvaluation[]): string[] {
  const personalities = new Map(evaluations.map(({ snapshot: { personality } }) => [personality.id, personality]));
  return [...personalities.values()].flatMap(({ name, voice }) => {
    const warning = voice && voiceOf(voice).warning;
    return warning === undefined ? [] : [`Personality "${name}": ${warning}.`];
  });
}

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
  ];
}

function baselineWarnings({ evaluations, repeat, notWorseThan, baselines: { gate } }: Plan): string[] {
  if (notWorseThan === null) return [];
  if (!gate) return [NO_PREVIOUS_RUN];
  const before = new Map(gate.cases.map((one) => [one.caseKey, one]));
  const cases = evaluations.flatMap(({ snapshot, cases: own }) =>
    own.map(({ key, variables }) => ({ baseline: before.get(key), name: caseName(snapshot.name, variables, key) })),
  );
  const shared = cases.flatMap(({ name, baseline }) =>
    baseline ? [{ name, baseline, current: { counted: repeat, passed: repeat } }] : [],
  );
  return comparisonWarnings({ shared, missing: cases.length - shared.length });
}

const namesOf = (evaluations: readonly PlannedEvaluation[], matches: (evaluation: PlannedEvaluation) => boolean) =>
  evaluations.filter(matches).map(({ snapshot }) => snapshot.name);

const asksNothing = ({ snapshot: { definition } }: PlannedEvaluation): boolean =>
  definition.checks.length + definition.criteria.length === 0;

function asksOnlyNever({ snapshot: { definition } }: PlannedEvaluation, isJudged: boolean): boolean {
  const { checks, criteria } = definition;
  if (isJudged && criteria.length > 0) return false;
  return checks.length > 0 && checks.every(isProhibition);
}

/** Whether an agent that does nothing meets the check. */
function isProhibition(check: NestedCheck): boolean {
  switch (check.type) {
    case 'never_says':
    case 'never_calls_tool':
    case 'speakable':
    case 'no_personal_data':
    case 'max_interruptions':
    case 'max_overlap_ms':
    case 'max_choppiness':
    case 'clean_protocol':
      return true;
    case 'any_of':
    case 'all_of':
      return check.checks.every(isProhibition);
    case 'not':
      return check.check.type === 'says' || check.check.type === 'calls_tool';
    case 'when':
      return isProhibition(check.then);
    default:
      return false;
  }
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  const shown = names.slice(0, MAX_NAMED).map((name) => `"${name}"`);
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** One per combination of settings. */
function voiceWarnings(voices: PlanContext['voices']): string[] {
  const bySettings = new Map<string, string[]>();
  for (const { name, settings } of voices) {
    const key = settings.join(', ');
    bySettings.set(key, [...(bySettings.get(key) ?? []), name]);
  }
  return [...bySettings].map(([settings, names]) => {
    const subject = names.length === 1 ? 'Personality' : 'Personalities';
    return `${subject} ${listed(names)}: without effect, because the agent is called over text: ${settings}.`;
  });
}
