import {
  type Check,
  type Criterion,
  criteriaIn,
  type EvaluationDefinition,
  LIMITS,
  needsOf,
  type ScriptStep,
  type ToolResult,
  type VariablesRow,
  withVariables,
} from '../../evaluation-definition/index.js';
import type { CallResult } from '../call/call.js';
import { evaluateChecks } from '../checks/evaluate-checks.js';
import { TIMES } from '../checks/times.js';
import { asks, saysGoodbye } from '../matching/phrases.js';
import { CallView } from '../timeline/call-view.js';
import type { JsonValue } from '../timeline/text.js';
import type { EndCode } from '../timeline/end-codes.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import { fictional, withFiction } from './fiction.js';
import { PersonalDataRedaction } from '../production/personal-data.js';

/** What a call becomes as a test. */
export interface Promotion extends Pick<EvaluationDefinition, 'script' | 'checks' | 'criteria' | 'toolResults'> {
  /** Of what the caller said and the tools got; one row, or none. */
  readonly variables: readonly VariablesRow[];
  /** Names of its checks that do not fail on the call itself. */
  readonly notFailing: readonly string[];
}

type Promoted = Pick<CallResult, 'timeline' | 'checks' | 'criteria' | 'measures'>;

const END = 'The caller of the call had said everything';

/**
 * A test of what went wrong on a call: the caller's lines as a script, the checks and criteria that were not met, all required,
 * and what the tools returned. Personal data is replaced by fictional values, the same everywhere.
 * @param definition that the call was judged by, with the values of its case
 * @returns undefined if nothing was not met, or no line of the caller is known
 */
export async function promote(
  call: Promoted,
  definition: Pick<EvaluationDefinition, 'checks' | 'criteria'>,
  yieldToEventLoop: YieldToEventLoop,
): Promise<Promotion | undefined> {
  const missed = {
    // A line of the script of a test is not a line of this one.
    checks: call.checks.filter(({ met, step }) => met === false && step === undefined).map(({ index }) => index),
    criteria: call.criteria.filter(({ verdict }) => verdict === 'not_met').map(({ index }) => index),
  };
  const redaction = new PersonalDataRedaction(undefined, fictional);
  const clean = <T>(value: T): T => plain(withFiction(redaction.value(value)));
  const timeline = plain(withFiction(await redaction.entries(call.timeline, yieldToEventLoop)));
  const view = CallView.of(timeline, [], undefined, call.measures.toolCalls === null ? 'They are not known' : null);
  const lines = linesOf(view);
  if (missed.checks.length + missed.criteria.length === 0 || lines.length === 0) return undefined;
  const checks = clean(missed.checks.map((index): Check => ({ ...definition.checks[index]!, required: true })));
  const criteria = clean(
    missed.criteria.map((index): Criterion => ({ ...definition.criteria[index]!, required: true })),
  );
  const said = lines.slice(0, LIMITS.steps - 1);
  const row = variablesOf(
    said.map(({ text }) => text),
    view,
  );
  const toolResults = toolResultsOf(view);
  const names = Object.keys(row);
  const script = said.map(({ text, asked }): ScriptStep => ({
    ...(asked !== undefined && { to: { says: { text: asked } } }),
    say: named(text.slice(0, LIMITS.line / 2), row),
  }));
  const end: ScriptStep = { end: END, unless: said.length === lines.length && isOver(view) ? 'asked' : 'answered' };
  const promotion = {
    ...{ script: [...script, end], criteria, toolResults },
    checks: checks.map((check) => withNames(check, row)),
    variables: names.length > 0 ? [row] : [],
  };
  const again = withVariables({ checks: promotion.checks }, names.length > 0 ? row : null).checks;
  return { ...promotion, notFailing: await notFailing(again, view, yieldToEventLoop) };
}

/** What the caller said, and what the agent had asked before. A line that got no answer and was repeated is one. */
function linesOf({ utterances }: CallView): { readonly text: string; readonly asked: string | undefined }[] {
  return utterances.flatMap(({ speaker, text }, index) => {
    const before = utterances[index - 1];
    if (speaker !== 'caller' || text.trim() === '' || (before?.speaker === speaker && before.text === text)) return [];
    const asked =
      before?.speaker === 'agent' && asks(before.text) ? sentencesOf(before.text).findLast(asks) : undefined;
    return [{ text: text.trim(), asked: asked?.slice(0, LIMITS.matcherText) }];
  });
}

