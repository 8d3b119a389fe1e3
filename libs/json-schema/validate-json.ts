import { isObject, type JsonObject } from '../json-input/index.js';
import { anchorsOf, resolve } from './keywords.js';

/** Compiles a pattern; `size` is the number of steps per character that a test takes at worst. */
export type PatternCompiler = (pattern: string) => { readonly size: number; readonly test: (text: string) => boolean };

/** The schema takes too long to evaluate: references can multiply without end. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps';
}

/** Some 50 ms; a schema of 64 KiB has up to 5,000 keywords. */
const MAX_STEPS = 50_000;
/** Steps of a pattern, which are quicker than those of a schema. */
const PATTERN_STEPS = 20;

/**
 * Validates a value by a JSON Schema of version 2020-12 without `schemaFaults`.
 * @returns the first violation as a clause, for instance `people must be at most 8`, or undefined
 * @throws TooManySteps
 */
export function validateJson(schema: JsonObject, value: unknown, compile: PatternCompiler): string | undefined {
  return new Validation(schema, compile).check(schema, value, '').violation;
}

/** What a schema found about one value: a violation, or the properties and items that it has evaluated. */
interface Result {
  readonly violation?: string;
  readonly properties: ReadonlySet<string>;
  readonly items: ReadonlySet<number>;
}

class Validation {
  private steps = 0;
  private readonly anchors: ReadonlyMap<string, unknown>;
  private readonly patterns = new Map<string, ReturnType<PatternCompiler>>();

  constructor(
    private readonly root: JsonObject,
    private readonly compile: PatternCompiler,
  ) {
    this.anchors = anchorsOf(root);
  }

  check(schema: unknown, value: unknown, at: string): Result {
    this.spend(1);
    const properties = new Set<string>();
    const items = new Set<number>();
    if (schema === true) return { properties, items };
    const name = at === '' ? 'the arguments' : at;
    if (typeof schema !== 'object' || schema === null) {
      return { violation: `${name} must not be given`, properties, items };
    }
    const own = schema as JsonObject;
    const add = (result: Result) => {
      for (const property of result.properties) properties.add(property);
      for (const item of result.items) items.add(item);
    };
    const violation =
      this.assertion(own, value, name) ??
      this.inPlace(own, value, at, add) ??
      (isObject(value) ? this.object(own, value, at, properties) : undefined) ??
      (Array.isArray(value) ? this.array(own, value, at, items) : undefined);
    return { ...(violation !== undefined && { violation }), properties, items };
  }

  private spend(steps: number): void {
    this.steps += steps;
    if (this.steps > MAX_STEPS) throw new TooManySteps('argumentsSchema takes too many steps to evaluate');
  }

  private test(pattern: string, text: string): boolean {
    let compiled = this.patterns.get(pattern);
    if (!compiled) this.patterns.set(pattern, (compiled = this.compile(pattern)));
    this.spend(Math.ceil((compiled.size * (text.length + 1)) / PATTERN_STEPS));
    return compiled.test(text);
  }

  /** Keywords without subschemas. */
  private assertion(schema: JsonObject, value: unknown, name: string): string | undefined {
    const { type, enum: values } = schema;
    if (type !== undefined && !asList(type).some((each) => hasType(value, each))) {
      return `${name} must be ${asList(type).join(' or ')}`;
    }
    if ('const' in schema && !this.areEqual(schema['const'], value)) {
      return `${name} must be ${shown(schema['const'])}`;
    }
    if (Array.isArray(values) && !values.some((each) => this.areEqual(each, value))) {
      return `${name} must be one of ${values.slice(0, 10).map(shown).join(', ')}`;
    }
    if (typeof value === 'number') return numberViolation(schema, value, name);
    if (typeof value === 'string') return this.stringViolation(schema, value, name);
    return undefined;
  }

  private stringViolation(schema: JsonObject, value: string, name: string): string | undefined {
    const { minLength, maxLength, pattern } = schema;
    if (minLength !== undefined || maxLength !== undefined) {
      this.spend(Math.ceil(value.length / PATTERN_STEPS));
      const { length } = [...value];
      if (typeof minLength === 'number' && length < minLength)
        return `${name} must have at least ${minLength} characters`;
      if (typeof maxLength === 'number' && length > maxLength)
        return `${name} must have at most ${maxLength} characters`;
    }
    return typeof pattern === 'string' && !this.test(pattern, value) ? `${name} must match /${pattern}/` : undefined;
  }

