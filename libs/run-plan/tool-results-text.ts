import type { ToolResult } from '../evaluation-definition/index.js';
import { clipped, count } from '../text/index.js';

/** Entries that are described; the rest is only counted. */
const MAX_ENTRIES = 20;
const MAX_JSON = 120;

/** What the tester returns to an agent that waits for its tools, one sentence for each entry. */
export function toolResultsText(results: readonly ToolResult[]): string[] {
  const more = results.length - MAX_ENTRIES;
  const described = results.slice(0, MAX_ENTRIES).map((entry) => `${call(entry)} ${answer(entry)}${how(entry)}.`);
  return more > 0 ? [...described, `There are ${count(more, 'more result')} of tools.`] : described;
}

function call({ tool, arguments: wanted, argumentsSchema, same }: ToolResult): string {
  const conditions = [
    ...(wanted ? [`exactly ${json(wanted)}`] : []),
    ...(argumentsSchema ? [`arguments that fit the schema ${json(argumentsSchema)}`] : []),
    ...(same ? [`the same values as ${json(same)}, in any form,`] : []),
  ];
  return `Tool ${tool}${conditions.length === 0 ? '' : ` with ${conditions.join(' and ')}`}`;
}

function answer({ result, results, error, noAnswer }: ToolResult): string {
  if (noAnswer) return 'never answers';
  if (error !== undefined) return `fails with ${json(error)}`;
  return `returns ${(results ?? [result]).map(json).join(', then ')}`;
}

const how = ({ times, delayMs }: ToolResult): string =>
  `${times === undefined ? '' : ` to the first ${count(times, 'such call')}`}${delayMs === undefined ? '' : ` after ${delayMs} ms`}`;

const json = (value: unknown): string => clipped(JSON.stringify(value), MAX_JSON);
