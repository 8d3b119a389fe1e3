import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { JsonObject } from '../json-input/index.js';
import { schemaFaults, TooManySteps, validateJson } from './index.js';

const compile = (pattern: string) => {
  const expression = new RegExp(pattern, 'u');
  return { size: pattern.length, test: (text: string) => expression.test(text) };
};
const violation = (schema: JsonObject, value: unknown) => validateJson(schema, value, compile);
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

describe('validateJson', () => {
  it.each<[JsonObject, unknown, string | undefined]>([
    [{ properties: { people: { minimum: 1, maximum: 8 } } }, { people: 9 }, 'people must be at most 8'],
    [{ required: ['name'] }, {}, 'name is missing'],
    [{ properties: { a: false } }, { a: 1 }, 'a must not be given'],
    [{ properties: { a: true }, additionalProperties: false }, { a: 1, b: 2 }, 'b must not be given'],
    [{ properties: { g: { properties: { n: { const: 'Rossi' } } } } }, { g: { n: 'R' } }, 'g.n must be "Rossi"'],
    [{ properties: { d: { enum: ['Fri', 'Sat'] } } }, { d: 'Mon' }, 'd must be one of "Fri", "Sat"'],
    [{ properties: { t: { pattern: '^\\d\\d:\\d\\d$' } } }, { t: '7pm' }, 't must match /^\\d\\d:\\d\\d$/'],
    [{ properties: { l: { items: { type: 'integer' } } } }, { l: [1, 1.5] }, 'l[1] must be integer'],
    [
      { properties: { l: { uniqueItems: true } } },
      { l: [{ a: 1 }, { a: 1 }] },
      'l must not contain the same item twice',
    ],
    [{ properties: { x: { multipleOf: 0.1 } } }, { x: 0.3 }, undefined],
    [{ $defs: { n: { type: 'number' } }, properties: { x: { $ref: '#/$defs/n' } } }, { x: 'a' }, 'x must be number'],
  ])('finds in %j and %j: %s', (schema, value, expected) => {
    expect(violation(schema, value)).toBe(expected);
  });

  it('agrees with Ajv on generated schemas and values', () => {
    const leaf = fc.constantFrom<unknown>(0, 1, 2, -1, 1.5, '', 'a', 'ab', 'é', true, false, null);
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
      ),
    }));
    const small = fc.nat(3);
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 });
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
      const one = tie('schema');
      const list = fc.array(one, { minLength: 1, maxLength: 3 });
      const map = fc.dictionary(fc.constantFrom('a', 'b', 'c'), one, { maxKeys: 3 });
      return {
        schema: fc.oneof(
          { maxDepth: 3, depthIdentifier: 'schema' },
          fc.boolean(),
          fc.record(
            {
              type: fc.constantFrom<unknown>('object', 'array', 'string', 'number', 'integer', 'null', [
                'string',
                'null',
              ]),
              const: value,
              enum: fc.array(value, { minLength: 1, maxLength: 3 }),
              minimum: small,
              exclusiveMaximum: small,
              multipleOf: fc.constantFrom(1, 2, 0.5),
              minLength: small,
              pattern: fc.constantFrom('^a', 'b$', '.'),
              prefixItems: list,
              items: one,
              contains: one,
              minContains: small,
              maxItems: small,
              uniqueItems: fc.boolean(),
              properties: map,
              patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c'), one, { maxKeys: 2 }),
              additionalProperties: one,
              propertyNames: one,
              required: names,
              dependentRequired: fc.dictionary(fc.constantFrom('a', 'b'), names, { maxKeys: 2 }),
              dependentSchemas: map,
              maxProperties: small,
              allOf: list,
              anyOf: list,
              oneOf: list,
              not: one,
              if: one,
              then: one,
              else: one,
              unevaluatedProperties: one,
              unevaluatedItems: one,
              $ref: fc.constantFrom('#/$defs/d', '#named'),
            },
            { requiredKeys: [] },
          ),
        ),
      };
    });
    const root = fc.record({
      $defs: fc.constant({ d: { type: 'string' }, e: { $anchor: 'named', minimum: 1 } }),
      allOf: fc.tuple(schema),
    });
    let invalid = 0;
    fc.assert(
      fc.property(root, value, (...generated) => {
        // Ajv takes objects without a prototype for different ones.
        const [whole, given] = JSON.parse(JSON.stringify(generated)) as [JsonObject, unknown];
        const isValid = ajv.compile(whole)(given);
        if (!isValid) invalid++;
        expect([whole, given, violation(whole, given) === undefined]).toEqual([whole, given, isValid]);
      }),
      { numRuns: 60 },
    );
    expect(invalid).toBeGreaterThan(10);
  });

  it('gives up on schemas that take too long', () => {
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const levels = Array.from({ length: 30 }, (_, level) => [`d${level}`, twice(`d${level + 1}`)] as const);
    const schema = { $defs: { ...Object.fromEntries(levels), d30: true }, ...twice('d0') };
    expect(schemaFaults(schema, () => undefined)).toEqual([]);
    expect(() => violation(schema, {})).toThrow(TooManySteps);
    expect(() => violation({ properties: { a: { pattern: 'a' } } }, { a: 'x'.repeat(2_000_000) })).toThrow(
      TooManySteps,
    );
  });
});

describe('schemaFaults', () => {
  const faults = (schema: JsonObject) =>
    schemaFaults(schema, (pattern) => (pattern === '(' ? 'is bad' : undefined)).map(
      ({ path, text }) => `${path.join('.')} ${text}`,
    );

  it('accepts schemas without type, with references inside and with extensions', () => {
    expect(
      faults({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { tree: { properties: { next: { $ref: '#/$defs/tree' } } }, a: { $anchor: 'a' } },
        properties: { people: { minimum: 1, 'x-unit': 'people' }, tree: { $ref: '#/$defs/tree' }, a: { $ref: '#a' } },
      }),
    ).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [{ properties: { a: { minimum: 'x' } } }, 'properties.a.minimum must be number (JSON Schema 2020-12)'],
    [{ type: 'text' }, 'type must be equal to one of the allowed values (JSON Schema 2020-12)'],
    [{ $ref: 'https://example.com/schema' }, '$ref must stay inside the schema, as in "#/$defs/name"'],
    [{ items: { $ref: '#/$defs/x' } }, 'items.$ref refers to a schema that does not exist'],
    [
      { properties: { a: { minimun: 1 } } },
      'properties.a.minimun is not a keyword that is supported in argumentsSchema',
    ],
    [{ properties: { a: { $gt: 3 } } }, 'properties.a.$gt is not a keyword that is supported in argumentsSchema'],
    [{ $id: 'https://example.com/' }, '$id is not a keyword that is supported in argumentsSchema'],
    [{ items: { pattern: '(' } }, 'items.pattern is bad'],
    [{ patternProperties: { '(': true } }, 'patternProperties.( is bad'],
    [{ allOf: [{ $ref: '#' }] }, ' must not refer to itself without end'],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, '$schema must be https://json-schema.org'],
  ])('refuses %j', (schema, expected) => {
    expect(faults(schema)).toEqual([expect.stringContaining(expected)]);
  });
});