  /** Subschemas for the same value. */
  private inPlace(schema: JsonObject, value: unknown, at: string, add: (result: Result) => void): string | undefined {
    const { $ref, allOf, anyOf, oneOf, not } = schema;
    const name = at === '' ? 'the arguments' : at;
    const apply = (inner: unknown): string | undefined => {
      const result = this.check(inner, value, at);
      if (result.violation === undefined) add(result);
      return result.violation;
    };
    if (typeof $ref === 'string') {
      const violation = apply(resolve(this.root, $ref, this.anchors));
      if (violation !== undefined) return violation;
    }
    for (const inner of asArray(allOf)) {
      const violation = apply(inner);
      if (violation !== undefined) return violation;
    }
    if (anyOf !== undefined) {
      // All branches, because each of them evaluates properties.
      const violations = asArray(anyOf).map(apply);
      if (!violations.includes(undefined)) return violations[0] ?? `${name} fits none of anyOf`;
    }
    if (oneOf !== undefined) {
      const fitting = asArray(oneOf).map((inner) => this.check(inner, value, at));
      const valid = fitting.filter(({ violation }) => violation === undefined);
      if (valid.length !== 1) return `${name} fits ${valid.length} of the schemas in oneOf, not one`;
      add(valid[0]!);
    }
    if (not !== undefined && this.check(not, value, at).violation === undefined) {
      return `${name} fits the schema in not`;
    }
    return this.conditional(schema, value, apply);
  }

  private conditional(
    schema: JsonObject,
    value: unknown,
    apply: (inner: unknown) => string | undefined,
  ): string | undefined {
    if ('if' in schema) {
      const branch = apply(schema['if']) === undefined ? schema['then'] : schema['else'];
      const violation = branch === undefined ? undefined : apply(branch);
      if (violation !== undefined) return violation;
    }
    if (!isObject(value)) return undefined;
    for (const [property, inner] of Object.entries(asObject(schema['dependentSchemas']))) {
      const violation = Object.hasOwn(value, property) ? apply(inner) : undefined;
      if (violation !== undefined) return violation;
    }
    return undefined;
  }

  private object(schema: JsonObject, value: JsonObject, at: string, evaluated: Set<string>): string | undefined {
    const names = Object.keys(value);
    this.spend(names.length);
    const violation = sizeViolation(schema, names, value, at);
    if (violation !== undefined) return violation;
    const [known, patterns] = [asObject(schema['properties']), Object.keys(asObject(schema['patternProperties']))];
    for (const name of names) {
      const found = this.property(schema, known, patterns, name, value[name], at, evaluated);
      if (found !== undefined) return found;
    }
    if (!('unevaluatedProperties' in schema)) return undefined;
    for (const name of names.filter((each) => !evaluated.has(each))) {
      const found = this.check(schema['unevaluatedProperties'], value[name], join(at, name)).violation;
      if (found !== undefined) return found;
      evaluated.add(name);
    }
    return undefined;
  }

  private property(
    schema: JsonObject,
    known: JsonObject,
    patterns: readonly string[],
    name: string,
    value: unknown,
    at: string,
    evaluated: Set<string>,
  ): string | undefined {
    const path = join(at, name);
    if ('propertyNames' in schema) {
      const violation = this.check(schema['propertyNames'], name, `the name of ${path}`).violation;
      if (violation !== undefined) return violation;
    }
    const fitting = [
      ...(Object.hasOwn(known, name) ? [known[name]] : []),
      ...patterns
        .filter((pattern) => this.test(pattern, name))
        .map((each) => asObject(schema['patternProperties'])[each]),
    ];
    if (fitting.length === 0 && 'additionalProperties' in schema) fitting.push(schema['additionalProperties']);
    if (fitting.length > 0) evaluated.add(name);
    return this.firstViolation(fitting, value, path);
  }

  private firstViolation(schemas: readonly unknown[], value: unknown, at: string): string | undefined {
    for (const schema of schemas) {
      const { violation } = this.check(schema, value, at);
      if (violation !== undefined) return violation;
    }
    return undefined;
  }

