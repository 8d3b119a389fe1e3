import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/redis.js';
import { ServiceProcess } from '../support/service-process.js';
import { sql, withClient } from '../support/sql.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

const KEY = 'cluster-test-key-0123456789';
const ENCRYPTION_KEYS = `cluster:${randomBytes(32).toString('base64')}`;

let database: TestDatabase;
let service: ServiceProcess;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await service.dispose();
  await database.drop();
});

const start = async (processes: number, env: Record<string, string> = {}) => {
  service = await ServiceProcess.start({
    WEB_CONCURRENCY: String(processes),
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '4',
    BOOTSTRAP_API_KEY: KEY,
    DEFAULT_PLAN: 'FREE',
    ENCRYPTION_KEYS,
    ...env,
  });
};
/** Waits until the API processes and the worker process are ready. */
const started = async (processes: number) => {
  await service.waitForOutput(`${processes} processes listen`);
  await service.waitForOutput('Process worker \\(\\d+\\) is ready');
};
const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The status of a response, or the error message. */
const ask = (
  url: string,
  options: { agent?: Agent; headers?: Record<string, string> } = {},
): Promise<number | string> =>
  new Promise((resolve) => {
    get(url, { agent: false, headers: { Authorization: `Bearer ${KEY}` }, ...options }, (response) => {
      response.once('error', (error) => resolve(error.message)).once('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    }).once('error', (error) => resolve(error.message));
  });
const tally = (responses: readonly (number | string)[]) => {
  const counts: Record<string, number> = {};
  for (const response of responses) counts[response] = (counts[response] ?? 0) + 1;
  return counts;
};
const burst = (count: number, work: () => Promise<number | string>) => Promise.all(Array.from({ length: count }, work));

it('serves one port with two processes and one exact rate limit, even after one is killed and replaced', async () => {
  const metricsPort = await freePort();
  await start(2, { ROLE: 'api', TRUST_PROXY: 'true', METRICS_PORT: String(metricsPort) });
  await service.waitForOutput('2 processes listen');
  const agents = `${service.url}/agents`;
  expect(tally(await burst(200, () => ask(agents)))).toEqual({ 200: 60, 429: 140 });

  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const served = [...metrics.matchAll(/^http_request_duration_seconds_count\{.*process="api-(\d)"\} (\d+)$/gm)];
  expect(new Set(served.map(([, number]) => number))).toEqual(new Set(['1', '2']));
  expect(served.reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(200);

  // Counts by address from here on, for an unused limit. Requests to a killed process may be lost, but are counted.
  const anonymous = () => ask(agents, { headers: { 'X-Forwarded-For': '192.0.2.1' } });
  const first = await burst(40, anonymous);
  expect(tally(first)).toEqual({ 401: 40 });
  const [victim = 0] = service.children;
  process.kill(victim, 'SIGKILL');
  await service.waitForOutput(`Process api-1 \\(${victim}\\) ended \\(SIGKILL\\)`);
  expect(tally(await burst(40, anonymous))).toEqual({ 401: 20, 429: 20 });
  await service.waitForOutput('is ready', 3);
  expect(tally(await burst(40, anonymous))).toEqual({ 429: 40 });
  expect(service.children).not.toContain(victim);
  expect(service.children).toHaveLength(2);
  expect(await sql(database.url, 'SELECT id FROM workspaces')).toHaveLength(1);
});

it('restarts its processes one by one under load without a failed request, and exits with code 0', async () => {
  await start(2, { PLAN_FREE_REQUESTS_PER_MINUTE: '1000000' });
  await started(2);
  const before = service.children;
  const responses: (number | string)[] = [];
  let isLoading = true;
  const load = async (agent?: Agent) => {
    while (isLoading) {
      responses.push(
        await ask(`${service.url}/agents`, agent && { agent, headers: { Authorization: `Bearer ${KEY}` } }),
      );
      await sleep(20);
    }
  };
  const kept = new Agent({ keepAlive: true, maxSockets: 4 });
  const clients = [load(), load(), ...Array.from({ length: 4 }, () => load(kept))];
  await sleep(500);

  service.child.kill('SIGUSR2');
  await service.waitForOutput('All processes restarted');
  await sleep(500);
  const beforeKill = responses.length;
  const after = service.children;
  expect(after).toHaveLength(3);
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);

  isLoading = false;
  await Promise.all(clients);
  kept.destroy();
  expect(beforeKill).toBeGreaterThan(200);
  expect(tally(responses)).toEqual({ 200: responses.length });

  const since = performance.now();
  await withClient(database.url, async (blocker) => {
    await blocker.query('BEGIN; LOCK TABLE agents IN ACCESS EXCLUSIVE MODE');
    const underWay = [ask(`${service.url}/agents`), ask(`${service.url}/agents`)];
    const waiting = `SELECT pid FROM pg_locks WHERE NOT granted
                      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await until('both wait', async () => (await sql(database.url, waiting)).length === 2);
    service.child.kill('SIGTERM');
    await service.waitForOutput('Shutting down \\(SIGTERM\\)', 4);
    await blocker.query('ROLLBACK');
    expect(await Promise.all(underWay)).toEqual([200, 200]);
  });
  expect(await service.waitForExit()).toEqual({ code: 0, signal: null });
  expect(performance.now() - since).toBeLessThan(20_000);
  expect(after.filter(isRunning)).toEqual([]);
});

it('ends its processes and their database when the primary process is killed, and the next start has both again', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'cluster-embedded-'));
  const server = path.join(dataDir, 'postgres/data/postmaster.pid');
  const env = { DATABASE_URL: '', DATA_DIR: dataDir };
  try {
    await start(2, env);
    await started(2);
    const ready = service.output.matchAll(/Process (?:api-\d|worker) \((\d+)\) is ready/g);
    const processes = [...ready].map(([, pid]) => Number(pid));
    expect(processes).toHaveLength(3);
    expect(processes.every(isRunning)).toBe(true);
    service.child.kill('SIGKILL');
    await service.waitForExit();
    await until('the processes are gone', () => !processes.some(isRunning));
    expect(existsSync(server)).toBe(false);
    const { port } = service;
    await service.dispose();

    await start(1, { ...env, PORT: String(port), ROLE: 'api' });
    await service.waitForOutput('Listening on');
    expect(await ask(`${service.url}/agents`)).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.waitForExit()).toEqual({ code: 0, signal: null });
    expect(existsSync(server)).toBe(false);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

it('does not start on a port in use, prints one line and creates no first key', async () => {
  const other = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  try {
    await start(2, { PORT: String(port), LOG_LEVEL: 'fatal' });
    expect((await service.waitForExit()).code).toBe(1);
    expect(service.output).toBe(`PORT=${port} is in use by another process. Set PORT to another port\n`);
    expect(await sql(database.url, 'SELECT id FROM workspaces')).toEqual([]);
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
});
