import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRunning } from '../../libs/embedded-postgres/testing/processes.js';
import { HttpClient } from '../support/http.js';
import { freePort } from '../support/redis.js';
import { ServiceProcess } from '../support/service-process.js';
import { sql, withClient } from '../support/sql.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

const KEY = 'processes-test-key-0123456789';
const ENCRYPTION_KEYS = `processes:${randomBytes(32).toString('base64')}`;

let database: TestDatabase;
let service: ServiceProcess;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await service.dispose();
  await database.drop();
});

const start = async (env: Record<string, string> = {}) => {
  service = await ServiceProcess.start({
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '4',
    BOOTSTRAP_API_KEY: KEY,
    DEFAULT_PLAN: 'FREE',
    ENCRYPTION_KEYS,
    ...env,
  });
};
/** Waits until both processes are ready. @returns their ids */
const started = async (): Promise<[number, number]> => {
  await service.waitForOutput('Process worker \\(\\d+\\) is ready');
  return [service.pidOf('api'), service.pidOf('worker')];
};
const status = async () => (await new HttpClient(service.url, KEY).get('/agents')).status;

it('answers requests that are in progress on SIGTERM, ends all processes and exits with code 0', async () => {
  await start();
  const processes = await started();
  expect(service.children.sort()).toEqual(processes.sort());
  await withClient(database.url, async (blocker) => {
    await blocker.query('BEGIN; LOCK TABLE agents IN ACCESS EXCLUSIVE MODE');
    const underWay = [status(), status()];
    const waiting = `SELECT pid FROM pg_locks WHERE NOT granted
                      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await until('both wait', async () => (await sql(database.url, waiting)).length === 2);
    service.child.kill('SIGTERM');
    await service.waitForOutput('Shutting down \\(SIGTERM\\)', 3);
    await blocker.query('ROLLBACK');
    expect(await Promise.all(underWay)).toEqual([200, 200]);
  });
  expect(await service.waitForExit()).toEqual({ code: 0, signal: null });
  expect(processes.filter(isRunning)).toEqual([]);
});

it('replaces a killed API process on the same port, with the same workspace and one page of metrics', async () => {
  const metricsPort = await freePort();
  await start({ METRICS_PORT: String(metricsPort) });
  const [victim, worker] = await started();
  process.kill(victim, 'SIGKILL');
  await service.waitForOutput(`Process api \\(${victim}\\) ended \\(SIGKILL\\)`);
  await service.waitForOutput('Process api \\(\\d+\\) is ready', 2);
  expect(await status()).toBe(200);
  expect(service.children.sort()).toEqual([service.pidOf('api'), worker].sort());
  expect(service.pidOf('api')).not.toBe(victim);
  expect(await sql(database.url, 'SELECT id FROM workspaces')).toHaveLength(1);
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  expect(metrics).toMatch(/^http_request_duration_seconds_count\{.*process="api"\} 1$/m);
  expect(metrics).toMatch(/^supervised_process_replaced_total\{process="api"\} 1$/m);
  for (const name of ['api', 'worker'])
    expect(metrics).toMatch(new RegExp(`^supervised_process_ready\\{process="${name}"\\} 1$`, 'm'));
});

it('ends its processes and their database when the primary process is killed, and the next start has both again', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'processes-embedded-'));
  const server = path.join(dataDir, 'postgres/data/postmaster.pid');
  const env = { DATABASE_URL: '', DATA_DIR: dataDir };
  try {
    await start(env);
    const processes = await started();
    expect(processes.every(isRunning)).toBe(true);
    service.child.kill('SIGKILL');
    await service.waitForExit();
    await until('the processes are gone', () => !processes.some(isRunning));
    expect(existsSync(server)).toBe(false);
    const { port } = service;
    await service.dispose();

    await start({ ...env, PORT: String(port), ROLE: 'api' });
    await service.waitForOutput('Listening on');
    expect(await status()).toBe(200);
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
    await start({ PORT: String(port), LOG_LEVEL: 'fatal' });
    expect((await service.waitForExit()).code).toBe(1);
    expect(service.output).toBe(`PORT=${port} is in use by another process. Set PORT to another port\n`);
    expect(await sql(database.url, 'SELECT id FROM workspaces')).toEqual([]);
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
});
