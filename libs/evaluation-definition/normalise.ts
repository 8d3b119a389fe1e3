import type {
  Check,
  CheckInput,
  Condition,
  Criterion,
  CriterionInput,
  DefinitionInput,
  EvaluationDefinition,
  Matcher,
  ScriptStep,
  SpokenMatcher,
  SpokenMatcherInput,
} from './definition.js';
import { DEFAULTS } from './limits.js';

/** Fills in all defaults and orders the fields as documented. */
export function normalise(input: DefinitionInput): EvaluationDefinition {
  return {
    script: (input.script ?? []).map(normaliseStep),
    checks: (input.checks ?? []).map(normaliseCheck),
    criteria: (input.criteria ?? []).map(normaliseCriterion),
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

export function normaliseCheck(check: CheckInput): Check {
  const head = check.name === undefined ? {} : { name: check.name };
  const tail = { weight: check.weight ?? DEFAULTS.weight, required: check.required ?? DEFAULTS.required };
  switch (check.type) {
    case 'says':
    case 'never_says':
      return { type: check.type, ...head, ...spoken(check), ...tail };
    case 'calls_tool':
    case 'never_calls_tool':
      return {
        type: check.type,
        ...head,
        tool: check.tool,
        ...(check.arguments && { arguments: check.arguments }),
        ...tail,
      };
    case 'ends_by':
      return { type: check.type, ...head, by: check.by, ...tail };
    case 'max_turns':
      return { type: check.type, ...head, turns: check.turns, ...tail };
    case 'max_latency_ms':
      return {
        type: check.type,
        ...head,
        ms: check.ms,
        percentile: check.percentile ?? DEFAULTS.percentile,
        ...tail,
      };
    case 'max_duration_ms':
    case 'max_silence_ms':
      return { type: check.type, ...head, ms: check.ms, ...tail };
    case 'says_before':
      return { type: check.type, ...head, first: spoken(check.first), then: spoken(check.then), ...tail };
  }
}

export function normaliseCriterion({ text, weight, required }: CriterionInput): Criterion {
  return { text, weight: weight ?? DEFAULTS.weight, required: required ?? DEFAULTS.required };
}

const condition = ({ says, notSays }: Condition): Condition => ({
  ...(says && { says: matcher(says) }),
  ...(notSays && { notSays: matcher(notSays) }),
});

const matcher = (input: Matcher): Matcher =>
  'pattern' in input ? { pattern: input.pattern } : { text: input.text, ...(input.partOfWord && { partOfWord: true }) };

const spoken = (input: SpokenMatcherInput): SpokenMatcher => ({ ...matcher(input), speaker: input.speaker ?? 'agent' });
