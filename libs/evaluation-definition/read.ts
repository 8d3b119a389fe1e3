import { findJsonViolations, type JsonLimits, sentence, SizeBudget, type Violation } from '../json-input/index.js';
import type { AuthoredEvaluation, EvaluationInput } from './definition.js';
import { definitionViolations, usableParts } from './definition-violations.js';
import { normalise } from './normalise.js';
import { EVALUATION_BUDGET, FILE_BUDGET, PatternChecker } from './pattern.js';
import type { InputKind } from './schema.js';
import { schemaViolations } from './schema-violations.js';

/** Shared by the evaluations of one request or file. */
export interface ValidationContext {
  readonly patterns: PatternChecker;
  readonly budget: SizeBudget;
}

/** The largest evaluation that the schema allows has some 60,000 values. */
const JSON_LIMITS: JsonLimits = { maxValues: 100_000, maxEntries: 1_000, maxViolations: 1_000 };

/** Maximum number of characters and values; more than fit into a request. */
const DEFAULT_BUDGET = 4 * 1024 * 1024;

export const createValidationContext = (size = DEFAULT_BUDGET): ValidationContext => ({
  patterns: new PatternChecker(FILE_BUDGET),
  budget: new SizeBudget(size),
});

/**
 * Finds all violations of an evaluation in a request or file, or of a personality in a file. After a change, the merged evaluation must be validated again with
 * `evaluationViolations`.
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
  const parts = isObject && kind !== 'personality' ? usableParts(value, bySchema, kind !== 'change') : undefined;
  const all = [
    ...violations,
    ...bySchema,
    ...(parts ? definitionViolations(parts, new PatternChecker(EVALUATION_BUDGET, patterns)) : []),
  ];
  return [...new Map(all.map((violation) => [sentence(violation), violation])).values()];
}

/** Violations as sentences that begin with the path of the field. */
export const inputViolations = (kind: InputKind, value: unknown, context?: ValidationContext): string[] =>
  findViolations(kind, value, context).map(sentence);

/** Violations of a complete evaluation whose parts were validated before, as sentences: patterns are not compiled again. */
export const evaluationViolations = (evaluation: AuthoredEvaluation): string[] =>
  definitionViolations(evaluation, { violationOf: () => undefined }).map(sentence);

/** Fills in the defaults of a valid evaluation. @param defaultPhoneNumber number of the agent */
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
