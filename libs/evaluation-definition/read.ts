import { findJsonViolations, type JsonLimits, sentence, SizeBudget, type Violation } from '../json-input/index.js';
import type { AuthoredEvaluation, EvaluationInput } from './definition.js';
import { definitionViolations, usableParts } from './definition-violations.js';
import { normalise } from './normalise.js';
import { PatternChecker } from './pattern.js';
import type { InputKind } from './schema.js';
import { schemaViolations } from './schema-violations.js';

/** What many evaluations that are read together have in common. */
export interface ValidationContext {
  readonly patterns: PatternChecker;
  readonly budget: SizeBudget;
}

/** The largest evaluation that the schema allows has some 60,000 values. */
const JSON_LIMITS: JsonLimits = { maxValues: 100_000, maxEntries: 1_000, maxViolations: 1_000 };

/** Characters and values of all that is read together; for one evaluation sent by itself more than fits a request. */
const DEFAULT_BUDGET = 4 * 1024 * 1024;

export const createValidationContext = (size = DEFAULT_BUDGET): ValidationContext => ({
  patterns: new PatternChecker(),
  budget: new SizeBudget(size),
});

/**
 * Every violation of an evaluation as it was sent.
 * Of a change, the parts must be looked at again together with what it leaves as it is.
 * @throws SizeExceeded
 */
export function findViolations(
  kind: InputKind,
  value: unknown,
  { patterns, budget } = createValidationContext(),
): Violation[] {
  const { violations, stopped } = findJsonViolations(value, JSON_LIMITS, budget);
  if (stopped) return violations;
  const bySchema = schemaViolations(kind, value);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const parts = isObject ? usableParts(value, bySchema, kind !== 'change') : undefined;
  const all = [...violations, ...bySchema, ...(parts ? definitionViolations(parts, patterns) : [])];
  return [...new Map(all.map((violation) => [sentence(violation), violation])).values()];
}

/** The same, as sentences that begin with the path of the field. */
export const inputViolations = (kind: InputKind, value: unknown, context?: ValidationContext): string[] =>
  findViolations(kind, value, context).map(sentence);

/** Every violation that the parts of a whole evaluation have together. */
export const evaluationViolations = (evaluation: AuthoredEvaluation): string[] =>
  definitionViolations(evaluation).map(sentence);

/** An evaluation without violations with every default filled in; only the agent knows the number that it is called at. */
export function authored(input: EvaluationInput, defaultPhoneNumber: string): AuthoredEvaluation {
  return {
    key: input.key ?? null,
    name: input.name,
    scenarioText: input.scenarioText,
    generalInstructions: input.generalInstructions ?? '',
    personalityId: input.personalityId.toLowerCase(),
    vendorCallPhoneNumber: input.vendorCallPhoneNumber ?? defaultPhoneNumber,
    critical: input.critical ?? false,
    tags: [...(input.tags ?? [])],
    ...normalise(input),
  };
}
