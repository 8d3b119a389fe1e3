import type { AuthoredEvaluation, EvaluationInput } from './definition.js';
import { definitionFaults, usableParts } from './definition-faults.js';
import { jsonFaults, SizeBudget } from './json-faults.js';
import { normalise } from './normalise.js';
import { type Fault, sentence } from './paths.js';
import { PatternJudge } from './pattern.js';
import type { InputKind } from './schema.js';
import { schemaFaults } from './schema-faults.js';

/** What many evaluations that are read together have in common. */
export interface Reading {
  readonly judge: PatternJudge;
  readonly budget: SizeBudget;
}

/** Characters and values of all that is read together; for one evaluation sent by itself more than fits a request. */
const DEFAULT_BUDGET = 4 * 1024 * 1024;

export const startReading = (size = DEFAULT_BUDGET): Reading => ({
  judge: new PatternJudge(),
  budget: new SizeBudget(size),
});

/**
 * Every fault of an evaluation as it was sent.
 * Of a change, the parts must be looked at again together with what it leaves as it is.
 * @throws SizeExceeded
 */
export function findFaults(kind: InputKind, value: unknown, { judge, budget } = startReading()): Fault[] {
  const { faults, unwieldy } = jsonFaults(value, budget);
  if (unwieldy) return faults;
  const bySchema = schemaFaults(kind, value);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const parts = isObject ? usableParts(value, bySchema, kind !== 'change') : undefined;
  const all = [...faults, ...bySchema, ...(parts ? definitionFaults(parts, judge) : [])];
  return [...new Map(all.map((fault) => [sentence(fault), fault])).values()];
}

/** The same, as sentences that begin with the path of the field. */
export const inputFaults = (kind: InputKind, value: unknown, reading?: Reading): string[] =>
  findFaults(kind, value, reading).map(sentence);

/** Every fault that the parts of a whole evaluation have together. */
export const evaluationFaults = (evaluation: AuthoredEvaluation): string[] =>
  definitionFaults(evaluation).map(sentence);

/** An evaluation without faults with every default filled in; only the agent knows the number that it is called at. */
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
