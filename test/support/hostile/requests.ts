import fc from 'fast-check';
import type { OpenApiDocument } from '../openapi-validator.js';
import { allowedBody, type BodySchema, type HostileBody, hostileBody, type Resolve } from './bodies.js';
import { hostileQuery, NASTY_SEGMENTS, NASTY_TEXTS } from './texts.js';

/** Whose key a request carries; `absent` and `unknown` mean that there is no valid key. */
export const CALLERS = ['admin', 'editor', 'viewer', 'foreign', 'absent', 'unknown'] as const;
export type CallerName = (typeof CALLERS)[number];

/** Kinds of ids in a path; replaced by an actual id when the request is sent. */
export const ID_KINDS = ['own', 'own-upper-case', 'foreign', 'deleted', 'unknown', 'other-collection'] as const;
export type IdKind = (typeof ID_KINDS)[number];

export type Segment = { readonly id: IdKind } | { readonly raw: string };

export interface HostileRequest {
  /** The targeted operation as `METHOD /path/{template}`. */
  readonly operation: string;
  readonly method: string;
  readonly template: string;
  readonly segments: readonly Segment[];
  readonly query: string | undefined;
  readonly caller: CallerName;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: HostileBody | undefined;
}

/** The parts of a request that can be hostile. */
const PARTS = ['method', 'segments', 'query', 'caller', 'headers', 'body', 'body', 'mediaType'] as const;

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const;
/** The last one is not known to Node's HTTP parser. */
const OTHER_METHODS = ['HEAD', 'OPTIONS', 'TRACE', 'PUT', 'PURGE', 'PROPFIND', 'LINK', 'M-SEARCH', 'BREW'] as const;

const MEDIA_TYPES: readonly string[] = [
  'application/json; charset=utf-8',
  'APPLICATION/JSON;CHARSET="UTF-8"',
  'application/json;',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'application/json; charset',
  'application/json; boundary=x; charset=utf-99',
  'application/merge-patch+json',
  'application/problem+json',
  'application/jsonp',
  'application/*',
  '*/*',
  'text/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'json',
  '',
  '/',
  'application/json, text/plain',
  '\u00ff/\u00fe',
];

const LATIN1 = 'clé-\u00ff';

/** Unusual headers other than Authorization and Content-Type, as sent on the wire. */
const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['X-Request-Id', 'caller-1'],
  ['X-Request-Id', ''],
  ['X-Request-Id', 'a b\tc'],
  ['X-Request-Id', 'x'.repeat(129)],
  ['X-Request-Id', LATIN1],
  ['X-Forwarded-For', '1.2.3.4, ::1, not an address'],
  ['X-Forwarded-For', ','],
  ['Forwarded', 'for="[::1]:x"'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c'],
  ['Accept', 'text/html'],
  ['Accept', ';q=2,'],
  ['Accept-Encoding', 'br;q=x'],
  ['Accept-Charset', 'utf-16'],
  ['Range', 'bytes=0-0'],
  ['If-Range', '"x"'],
  ['If-None-Match', '*'],
  ['If-None-Match', 'W/"x", *'],
  ['If-Match', '"x"'],
  ['If-Modified-Since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
  ['If-Unmodified-Since', 'never'],
  ['Last-Event-ID', '1'],
  ['Last-Event-ID', '9'.repeat(18)],
  ['Last-Event-ID', '9'.repeat(19)],
  ['Last-Event-ID', '-1'],
  ['Last-Event-ID', LATIN1],
  ['Cookie', '__proto__=1; a="'],
  ['Origin', 'null'],
  ['Access-Control-Request-Method', 'DELETE'],
  ['TE', 'trailers'],
  ['Via', '9.9 x'],
  ['Max-Forwards', '-1'],
  ['Content-Language', LATIN1],
  ['Content-MD5', 'x'],
  ['X-Long', 'x'.repeat(10_000)],
  ['X-Too-Long', 'x'.repeat(17_000)],
  ['__proto__', 'x'],
  ['constructor', 'x'],
];

/** Unusual values of Authorization. */
const ODD_CREDENTIALS: readonly string[] = [
  '',
  'Bearer',
  'Bearer ',
  'bearer  x',
  'Basic dXNlcjpwYXNz',
  'Bearer a b',
  'Bearer null',
  `Bearer ${LATIN1.repeat(5)}`,
  `Bearer vat_${'0'.repeat(36)}`,
  `Bearer ${'x'.repeat(9_000)}`,
  'Bearer\u00a0x',
  'Bearer ,',
  'Negotiate',
];

const IDEMPOTENCY_KEYS: readonly string[] = [
  '',
  'k',
  'shared',
  'shared',
  LATIN1,
  'x'.repeat(255),
  'x'.repeat(256),
  '"quoted"',
  '__proto__',
  ' ',
];

const headerList: fc.Arbitrary<[string, string][]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...ODD_HEADERS) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...IDEMPOTENCY_KEYS).map((key): [string, string] => ['Idempotency-Key', key]),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...ODD_CREDENTIALS).map((value): [string, string] => ['Authorization', value]),
    },
  ),
  { maxLength: 3 },
) as fc.Arbitrary<[string, string][]>;

