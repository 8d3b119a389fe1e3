import { Ajv2020 } from 'ajv/dist/2020.js';
import { anchorsOf, IN_PLACE, isKnown, resolve, subschemas } from './keywords.js';

/** What is wrong with a schema, as the end of a sentence. */
export interface SchemaFault {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

let metaschema: Ajv2020 | undefined;

/**
 * Finds what is wrong with a JSON Schema, beside its patterns: invalid or unknown keywords, references that lead outside,
 * nowhere or back to themselves.
 * @param onPattern receives every pattern; returns what is wrong with it
 */
export function schemaFaults(
  root: Readonly<Record<string, unknown>>,
  onPattern: (pattern: string) => string | undefined,
): SchemaFault[] {
  const bySchema = metaschemaFaults(root);
  if (bySchema.length > 0) return bySchema;
  const anchors = anchorsOf(root);
  const faults: SchemaFault[] = [];
  const pending: Pending[] = [{ schema: root, path: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { schema, path } = next;
    if (typeof schema !== 'object' || schema === null) continue;
    const own = schema as Readonly<Record<string, unknown>>;
    faults.push(...faultsOf(own, path, root, anchors));
    for (const [at, pattern] of patternsOf(own)) {
      const text = onPattern(pattern);
      if (text !== undefined) faults.push({ path: [...path, ...at], text });
    }
    pending.push(
      ...subschemas(own)
        .map((inner) => ({ schema: inner.schema, path: [...path, ...inner.path] }))
        .reverse(),
    );
  }
  return faults.length > 0 ? faults : endlessReferences(root, anchors);
}

interface Pending {
  readonly schema: unknown;
  readonly path: readonly (string | number)[];
}

/** The first fault that the meta-schema finds; the others are mostly consequences. */
function metaschemaFaults(root: Readonly<Record<string, unknown>>): SchemaFault[] {
  const dialect = root['$schema'];
  if (dialect !== undefined && dialect !== DIALECT && dialect !== `${DIALECT}#`) {
    return [{ path: ['$schema'], text: `must be ${DIALECT}, or absent` }];
  }
  // Created on first use: it takes some 40 ms.
  metaschema ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  const { $schema: _, ...schema } = root;
  if (metaschema.validateSchema(schema) === true) return [];
  const errors = metaschema.errors ?? [];
  const deepest = Math.max(...errors.map(({ instancePath }) => instancePath.split('/').length));
  const error = errors.find(({ instancePath }) => instancePath.split('/').length === deepest);
  const path = (error?.instancePath ?? '').split('/').slice(1);
  const steps = path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return [
    {
      path: steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
      text: `${error?.message ?? 'is not valid'} (JSON Schema 2020-12)`,
    },
  ];
}

function faultsOf(
  schema: Readonly<Record<string, unknown>>,
  path: readonly (string | number)[],
  root: unknown,
  anchors: ReadonlyMap<string, unknown>,
): SchemaFault[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const at = [...path, keyword];
    if (keyword === '$ref' && typeof value === 'string') {
      if (!value.startsWith('#')) return [{ path: at, text: 'must stay inside the schema, as in "#/$defs/name"' }];
      const target = resolve(root, value, anchors);
      const isSchema = typeof target === 'boolean' || (typeof target === 'object' && target !== null);
      return isSchema && !Array.isArray(target) ? [] : [{ path: at, text: 'refers to a schema that does not exist' }];
    }
    return isKnown(keyword)
      ? []
      : [{ path: at, text: 'is not a keyword that is supported in argumentsSchema (JSON Schema 2020-12)' }];
  });
}

/** The patterns directly in a schema, with their paths. */
function patternsOf(schema: Readonly<Record<string, unknown>>): [path: string[], pattern: string][] {
  const { pattern, patternProperties } = schema;
  const names = typeof patternProperties === 'object' && patternProperties !== null ? patternProperties : {};
  return [
    ...(typeof pattern === 'string' ? [[['pattern'], pattern] as [string[], string]] : []),
    ...Object.keys(names).map((name): [string[], string] => [['patternProperties', name], name]),
  ];
}

/** Schemas that apply themselves to the same value again and again. */
function endlessReferences(root: unknown, anchors: ReadonlyMap<string, unknown>): SchemaFault[] {
  const done = new Set<unknown>();
  const active = new Set<unknown>();
  const isEndless = (schema: unknown): boolean => {
    if (typeof schema !== 'object' || schema === null || done.has(schema)) return false;
    if (active.has(schema)) return true;
    active.add(schema);
    const own = schema as Readonly<Record<string, unknown>>;
    const reference = own['$ref'];
    const inner = subschemas(own).filter(({ keyword }) => IN_PLACE.has(keyword));
    const targets = inner.map((each) => each.schema);
    if (typeof reference === 'string') targets.push(resolve(root, reference, anchors));
    const found = targets.some(isEndless);
    active.delete(schema);
    done.add(schema);
    return found;
  };
  const pending: Pending[] = [{ schema: root, path: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { schema, path } = next;
    if (typeof schema !== 'object' || schema === null) continue;
    if (isEndless(schema)) return [{ path, text: 'must not refer to itself without end' }];
    const inner = subschemas(schema as Readonly<Record<string, unknown>>);
    pending.push(...inner.map((each) => ({ schema: each.schema, path: [...path, ...each.path] })));
  }
  return [];
}
