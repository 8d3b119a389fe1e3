import type { Components, Reference, Schema } from './types.js';

type Schemas = NonNullable<Components['schemas']>;

/** Formats that fix the length of a string, so that `maxLength` is redundant. */
const FIXED_LENGTH = new Set(['uuid', 'date-time']);

const isReference = (schema: Schema | Reference): schema is Reference => '$ref' in schema;

/** The schema that a reference names. */
export function resolve(schema: Schema | Reference, schemas: Schemas): Schema {
  if (!isReference(schema)) return schema;
  const target = schemas[schema.$ref.split('/').at(-1) ?? ''];
  if (!target) throw new Error(`${schema.$ref} is not in the document`);
  return resolve(target, schemas);
}

/** The schema without redundant keywords. */
export const tidy = (schema: Schema): Schema =>
  eachProperty(schema, (property) => {
    const isFixed = !isReference(property) && FIXED_LENGTH.has(String(property.format));
    return isFixed ? without(property, 'maxLength') : property;
  });

/** A request body accepts no unknown field, so typos are caught. */
export const closed = (schema: Schema): Schema => ({ ...schema, additionalProperties: false });

/** A partial update has no defaults: absent fields stay unchanged. */
export const withoutDefaults = (schema: Schema): Schema =>
  eachProperty(schema, (property) => without(property, 'default'));

/**
 * The schema with a name for each alternative, for readers of the page, and with `type: [x, 'null']` in place of the
 * alternatives x and null. Recursive; returns values of examples as they are.
 */
export function readable<T>(node: T): T {
  if (Array.isArray(node)) return node.map(readable) as T;
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, value]: [string, unknown]) => {
    if (key === 'example' || key === 'examples' || key === 'default') return [key, value] as const;
    const below = readable(value);
    const isAlternatives = (key === 'oneOf' || key === 'anyOf') && Array.isArray(below);
    return [key, isAlternatives ? (below as object[]).map(titled) : below] as const;
  });
  return flattenedNull(Object.fromEntries(entries)) as T;
}

interface Alternative {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: { readonly type?: { readonly enum?: readonly string[] } };
}

function titled(alternative: Alternative): object {
  const { $ref, title, type, required = [], properties, ...rest } = alternative;
  if ($ref !== undefined || title !== undefined) return alternative;
  const kinds = properties?.type?.enum ?? [];
  if (kinds.length === 1) return { title: kinds[0], ...alternative };
  // An object that differs from the other alternatives only in its fields.
  if (Object.keys(rest).length === 0 && required.length > 0) {
    return { title: `with ${required.join(' and ')}`, ...alternative };
  }
  return type === undefined ? alternative : { title: type, ...alternative };
}

/** `anyOf` of a simple schema and null as one schema. */
function flattenedNull(schema: { readonly anyOf?: readonly Alternative[] }): object {
  const { anyOf, ...outer } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as [Alternative, Alternative];
  if (second.type !== 'null' || typeof first.type !== 'string') return schema;
  return {
    ...without(first, 'title'),
    ...outer,
    type: [first.type, 'null'],
    ...(first.enum && { enum: [...first.enum, null] }),
  };
}

function eachProperty(schema: Schema, change: (property: Schema | Reference) => Schema | Reference): Schema {
  if (!schema.properties) return schema;
  const properties: Schemas = {};
  for (const [name, property] of Object.entries<Schema | Reference>(schema.properties)) {
    properties[name] = change(property);
  }
  return { ...schema, properties };
}

const without = <T extends object>(schema: T, keyword: string): T =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== keyword)) as T;

/**
 * An example of the whole schema, built from the examples of its parts.
 * @throws Error that names a part without an example
 */
export function exampleOf(schema: Schema | Reference, schemas: Schemas, path = ''): unknown {
  const resolved = resolve(schema, schemas);
  if (resolved.example !== undefined) return resolved.example as unknown;
  if (resolved.properties) {
    const entries = Object.entries(resolved.properties).map(([name, property]) => {
      return [name, exampleOf(property, schemas, `${path}.${name}`)] as const;
    });
    return Object.fromEntries(entries);
  }
  if (resolved.items) return [exampleOf(resolved.items, schemas, `${path}[]`)];
  // A reference with its own description, or alternatives: the first one is enough.
  const [first] = resolved.allOf ?? resolved.anyOf ?? [];
  if (first) return exampleOf(first, schemas, path);
  throw new Error(`${path} has no example`);
}
