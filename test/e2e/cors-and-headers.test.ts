import { agentBody } from '../factories/bodies.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { UUID } from '../support/expect.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
let client: HttpClient;

beforeAll(async () => {
  app = await createTestApp();
  client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
});
afterAll(() => app.close());

/** One response of each kind. */
const responses = (headers: Record<string, string> = {}): Promise<ApiResponse<any>[]> =>
  Promise.all([
    client.get('/agents', headers),
    client.post('/agents', agentBody(), headers),
    client.post('/agents', '{', headers),
    client.get('/agents?limit=0', headers),
    client.get('/agents/x', headers),
    client.get('/nothing', headers),
    client.as(undefined).get('/agents', headers),
    client.get('/healthz', headers),
    client.get('/readyz', headers),
    client.get('/openapi.json', headers),
    client.get('/docs', headers),
  ]);

describe('X-Request-Id', () => {
  it.each(['a', 'req-1', 'A.b_C-9', '0'.repeat(128)])('keeps "%.20s" on every response', async (id) => {
    for (const { headers } of await responses({ 'X-Request-Id': id })) expect(headers.get('x-request-id')).toBe(id);
  });

  it.each(['', 'a b', 'a,b', 'ä', '<script>', 'a/b', '0'.repeat(129)])('replaces "%.20s" with a new id', async (id) => {
    for (const { headers } of await responses({ 'X-Request-Id': id })) {
      expect(headers.get('x-request-id')).toMatch(UUID);
    }
  });

  it('differs from request to request', async () => {
    const ids = (await responses()).map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('every response', () => {
  it('has the version, rate-limit and security headers', async () => {
    for (const { headers } of await responses()) {
      expect(headers.get('x-api-version')).toBe('1.0.0');
      for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
        expect(headers.get(name)).toMatch(/^\d+$/);
      }
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      // codimd#1433, helmetjs/hsts#10, nginx-proxy#566: it would hold for every service of the host.
      expect(headers.has('strict-transport-security')).toBe(false);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.has('x-powered-by')).toBe(false);
      expect(headers.has('etag')).toBe(false);
    }
  });

  it('is not cached if it can contain credentials', async () => {
    for (const response of [await client.get('/agents'), await client.post('/agents', agentBody())]) {
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('is JSON in UTF-8', async () => {
    for (const response of (await responses()).slice(0, 9)) {
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });
});

describe('CORS', () => {
  const origin = 'https://app.example.com';
  const preflight = (url: string, from: string, headers: Record<string, string> = {}) =>
    new HttpClient(url).send('OPTIONS', '/agents', undefined, {
      Origin: from,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type,idempotency-key',
      ...headers,
    });
  const corsHeaders = ({ headers }: ApiResponse<any>) =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  it('is disabled by default: no response has its headers', async () => {
    for (const response of [...(await responses({ Origin: origin })), await preflight(app.url, origin)]) {
      expect(corsHeaders(response)).toEqual([]);
    }
    expect((await preflight(app.url, origin)).status).toBe(404);
  });

  describe('with CORS_ORIGINS', () => {
    let open: TestApp;
    let key: string;
    beforeAll(async () => {
      open = await createTestApp({ env: { CORS_ORIGINS: `${origin}, http://localhost:5173` } });
      ({ apiKey: key } = await open.createWorkspace());
    });
    afterAll(() => open.close());
    const get = (headers: Record<string, string>, path = '/agents') => new HttpClient(open.url, key).get(path, headers);

    it.each([origin, 'http://localhost:5173'])('allows %s to read responses and their headers', async (from) => {
      for (const path of ['/agents', '/agents/x', '/nothing']) {
        const { headers } = await get({ Origin: from }, path);
        expect(headers.get('access-control-allow-origin')).toBe(from);
        expect(headers.get('vary')).toContain('Origin');
        const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/, */);
        expect(exposed).toEqual(
          expect.arrayContaining([
            'x-request-id',
            'x-ratelimit-limit',
            'x-ratelimit-remaining',
            'x-ratelimit-reset',
            'retry-after',
          ]),
        );
      }
    });

    it.each(['https://evil.example.com', 'http://app.example.com', 'https://app.example.com.evil.com', 'null'])(
      'does not allow %s',
      async (from) => {
        expect((await get({ Origin: from })).headers.has('access-control-allow-origin')).toBe(false);
        expect((await preflight(open.url, from)).headers.has('access-control-allow-origin')).toBe(false);
      },
    );

    it('responds to a preflight without a key, counts it and sets all headers', async () => {
      const { status, headers, body } = await preflight(open.url, origin);
      expect([status, body]).toEqual([204, '']);
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('access-control-allow-methods')).toContain('PATCH');
      expect(headers.get('access-control-allow-headers')).toBe('authorization,content-type,idempotency-key');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(headers.get('access-control-max-age')).toBe('600');
      expect(headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
      expect(headers.get('x-api-version')).toBe('1.0.0');
    });

    it('returns 404 for an OPTIONS request that is not a preflight', async () => {
      expect((await new HttpClient(open.url, key).send('OPTIONS', '/agents')).status).toBe(404);
    });
  });

  it('allows every origin with CORS_ORIGINS=*', async () => {
    const open = await createTestApp({ env: { CORS_ORIGINS: '*' } });
    try {
      const response = await preflight(open.url, 'https://anything.example');
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    } finally {
      await open.close();
    }
  });
});