/** Replaces characters that would end the path or the request line. */
const onTheWire = (text: string): string => text.replaceAll(/[\0-\u0020?#\u007f]/g, '%');

const segment: fc.Arbitrary<Segment> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ id: fc.constantFrom<IdKind>('own', 'own', 'own', ...ID_KINDS) }) },
  { weight: 4, arbitrary: fc.record({ raw: fc.constantFrom(...NASTY_SEGMENTS) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      raw: fc.constantFrom(...NASTY_TEXTS.map((text) => encodeURIComponent(text.toWellFormed()))),
    }),
  },
  { weight: 1, arbitrary: fc.record({ raw: fc.string({ unit: 'binary-ascii', maxLength: 20 }).map(onTheWire) }) },
);

const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const caller = fc.constantFrom<CallerName>('admin', 'admin', 'editor', 'editor', 'editor', ...CALLERS);

/** Hostile requests to all operations of the document, including future ones. */
export function hostileRequests(document: OpenApiDocument): fc.Arbitrary<HostileRequest> {
  const resolve: Resolve = (schema) => {
    if (schema.$ref === undefined) return schema;
    const target = document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
    if (!target) throw new Error(`The document has no ${schema.$ref}`);
    return target;
  };
  const operations = Object.entries(document.paths).flatMap(([template, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      // Operations with a body have more that can go wrong.
      const weight = operation.requestBody ? 4 : 1;
      return [{ weight, arbitrary: requestsTo(method.toUpperCase(), template, operation, resolve) }];
    }),
  );
  return fc.oneof(...operations);
}

function requestsTo(
  method: string,
  template: string,
  { parameters = [], requestBody }: OpenApiDocument['paths'][string][string],
  resolve: Resolve,
): fc.Arbitrary<HostileRequest> {
  const params = template.match(/\{\w+\}/g)?.length ?? 0;
  const queryNames = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const schema = requestBody?.content['application/json']?.schema as BodySchema | undefined;
  const body = schema ? hostileBody(schema, resolve) : rarely(hostileBody({ type: 'object' }, resolve));
  const hostile = fc.record({
    method: fc.oneof(
      { weight: 15, arbitrary: fc.constant(method) },
      { weight: 1, arbitrary: fc.constantFrom<string>(...OTHER_METHODS) },
    ),
    segments: fc.array(segment, { minLength: params, maxLength: params }),
    query: queryNames.length > 0 ? fc.option(hostileQuery(queryNames), { nil: undefined }) : rarely(hostileQuery([])),
    caller,
    headers: headerList,
    body,
    mediaType: fc.constantFrom<string | undefined>('application/json', 'application/json', undefined, ...MEDIA_TYPES),
  });
  const valid = fc.record({
    method: fc.constant(method),
    segments: fc.constant<Segment[]>(Array.from({ length: params }, () => ({ id: 'own' }))),
    query: fc.constant(undefined),
    caller: fc.constantFrom<CallerName>('admin', 'editor'),
    headers: fc.constant<[string, string][]>([]),
    body: schema ? allowedBody(schema, resolve) : fc.constant(undefined),
    mediaType: fc.constant('application/json'),
  });
  const parts = fc.oneof(
    // Mostly one hostile part at a time: a rejected key would hide the effect of a hostile body.
    { weight: 4, arbitrary: fc.constantFrom(...PARTS).map((part) => [part]) },
    { weight: 1, arbitrary: fc.subarray([...PARTS], { minLength: 2 }) },
  );
  return fc.tuple(valid, hostile, parts).map(([base, other, chosen]) => {
    const { mediaType, headers, ...request } = {
      ...base,
      ...Object.fromEntries(chosen.map((part) => [part, other[part]])),
    };
    const hasType = request.body && mediaType !== undefined;
    return {
      operation: `${method} ${template}`,
      template,
      ...request,
      headers: hasType ? [['Content-Type', mediaType] as const, ...headers] : headers,
    };
  });
}
