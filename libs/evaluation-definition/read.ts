import { findJsonViolations, type JsonLimits, sentence, SizeBudget, type Violation } from '../json-input/index.js';
import { isObject } from '../json-input/index.js';
import type { AuthoredEvaluation, EvaluationInput } from './definition/definition.js';
import { definitionViolations, usableParts } from './violations/definition-violations.js';
import { languageViolations } from './definition/language.js';
import { normalise, normaliseRow } from './schema/normalise.js';
import { normaliseCondition } from './schema/normalise-check.js';
import { appliesToViolations, scopeViolations } from './violations/scope-violations.js';
import { EVALUATION_BUDGET, FILE_BUDGET, PatternChecker } from './matching/pattern.js';
import type { InputKind } from './schema/schema.js';
import { schemaViolations } from './violations/schema-violations.js';
import { SEARCH_BUDGET } from './violations/script-violations.js';
import { historyViolations } from './violations/history-violations.js';
import { toolResultViolations } from './violations/tool-result-violations.js';
import { timezoneViolations } from './definition/timezone.js';
import {
  dateViolations,
  fileViolations,
  hasVariables,
  partOf,
  rowByRow,
  rowViolations,
  templateParts,
  withSomeDates,
} from './variables/variable-violations.js';

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
  const checker = new PatternChecker(EVALUATION_BUDGET, patterns);
  const all = [...violations, ...evaluationOrTemplate(kind, value, checker), ...scopeViolations(kind, value)];
  return [...new Map(all.map((violation) => [sentence(violation), violation])).values()];
}

function evaluationOrTemplate(kind: InputKind, value: unknown, patterns: PatternChecker): Violation[] {
  if (kind === 'personality' || !isObject(value)) return schemaViolations(kind, value);
  if (!hasVariables(value)) {
    // A change may rely on the variables that are stored: its templates are validated with the merged evaluation.
    if (kind === 'change') return violationsOf(kind, value, patterns, templateParts(value));
    return [...dateViolations(value), ...violationsOf(kind, withSomeDates(value), patterns)];
  }
  const bySchema = schemaViolations('change', { variables: value.variables });
  const byRow = bySchema.length > 0 ? bySchema : rowViolations(value);
  if (byRow.length > 0)
    return [...byRow, ...violationsOf(kind, { ...value, variables: [] }, patterns, templateParts(value))];
  const searchBudget = SEARCH_BUDGET / value.variables.length;
  return rowByRow(value, (replaced) =>
    violationsOf(kind, { ...replaced, variables: [] }, patterns, undefined, searchBudget),
  );
}

/** @param exempt fields, or entries of their lists, that are not validated: `templateParts` */
function violationsOf(
  kind: InputKind,
  value: object,
  patterns: PatternChecker,
  exempt: ReadonlySet<string> = new Set(),
  searchBudget?: number,
): Violation[] {
  const bySchema = schemaViolations(kind, value);
  const left = bySchema.filter(({ path }) => !exempt.has(partOf(path)));
  const hidden = [...exempt].map((part) => ({ path: part.split('/'), text: '' }));
  const parts = usableParts(value, [...bySchema, ...hidden], kind !== 'change');
  return [
    ...left,
    ...definitionViolations(parts, patterns, searchBudget),
    ...fileViolations(value),
    ...historyViolations(value),
    ...toolResultViolations(value, patterns).filter(({ path }) => !exempt.has(partOf(path))),
    ...languageViolations(value),
    ...timezoneViolations(value),
    ...appliesToViolations(value, bySchema, patterns),
  ];
}

/** Violations as sentences that begin with the path of the field. */
export const inputViolations = (kind: InputKind, value: unknown, context?: ValidationContext): string[] =>
  findViolations(kind, value, context).map(sentence);

/**
 * Violations of a complete evaluation whose parts were validated before, as sentences. Patterns are compiled again only
 * if variables may occur in them.
 */
export const evaluationViolations = (evaluation: AuthoredEvaluation): string[] =>
  hasVariables(evaluation) || templateParts(evaluation).size > 0
    ? inputViolations('new', evaluation)
    : [
        ...definitionViolations(evaluation, { violationOf: () => undefined }),
        ...scopeViolations('new', evaluation),
      ].map(sentence);

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
    language: input.language ?? null,
    timezone: input.timezone ?? null,
    variables: (input.variables ?? []).map(normaliseRow),
    scope: input.scope ?? 'tests',
    appliesTo: input.appliesTo ? normaliseCondition(input.appliesTo) : null,
    ...normalise(input),
  };
}
