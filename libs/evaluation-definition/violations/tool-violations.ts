import { schemaFaults } from '../../json-schema/index.js';
import type { Path, Violation } from '../../json-input/index.js';
import type { ToolMatcher } from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';
import type { PatternChecker } from '../matching/pattern.js';

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

/** Objects such as `{"$gt": 3}`, which would be compared as they are written. */
function operators(value: unknown, path: Path): Violation[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => operators(item, [...path, index]));
  const names = Object.keys(value);
  if (names.length > 0 && names.every((name) => name.startsWith('$'))) {
    const text = `must be a value, not the operator ${names[0]!.slice(0, 40)}: describe ranges and choices with argumentsSchema`;
    return [{ path, text }];
  }
  return Object.entries(value).flatMap(([name, inner]) => operators(inner, [...path, name]));
}
