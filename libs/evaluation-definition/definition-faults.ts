import { checkFaults } from './check-faults.js';
import type { DefinitionInput, Matcher, PartialDefinition } from './definition.js';
import { DEFAULTS } from './limits.js';
import { fold } from './matcher.js';
import { normaliseCheck, normaliseCriterion, normaliseStep } from './normalise.js';
import type { Fault, Path } from './paths.js';
import { PatternJudge } from './pattern.js';
import { scriptFaults, scriptMatchers } from './script-faults.js';

/**
 * What is wrong with a definition although its schema allows it: patterns that are none, checks that could never be
 * evaluated, fail or hold, steps that are never reached, repetitions.
 */
export function definitionFaults(definition: PartialDefinition, judge = new PatternJudge()): Fault[] {
  const unsound = new Set<Matcher>();
  const matchers = [...scriptMatchers(definition.script), ...checkMatchers(definition.checks)];
  const faults = matchers.flatMap(({ matcher, path }) => {
    const fault = matcherFault(matcher, path, judge);
    if (fault) unsound.add(matcher);
    return fault ?? [];
  });
  return [
    ...faults,
    ...scriptFaults(definition),
    ...checkFaults(definition, (matcher) => !unsound.has(matcher)),
    ...criteriaFaults(definition.criteria),
  ];
}

/**
 * The definition without the parts that have faults by the schema.
 * @param isWhole whether what is left out has its default; of a change it is unknown
 */
export function usableParts(
  input: DefinitionInput,
  schemaFaults: readonly Fault[],
  isWhole: boolean,
): PartialDefinition {
  const broken = new Set(schemaFaults.map(({ path }) => path.slice(0, 2).join('/')));
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
  };
}

function checkMatchers(checks: PartialDefinition['checks']): { matcher: Matcher; path: Path }[] {
  return checks.flatMap((check, index) => {
    if (check?.type === 'says' || check?.type === 'never_says') return [{ matcher: check, path: ['checks', index] }];
    if (check?.type !== 'says_before') return [];
    return (['first', 'then'] as const).map((part) => ({ matcher: check[part], path: ['checks', index, part] }));
  });
}

function matcherFault(matcher: Matcher, path: Path, judge: PatternJudge): Fault | undefined {
  if ('pattern' in matcher) {
    const text = judge.faultOf(matcher.pattern);
    return text === undefined ? undefined : { path: [...path, 'pattern'], text };
  }
  return fold(matcher.text) === '' ? { path: [...path, 'text'], text: 'must not be white space alone' } : undefined;
}

function criteriaFaults(criteria: PartialDefinition['criteria']): Fault[] {
  const earlier = new Map<string, number>();
  return criteria.flatMap((criterion, index) => {
    if (!criterion) return [];
    const text = fold(criterion.text);
    const path = ['criteria', index, 'text'];
    if (text === '') return [{ path, text: 'must not be white space alone' }];
    const same = earlier.get(text);
    if (same !== undefined) return [{ path, text: `asks the same as criteria[${same}]` }];
    earlier.set(text, index);
    return [];
  });
}
