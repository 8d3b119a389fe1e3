import { eventsOf } from '../checks/checks.js';
import { everyCheck } from '../expectations.js';
import { checkViolations } from './check-violations.js';
import type { DefinitionInput, Matcher, PartialDefinition } from '../definition/definition.js';
import { DEFAULTS, LIMITS } from '../definition/limits.js';
import { fold } from '../matching/matcher.js';
import { normaliseCheck } from '../schema/normalise-check.js';
import { normaliseCriterion, normaliseStep } from '../schema/normalise.js';
import type { Violation, Path } from '../../json-input/index.js';
import { PatternChecker } from '../matching/pattern.js';
import { textTrap } from '../matching/pattern-traps.js';
import { expectationViolations } from './expectation-violations.js';
import { scriptViolations, scriptMatchers } from './script-violations.js';
import { voiceStepViolations } from './voice-step-violations.js';
import { ToolViolations } from './tool-violations.js';

type Patterns = Pick<PatternChecker, 'violationOf'>;

/**
 * Violations that the schema cannot express: invalid patterns, checks that could never be evaluated, fail or be met,
 * unreachable steps, duplicates.
 * @param searchBudget limit of the time to search the lines of the script, in microseconds
 */
export function definitionViolations(
  definition: PartialDefinition,
  patterns: Patterns = new PatternChecker(),
  searchBudget?: number,
): Violation[] {
  const invalid = new Set<Matcher>();
  const matchers = [...scriptMatchers(definition.script), ...checkMatchers(definition)];
  const violations = matchers.flatMap(({ matcher, path }) => {
    const violation = matcherViolation(matcher, path, patterns);
    if (violation) invalid.add(matcher);
    return violation ?? [];
  });
  return [
    ...violations,
    ...toolViolations(definition, patterns),
    ...scriptViolations(definition),
    ...voiceStepViolations(definition.script),
    ...expectationViolations(definition),
    ...checkViolations(definition, (matcher) => !invalid.has(matcher), searchBudget),
    ...criteriaViolations(definition.criteria),
    ...criteriaInChecks(definition),
    ...fillerViolations(definition),
  ];
}

/**
 * The definition without the parts that violate the schema.
 * @param isWhole whether omitted fields have their defaults; in a change they are unknown
 */
export function usableParts(
  input: DefinitionInput,
  schemaViolations: readonly Violation[],
  isWhole: boolean,
): PartialDefinition {
  const broken = new Set(schemaViolations.map(({ path }) => path.slice(0, 2).join('/')));
  const list = <In, Out>(
    field: keyof DefinitionInput,
    entries: readonly In[] | undefined,
    read: (entry: In) => Out,
  ): (Out | undefined)[] => {
    if (entries === undefined && isWhole) return [];
    if (!Array.isArray(entries) || broken.has(field)) return [undefined];
    return (entries as readonly In[]).map((entry, index) =>
      broken.has(`${field}/${index}`) ? undefined : read(entry),
    );
  };
  const limit = (field: 'maxTurns' | 'maxDurationSeconds'): number | undefined =>
    broken.has(field) ? undefined : (input[field] ?? (isWhole ? DEFAULTS[field] : undefined));
  return {
    script: list('script', input.script, normaliseStep),
    checks: list('checks', input.checks, normaliseCheck),
    criteria: list('criteria', input.criteria, normaliseCriterion),
    maxTurns: limit('maxTurns'),
    maxDurationSeconds: limit('maxDurationSeconds'),
    fillers: broken.has('fillers') ? undefined : (input.fillers ?? (isWhole ? DEFAULTS.fillers : undefined)),
  };
}

function checkMatchers(definition: PartialDefinition): { matcher: Matcher; path: Path }[] {
  return everyCheck(definition).flatMap(({ check, path }) =>
    eventsOf(check).flatMap(([steps, event]) =>
      'tool' in event ? [] : [{ matcher: event, path: [...path, ...steps] }],
    ),
  );
}

function toolViolations(definition: PartialDefinition, patterns: Patterns): Violation[] {
  const tools = new ToolViolations(patterns);
  return everyCheck(definition).flatMap(({ check, path }) =>
    eventsOf(check).flatMap(([steps, event]) => ('tool' in event ? tools.of(event, [...path, ...steps]) : [])),
  );
}

function matcherViolation(matcher: Matcher, path: Path, patterns: Patterns): Violation | undefined {
  if ('pattern' in matcher) {
    const text = patterns.violationOf(matcher.pattern);
    return text === undefined ? undefined : { path: [...path, 'pattern'], text };
  }
  const text = fold(matcher.text) === '' ? 'must not consist of white space only' : textTrap(matcher.text);
  return text === undefined ? undefined : { path: [...path, 'text'], text };
}

function fillerViolations({ fillers, script }: PartialDefinition): Violation[] {
  if (!fillers || script.length === 0) return [];
  const text = 'must be false for an evaluation with a script, whose lines are known: remove the script or fillers';
  return [{ path: ['fillers'], text }];
}

/** The judge is asked about each of them. */
function criteriaInChecks({ script, checks, criteria }: PartialDefinition): Violation[] {
  const inChecks = everyCheck({ script, checks }).filter(({ check }) => check.type === 'criterion').length;
  if (inChecks === 0 || inChecks + criteria.length <= LIMITS.criteria) return [];
  const text = `must have at most ${LIMITS.criteria} criteria together with criteria; they have ${inChecks + criteria.length}`;
  return [{ path: ['checks'], text }];
}

function criteriaViolations(criteria: PartialDefinition['criteria']): Violation[] {
  const earlier = new Map<string, number>();
  return criteria.flatMap((criterion, index) => {
    if (!criterion) return [];
    const text = fold(criterion.text);
    const path = ['criteria', index, 'text'];
    if (text === '') return [{ path, text: 'must not consist of white space only' }];
    const about = `${criterion.turn} ${text}`;
    const same = earlier.get(about);
    if (same !== undefined) return [{ path, text: `duplicates criteria[${same}]` }];
    earlier.set(about, index);
    return [];
  });
}
