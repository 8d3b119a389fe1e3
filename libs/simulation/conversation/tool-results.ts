import type { ToolResult } from '../../evaluation-definition/index.js';
import { containsJson } from '../matching/contains-json.js';
import type { JsonValue } from '../timeline/text.js';
import type { TimelineEntry, ToolCallEntry } from '../timeline/timeline.js';

/** Result of tools for which the evaluation has none: the tester cannot know the real one. */
export const DEFAULT_TOOL_RESULT: JsonValue = { status: 'ok' };

/** Characters of all results of one call that are stored, as JSON. */
const MAX_STORED = 256 * 1024;

/** Returns the result for a call of a tool; `args` is null if the arguments are not a JSON object. */
export type ToolAnswers = (name: string, args: ToolCallEntry['arguments']) => JsonValue;

/** The first entry that fits applies; each may apply any number of times. */
export const toolAnswers =
  (results: readonly ToolResult[]): ToolAnswers =>
  (name, args) => {
    const found = results.find(({ tool, arguments: wanted = {} }) => tool === name && containsJson(wanted, args ?? {}));
    return found ? (found.result as JsonValue) : DEFAULT_TOOL_RESULT;
  };

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