  private array(schema: JsonObject, value: readonly unknown[], at: string, evaluated: Set<number>): string | undefined {
    const { minItems, maxItems, uniqueItems, items, unevaluatedItems } = schema;
    const name = at === '' ? 'the arguments' : at;
    if (typeof minItems === 'number' && value.length < minItems) return `${name} must have at least ${minItems} items`;
    if (typeof maxItems === 'number' && value.length > maxItems) return `${name} must have at most ${maxItems} items`;
    if (uniqueItems === true && new Set(value.map((item) => this.canonical(item))).size < value.length) {
      return `${name} must not contain the same item twice`;
    }
    const prefix = asArray(schema['prefixItems']);
    for (const [index, item] of value.entries()) {
      const inner = index < prefix.length ? prefix[index] : items;
      if (inner === undefined) continue;
      evaluated.add(index);
      const { violation } = this.check(inner, item, `${at}[${index}]`);
      if (violation !== undefined) return violation;
    }
    const missing = 'contains' in schema ? this.contains(schema, value, at, evaluated) : undefined;
    if (missing !== undefined || unevaluatedItems === undefined) return missing;
    for (const [index, item] of value.entries()) {
      if (evaluated.has(index)) continue;
      const { violation } = this.check(unevaluatedItems, item, `${at}[${index}]`);
      if (violation !== undefined) return violation;
      evaluated.add(index);
    }
    return undefined;
  }

  private contains(schema: JsonObject, value: readonly unknown[], at: string, evaluated: Set<number>) {
    const { contains, minContains = 1, maxContains = Infinity } = schema as Readonly<Record<string, number>>;
    const found = value.flatMap((item, index) =>
      this.check(contains, item, `${at}[${index}]`).violation === undefined ? [index] : [],
    );
    for (const index of found) evaluated.add(index);
    const fits = found.length >= minContains && found.length <= maxContains;
    return fits ? undefined : `${at} contains ${found.length} items that fit the schema in contains`;
  }

  private areEqual(a: unknown, b: unknown): boolean {
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
      this.spend(1);
      return a === b;
    }
    return this.canonical(a) === this.canonical(b);
  }

  /** JSON with sorted names, so that equal values have equal texts. */
  private canonical(value: unknown): string {
    this.spend(1);
    if (Array.isArray(value)) return `[${value.map((item) => this.canonical(item)).join(',')}]`;
    if (!isObject(value)) {
      if (typeof value === 'string') this.spend(Math.ceil(value.length / PATTERN_STEPS));
      return JSON.stringify(value === 0 ? 0 : value);
    }
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${this.canonical(value[name])}`).join(',')}}`;
  }
}

function numberViolation(schema: JsonObject, value: number, name: string): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Readonly<
    Record<string, number | undefined>
  >;
  if (minimum !== undefined && value < minimum) return `${name} must be at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `${name} must be at most ${maximum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return `${name} must be more than ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return `${name} must be less than ${exclusiveMaximum}`;
  const isMultiple = multipleOf === undefined || isWhole(value / multipleOf);
  return isMultiple ? undefined : `${name} must be a multiple of ${multipleOf}`;
}

/** Whether a quotient is whole, but for the rounding error of decimal fractions such as 0.3 / 0.1. */
const isWhole = (quotient: number): boolean =>
  Number.isFinite(quotient) && Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 2 * Number.EPSILON;

function sizeViolation(
  schema: JsonObject,
  names: readonly string[],
  value: JsonObject,
  at: string,
): string | undefined {
  const { minProperties, maxProperties } = schema as Readonly<Record<string, number | undefined>>;
  const name = at === '' ? 'the arguments' : at;
  const missing = asNames(schema['required']).find((each) => !Object.hasOwn(value, each));
  if (missing !== undefined) return `${join(at, missing)} is missing`;
  for (const [property, others] of Object.entries(asObject(schema['dependentRequired']))) {
    const needed = asNames(others).find((each) => !Object.hasOwn(value, each));
    if (Object.hasOwn(value, property) && needed !== undefined) return `${join(at, needed)} is missing`;
  }
  if (minProperties !== undefined && names.length < minProperties)
    return `${name} must have at least ${minProperties} properties`;
  if (maxProperties !== undefined && names.length > maxProperties)
    return `${name} must have at most ${maxProperties} properties`;
  return undefined;
}

const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
const asNames = (value: unknown): readonly string[] => asArray(value).map((name) => name as string);
const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const join = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`);
const shown = (value: unknown): string => {
  const json = JSON.stringify(value);
  return json.length > 60 ? `${json.slice(0, 60).toWellFormed()}…` : json;
};

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return typeof value === type;
  }
}
