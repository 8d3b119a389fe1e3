/** Where subschemas are in the value of a keyword. */
export type SubschemaShape = 'schema' | 'list' | 'map';

export const APPLICATORS: Readonly<Record<string, SubschemaShape>> = {
  $defs: 'map',
  definitions: 'map',
  allOf: 'list',
  anyOf: 'list',
  oneOf: 'list',
  not: 'schema',
  if: 'schema',
  then: 'schema',
  else: 'schema',
  dependentSchemas: 'map',
  prefixItems: 'list',
  items: 'schema',
  contains: 'schema',
  properties: 'map',
  patternProperties: 'map',
  additionalProperties: 'schema',
  propertyNames: 'schema',
  unevaluatedItems: 'schema',
  unevaluatedProperties: 'schema',
};

const ASSERTIONS = [
  '$ref',
  'type',
  'enum',
  'const',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxContains',
  'minContains',
  'maxProperties',
  'minProperties',
  'required',
  'dependentRequired',
];

/** Keywords that assert nothing. `format` is one of them in this version of JSON Schema. */
const ANNOTATIONS = [
  '$schema',
  '$anchor',
  '$comment',
  'title',
  'description',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
  'example',
  'examples',
  'format',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
];

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(APPLICATORS), ...ASSERTIONS, ...ANNOTATIONS]);

/** Whether a keyword has a meaning here, or is an extension, which has none anywhere. */
export const isKnown = (keyword: string): boolean => KNOWN.has(keyword) || keyword.startsWith('x-');

/** Keywords whose subschemas apply to the same value. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
]);

/** The subschemas directly inside a schema. */
export function subschemas(
  schema: Readonly<Record<string, unknown>>,
): { readonly keyword: string; readonly path: readonly (string | number)[]; readonly schema: unknown }[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const shape = Object.hasOwn(APPLICATORS, keyword) ? APPLICATORS[keyword] : undefined;
    if (shape === 'schema') return [{ keyword, path: [keyword], schema: value }];
    if (shape === 'list' && Array.isArray(value)) {
      return value.map((inner: unknown, index) => ({ keyword, path: [keyword, index], schema: inner }));
    }
    if (shape === 'map' && typeof value === 'object' && value !== null) {
      return Object.entries(value).map(([name, inner]: [string, unknown]) => ({
        keyword,
        path: [keyword, name],
        schema: inner,
      }));
    }
    return [];
  });
}

/**
 * Resolves a reference inside a schema: `#`, `#/a/b` or `#anchor`.
 * @returns undefined when there is nothing
 */
export function resolve(root: unknown, reference: string, anchors: ReadonlyMap<string, unknown>): unknown {
  if (!reference.startsWith('#')) return undefined;
  let fragment: string;
  try {
    fragment = decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
  if (fragment !== '' && !fragment.startsWith('/')) return anchors.get(fragment);
  let node: unknown = root;
  for (const part of fragment.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[name];
  }
  return node;
}

/** All schemas that have an `$anchor`, by its name. */
export function anchorsOf(root: unknown): ReadonlyMap<string, unknown> {
  const anchors = new Map<string, unknown>();
  const pending: unknown[] = [root];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (typeof schema !== 'object' || schema === null) continue;
    const own = schema as Readonly<Record<string, unknown>>;
    if (typeof own['$anchor'] === 'string') anchors.set(own['$anchor'], schema);
    pending.push(...subschemas(own).map((inner) => inner.schema));
  }
  return anchors;
}
