import type { Violation } from '../../json-input/index.js';
import { isObject } from '../../json-input/index.js';
import { canonical } from '../definition/canonical.js';
import type { ToolResult } from '../definition/definition.js';
import { DEFAULTS, LIMITS } from '../definition/limits.js';
import type { PatternChecker } from '../matching/pattern.js';
import { ToolViolations } from './tool-violations.js';

/** Entries that are too large, that have invalid names or schemas, that never apply, or whose fields contradict each other. */
export function toolResultViolations(value: object, patterns: Pick<PatternChecker, 'violationOf'>): Violation[] {
  const entries: unknown = 'toolResults' in value ? value.toolResults : undefined;
  if (!Array.isArray(entries)) return [];
  const { maxDurationSeconds }: { maxDurationSeconds?: unknown } = value;
  const maxMs = 1000 * (typeof maxDurationSeconds === 'number' ? maxDurationSeconds : DEFAULTS.maxDurationSeconds);
  const tools = new ToolViolations(patterns);
  const first = new Map<string, number>();
  return (entries as unknown[]).flatMap((entry, index) => {
    if (!isToolResult(entry)) return [];
    const path = ['toolResults', index];
    if (Buffer.byteLength(JSON.stringify(entry)) > LIMITS.toolResult) {
      return [{ path, text: `must have at most ${LIMITS.toolResult} bytes as JSON` }];
    }
    const { tool, arguments: wanted = {}, argumentsSchema, same } = entry;
    const own = tools.of({ tool, ...(isObject(argumentsSchema) && { argumentsSchema }) }, path);
    if (own.length > 0) return own;
    const conflict = CONFLICTS.find((names) => names.every((name) => entry[name] !== undefined));
    if (conflict) return [{ path: [...path, conflict[0]], text: `cannot be combined with ${conflict[1]}` }];
    if (entry.delayMs !== undefined && entry.delayMs >= maxMs) {
      const text = `must be less than maxDurationSeconds (${maxMs / 1000}): the call would end before the result comes`;
      return [{ path: [...path, 'delayMs'], text }];
    }
    const key = canonical([tool, wanted, argumentsSchema, same]);
    const earlier = first.get(canonical([tool, {}, undefined, undefined])) ?? first.get(key);
    if (earlier !== undefined) return [{ path, text: `never applies: toolResults[${earlier}] fits the same calls` }];
    if (entry.times === undefined && entry.results === undefined) first.set(key, index);
    return [];
  });
}

/** `results` says by itself how often it applies, and what never comes is not late. */
const CONFLICTS = [
  ['times', 'results'],
  ['delayMs', 'noAnswer'],
] as const;

/** Entries that violate the schema are reported elsewhere. */
const isToolResult = (entry: unknown): entry is ToolResult => isObject(entry) && typeof entry['tool'] === 'string';
