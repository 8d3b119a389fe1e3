import { Readiness } from '../../src/platform/observability/readiness.js';
import { workspaceShare } from '../../src/platform/workspace-share.js';
import { agentBody } from '../factories/bodies.js';
import { expectError } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { sql, withClient } from '../support/sql.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

function expectUnavailable(response: ApiResponse<any>): void {
  expectError(response, 503, 'SERVICE_UNAVAILABLE', 'Service is temporarily unavailable');
  expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(response.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
  expect(response.headers.get('x-request-id')).toBeTruthy();
}

let database: TestDatabase;
let proxy: TcpProxy;
let app: TestApp;
let client: HttpClient;

async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
  database = await createTestDatabase();
  proxy = await createTcpProxy(database.url);
  app = await createTestApp({ databaseUrl: proxy.url, env });
  client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
}
afterEach(async () => {
  await app.close();
  await proxy.close();
  await database.drop();
});

/** Runs a statement on the server, but in another database than the one that is unavailable. */
const onServer = (text: string) => sql(process.env['TEST_DATABASE_URL'] ?? '', text);
const name = () => new URL(database.url).pathname.slice(1);

const OUTAGES = {
  'the server takes no connections': {
    begin: async () => {
      await onServer(`ALTER DATABASE ${name()} ALLOW_CONNECTIONS false`);
      await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name()}'`);
    },
    end: async () => void (await onServer(`ALTER DATABASE ${name()} ALLOW_CONNECTIONS true`)),
  },
  'the network is cut': {
    begin: async () => {
      proxy.open = false;
      proxy.cut();
    },
    end: async () => {
      proxy.open = true;
    },
  },
};

describe.each(Object.entries(OUTAGES))('while %s', (_, outage) => {
  beforeEach(() => start());

  it('returns 503 wherever the database is needed, and recovers without a restart', async () => {
    const { id } = (await client.post('/agents', agentBody())).body.data;
    expect((await client.get('/readyz')).status).toBe(200);

    await outage.begin();
    // The first request may still be served from a connection that the kernel has not reported as closed.
    await until('the outage is noticed', async () => (await client.get('/agents')).status !== 200);
    for (let i = 0; i < 3; i++) {
      expectUnavailable(await client.get('/agents'));
      expectUnavailable(await client.get(`/agents/${id}`));
      expectUnavailable(await client.post('/agents', agentBody()));
      expectUnavailable(await client.post('/agents', agentBody(), { 'Idempotency-Key': 'x' }));
      expectUnavailable(await client.patch(`/agents/${id}`, { name: 'x' }));
      expectUnavailable(await client.delete(`/agents/${id}`));
      expectUnavailable(await client.as('a-key-that-cannot-be-looked-up').get('/agents'));
      expectUnavailable(await client.get('/readyz'));
      expect((await client.get('/healthz')).status).toBe(200);
      expect((await client.get('/openapi.json')).status).toBe(200);
      expectError(await client.as(undefined).get('/agents'), 401, 'UNAUTHORIZED', 'Authorization not provided');
      expectError(await client.get('/nothing'), 404, 'NOT_FOUND', 'Not found');
    }

    await outage.end();
    await until('the service is ready again', async () => (await client.get('/readyz')).status === 200);
    const list = await client.get('/agents');
    expect([list.status, list.body.meta.total]).toEqual([200, 1]);
    expect((await client.post('/agents', agentBody())).status).toBe(201);
  });
});

describe('a request in progress', () => {
  // The sweep of a worker reads the table of agents, too: it would wait for the lock, and use a connection of the pool.
  beforeEach(() => start({ ROLE: 'api' }));

  it('gets 503 if its database connection breaks', async () => {
    await withClient(database.url, async (blocker) => {
      await blocker.query('BEGIN; LOCK TABLE agents IN ACCESS EXCLUSIVE MODE');
      const requests = [client.get('/agents'), client.post('/agents', agentBody())];
      const waiting = `SELECT pid FROM pg_locks WHERE NOT granted
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await until('both wait', async () => (await sql(database.url, waiting)).length === 2);
      await sql(database.url, `SELECT pg_terminate_backend(pid) FROM (${waiting}) w`);
      for (const response of await Promise.all(requests)) expectUnavailable(response);
      await blocker.query('ROLLBACK');
    });
    expect((await client.get('/agents')).body.meta.total).toBe(0);
  });

  it('gets 503 if no connection becomes free in time, while the others succeed', async () => {
    const pool = 5;
    const other = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    await withClient(database.url, async (blocker) => {
      await blocker.query('BEGIN; LOCK TABLE agents IN ACCESS EXCLUSIVE MODE');
      // Each search uses its own connection; requests for the same page would share one. One workspace gets no more.
      const share = workspaceShare(pool);
      const requests = Array.from({ length: pool }, (_, index) =>
        (index < share ? client : other).get('/agents?search=any'),
      );
      const waiting = `SELECT pid FROM pg_locks WHERE NOT granted
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await until('the pool is exhausted', async () => (await sql(database.url, waiting)).length === pool);
      expectUnavailable(await other.get('/agents?search=any'));
      expect((await client.get('/healthz')).status).toBe(200);
      await blocker.query('ROLLBACK');
      for (const response of await Promise.all(requests)) expect(response.status).toBe(200);
    });
  });
});

it('a request whose key cannot be looked up gets 503 however many there are, and is not counted', async () => {
  await start({ PLAN_FREE_REQUESTS_PER_MINUTE: '3' });
  await OUTAGES['the network is cut'].begin();
  await until('the outage is noticed', async () => (await client.get('/agents')).status !== 200);
  for (let i = 0; i < 6; i++) expectUnavailable(await client.get('/agents'));
  await OUTAGES['the network is cut'].end();
  await until('the database is back', async () => (await client.get('/agents')).status === 200);
  // The requests without a key have their address's window to themselves.
  const anonymous = new HttpClient(app.url);
  for (let i = 0; i < 3; i++) expect((await anonymous.get('/agents')).status).toBe(401);
  expect((await anonymous.get('/agents')).status).toBe(429);
});

it('/readyz returns 503 until the start is complete', async () => {
  await start();
  app.nest.get(Readiness).isStarting = true;
  expectUnavailable(await client.get('/readyz'));
  app.nest.get(Readiness).isStarting = false;
  expect((await client.get('/readyz')).status).toBe(200);
});

it('/readyz returns 503 after shutdown has started', async () => {
  await start();
  expect((await client.get('/readyz')).body).toEqual({ message: 'Ready' });
  app.nest.get(Readiness).isShuttingDown = true;
  expectUnavailable(await client.get('/readyz'));
  expect((await client.get('/healthz')).body).toEqual({ message: 'Alive' });
});
