import { isDeepStrictEqual } from 'node:util';
import { type JsonValue, parseArguments, sanitizeText, truncate } from '../timeline/text.js';
import type { Timeline, ToolCallEntry } from '../timeline/timeline.js';

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

type Shown = Pick<ToolCallEntry, 'name' | 'arguments' | 'rawArguments'>;

/** The arguments of a report, which may be JSON in a text, or in a text of a text. */
export function reportedArguments(given: unknown): Pick<ToolCallEntry, 'arguments' | 'rawArguments'> {
  const json = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  const args = parseArguments(json) ?? parseArguments(textIn(json));
  return args === null ? { arguments: null, rawArguments: truncate(sanitizeText(json), MAX_RAW) } : { arguments: args };
}

/** The text that a text of JSON contains, if that is all; otherwise nothing that can be parsed. */
function textIn(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' && value.trim() !== '' ? value : '[]';
  } catch {
    return '[]';
  }
}

/** The reports of what the protocol did not show, too: each tool call that it showed stands for one report of the same. */
export function notShown(reports: readonly ReportedToolCall[], shown: readonly Shown[]): ReportedToolCall[] {
  const left = [...shown];
  return reports.filter((report) => {
    const same = left.findIndex((call) => isSame(call, report));
    if (same !== -1) left.splice(same, 1);
    return same === -1;
  });
}

/** A platform that runs a tool itself may keep its arguments to itself. */
function isSame(call: Shown, report: Shown): boolean {
  if (call.name !== report.name) return false;
  const isHidden = call.arguments === null && call.rawArguments === undefined;
  return isHidden || isDeepStrictEqual([call.arguments, call.rawArguments], [report.arguments, report.rawArguments]);
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
 */
export function unknownTools(protocol: string, reported: Reports | undefined): string | null {
  if (!reported)
    return `The agent's tool calls are not known: ${protocol} does not show them, and the connection lacks the option toolCalls: reported`;
  const { calls, refusal } = reported;
  if (calls.length >= MAX_REPORTED) return `${NOT_ALL}: ${MAX_REPORTED} were reported, and no more are accepted`;
  return refusal === null ? null : `${NOT_ALL}: a report was refused (${refusal})`;
}
