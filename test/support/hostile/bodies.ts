import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { NASTY_NAMES, nastyText, validText } from './texts.js';

/** The part of a JSON Schema from which bodies are generated. */
export interface BodySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly required?: readonly string[];
  readonly items?: BodySchema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly allOf?: readonly BodySchema[];
  readonly anyOf?: readonly BodySchema[];
  readonly oneOf?: readonly BodySchema[];
  readonly $ref?: string;
}

/** Resolves a reference within the document. */
export type Resolve = (schema: BodySchema) => BodySchema;

/** A request body and its content encoding. */
export interface HostileBody {
  readonly bytes: Buffer;
  readonly encoding?: string;
  /** The JSON text, if the body is meant to be a JSON object. */
  readonly json?: string;
}

/** JSON text, because a JavaScript value can represent neither 1e400 nor duplicate names. */
type JsonText = string;

/** A JSON object with these members in this order, including duplicate names. */
const objectOf = (members: readonly (readonly [string, JsonText])[]): JsonText =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;

/** A value that is valid by the schema. */
function allowed(schema: BodySchema, resolve: Resolve): fc.Arbitrary<JsonText> {
  // Built when a value is drawn, because schemas of composed checks refer to themselves.
  if (schema.$ref !== undefined) return fc.constant(schema).chain((reference) => allowed(resolve(reference), resolve));
  const { type, enum: values, anyOf, oneOf, allOf, ...rest } = schema;
  if (values) return fc.constantFrom(...values).map((value) => JSON.stringify(value));
  const choices = anyOf ?? oneOf ?? allOf;
  if (choices) return fc.oneof(...choices.map((choice) => allowed(choice, resolve)));
  const types = type === undefined ? ['object'] : typeof type === 'string' ? [type] : type;
  return fc.oneof(...types.map((each) => allowedOf(each, rest, resolve)));
}

function allowedOf(type: string, schema: BodySchema, resolve: Resolve): fc.Arbitrary<JsonText> {
  const { minimum = -1e308, maximum = 1e308 } = schema;
  switch (type) {
    case 'string':
      return allowedText(schema).map((text) => JSON.stringify(text));
    case 'boolean':
      return fc.constantFrom('true', 'false');
    case 'integer':
      return fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31) }).map(String);
    case 'number':
      return fc.oneof(
        fc.double({ min: minimum, max: maximum, noNaN: true }).map((value) => JSON.stringify(value)),
        fc.constantFrom(
          '-0',
          '5e-324',
          '2.2250738585072014e-308',
          '0.1',
          '1.0000000000000002',
          '1.7976931348623157e-5',
        ),
      );
    case 'array':
      return fc.array(allowed(schema.items ?? {}, resolve), { maxLength: 3 }).map((items) => `[${items.join(',')}]`);
    case 'object':
      return allowedObject(schema, resolve).map(objectOf);
    default:
      return fc.constant('null');
  }
}

function allowedText({ format, minLength = 0, maxLength = 100 }: BodySchema): fc.Arbitrary<string> {
  if (format === 'uri') {
    return fc.constantFrom(
      'https://example.com/a',
      'http://[::1]:8080/?q=%20#f',
      'https://u:p@xn--bcher-kva.example/~a;b',
    );
  }
  if (format === 'date-time') return fc.constantFrom('2099-12-31T23:59:59.999Z', '2026-11-21T06:37:42.758Z');
  if (format === 'uuid') return fc.uuid();
  return validText(maxLength).map((text) => (text.length < minLength ? 'x'.repeat(minLength) : text));
}

function allowedObject(schema: BodySchema, resolve: Resolve): fc.Arbitrary<[string, JsonText][]> {
  const { properties = {}, required = [] } = resolve(schema);
  const members = Object.entries(properties).map(([name, property]) => {
    // The id of another workspace would be rejected before anything else is checked.
    const values = name === 'workspaceId' ? fc.constantFrom('null') : allowed(property, resolve);
    const member = values.map((value): [string, JsonText] | undefined => [name, value]);
    return required.includes(name) ? member : fc.option(member, { nil: undefined, freq: 1 });
  });
  return fc.tuple(...members).map((list) => list.filter((member) => member !== undefined));
}

/** A value of a wrong type or out of range. */
const invalidValue: fc.Arbitrary<JsonText> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...[
        'null',
        'true',
        '0',
        '-0',
        '-1',
        '1e400',
        '-1e400',
        '1e308',
        '1e-400',
        '2.0000000000000004',
        '9007199254740993',
      ],
      ...['""', '"1"', '"true"', '[]', '{}', '[null]', '[[[]]]', '{"$ne":null}', '{"then":1}', '{"length":1e9}'],
      ...[
        '{"toString":1,"valueOf":1}',
        '{"__proto__":{"isAdmin":true}}',
        '{"constructor":{"prototype":1}}',
        '["a","b"]',
      ],
    ),
  },
  { weight: 3, arbitrary: nastyText.map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.constantFrom('"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('x', '\u{1f600}'), fc.constantFrom(256, 2_049, 4_097, 100_001))
      .map(([unit, length]) => JSON.stringify(unit.repeat(length))),
  },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
);

