import type {
  Condition,
  Criterion,
  CriterionInput,
  DefinitionInput,
  EvaluationDefinition,
  Matcher,
  ScriptStep,
  ToolResult,
  VariablesRow,
} from './definition.js';
import { DEFAULTS } from './limits.js';
import { normaliseCheck } from './normalise-check.js';

/** Fills in all defaults and orders the fields as documented. */
export function normalise(input: DefinitionInput): EvaluationDefinition {
  return {
    script: (input.script ?? []).map(normaliseStep),
    checks: (input.checks ?? []).map(normaliseCheck),
    criteria: (input.criteria ?? []).map(normaliseCriterion),
    toolResults: (input.toolResults ?? []).map(normaliseToolResult),
    maxTurns: input.maxTurns ?? DEFAULTS.maxTurns,
    maxDurationSeconds: input.maxDurationSeconds ?? DEFAULTS.maxDurationSeconds,
  };
}

export function normaliseStep(step: ScriptStep): ScriptStep {
  const when = step.when && { when: condition(step.when) };
  if ('say' in step) return { ...when, say: step.say };
  if ('waitSeconds' in step) return { ...when, waitSeconds: step.waitSeconds };
  if ('end' in step) return { ...when, end: step.end };
  return {
    ...when,
    answers: step.answers.map((answer) => ({ when: condition(answer.when), say: answer.say })),
    ...(step.until && { until: condition(step.until), otherwise: step.otherwise }),
  };
}

export function normaliseCriterion({ text, weight, required }: CriterionInput): Criterion {
  return { text, weight: weight ?? DEFAULTS.weight, required: required ?? DEFAULTS.required };
}

const normaliseToolResult = ({ tool, arguments: wanted, result }: ToolResult): ToolResult => ({
  tool,
  ...(wanted && { arguments: wanted }),
  result,
});

/** With sorted names: the database does not preserve their order. */
export const normaliseRow = (row: VariablesRow): VariablesRow =>
  Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

const condition = ({ says, notSays }: Condition): Condition => ({
  ...(says && { says: matcher(says) }),
  ...(notSays && { notSays: matcher(notSays) }),
});

const matcher = (input: Matcher): Matcher =>
  'pattern' in input ? { pattern: input.pattern } : { text: input.text, ...(input.partOfWord && { partOfWord: true }) };
