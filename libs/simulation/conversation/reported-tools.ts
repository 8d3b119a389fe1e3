import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../json-input/index.js';
import { type JsonValue, parseArguments, sanitizeText, truncate } from '../timeline/text.js';
import type { Timeline, ToolCallEntry } from '../timeline/timeline.js';
import type { Sameness } from '../values/same-value.js';
import { compareInAnyOrder, worst } from './tool-fit.js';

/** Tool calls of one call that may be reported. */
export const MAX_REPORTED = 200;
/** Characters of arguments that are kept unless they are an object. */
const MAX_RAW = 2_000;

/** A tool call that the backend of the agent reported. */
export interface ReportedToolCall extends Pick<ToolCallEntry, 'name' | 'arguments' | 'rawArguments'> {
  readonly result?: JsonValue;
  /** Present if its time is that of the report's arrival. */
  readonly isArrival?: true;
  /** How long ago it was when the reports were read, in milliseconds. */
  readonly agoMs: number;
}

/** What was reported of a call. */
export interface Reports {
  readonly calls: readonly ReportedToolCall[];
  /** Why a report of the call was refused, if one was; null otherwise. */
  readonly refusal: string | null;
}

/** Takes what was reported of a call that is over, once. @throws the reason of the call's signal */
export type TakeReports = () => Promise<Reports>;

type Shown = Pick<ToolCallEntry, 'name' | 'arguments' | 'rawArguments' | 'result'>;

/** The arguments of a report, which may be JSON in a text. */
export function reportedArguments(given: unknown): Pick<ToolCallEntry, 'arguments' | 'rawArguments'> {
  const json = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  const args = parseArguments(json);
  return args === null ? { arguments: null, rawArguments: truncate(sanitizeText(json), MAX_RAW) } : { arguments: args };
}

/** What a protocol shows and what was reported, as one. */
interface Joined<Call> {
  /** The tool calls that are shown, each with what was reported of it. */
  readonly calls: ReadonlyMap<Call, Call>;
  /** Reports of tool calls that are not shown. */
  readonly others: readonly ReportedToolCall[];
  /** Why it is not known whether there are further ones; null if it is. */
  readonly doubt: string | null;
}

/** Each tool call that the protocol shows stands for one report of the same, also with its values in other forms. */
export function joinReports<Call extends Shown>(
  shown: readonly Call[],
  reports: readonly ReportedToolCall[],
): Joined<Call> {
  const calls = new Map(shown.map((call) => [call, call]));
  const compare = comparison();
  let [left, others, doubt]: [readonly Call[], readonly ReportedToolCall[], string | null] = [shown, reports, null];
  for (const found of ['equal', 'same', 'unknown'] as const) {
    others = others.filter((report) => {
      const call = left.find((one) => one.name === report.name && compare(one, report, found));
      if (!call) return true;
      left = left.filter((one) => one !== call);
      if (found !== 'unknown') calls.set(call, joined(call, report));
      else
        doubt = `${truncate(call.name, 255)} was reported with other arguments than are shown, which may be those of the same call`;
      return false;
    });
  }
  return { calls, others, doubt };
}

/** Further arguments, and longer ones, take too long. */
const MAX_COMPARED = 1_000;

/** Compares arguments: a backend may convert them, add some, or rename them. */
function comparison(): (call: Shown, report: Shown, wanted: 'equal' | Sameness) => boolean {
  let compared = 0;
  const size = (of: Shown) => JSON.stringify(of.arguments).length;
  return (call, report, wanted) => {
    if (wanted === 'equal') return isHidden(call) || isDeepStrictEqual(argumentsIn(call), argumentsIn(report));
    const isRead = call.arguments && report.arguments && size(call) <= MAX_RAW && size(report) <= MAX_RAW;
    const found = isRead && ++compared <= MAX_COMPARED ? compareFields(call.arguments, report.arguments) : 'unknown';
    return found === wanted;
  };
}

/** A platform that runs a tool itself may keep its arguments to itself. */
const isHidden = (call: Shown): boolean => call.arguments === null && call.rawArguments === undefined;
const argumentsIn = (call: Shown) => [call.arguments, call.rawArguments];

function compareFields(shown: unknown, reported: unknown): Sameness {
  if (!isObject(shown) || !isObject(reported)) return compareInAnyOrder(shown, reported);
  const names = [...new Set([...Object.keys(shown), ...Object.keys(reported)])];
  const areBoth = (name: string) => Object.hasOwn(shown, name) && Object.hasOwn(reported, name);
  return worst(names.map((name) => (areBoth(name) ? compareFields(shown[name], reported[name]) : 'unknown')));
}

/** What the backend did counts. A model may have written its arguments in another form: they become `rawArguments`. */
function joined<Call extends Shown>(call: Call, report: ReportedToolCall): Call {
  const isOther = report.arguments !== null && !isDeepStrictEqual(report.arguments, call.arguments);
  return {
    ...call,
    ...(report.result !== undefined && call.result === undefined && { result: report.result }),
    ...(isOther && { arguments: report.arguments }),
    ...(isOther && call.arguments && { rawArguments: JSON.stringify(call.arguments) }),
  };
}

export const timeOf = ({ isArrival }: Pick<ReportedToolCall, 'isArrival'>) => (isArrival ? 'arrival' : 'given');

/** Records a report on the timeline of a text call that has ended: before what began at the same time. */
export function recordReport(timeline: Timeline, report: Omit<ReportedToolCall, 'agoMs'>, at: number): void {
  const { isArrival: _, ...call } = report;
  const { entries } = timeline;
  const start = Math.min(Math.round(at * 10) / 10, entries.at(-1)?.start ?? 0);
  const place = entries.findIndex((entry) => entry.start >= start);
  const reported = timeOf(report);
  timeline.observed(
    { type: 'tool_call', ...call, reported, start, end: start, turn: entries[place - 1]?.turn ?? 0 },
    place,
  );
}

const NOT_ALL = 'Not all tool calls of the agent are known';

/**
 * Why tool calls of the agent are not known, as a sentence without full stop; null if all of them were reported.
 * @param reported undefined if none can be
 * @param doubt that of `joinReports`
 */
export function unknownTools(
  protocol: string,
  reported: Reports | undefined,
  doubt: string | null = null,
): string | null {
  if (!reported)
    return `The agent's tool calls are not known: ${protocol} does not show them, and the connection lacks the option toolCalls: reported`;
  const { calls, refusal } = reported;
  if (calls.length >= MAX_REPORTED) return `${NOT_ALL}: ${MAX_REPORTED} were reported, and no more are accepted`;
  if (refusal !== null) return `${NOT_ALL}: a report was refused (${refusal})`;
  return doubt === null ? null : `${NOT_ALL}: ${doubt}`;
}
