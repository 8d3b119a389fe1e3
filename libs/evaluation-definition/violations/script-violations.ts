import type { Matcher, PartialDefinition, ScriptStep, SpokenLine, TextMatcher } from '../definition/definition.js';
import { lineText, linesOf } from '../definition/script.js';
import { compileText, fold } from '../matching/matcher.js';
import { compilePattern, compileTime } from '../matching/pattern.js';
import type { Violation, Path } from '../../json-input/index.js';

/** Steps that can never be executed. */
export function scriptViolations({ script, maxTurns, maxDurationSeconds }: PartialDefinition): Violation[] {
  const violations = blankLines(script);
  const end = script.findIndex((step) => step && 'end' in step && !step.when);
  if (end !== -1 && end < script.length - 1) {
    violations.push({ path: ['script', end + 1], text: `can never be reached, because script[${end}] ends the call` });
  }
  script.forEach((step, index) => {
    const isMixed = step && 'say' in step && step.to && (step.when ?? step.bargeIn);
    if (isMixed) violations.push({ path: ['script', index, 'to'], text: 'is not possible with when or bargeIn' });
    const isEarly = step && 'end' in step && step.unless && index < script.length - 1;
    if (isEarly) violations.push({ path: ['script', index, 'unless'], text: 'is only possible in the last step' });
  });
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

/** Lines in which nothing is said. */
function blankLines(script: PartialDefinition['script']): Violation[] {
  const found: [line: SpokenLine | undefined, path: Path][] = script.flatMap((step, index): typeof found => {
    if (!step) return [];
    const path = ['script', index];
    if ('say' in step) return [[step.say, [...path, 'say']]];
    if (!('answers' in step)) return [];
    const answers = step.answers.map(({ say }, at): (typeof found)[number] => [say, [...path, 'answers', at, 'say']]);
    return [...answers, [step.otherwise, [...path, 'otherwise']]];
  });
  const text = 'must not consist of white space only: for silence, write a step with waitSeconds';
  return found.flatMap(([line, path]) => (line !== undefined && lineText(line).trim() === '' ? [{ path, text }] : []));
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
    if ('say' in step) add(step.to, [...path, 'to']);
    if (!('answers' in step)) return;
    step.answers.forEach((answer, position) => add(answer.when, [...path, 'answers', position, 'when']));
    add(step.until, [...path, 'until']);
  });
  return found;
}

/** Limit of the estimated time to search the lines of one script, in microseconds. */
export const SEARCH_BUDGET = 50_000;
/** Time to search one character, for a text or for each instruction of a pattern, in microseconds. */
const TIME_PER_STEP = 0.03;

/** A pattern that is nothing but words. */
const WORDS = /^(?:\(\?i\))?([\p{L}\p{N} ]+)$/u;

/** The lines of a script. */
export class ScriptedLines {
  private readonly lines: readonly string[];
  private readonly length: number;
  private readonly isUnknown: boolean;
  private folded: readonly string[] | undefined;
  private spent = 0;

  constructor(
    private readonly script: PartialDefinition['script'],
    private readonly budget = SEARCH_BUDGET,
  ) {
    this.isUnknown = script.length === 0 || script.includes(undefined);
    this.lines = script.flatMap((step) => (step ? linesOf(step).map(lineText) : []));
    this.length = this.lines.reduce((sum, line) => sum + line.length, 0);
  }

  /** Whether the matcher can match a line; undefined if unknown or if the search would take too long. */
  includes(matcher: Matcher): boolean | undefined {
    const count = this.count(matcher);
    if (count !== 0) return count === undefined ? undefined : true;
    return this.maySpan(matcher) ? undefined : false;
  }

  /** How many lines the matcher matches; undefined if unknown or if the search would take too long. */
  count(matcher: Matcher): number | undefined {
    if (this.isUnknown) return undefined;
    return 'pattern' in matcher ? this.patternCount(matcher.pattern) : this.textCount(matcher);
  }

  /** Answers to several questions at once are said in one turn, in any order; a matcher may span them. */
  private maySpan(matcher: Matcher): boolean {
    const steps = this.script.flatMap((step) => (step && 'answers' in step && step.answers.length > 1 ? [step] : []));
    const words = 'pattern' in matcher ? WORDS.exec(matcher.pattern)?.[1] : matcher.text;
    if (steps.length === 0 || words === undefined) return steps.length > 0;
    const sought = compileText({ text: words, partOfWord: true });
    return steps.some(({ answers }) => {
      const lines = answers.map(({ say }) => fold(lineText(say)));
      // Words that hold a whole answer may span three.
      if (lines.some((line) => fold(words).includes(line)) || !this.spend(lines.length * this.length * TIME_PER_STEP))
        return true;
      return lines.some((first) => lines.some((then) => sought(`${first} ${then}`) !== -1));
    });
  }

  private patternCount(source: string): number | undefined {
    if (!this.spend(compileTime(source))) return undefined;
    const pattern = compilePattern(source);
    if (!this.spend(this.length * pattern.size * TIME_PER_STEP)) return undefined;
    return this.lines.filter(pattern.test).length;
  }

  private textCount(matcher: TextMatcher): number | undefined {
    if (!this.spend(this.length * TIME_PER_STEP)) return undefined;
    const search = compileText(matcher);
    this.folded ??= this.lines.map(fold);
    return this.folded.filter((line) => search(line) !== -1).length;
  }

  /** @returns false when the budget does not suffice */
  private spend(time: number): boolean {
    if (this.spent + time > this.budget) return false;
    this.spent += time;
    return true;
  }
}