const sentencesOf = (text: string): string[] => text.trim().split(/(?<=[.!?。？！])\s*/u);

/** Whether the caller ended the call: it may not have said all that a better agent asks for if that was otherwise. */
function isOver({ utterances, end }: CallView): boolean {
  const last = utterances.findLast(({ speaker }) => speaker === 'caller');
  if (last && saysGoodbye(last.text)) return true;
  const isUnanswered = utterances.at(-1) === last;
  return !isUnanswered && (end === undefined || ENDS_OF_CALLER.has(end.code));
}

/** Ends that the caller decided on, or that are not known. */
const ENDS_OF_CALLER: ReadonlySet<EndCode> = new Set(['caller_done', 'script_over', 'recording_over']);

/** Checks of words and tool calls that are not unmet on the call; times and sounds are known from the call's own result. */
async function notFailing(
  checks: readonly Check[],
  view: CallView,
  yieldToEventLoop: YieldToEventLoop,
): Promise<string[]> {
  const decidable = checks.filter(
    (check) => !needsOf(check).includes('voice') && !(check.type in TIMES) && criteriaIn([check]).length === 0,
  );
  const found = await evaluateChecks(decidable, view, yieldToEventLoop);
  return found.flatMap(({ met, name }) => (met === false ? [] : [name]));
}

/** Nothing that was said may be a variable of the test. */
function plain<T>(value: T): T {
  const json = JSON.stringify(value);
  return json.includes('{{') ? (JSON.parse(json.replace(/\{(?=\{)/g, '{ ')) as T) : value;
}

const NAME = /^[\p{L}_][\p{L}\p{N}_.-]*$/u;

/** Arguments that are searched in what the caller said. */
const MAX_VALUES = 1_000;

/** Arguments of tools that the caller said literally, by the name of the argument. */
function variablesOf(lines: readonly string[], { toolCalls }: CallView): VariablesRow {
  const row: Record<string, string | number> = {};
  const values = toolCalls.flatMap(({ entry }) => Object.entries(entry.arguments ?? {})).slice(0, MAX_VALUES);
  for (const [name, value] of values) {
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const text = String(value);
    const isKnown = Object.hasOwn(row, name) || Object.values(row).includes(value);
    const isShort = name.length <= LIMITS.variableName && text.length <= LIMITS.variableValue;
    if (isKnown || !isShort || !NAME.test(name) || text.trim() === '') continue;
    if (Object.keys(row).length === LIMITS.variables) break;
    const words = wordsOf(text);
    if (lines.some((line) => line.search(words) !== -1)) row[name] = value;
  }
  return row;
}

/** A value as whole words. */
const wordsOf = (value: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${value.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'gu');

/** A line with the names of its values, longer values first. */
const named = (line: string, row: VariablesRow): string =>
  Object.entries(row)
    .sort(([, a], [, b]) => String(b).length - String(a).length)
    .reduce((text, [name, value]) => text.replace(wordsOf(String(value)), `{{${name}}}`), line);

/** A check whose arguments of tools have the names of the values in them. */
function withNames<T>(value: T, row: VariablesRow, isArgument = false): T {
  if (Array.isArray(value)) return value.map((each: unknown) => withNames(each, row, isArgument)) as T;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value as Readonly<Record<string, unknown>>);
    return Object.fromEntries(
      entries.map(([name, each]) => [name, withNames(each, row, isArgument || name === 'arguments')]),
    ) as T;
  }
  const name = isArgument ? Object.keys(row).find((each) => row[each] === value) : undefined;
  return (name === undefined ? value : `{{${name}}}`) as T;
}

/** For each tool what it returned, in order, and then the last again: an agent that does better may call it otherwise. */
function toolResultsOf({ toolCalls }: CallView): ToolResult[] {
  const results = new Map<string, JsonValue[]>();
  for (const { entry } of toolCalls) {
    const { name, result } = entry;
    if (result === undefined || JSON.stringify(result).length > LIMITS.toolResult / 4) continue;
    results.set(name, [...(results.get(name) ?? []), result]);
  }
  const all = [...results].flatMap(([tool, given]): ToolResult[] => {
    const last = { tool, result: given.at(-1)! };
    const isSame = given.every((one) => JSON.stringify(one) === JSON.stringify(given[0]));
    const before = given.slice(0, LIMITS.resultSequence);
    return isSame || JSON.stringify(before).length > LIMITS.toolResult / 2 ? [last] : [{ tool, results: before }, last];
  });
  return all.slice(0, LIMITS.toolResults);
}
