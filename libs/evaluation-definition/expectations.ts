import { clipped, oneLine } from '../text/index.js';
import { allChecks, describeCheck, type FoundCheck, withNested } from './checks/checks.js';
import type { Check, EvaluationDefinition, OfLine, PartialDefinition, ScriptStep } from './definition/definition.js';
import { lineText } from './definition/script.js';
import { normaliseExpectations } from './schema/normalise-check.js';

/** What is expected of one line of a script, or of all lines of a step. */
export interface ExpectationList {
  readonly of: OfLine;
  readonly expect: readonly Check[];
  /** Beginning of a name: `After "…"`. */
  readonly place: string;
  /** Where it is in the evaluation: `script[2].expect`. */
  readonly path: readonly (string | number)[];
}

const MAX_LINE = 60;

/** What a script expects of its lines, in their order. */
export const expectationLists = (script: readonly (ScriptStep | undefined)[]): ExpectationList[] =>
  script.flatMap((each, step) => (each ? listsOf(each, step) : []));

function listsOf(each: ScriptStep, step: number): ExpectationList[] {
  const lists: ExpectationList[] = [];
  const add = (line: string, of: OfLine, expect: readonly object[] = [], ...path: (string | number)[]) => {
    if (expect.length > 0)
      lists.push({
        of,
        expect: normaliseExpectations(expect),
        place: `After ${line}`,
        path: ['script', step, ...path, 'expect'],
      });
  };
  const quoted = (line: Parameters<typeof lineText>[0]) => `"${clipped(oneLine(lineText(line)), MAX_LINE)}"`;
  if ('say' in each) add(quoted(each.say), { step, ...(each.when && { isOptional: true }) }, each.expect);
  if (!('answers' in each)) return lists;
  add(`each line of script[${step}]`, { step, isOptional: true }, each.expect);
  each.answers.forEach(({ say, expect }, answer) =>
    add(quoted(say), { step, answer, isOptional: true }, expect, 'answers', answer),
  );
  return lists;
}

/**
 * The definition with what its script expects as ordinary checks behind the others: with the line that each is about, and a
 * name that says it. The script of the result expects nothing.
 */
export function withExpectations<T extends Pick<EvaluationDefinition, 'script' | 'checks'>>(definition: T): T {
  const { script, checks } = definition;
  const names = new Set(checks.map(({ name }) => name));
  const expected = expectationLists(script).flatMap(({ of, place, expect }) =>
    expect.map((check) => {
      const plain = `${place}: ${check.name ?? uncapital(describeCheck(check))}`;
      const name = names.has(plain) ? `${plain} (script[${of.step}])` : plain;
      names.add(name);
      return { ...check, name, ...of };
    }),
  );
  return expected.length === 0
    ? definition
    : { ...definition, script: script.map(plainStep), checks: [...checks, ...expected] };
}

const uncapital = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** The step without what it expects. */
function plainStep(step: ScriptStep): ScriptStep {
  if (!('say' in step || 'answers' in step)) return step;
  const { expect: _, ...plain } = step;
  if (!('answers' in plain)) return plain;
  return { ...plain, answers: plain.answers.map(({ expect: __, ...answer }) => answer) };
}

/** All checks of an evaluation, also those of its lines, with those inside them. */
export const everyCheck = ({ script, checks }: Pick<PartialDefinition, 'script' | 'checks'>): FoundCheck[] => [
  ...allChecks(checks),
  ...expectationLists(script).flatMap(({ expect, path }) =>
    expect.flatMap((check, index) => withNested(check, [...path, index])),
  ),
];
