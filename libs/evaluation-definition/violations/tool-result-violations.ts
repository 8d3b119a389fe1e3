import type { Violation } from '../../json-input/index.js';
import { canonical } from '../definition/canonical.js';
import type { ToolResult } from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';

/** Entries that are too large, that have names with surrounding white space, or that never apply. */
export function toolResultViolations(value: object): Violation[] {
  const entries: unknown = 'toolResults' in value ? value.toolResults : undefined;
  if (!Array.isArray(entries)) return [];
  const first = new Map<string, number>();
  return (entries as unknown[]).flatMap((entry, index) => {
    if (!isToolResult(entry)) return [];
    const path = ['toolResults', index];
    if (Buffer.byteLength(JSON.stringify(entry)) > LIMITS.toolResult) {
      return [{ path, text: `must have at most ${LIMITS.toolResult} bytes as JSON` }];
    }
    if (entry.tool.trim() !== entry.tool) {
      return [{ path: [...path, 'tool'], text: 'must not begin or end with white space' }];
    }
    const { tool, arguments: wanted = {} } = entry;
    const earlier = first.get(canonical([tool, {}])) ?? first.get(canonical([tool, wanted]));
    if (earlier !== undefined) return [{ path, text: `never applies: toolResults[${earlier}] fits the same calls` }];
    first.set(canonical([tool, wanted]), index);
    return [];
  });
}

/** Entries that violate the schema are reported elsewhere. */
const isToolResult = (entry: unknown): entry is ToolResult =>
  typeof entry === 'object' && entry !== null && 'tool' in entry && typeof entry.tool === 'string';
