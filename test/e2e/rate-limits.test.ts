import { setTimeout as sleep } from 'node:timers/promises';
import { AgentsService } from '../../src/modules/agents/agents.service.js';
import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import { RateLimiter } from '../../src/platform/throttling/rate-limiter.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const TOO_MANY_REQUESTS = { code: 'TOO_MANY_REQUESTS', message: 'Rate limit exceeded' };

const limitOf = (response: ApiResponse<unknown>) => Number(response.headers.get('x-ratelimit-limit') ?? NaN);
const remainingOf = (response: ApiResponse<unknown>) => Number(response.headers.get('x-ratelimit-remaining') ?? NaN);
const resetOf = (response: ApiResponse<unknown>) => Number(response.headers.get('x-ratelimit-reset') ?? NaN);
const retryAfterOf = (response: ApiResponse<unknown>) => Number(response.headers.get('retry-after') ?? NaN);
const statuses = (responses: ApiResponse<unknown>[], status: number) =>
  responses.filter((response) => response.status === status);
const times = (count: number, send: (index: number) => Promise<ApiResponse>) =>
  Promise.all(Array.from({ length: count }, (_, index) => send(index)));
const from = (address: string) => ({ 'X-Forwarded-For': address });

describe('rate limits of workspaces', () => {
  let app: TestApp;
  let client: HttpClient;

  beforeAll(async () => {
    app = await createTestApp({ env: { PLAN_FREE_REQUESTS_PER_MINUTE: '60', PLAN_PRO_REQUESTS_PER_MINUTE: '300' } });
    client = new HttpClient(app.url);
  });
  afterAll(() => app.close());

  const ofPlan = async (input: Parameters<TestApp['createWorkspace']>[0]) =>
    client.as((await app.createWorkspace({ requestsPerMinute: undefined, ...input })).apiKey);

  it.each([
    { of: 'the free plan', input: { plan: 'FREE' as const }, limit: 60, sent: 200 },
    { of: 'the pro plan', input: { plan: 'PRO' as const }, limit: 300, sent: 500 },
    { of: 'an override', input: { plan: 'ENTERPRISE' as const, requestsPerMinute: 7 }, limit: 7, sent: 40 },
  ])('gives a workspace of $of exactly $limit of $sent parallel requests', async ({ input, limit, sent }) => {
    const workspace = await ofPlan(input);

    const responses = await times(sent, () => workspace.get('/agents'));

    // On a busy machine some of the allowed ones wait too long for a database connection.
    const allowed = responses.filter(({ status }) => [200, 503].includes(status));
    expect(statuses(responses, 200)).not.toEqual([]);
    const rejected = statuses(responses, 429);
    expect([allowed.length, rejected.length]).toEqual([limit, sent - limit]);
    expect(new Set(responses.map(limitOf))).toEqual(new Set([limit]));
    // Each allowed request has its own number, without gaps and not below 0.
    const numbers = allowed.map(remainingOf).sort((a, b) => b - a);
    expect(numbers).toEqual(Array.from({ length: limit }, (_, index) => limit - 1 - index));
    expect(new Set(rejected.map(remainingOf))).toEqual(new Set([0]));
    expect(new Set(responses.map(resetOf)).size).toBe(1);
    for (const response of rejected) {
      expect(response.body).toEqual(TOO_MANY_REQUESTS);
      expect(retryAfterOf(response)).toBeGreaterThanOrEqual(1);
      expect(retryAfterOf(response)).toBeLessThanOrEqual(60);
      expect(Number.isInteger(retryAfterOf(response))).toBe(true);
    }
    for (const response of statuses(responses, 200)) expect(response.headers.has('retry-after')).toBe(false);
  });

  it('counts all routes, methods and outcomes of a workspace together, and no other workspace with it', async () => {
    const workspace = await ofPlan({ requestsPerMinute: 6 });
    const other = await ofPlan({ requestsPerMinute: 6 });

    const responses = [
      await workspace.get('/agents'),
      await workspace.post('/agents', '{'),
      await workspace.get('/nowhere'),
      await workspace.delete('/personalities/none'),
      await workspace.get('/openapi.json'),
      await workspace.get('/runs'),
      await workspace.get('/evaluations'),
    ];

    expect(responses.map(remainingOf)).toEqual([5, 4, 3, 2, 1, 0, 0]);
    expect(responses.map(({ status }) => status === 429)).toEqual([false, false, false, false, false, false, true]);
    expect(remainingOf(await other.get('/agents'))).toBe(5);
  });

  it('reports one reset time for all requests of a window, including rejected ones, and then starts a new window', async () => {
    const windowMs = 2_000;
    const changed = jest.replaceProperty(app.nest.get(RateLimiter), 'windowMs', windowMs);
    try {
      const workspace = await ofPlan({ requestsPerMinute: 2 });
      const responses = [];
      const begin = performance.now();
      // Rejected requests must not extend the window.
      while (performance.now() - begin < windowMs * 0.75) {
        responses.push(await workspace.get('/agents'));
        await sleep(25);
      }
      const last = await workspace.get('/agents');
      expect(statuses(responses, 200)).toHaveLength(2);
      expect(new Set([...responses, last].map(resetOf)).size).toBe(1);
      expect(last.status).toBe(429);

      await sleep(retryAfterOf(last) * 1000);

      const next = await workspace.get('/agents');
      expect([next.status, remainingOf(next)]).toEqual([200, 1]);
      expect(resetOf(next)).toBeGreaterThan(resetOf(last));
    } finally {
      changed.restore();
    }
  });

  it('gives the Unix time, in seconds, at which the window ends', async () => {
    const before = Date.now();
    const response = await (await ofPlan({ plan: 'FREE' })).get('/agents');
    const after = Date.now();

    expect(resetOf(response)).toBeGreaterThanOrEqual(Math.ceil((before + 60_000) / 1000));
    expect(resetOf(response)).toBeLessThanOrEqual(Math.ceil((after + 60_000) / 1000));
  });

  it('neither counts nor rejects health checks, but reports the current limit on them', async () => {
    const workspace = await ofPlan({ requestsPerMinute: 2 });
    expect(remainingOf(await workspace.get('/healthz'))).toBe(2);
    await times(3, () => workspace.get('/agents'));

    for (const path of ['/healthz', '/readyz']) {
      const response = await workspace.get(path);
      expect([response.status, limitOf(response), remainingOf(response)]).toEqual([200, 2, 0]);
      expect(response.headers.has('retry-after')).toBe(false);
    }
    expect((await workspace.get('/agents')).status).toBe(429);
  });
});

