import { schemaFaults } from '../../json-schema/index.js';
import type { Path, Violation } from '../../json-input/index.js';
import type { ToolMatcher } from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';
import type { PatternChecker } from '../matching/pattern.js';

/** Names such as `delete_*`, `delete_.*` and `book|cancel`, which no tool has. */
const WILDCARD = /^\w[\w.-]*\*$|\.\*|^\w+(?:\|\w+)+$|^\/\w.*\w\/\w*$/;

/** Finds what is wrong with tool calls in checks, with a limit for all schemas of an evaluation together. */
export class ToolViolations {
  private schemaBytes = 0;

  constructor(private readonly patterns: Pick<PatternChecker, 'violationOf'>) {}

  of(matcher: ToolMatcher, path: Path): Violation[] {
    const { tool, arguments: wanted, argumentsSchema } = matcher;
    const violations: Violation[] = [];
    if (tool.trim() !== tool) {
      violations.push({ path: [...path, 'tool'], text: 'must not begin or end with white space' });
    }
    if (WILDCARD.test(tool)) {
      const text =
        'must be the name of one tool, not a pattern: write a check for each, inside any_of if one is enough';
      violations.push({ path: [...path, 'tool'], text });
    }
    if (wanted && JSON.stringify(wanted).length > LIMITS.arguments) {
      violations.push({
        path: [...path, 'arguments'],
        text: `must have at most ${LIMITS.arguments} characters as JSON`,
      });
    }
    if (wanted) violations.push(...operators(wanted, [...path, 'arguments']));
    if (argumentsSchema) violations.push(...this.ofSchema(argumentsSchema, [...path, 'argumentsSchema']));
    return violations;
  }

  private ofSchema(schema: Readonly<Record<string, unknown>>, path: Path): Violation[] {
    const bytes = Buffer.byteLength(JSON.stringify(schema));
    if (bytes > LIMITS.argumentsSchema) {
      return [{ path, text: `must have at most ${LIMITS.argumentsSchema} bytes (64 KiB) as JSON` }];
    }
    this.schemaBytes += bytes;
    if (this.schemaBytes > LIMITS.argumentsSchemas) {
      return [{ path, text: `exceeds ${LIMITS.argumentsSchemas} bytes (256 KiB) for all schemas of an evaluation` }];
    }
    // Unlike the pattern of a matcher, one in a schema may match the empty text.
    const faults = schemaFaults(schema, (pattern) => this.patterns.violationOf(pattern, true));
    return faults.map((fault) => ({ path: [...path, ...fault.path], text: fault.text }));
  }
}

/** Objects such as `{"$gt": 3}` or `{ type: regex, pattern: … }`, which would be compared as they are written. */
function operators(value: unknown, path: Path, isNested = false): Violation[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => operators(item, [...path, index], true));
  const names = Object.keys(value);
  if (names.length > 0 && names.every((name) => name.startsWith('$'))) {
    const text = `must be a value, not the operator ${names[0]!.slice(0, 40)}: describe ranges and choices with argumentsSchema`;
    return [{ path, text }];
  }
  if (isSchema(value) || (isNested && describesValue(value))) {
    const text =
      "must be what the agent sends: a rule is written as argumentsSchema: { properties: { time: { pattern: '^19' } } }";
    return [{ path, text }];
  }
  return Object.entries(value).flatMap(([name, inner]) => operators(inner, [...path, name], true));
}

const isSchema = (value: object): boolean => 'properties' in value && 'type' in value && value.type === 'object';

/** By which ElevenLabs and JSON Schema describe a value, and what stands beside `type` there. */
const TYPES = new Set<unknown>([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'exact',
  'regex',
  'llm',
  'anything',
]);
const BESIDE = /^(type|pattern|enum|const|minimum|maximum|items|description|expected_value)$/;

function describesValue(value: object): boolean {
  const names = Object.keys(value);
  const isTyped = 'type' in value && TYPES.has(value.type);
  return isTyped ? names.every((name) => BESIDE.test(name)) : names.length === 1 && /^(pattern|regex)$/.test(names[0]!);
}
