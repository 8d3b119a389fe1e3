import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { CHECK_DEFINITIONS } from '../checks/schema.js';
import { MAX_SUGGESTIONS, type Path, suggestion, type Violation } from '../../json-input/index.js';
import { criterionWithoutType, definitions, type InputKind, inputSchemas } from '../schema/schema.js';
import { foreignWord, unquotedText } from './foreign-words.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// The first request waits for the compilation, and others with it: without inlining and optimisation it takes a third.
const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  discriminator: true,
  strictTypes: false,
  inlineRefs: false,
  code: { optimize: false },
})
  .addVocabulary(['patternErrorMessage'])
  .addFormat('uuid', UUID);

const CHECK = {
  if: { required: ['criterion'], properties: { type: false } },
  then: criterionWithoutType,
  else: definitions['Check'],
};

const ROOT = 'input';

/** Compiled on first use: most processes that import this library never validate. */
function validatorOf(kind: InputKind): ValidateFunction {
  // One schema for all kinds, so that their common parts are compiled once.
  if (!ajv.schemas[ROOT])
    ajv.addSchema({ $defs: { ...definitions, Check: CHECK, input: { properties: inputSchemas } } }, ROOT);
  const validator = ajv.getSchema(`${ROOT}#/$defs/input/properties/${kind}`);
  if (!validator) throw new Error(`There is no schema for ${kind}`);
  return validator;
}

/** Violations of the JSON Schema. */
export function schemaViolations(kind: InputKind, value: unknown): Violation[] {
  const validate = validatorOf(kind);
  if (validate(value)) return [];
  const errors = validate.errors ?? [];
  // Errors of the branches of "exactly one of" and "at least one of" are redundant.
  const choices = errors
    .filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf')
    .map(({ schemaPath }) => `${schemaPath}/`);
  // A value of the wrong type also lacks the required fields, and 1.5 may lie below the minimum of a whole number.
  const mistyped = new Map(
    errors.toReversed().flatMap((error) => (error.keyword === 'type' ? [[error.instancePath, error] as const] : [])),
  );
  return (
    errors
      // `propertyNames` and `if` only repeat the violation of the rule inside them.
      .filter(({ keyword }) => keyword !== 'propertyNames' && keyword !== 'if')
      .filter(({ schemaPath }) => !choices.some((choice) => schemaPath.startsWith(choice)))
      .filter((error) => [undefined, error].includes(mistyped.get(error.instancePath)))
      .map((error) => violationOf(error, value, errors.length <= MAX_SUGGESTIONS))
  );
}

/** @param suggests whether a misspelt name is named together with the one that is probably meant */
function violationOf(error: ErrorObject, root: unknown, suggests: boolean): Violation {
  const path = pathOf(error.instancePath, root);
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
      return { path: [...path, String(params['missingProperty'])], text: 'is required' };
    case 'additionalProperties': {
      const name = String(params['additionalProperty']);
      const value = (error.data as Readonly<Record<string, unknown>>)[name];
      const hint = suggests ? meant(name, propertyNames(error.parentSchema)) || unquotedText(name, value) : '';
      return { path: [...path, name], text: `is not a known field${hint}` };
    }
    case 'discriminator': {
      const types = tags(error.parentSchema);
      const given = suggests && (params['tagValue'] ?? typeMeant(error.data, types));
      const meaning = typeof given === 'string' ? foreignWord(given, types) : '';
      const text = meaning === '' ? oneOf(types, given) : `must be a type of check${meaning}`;
      return { path: [...path, String(params['tag'])], text };
    }
    case 'dependentRequired':
      return {
        path: [...path, String(params['missingProperty'])],
        text: `is required with ${String(params['property'])}`,
      };
    default:
      return { path, text: requirement(error.keyword, params, error, suggests) };
  }
}