describe('rate limits of client addresses', () => {
  const env = { PLAN_FREE_REQUESTS_PER_MINUTE: '10' };

  it('limits all requests of an address without a valid key to the free rate, regardless of X-Forwarded-For', async () => {
    const app = await createTestApp({ env });
    try {
      const anonymous = new HttpClient(app.url);
      const forged = anonymous.as(`vat_${'x'.repeat(40)}`);
      const responses = await times(30, (index) => {
        const caller = index % 2 === 0 ? anonymous : forged;
        return caller.get(index % 3 === 0 ? '/openapi.json' : '/agents', from(`203.0.113.${index}`));
      });

      expect(statuses(responses, 429)).toHaveLength(20);
      expect(new Set(responses.map(limitOf))).toEqual(new Set([10]));
      // A workspace at the same address has its own limit.
      const workspace = anonymous.as((await app.createWorkspace({ requestsPerMinute: 3 })).apiKey);
      expect(remainingOf(await workspace.get('/agents'))).toBe(2);
      expect((await anonymous.get('/healthz')).status).toBe(200);
    } finally {
      await app.close();
    }
  });

  it('uses X-Forwarded-For of a trusted proxy, and counts an IPv6 /64 network as one client', async () => {
    const app = await createTestApp({ env: { ...env, TRUST_PROXY: '1' } });
    try {
      const anonymous = new HttpClient(app.url);
      const remainingFrom = async (address: string) => remainingOf(await anonymous.get('/agents', from(address)));

      expect(await remainingFrom('203.0.113.1')).toBe(9);
      expect(await remainingFrom('203.0.113.2')).toBe(9);
      expect(await remainingFrom('::ffff:203.0.113.1')).toBe(8);
      // Only the last address was written by the proxy; the others came from the client.
      expect(await remainingFrom('198.51.100.9, 203.0.113.1')).toBe(7);
      expect(await remainingFrom('2001:db8:1:2::1')).toBe(9);
      expect(await remainingFrom('2001:DB8:1:2:ffff:ffff:ffff:ffff')).toBe(8);
      expect(await remainingFrom('2001:db8:1:3::1')).toBe(9);
      expect(await remainingFrom('rubbish')).toBe(9);
      expect(await remainingFrom('other rubbish')).toBe(8);
    } finally {
      await app.close();
    }
  });
});

