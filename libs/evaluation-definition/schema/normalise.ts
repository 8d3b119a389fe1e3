import type {
  Condition,
  Criterion,
  CriterionInput,
  DefinitionInput,
  EvaluationDefinition,
  HistoryLine,
  LineConditions,
  Matcher,
  SayStep,
  ScriptStep,
  ToolResult,
  VariablesRow,
} from '../definition/definition.js';
import { DEFAULTS } from '../definition/limits.js';
import { normaliseCheck, normaliseExpectations } from './normalise-check.js';
import { historyLineSchema } from './history-schema.js';
import { toolResultSchema } from './tool-result-schema.js';

/** Fills in all defaults and orders the fields as documented. */
export function normalise(input: DefinitionInput): EvaluationDefinition {
  return {
    script: (input.script ?? []).map(normaliseStep),
    checks: (input.checks ?? []).map(normaliseCheck),
    criteria: (input.criteria ?? []).map(normaliseCriterion),
    history: (input.history ?? []).map(normaliseHistoryLine),
    toolResults: (input.toolResults ?? []).map(normaliseToolResult),
    maxTurns: input.maxTurns ?? DEFAULTS.maxTurns,
    maxDurationSeconds: input.maxDurationSeconds ?? DEFAULTS.maxDurationSeconds,
    conditions: normaliseConditions(input.conditions ?? {}),
    turnEndMs: input.turnEndMs ?? DEFAULTS.turnEndMs,
    fillers: input.fillers ?? DEFAULTS.fillers,
    agentVariables: normaliseRow(input.agentVariables ?? {}),
  };
}

export function normaliseStep(step: ScriptStep): ScriptStep {
  const when = step.when && { when: condition(step.when) };
  if ('say' in step) {
    const to = step.to && { to: condition(step.to) };
    return { ...when, ...to, say: step.say, ...(step.bargeIn && { bargeIn: step.bargeIn }), ...expectations(step) };
  }
  if ('backchannel' in step) return { backchannel: step.backchannel, afterMs: step.afterMs };
  if ('noise' in step) {
    return { ...when, noise: step.noise, ...(step.afterMs !== undefined && { afterMs: step.afterMs }) };
  }
  if ('press' in step) return { ...when, press: step.press };
  if ('waitSeconds' in step) return { ...when, waitSeconds: step.waitSeconds };
  if ('end' in step) return { ...when, end: step.end, ...(step.unless && { unless: step.unless }) };
  return {
    ...when,
    answers: step.answers.map((answer) => ({
      when: condition(answer.when),
      say: answer.say,
      ...expectations(answer),
    })),
    ...(step.until && { until: condition(step.until), otherwise: step.otherwise }),
    ...expectations(step),
  };
}

const expectations = ({ expect }: Pick<SayStep, 'expect'>) => expect && { expect: normaliseExpectations(expect) };

export function normaliseCriterion(input: CriterionInput | string): Criterion {
  const {
    text,
    turn,
    weight = DEFAULTS.weight,
    required = DEFAULTS.required,
  }: CriterionInput = typeof input === 'string' ? { text: input } : input;
  return { text, ...(turn !== undefined && { turn }), weight, required };
}

/** Conditions in the order of the schema: the database does not preserve it. */
export function normaliseConditions(input: LineConditions): LineConditions {
  const { noise, ...others } = input;
  const given = CONDITIONS.flatMap((name) => (others[name] === undefined ? [] : [[name, others[name]] as const]));
  return {
    ...(noise && { noise: { type: noise.type, snrDb: noise.snrDb } }),
    ...(Object.fromEntries(given) as Omit<LineConditions, 'noise'>),
  };
}

const CONDITIONS = ['gainDb', 'echoDb', 'packetLossPercent', 'jitterMs', 'band', 'seed'] as const;

/** Fields in the order of the schema: the database does not preserve it. */
const inOrder =
  <T extends object>({ properties }: { readonly properties: object }) =>
  (value: T): T =>
    Object.fromEntries(
      (Object.keys(properties) as (keyof T)[]).flatMap((name) =>
        value[name] === undefined ? [] : [[name, value[name]]],
      ),
    ) as T;

const normaliseHistoryLine = inOrder<HistoryLine>(historyLineSchema);
const normaliseToolResult = inOrder<ToolResult>(toolResultSchema);

/** With sorted names: the database does not preserve their order. */
export const normaliseRow = (row: VariablesRow): VariablesRow =>
  Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

const condition = ({ says, notSays }: Condition): Condition => ({
  ...(says && { says: matcher(says) }),
  ...(notSays && { notSays: matcher(notSays) }),
});

const matcher = (input: Matcher): Matcher =>
  'pattern' in input ? { pattern: input.pattern } : { text: input.text, ...(input.partOfWord && { partOfWord: true }) };
