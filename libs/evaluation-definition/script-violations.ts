import type { Matcher, PartialDefinition, ScriptStep } from './definition.js';
import { compileMatcher } from './matcher.js';
import type { Violation, Path } from '../json-input/index.js';

/** Steps that can never be executed. */
export function scriptViolations({ script, maxTurns, maxDurationSeconds }: PartialDefinition): Violation[] {
  const violations: Violation[] = [];
  const end = script.findIndex((step) => step && 'end' in step && !step.when);
  if (end !== -1 && end < script.length - 1) {
    violations.push({ path: ['script', end + 1], text: `can never be reached, because script[${end}] ends the call` });
  }
  const steps = certain(script);
  const lines = steps.filter((step) => 'say' in step).length;
  if (maxTurns !== undefined && lines > maxTurns) {
    violations.push({ path: ['script'], text: `says ${lines} lines, more than maxTurns (${maxTurns}) allows` });
  }
  const silence = steps.reduce((sum, step) => sum + ('waitSeconds' in step ? step.waitSeconds : 0), 0);
  if (maxDurationSeconds !== undefined && silence >= maxDurationSeconds) {
    violations.push({
      path: ['script'],
      text: `waits ${silence} seconds, which maxDurationSeconds (${maxDurationSeconds}) does not allow`,
    });
  }
  return violations;
}

/** Steps that are never skipped. */
const certain = (script: PartialDefinition['script']) =>
  script.filter((step): step is ScriptStep => step !== undefined && !step.when);

/** All matchers of a script with their paths. */
export function scriptMatchers(script: PartialDefinition['script']): { matcher: Matcher; path: Path }[] {
  const found: { matcher: Matcher; path: Path }[] = [];
  const add = (condition: ScriptStep['when'], path: Path) => {
    if (condition?.says) found.push({ matcher: condition.says, path: [...path, 'says'] });
    if (condition?.notSays) found.push({ matcher: condition.notSays, path: [...path, 'notSays'] });
  };
  script.forEach((step, index) => {
    if (!step) return;
    const path = ['script', index];
    add(step.when, [...path, 'when']);
    if (!('answers' in step)) return;
    step.answers.forEach((answer, position) => add(answer.when, [...path, 'answers', position, 'when']));
    add(step.until, [...path, 'until']);
  });
  return found;
}

/**
 * Maximum number of turns of a call with this script.
 * @returns undefined when nothing but `maxTurns` limits them
 */
export function mostTurns(script: PartialDefinition['script']): number | undefined {
  if (script.length === 0 || script.some((step) => !step || 'answers' in step)) return undefined;
  return script.filter((step) => step && 'say' in step).length;
}

/** Whether the matcher can match a scripted caller; undefined if unknown. */
export function canSay(script: PartialDefinition['script'], matcher: Matcher): boolean | undefined {
  if (script.length === 0 || script.includes(undefined)) return undefined;
  const matches = compileMatcher(matcher);
  const lines = script.flatMap((step) => {
    if (!step) return [];
    if ('say' in step) return [step.say];
    if (!('answers' in step)) return [];
    return [...step.answers.map(({ say }) => say), ...(step.otherwise === undefined ? [] : [step.otherwise])];
  });
  if (lines.some(matches)) return true;
  // Answers to several questions at once are said in one turn; a matcher may span them.
  return script.some((step) => step && 'answers' in step && step.answers.length > 1) ? undefined : false;
}