describe('rate-limit headers', () => {
  let app: TestApp;
  let client: HttpClient;
  let admin: HttpClient;
  let viewer: HttpClient;

  beforeAll(async () => {
    app = await createTestApp({ env: { CORS_ORIGINS: 'https://app.example.com' } });
    client = new HttpClient(app.url);
    const { apiKey, workspaceId, userId } = await app.createWorkspace();
    admin = client.as(apiKey);
    const key = await app.nest.get(ApiKeysService).create({ workspaceId, userId, role: 'VIEWER', name: 'Viewer' });
    viewer = client.as(key.value);
  });
  afterAll(() => app.close());

  const head = async (path: string): Promise<ApiResponse> => {
    const { status, headers } = await fetch(app.url + path, { method: 'HEAD' });
    return { status, headers, body: {} };
  };
  const preflight = { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'GET' };
  const cases: [string, number, () => Promise<ApiResponse>][] = [
    ['a list', 200, () => admin.get('/agents')],
    ['a creation', 201, () => admin.post('/personalities', { name: 'Calm' })],
    ['invalid JSON', 400, () => admin.post('/agents', '{"name":')],
    ['an invalid body', 400, () => admin.post('/agents', {})],
    ['a missing key', 401, () => client.get('/agents')],
    ['an unknown key', 401, () => client.as('unknown-key').get('/agents')],
    ['an insufficient role', 403, () => viewer.post('/agents', {})],
    ['an unknown id', 404, () => admin.get('/agents/00000000-0000-4000-8000-000000000000')],
    ['an unknown path', 404, () => admin.get('/nowhere')],
    ['an unknown path without a key', 404, () => client.get('/nowhere')],
    ['invalid percent-encoding', 404, () => admin.get('/agents/%zz')],
    ['a body that is too large', 413, () => admin.post('/agents', `"${'x'.repeat(1_100_000)}"`)],
    ['a media type that is not JSON', 415, () => admin.post('/agents', 'a=b', { 'Content-Type': 'text/plain' })],
    ['the Swagger page', 200, () => client.get('/docs')],
    ['the OpenAPI document', 200, () => client.get('/openapi.json')],
    ['the OpenAPI document as YAML', 200, () => client.get('/openapi.yaml')],
    ['a health check', 200, () => client.get('/healthz')],
    ['HEAD', 200, () => head('/openapi.json')],
    ['a preflight', 204, () => client.send('OPTIONS', '/agents', undefined, preflight)],
  ];

  const expectHeaders = (response: ApiResponse<unknown>) => {
    expect(limitOf(response)).toBe(1_000_000);
    expect(remainingOf(response)).toBeGreaterThanOrEqual(0);
    expect(Number.isInteger(remainingOf(response))).toBe(true);
    expect(Number.isInteger(resetOf(response))).toBe(true);
    expect(resetOf(response) * 1000).toBeGreaterThan(Date.now() - 1000);
  };

  it.each(cases)('are present on %s (%d)', async (_, status, send) => {
    const response = await send();
    expect(response.status).toBe(status);
    expectHeaders(response);
  });

  it('are present on an internal error (500)', async () => {
    const broken = jest.spyOn(app.nest.get(AgentsService), 'list').mockRejectedValue(new Error('broken on purpose'));
    try {
      const response = await admin.get('/agents');
      expect(response.status).toBe(500);
      expectHeaders(response);
    } finally {
      broken.mockRestore();
    }
  });

  it('are present on a 429, with Retry-After, X-Request-Id and CORS headers', async () => {
    const { apiKey } = await app.createWorkspace({ requestsPerMinute: 1 });
    const workspace = client.as(apiKey);
    await workspace.get('/agents');
    for (const [method, path] of [
      ['GET', '/agents'],
      ['POST', '/agents'],
      ['GET', '/nowhere'],
      ['GET', '/docs'],
      ['OPTIONS', '/agents'],
    ] as const) {
      const response = await workspace.send(method, path, undefined, { ...preflight, 'X-Request-Id': 'mine' });
      expect([response.status, limitOf(response), remainingOf(response)]).toEqual([429, 1, 0]);
      expect(response.body).toEqual(TOO_MANY_REQUESTS);
      expect(retryAfterOf(response)).toBeGreaterThanOrEqual(1);
      expect(response.headers.get('x-request-id')).toBe('mine');
      expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    }
  });

  it('are exposed to pages of an allowed origin', async () => {
    const response = await admin.get('/agents', { Origin: 'https://app.example.com' });
    const exposed = response.headers.get('access-control-expose-headers')?.toLowerCase().split(/,\s*/);
    expect(exposed).toEqual(
      expect.arrayContaining(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after']),
    );
  });
});
