import { isObject } from '../../../libs/json-input/index.js';
import { type ImportedToolCall, type JsonValue, reportedArguments } from '../../../libs/simulation/index.js';
import { inListOf, type Issues, parsedJson } from './json-field.js';

const MAX_TOOL_CALLS = 1_000;
const MAX_NAME = 255;
/** Values in the arguments and results of a call, and in what its platform measured. */
const MAX_VALUES = 100_000;
const FIELDS: ReadonlySet<string> = new Set(['name', 'arguments', 'result', 'startMs']);

interface GivenToolCall {
  readonly name: string;
  readonly arguments?: unknown;
  readonly result?: JsonValue;
  readonly startMs: number;
}

/** Reads the tool calls of a call. @param latestMs latest time that one may have */
export function readToolCalls(text: string, latestMs: number): readonly ImportedToolCall[] | Issues {
  const value = parsedJson('toolCalls', text, MAX_VALUES);
  if ('issues' in value) return value;
  const found = inListOf('toolCalls', value.json, MAX_TOOL_CALLS, (entry) => issueOf(entry, latestMs));
  if ('issues' in found) return found;
  return (found as GivenToolCall[]).map(({ name, arguments: given, result, startMs }) => ({
    ...{ name, startMs, arguments: given === undefined ? null : reportedArguments(given).arguments },
    ...(result !== undefined && { result }),
  }));
}

/** Reads what a platform measured. */
export function readReported(text: string): { readonly json: unknown } | Issues {
  const value = parsedJson('reported', text, MAX_VALUES);
  return 'issues' in value || isObject(value.json) ? value : { issues: ['reported must be a JSON object'] };
}

function issueOf(entry: unknown, latestMs: number): string | undefined {
  if (!isObject(entry)) return ' must be an object';
  if (Object.keys(entry).some((name) => !FIELDS.has(name)))
    return ' must have only name, arguments, result and startMs';
  const { name, arguments: given, startMs } = entry;
  if (typeof name !== 'string' || name === '') return '.name must be a text that is not empty';
  if (name.length > MAX_NAME) return `.name must have at most ${MAX_NAME} characters`;
  if (given !== undefined && !isObject(given) && (typeof given !== 'string' || !reportedArguments(given).arguments)) {
    return '.arguments must be an object, or a text with one as JSON';
  }
  if (typeof startMs !== 'number' || startMs < 0) return '.startMs must be a number that is not less than 0';
  return startMs > latestMs ? `.startMs must not be greater than ${latestMs}` : undefined;
}
