import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { committedDocument, operations } from '../support/conformance.js';
import { HttpClient } from '../support/http.js';
import { createValidator, type OpenApiMedia, type OpenApiResponse } from '../support/openapi-validator.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const root = path.resolve(__dirname, '../..');
const pointer = (...parts: string[]) =>
  parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

describe('the OpenAPI document', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await createTestApp();
  });
  afterAll(() => app.close());

  it('is served exactly as committed', async () => {
    const response = await fetch(`${app.url}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe(readFileSync(path.join(root, 'openapi.json'), 'utf8'));
  });

  it('is served as YAML with the same content', async () => {
    const response = await fetch(`${app.url}/openapi.yaml`);
    expect(response.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    expect(parse(await response.text())).toEqual(committedDocument);
  });

  it('requires no key, but counts against the rate limit', async () => {
    for (const file of ['/openapi.json', '/openapi.yaml', '/docs']) {
      const { status, headers } = await new HttpClient(app.url).get(file);
      expect(status).toBe(200);
      for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id']) {
        expect(headers.has(name)).toBe(true);
      }
    }
  });

  it('has a unique operationId, one tag, a summary and a description for every operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of operations) {
      expect(operation).toMatchObject({ tags: [expect.any(String)], summary: expect.any(String) });
      expect((operation as unknown as { description: string }).description.length).toBeGreaterThan(10);
    }
  });

  describe('examples', () => {
    const validator = createValidator(committedDocument);
    const media = operations.flatMap(({ name, template, method, operation }) => {
      const at = pointer('paths', template, method.toLowerCase());
      const places: { name: string; at: string; media: OpenApiMedia }[] = [];
      const body = operation.requestBody?.content['application/json'];
      if (body) places.push({ name: `${name} body`, at: `${at}/requestBody/content/application~1json`, media: body });
      for (const [status, response] of Object.entries(operation.responses)) {
        const content = (response as OpenApiResponse).content?.['application/json'];
        const place = `${at}/responses/${status}/content/application~1json`;
        if (content) places.push({ name: `${name} ${status}`, at: place, media: content });
      }
      return places;
    });
    const shared = Object.entries(committedDocument.components.responses).map(([name, { content }]) => ({
      name,
      at: `/components/responses/${name}/content/application~1json`,
      media: content?.['application/json'] as OpenApiMedia,
    }));

    it.each([...media, ...shared])('conform to their schema: $name', ({ at, media: { example, examples = {} } }) => {
      const values = [example, ...Object.values(examples).map(({ value }) => value)].filter(
        (value) => value !== undefined,
      );
      expect(values.length).toBeGreaterThan(0);
      for (const value of values) expect(validator.checkSchema(`${at}/schema`, value)).toEqual([]);
    });
  });
});

describe('the response validator', () => {
  const validator = createValidator(committedDocument);
  const headers = (changes: Record<string, string | null> = {}) => {
    const result = new Headers({
      'Content-Type': 'application/json; charset=utf-8',
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '59',
      'X-RateLimit-Reset': '1795243062',
      'X-Request-Id': 'a',
      'X-API-Version': '1.0.0',
    });
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) result.delete(name);
      else result.set(name, value);
    }
    return result;
  };
  const metrics = {
    message: 'Run metrics retrieved successfully',
    data: { status: 'COMPLETED', score: 90, totalCalls: 1 },
  };
  const unauthorized = { code: 'UNAUTHORIZED', message: 'Invalid API key' };
  const operation = 'GET /runs/{runId}/metrics';

  it('accepts responses that conform', () => {
    expect(validator.check(operation, 200, headers(), metrics)).toEqual([]);
    expect(validator.check('getRunMetrics', 401, headers({ 'WWW-Authenticate': 'Bearer' }), unauthorized)).toEqual([]);
    expect(validator.checkUnrouted(404, headers(), { code: 'NOT_FOUND', message: 'Not found' })).toEqual([]);
  });

  it.each<[string, number, Headers, unknown, RegExp]>([
    ['an undocumented status', 202, headers(), metrics, /status is not documented/],
    ['an undocumented media type', 200, headers({ 'Content-Type': 'text/html' }), metrics, /media type "text\/html"/],
    ['a missing media type', 200, headers({ 'Content-Type': null }), metrics, /media type ""/],
    ['a missing field', 200, headers(), { data: metrics.data }, /required property 'message'/],
    ['an unknown field', 200, headers(), { ...metrics, meta: {} }, /unevaluated.*meta/],
    ['an unknown nested field', 200, headers(), { ...metrics, data: { ...metrics.data, id: 'x' } }, /unevaluated.*id/],
    ['a wrong type', 200, headers(), { ...metrics, data: { ...metrics.data, score: '90' } }, /score must be number/],
    [
      'a value out of range',
      200,
      headers(),
      { ...metrics, data: { ...metrics.data, score: 101 } },
      /score must be <= 100/,
    ],
    ['a missing body', 200, headers(), null, /must be object/],
    ['a missing header', 200, headers({ 'X-RateLimit-Reset': null }), metrics, /X-RateLimit-Reset is missing/],
    [
      'a header that is not a number',
      200,
      headers({ 'X-RateLimit-Limit': 'many' }),
      metrics,
      /X-RateLimit-Limit: many/,
    ],
    ['a negative header', 200, headers({ 'X-RateLimit-Remaining': '-1' }), metrics, /X-RateLimit-Remaining: -1/],
    ['an empty header', 200, headers({ 'X-Request-Id': '' }), metrics, /X-Request-Id/],
    ['an undocumented header', 200, headers({ 'Retry-After': '1' }), metrics, /Retry-After is not documented/],
    ['an error without its required header', 401, headers(), unauthorized, /WWW-Authenticate is missing/],
    [
      'the code of another error',
      404,
      headers(),
      { code: 'FORBIDDEN', message: 'Not found' },
      /FORBIDDEN does not belong to this status/,
    ],
    ['an unknown code', 404, headers(), { code: 'NOPE', message: 'Not found' }, /allowed values/],
  ])('reports %s', (_, status, given, body, violation) => {
    expect(validator.check(operation, status, given, body).join('\n')).toMatch(violation);
  });

  it('reports an unknown operation, and a wrong response to an unknown path', () => {
    expect(validator.check('GET /nope', 200, headers(), {})).toEqual(['GET /nope is not an operation of the document']);
    expect(validator.checkUnrouted(200, headers(), {})).toEqual(['an unknown path returned 200']);
    expect(validator.checkUnrouted(404, headers(), {})).not.toEqual([]);
  });
});
