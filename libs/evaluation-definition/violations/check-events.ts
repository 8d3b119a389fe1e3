import type { Path } from '../../json-input/index.js';
import type { EventMatcher, NestedCheck, PartialDefinition, ValueSource } from '../definition/definition.js';

export interface FoundCheck {
  readonly check: NestedCheck;
  readonly path: Path;
  /** 0 for a check of the evaluation. */
  readonly depth: number;
}

/** A check and those inside it, outermost first. */
export function withNested(check: NestedCheck, path: Path, depth = 0): FoundCheck[] {
  const inner = innerChecks(check).flatMap(([steps, nested]) => withNested(nested, [...path, ...steps], depth + 1));
  return [{ check, path, depth }, ...inner];
}

function innerChecks(check: NestedCheck): (readonly [steps: Path, NestedCheck])[] {
  switch (check.type) {
    case 'any_of':
    case 'all_of':
      return check.checks.map((nested, index) => [['checks', index], nested] as const);
    case 'not':
      return [[['check'], check.check]];
    case 'when':
      return [
        [['if'], check.if],
        [['then'], check.then],
      ];
    default:
      return [];
  }
}

/** All checks of an evaluation with those inside them. */
export const allChecks = (checks: PartialDefinition['checks']): FoundCheck[] =>
  checks.flatMap((check, index) => (check ? withNested(check, ['checks', index]) : []));

/** An event that a check refers to; steps are relative to the check. */
export type FoundEvent = readonly [steps: Path, event: EventMatcher];

/** The events that a check refers to, without those of checks inside it. */
export function eventsOf(check: NestedCheck): FoundEvent[] {
  switch (check.type) {
    case 'says':
    case 'never_says':
    case 'calls_tool':
    case 'never_calls_tool':
      return [
        [[], check],
        ...(check.after ? [[['after'], check.after] as const] : []),
        ...(check.before ? [[['before'], check.before] as const] : []),
      ];
    case 'says_before':
      return [
        [['first'], check.first],
        [['then'], check.then],
      ];
    case 'in_order':
      return check.events.map((event, index) => [['events', index], event] as const);
    case 'same_value':
      return spokenSources('sources', check.sources);
    case 'understood':
      return spokenSources('values', check.values);
    case 'hears_keys':
      return check.then === undefined || 'transfer' in check.then ? [] : [[['then'], check.then]];
    default:
      return [];
  }
}

const spokenSources = (field: string, sources: readonly ValueSource[]): FoundEvent[] =>
  sources.flatMap((source, index) => ('value' in source ? [] : [[[field, index], source] as const]));
