import type { ToolResult } from '../../evaluation-definition/index.js';
import { type Failure, failure } from '../timeline/failure.js';
import { type JsonValue, truncate } from '../timeline/text.js';
import type { TimelineEntry, ToolCallEntry } from '../timeline/timeline.js';
import { fitOf, mayBeMeant } from './tool-fit.js';

/** Result of tools for which the evaluation has none: the tester cannot know the real one. */
export const DEFAULT_TOOL_RESULT: JsonValue = { status: 'ok' };

/** Characters of all results of one call that are stored, as JSON. */
const MAX_STORED = 256 * 1024;
/** Characters of arguments in a message. */
const MAX_SHOWN = 300;

/** What the tester answers to a call of a tool. */
export interface ToolAnswer {
  /** Absent if the tool never answers, or if the result is not known. */
  readonly result?: JsonValue;
  readonly isError?: true;
  /** How long the tool takes. */
  readonly delayMs: number;
  /** Why the result is not known, with which the call ends. */
  readonly failure?: Failure;
}

/** Answers a call of a tool; `args` is null if the arguments are not a JSON object. */
export type ToolAnswers = (name: string, args: ToolCallEntry['arguments']) => ToolAnswer;

interface Placed {
  readonly entry: ToolResult;
  readonly index: number;
}

/** The first entry that fits and is not used up applies. */
export function toolAnswers(results: readonly ToolResult[]): ToolAnswers {
  const used = new Map<number, number>();
  return (name, args) => {
    const own = entriesOf(results, name);
    if (own.length === 0) return { result: DEFAULT_TOOL_RESULT, delayMs: 0 };
    const left = own.filter(({ entry, index }) => (used.get(index) ?? 0) < timesOf(entry));
    const call = callText(name, args);
    const found = left.find(({ entry }) => fitOf(entry, args) !== 'different');
    const meant = meantBefore(own, found, args);
    if (!found || (found.entry.noAnswer && meant)) {
      const usedUp = own.length - left.length;
      const why = usedUp === 0 ? '' : `, of which ${usedUp} ${usedUp === 1 ? 'is' : 'are'} used up`;
      return missing(`${call} fits none of the ${own.length} toolResults of ${name}${why}${cure(meant)}`);
    }
    const { entry, index } = found;
    if (fitOf(entry, args) === 'unknown') return missing(`whether ${call} fits toolResults[${index}] is not known`);
    const nth = used.get(index) ?? 0;
    used.set(index, nth + 1);
    return answerOf(entry, nth);
  };
}

/**
 * The first tool call that got a result although an earlier one is given for the same values in another form: what the agent did
 * afterwards may not be its fault.
 */
export function mistakenResult(
  results: readonly ToolResult[],
  timeline: readonly TimelineEntry[],
): { readonly entry: number; readonly failure: Failure } | undefined {
  for (const [entry, call] of timeline.entries()) {
    // The tester does not answer what is reported.
    if (call.type !== 'tool_call' || (call.result === undefined && !call.isResultOmitted) || call.reported) continue;
    const own = entriesOf(results, call.name);
    const found = own.find((one) => fitOf(one.entry, call.arguments) !== 'different');
    const meant = found && meantBefore(own, found, call.arguments);
    if (!meant) continue;
    const got = `${callText(call.name, call.arguments)} got toolResults[${found.index}]`;
    return { entry, failure: failure('tool_result_missing', `${got}${cure(meant)}`) };
  }
  return undefined;
}

const entriesOf = (results: readonly ToolResult[], name: string): Placed[] =>
  results.flatMap((entry, index) => (entry.tool === name ? [{ entry, index }] : []));

/** The entry that does not fit, but may be meant, and comes before the one that applies. */
const meantBefore = (own: readonly Placed[], found: Placed | undefined, args: ToolCallEntry['arguments']) =>
  own
    .slice(0, found ? own.indexOf(found) : undefined)
    .find(({ entry }) => fitOf(entry, args) === 'different' && mayBeMeant(entry, args));

const timesOf = ({ results, times = Infinity }: ToolResult): number => results?.length ?? times;

function answerOf({ result, results, error, noAnswer, delayMs = 0 }: ToolResult, nth: number): ToolAnswer {
  if (noAnswer) return { delayMs };
  if (error !== undefined) return { result: { error }, isError: true, delayMs };
  return { result: (results ? results[nth] : result) as JsonValue, delayMs };
}

/** Why a call that ended at its maximum duration says nothing about the agent: the tester had not returned a result yet. */
export const lateResult = (tool: string): Failure =>
  failure(
    'tool_result_missing',
    `that of ${truncate(tool, 255)} (delayMs) comes after the maximum duration of the call`,
  );

const missing = (what: string): ToolAnswer => ({ failure: failure('tool_result_missing', what), delayMs: 0 });

const callText = (name: string, args: ToolCallEntry['arguments']): string =>
  `${truncate(name, 255)}(${truncate(JSON.stringify(args ?? {}), MAX_SHOWN)})`;

const cure = (meant: Placed | undefined): string =>
  meant
    ? `; toolResults[${meant.index}] has the same values in another form, or may have: give them in "same", not in "arguments"`
    : '';

/** The timeline without the results beyond what is stored of a call: an agent may ask for the same one many times. */
export function withStoredResults(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  let left = MAX_STORED;
  return entries.map((entry) => {
    if (entry.type !== 'tool_call' || entry.result === undefined) return entry;
    left -= JSON.stringify(entry.result).length;
    if (left >= 0) return entry;
    const { result: _, ...rest } = entry;
    return { ...rest, isResultOmitted: true };
  });
}
