import type { Path } from '../../json-input/index.js';
import { capital, clipped } from '../../text/index.js';
import type { CriterionSpec, NestedCheck, PartialDefinition } from '../definition/definition.js';
import { TURNS, WORDS } from './amounts.js';
import { ANSWERS } from './answers.js';
import { COMPOSED } from './composed.js';
import { CRITERION } from './criterion.js';
import { ENDS_BY } from './ends-by.js';
import { FLOOR } from './floor.js';
import { HAPPENS } from './happens.js';
import { KEYS } from './keys.js';
import type { Act, CheckKind, EventPart, Kinds, Need } from './kind.js';
import { LANGUAGE } from './language.js';
import { IN_ORDER, SAYS_BEFORE } from './order.js';
import { PERSONAL_DATA } from './personal-data.js';
import { SAME_VALUE, UNDERSTOOD } from './same-value.js';
import { SOUND } from './sound.js';
import { SPEAKABLE } from './speakable.js';
import { TIMES } from './times.js';
import { TRANSFERS } from './transfers.js';

/** Every type of check, in the order of the API document. */
export const CHECKS: Kinds = {
  ...HAPPENS,
  ...IN_ORDER,
  ...COMPOSED,
  ...CRITERION,
  ...ANSWERS,
  ...TRANSFERS,
  ...ENDS_BY,
  ...TURNS,
  ...TIMES,
  ...WORDS,
  ...LANGUAGE,
  ...SPEAKABLE,
  ...PERSONAL_DATA,
  ...SAME_VALUE,
  ...SAYS_BEFORE,
  ...FLOOR,
  ...SOUND,
  ...KEYS,
  ...UNDERSTOOD,
};

/** Undefined for a template whose type is a variable. */
const kindOf = ({ type }: NestedCheck): CheckKind<NestedCheck> | undefined => CHECKS[type];

/** What a check and those inside it need, each need once. */
export function needsOf(check: NestedCheck): Need[] {
  return [...new Set([...(kindOf(check)?.needs(check) ?? []), ...partsOf(check).flatMap(([, part]) => needsOf(part))])];
}

/** What a check is about beside words and tools, without those inside it. */
export const actsOf = (check: NestedCheck): readonly Act[] => kindOf(check)?.acts(check) ?? [];

/** Describes a check that has no name. */
export const describeCheck = (check: NestedCheck): string => capital(clause(check));

const clause = (check: NestedCheck): string =>
  kindOf(check)?.describe(check, nested) ?? `check of the type ${check.type}`;

const nested = (check: NestedCheck): string => clipped(check.name ?? clause(check), 200);

/** Whether an agent that does nothing meets the check. */
export const isProhibition = (check: NestedCheck): boolean =>
  kindOf(check)?.isProhibition(check, isProhibition) ?? false;

/** The checks directly inside a check. */
const partsOf = (check: NestedCheck) => kindOf(check)?.parts(check) ?? [];

export interface FoundCheck {
  readonly check: NestedCheck;
  readonly path: Path;
  /** 0 for a check of the evaluation. */
  readonly depth: number;
}

/** A check and those inside it, outermost first. */
export function withNested(check: NestedCheck, path: Path = [], depth = 0): FoundCheck[] {
  const inner = partsOf(check).flatMap(([steps, part]) => withNested(part, [...path, ...steps], depth + 1));
  return [{ check, path, depth }, ...inner];
}

/** All checks of an evaluation with those inside them. */
export const allChecks = (checks: PartialDefinition['checks']): FoundCheck[] =>
  checks.flatMap((check, index) => (check ? withNested(check, ['checks', index]) : []));

/** The checks inside a check, or the check itself, that have no others inside them, in order. */
export const leavesOf = (check: NestedCheck): NestedCheck[] =>
  withNested(check).flatMap(({ check: each }) => (partsOf(each).length === 0 ? [each] : []));

/** The criteria among the parts of checks, in order. */
export const criteriaIn = (checks: readonly NestedCheck[]): CriterionSpec[] =>
  checks.flatMap(leavesOf).filter((each): each is NestedCheck & CriterionSpec => each.type === 'criterion');

/** The events that a check refers to, without those of checks inside it. */
export const eventsOf = (check: NestedCheck): readonly EventPart[] => kindOf(check)?.events(check) ?? [];