function requirement(
  keyword: string,
  params: Readonly<Record<string, unknown>>,
  error: ErrorObject,
  suggests: boolean,
): string {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'type':
      return `must be ${typeName(params['type'])}${criterionHint(error) || unquoted(params['type'], error.data) || example(error)}`;
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minimum':
      return `must not be less than ${limit}`;
    case 'maximum':
      return `must not be greater than ${limit}`;
    case 'exclusiveMinimum':
      return `must be greater than ${limit}`;
    case 'minItems':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} entries`;
    case 'maxItems':
      return `must have at most ${limit} entries`;
    case 'uniqueItems':
      return `must not contain duplicates: entries ${String(params['i'])} and ${String(params['j'])} are equal`;
    case 'enum':
      return oneOf((params['allowedValues'] as unknown[]).map(String), suggests && error.data);
    case 'format':
      return 'must be a UUID';
    case 'pattern':
      return String((error.parentSchema as Readonly<Record<string, unknown>>)['patternErrorMessage']);
    case 'maxProperties':
      return `must have at most ${limit} names`;
    case 'minProperties':
      if (propertyNames(error.parentSchema).length === 0) return 'must not be empty';
      return `must have at least one of ${propertyNames(error.parentSchema).join(', ')}`;
    case 'anyOf':
      return `must have at least one of ${choicesOf(error.schema)}${hasExpect(error.data) ? EXPECT_HINT : ''}`;
    case 'oneOf':
      return `must have exactly one of ${choicesOf(error.schema)}`;
    default:
      return error.message ?? 'is not valid';
  }
}

/** What the agent does during a wait, a noise or keys belongs to the line before. */
const EXPECT_HINT = ': write expect under the line before this step, which lasts until the caller speaks again';

const hasExpect = (step: unknown): boolean => typeof step === 'object' && step !== null && 'expect' in step;

/** In a list of criteria a text is a criterion; among checks it needs its name. */
const criterionHint = ({ data, instancePath }: ErrorObject): string =>
  typeof data === 'string' && /\/(checks|expect)\/\d+$/.test(instancePath)
    ? ', such as "criterion: The agent names the price"'
    : '';

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

const typeName = (type: unknown): string =>
  (Array.isArray(type) ? (type as string[]) : [String(type)]).map((name) => TYPE_NAMES[name] ?? name).join(' or ');

/** The fix of a text that YAML reads as a number, or as true or false. */
const unquoted = (type: unknown, value: unknown): string =>
  [type].flat().includes('string') && (typeof value === 'number' || typeof value === 'boolean')
    ? '; put it in quotation marks'
    : '';

const MAX_EXAMPLE = 80;

/** What a list or an object looks like. */
function example({ parentSchema = {}, params }: ErrorObject): string {
  const json = JSON.stringify(((parentSchema['examples'] ?? []) as readonly unknown[]).at(-1)) ?? '';
  const isStructure = /array|object/.test(String((params as { type?: unknown }).type));
  return isStructure && json !== '' && json.length <= MAX_EXAMPLE ? `, such as ${json}` : '';
}

const choicesOf = (branches: unknown): string =>
  (branches as { required?: string[] }[]).flatMap(({ required = [] }) => required).join(', ');

const propertyNames = (schema: unknown): string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

const tags = (schema: unknown): string[] =>
  ((schema as { oneOf?: { $ref: string }[] } | undefined)?.oneOf ?? []).flatMap(
    ({ $ref }) => TYPE_OF.get($ref.split('/').at(-1) ?? '') ?? [],
  );

const oneOf = (allowed: readonly string[], value: unknown): string =>
  `must be one of ${allowed.join(', ')}${typeof value === 'string' ? meant(value, allowed) : ''}`;

/** What was meant by a name: a word of another tool, or one that is nearly the same; or nothing. */
const meant = (name: string, known: readonly string[]): string => foreignWord(name, known) || suggestion(name, known);

/** The field by which the type of a check is named without `type`, as by other tools: `contains: Hello`, or their `event`. */
const typeMeant = (check: unknown, types: readonly string[]): unknown =>
  typeof check === 'object' && check !== null
    ? (Object.keys(check).find((name) => types.includes(name) || foreignWord(name, [])) ??
      ('event' in check && check.event))
    : undefined;

/** The value of `type`, by the name of its schema part. */
const TYPE_OF = new Map(Object.entries(CHECK_DEFINITIONS).map(([type, part]) => [part, type]));

/** Parses a JSON Pointer; the value says whether a step is an index or a name. */
function pathOf(pointer: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let node = root;
  for (const part of pointer.split('/').slice(1)) {
    const step = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(node) ? Number(step) : step);
    node = (node as Readonly<Record<string, unknown>> | undefined)?.[step];
  }
  return path;
}