/** A valid object with mutations: an invalid value, an unusual name, a duplicate name or a missing member. */
function mutated(schema: BodySchema, resolve: Resolve): fc.Arbitrary<JsonText> {
  const names = Object.keys(resolve(schema).properties ?? {});
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...(names.length > 0 ? names : ['name'])) },
    { weight: 2, arbitrary: fc.constantFrom(...NASTY_NAMES) },
  );
  return fc
    .tuple(
      allowedObject(schema, resolve),
      fc.oneof(
        // A single mutation, so that no other one hides it.
        { weight: 4, arbitrary: fc.tuple(fc.tuple(name, invalidValue)) },
        { weight: 1, arbitrary: fc.array(fc.tuple(name, invalidValue), { minLength: 2, maxLength: 3 }) },
      ),
      fc.boolean(),
    )
    .map(([members, mutations, append]) => {
      if (append) return objectOf([...members, ...mutations]);
      const replaced = new Map([...members, ...mutations]);
      return objectOf([...replaced]);
    });
}

/** Nested values, complete or truncated. */
const deep: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(10, 31, 32, 33, 100, 1_000, 10_000, 100_000),
    fc.constantFrom(['[', ']'], ['{"a":', '}']),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([depth, [open = '', close = ''], isClosed, isMember]) => {
    const nest = open.repeat(depth) + (isClosed ? `0${close.repeat(depth)}` : '');
    return isMember ? `{"name":${nest}}` : nest;
  });

const MEBIBYTE = 1024 * 1024;

/** Bodies of sizes around the limits. */
const huge: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('array', 'members', 'string', 'spaces'),
    fc.constantFrom(10_000, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1),
  )
  .map(([kind, size]) => {
    if (kind === 'array') return filled('{"name":[', '0,', '0]}', size);
    if (kind === 'members') return filled('{', '"a":0,', '"b":0}', size);
    if (kind === 'string') return filled('{"name":"', 'x', '"}', size);
    return filled('{', ' ', '}', size);
  });

const filled = (head: string, unit: string, tail: string, size: number): string =>
  head + unit.repeat(Math.floor((size - head.length - tail.length) / unit.length)) + tail;

const notAnObject: fc.Arbitrary<string> = fc.constantFrom(
  ...[
    'null',
    'true',
    '0',
    '""',
    '"{}"',
    '[]',
    '[{}]',
    '1e400',
    '',
    ' ',
    '\ufeff',
    '\ufeff{}',
    '{',
    '}',
    '{"a"',
    '{"a":}',
  ],
  ...[
    "{'a':1}",
    '{"a":1,}',
    '{"a":01}',
    '{"a":NaN}',
    '{"a":"\u0001"}',
    '{}{}',
    '{} x',
    '// x\n{}',
    'name=x',
    '<a/>',
    '\u0000',
  ],
);

/** Invalid UTF-8, or JSON in another encoding. */
const notUtf8: fc.Arbitrary<Buffer> = fc.oneof(
  fc.constantFrom(
    Buffer.from('{"name":"\xff"}', 'latin1'),
    Buffer.from('{"name":"\xc0\xaf"}', 'latin1'),
    Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1'),
    Buffer.from('{"name":"\xf0\x9f\x98"}', 'latin1'),
    Buffer.from('{"name":"x"}', 'utf16le'),
    Buffer.from('\ufeff{"name":"x"}', 'utf16le'),
  ),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
);

const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE, ' '));

/** Bodies with a correct, a wrong or an unknown Content-Encoding. */
const encoded = (json: string): fc.Arbitrary<HostileBody> => {
  const bytes = Buffer.from(json);
  return fc.constantFrom<HostileBody>(
    { bytes: gzipSync(bytes), encoding: 'gzip', json },
    { bytes: deflateSync(bytes), encoding: 'deflate', json },
    { bytes: brotliCompressSync(bytes), encoding: 'br', json },
    { bytes: gzipSync(bytes), encoding: 'GZIP', json },
    { bytes, encoding: 'identity', json },
    { bytes: gzipSync(bytes).subarray(0, 20), encoding: 'gzip' },
    { bytes: Buffer.concat([gzipSync(bytes), Buffer.from('rubbish')]), encoding: 'gzip' },
    { bytes, encoding: 'gzip' },
    { bytes, encoding: 'br' },
    { bytes: bomb, encoding: 'gzip' },
    { bytes: gzipSync(bytes), encoding: 'gzip, gzip' },
    { bytes, encoding: 'zstd' },
    { bytes, encoding: 'constructor' },
    { bytes: Buffer.alloc(0), encoding: 'gzip' },
  );
};

const plain = (text: string): HostileBody => ({ bytes: Buffer.from(text) });
const json = (text: string): HostileBody => ({ bytes: Buffer.from(text), json: text });

/** Bodies that are valid by the schema. */
export const allowedBody = (schema: BodySchema, resolve: Resolve): fc.Arbitrary<HostileBody> =>
  allowedObject(schema, resolve).map(objectOf).map(json);

/** Hostile bodies for an operation: most are almost valid, so that they reach the code behind the parser. */
export function hostileBody(schema: BodySchema, resolve: Resolve): fc.Arbitrary<HostileBody> {
  const valid = allowedObject(schema, resolve).map(objectOf);
  return fc.oneof(
    { weight: 6, arbitrary: valid.map(json) },
    { weight: 12, arbitrary: mutated(schema, resolve).map(json) },
    { weight: 3, arbitrary: notAnObject.map(plain) },
    { weight: 1, arbitrary: deep.map(plain) },
    { weight: 1, arbitrary: huge.map(plain) },
    { weight: 1, arbitrary: notUtf8.map((bytes) => ({ bytes })) },
    { weight: 1, arbitrary: fc.tuple(valid, fc.nat()).map(([text, at]) => plain(text.slice(0, at % text.length))) },
    { weight: 2, arbitrary: valid.chain(encoded) },
  );
}
