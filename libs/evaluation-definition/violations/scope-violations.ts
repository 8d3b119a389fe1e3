import { isObject, type Violation } from '../../json-input/index.js';
import { withNested } from '../checks/checks.js';
import type { CheckInput } from '../definition/definition.js';
import type { PatternChecker } from '../matching/pattern.js';
import { normaliseCheck } from '../schema/normalise-check.js';
import type { InputKind } from '../schema/schema.js';
import { definitionViolations } from './definition-violations.js';

/** Fields that do not fit the scope. Of a change only what it has: the merged evaluation is validated again. */
export function scopeViolations(kind: InputKind, value: unknown): Violation[] {
  if (kind === 'personality' || !isObject(value)) return [];
  const { scope, appliesTo, variables } = value;
  if (scope !== 'production' && scope !== 'both') return [];
  const lacksCondition = scope === 'both' && (kind === 'change' ? appliesTo === null : !appliesTo);
  const isLong = Array.isArray(variables) && variables.length > 1;
  const both = 'must be given with the scope both: a check that production calls meet that the evaluation is about';
  return [
    ...(lacksCondition ? [{ path: ['appliesTo'], text: both }] : []),
    ...(isLong ? [{ path: ['variables'], text: `must have at most one row with the scope ${scope}` }] : []),
  ];
}

/** Violations of `appliesTo` that the schema cannot express. */
export function appliesToViolations(
  { appliesTo }: { readonly appliesTo?: unknown },
  bySchema: readonly Violation[],
  patterns: Pick<PatternChecker, 'violationOf'>,
): Violation[] {
  if (!isObject(appliesTo) || bySchema.some(({ path }) => path[0] === 'appliesTo')) return [];
  const check = normaliseCheck(appliesTo as unknown as CheckInput);
  if (withNested(check).some((found) => found.check.type === 'criterion')) {
    return [{ path: ['appliesTo'], text: 'must not contain a criterion: it is decided without a language model' }];
  }
  const definition = { script: [], checks: [check], criteria: [], fillers: false };
  const found = definitionViolations({ ...definition, maxTurns: undefined, maxDurationSeconds: undefined }, patterns);
  return found.map(({ path, text }) => ({ path: ['appliesTo', ...path.slice(2)], text }));
}
