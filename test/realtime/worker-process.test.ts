import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { freePort } from '../support/redis.js';
import { callEnv, shortEvaluation } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

const KEY = 'worker-process-test-key';
const AGENT_MS = 300;
/** The slack is for a busy machine; the pause is far longer. */
const SLACK_MS = 1_000;
const PAUSE_MS = 4_000;

let database: TestDatabase;
let agent: ScriptedAgent;
let service: ServiceProcess;
let client: HttpClient;
let metricsUrl: string;
let agentId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  agent = await startScriptedAgent(() => delayed(AGENT_MS));
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  service = await ServiceProcess.start({
    ...(callEnv(agent.url) as Record<string, string>),
    DATABASE_URL: database.url,
    BOOTSTRAP_API_KEY: KEY,
    METRICS_PORT: String(metricsPort),
    PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
  });
  client = new HttpClient(service.url, KEY);
  await workerReady();
  agentId = (await client.post('/agents', agentBody())).body.data.id;
  const personalityId: string = (await client.post('/personalities', personalityBody())).body.data.id;
  const script = [{ say: 'Hello' }, { say: 'Are you there?' }, { say: 'Hello again' }, { end: 'Greeted' }];
  const evaluation = shortEvaluation({ personalityId, script, checks: [] });
  expect(await client.post(`/agents/${agentId}/evaluations`, evaluation)).toMatchObject({ status: 201 });
});
afterAll(async () => {
  await service.dispose();
  await agent.close();
  await database.drop();
});

const workerReady = (times = 1) => service.waitForOutput('Process worker \\(\\d+\\) is ready', times);
const startRun = async (repeat: number): Promise<string> =>
  (await client.post(`/agents/${agentId}/runs`, { repeat, concurrency: 5 })).body.data.id;
const endOf = async (runId: string) => (await client.get(`/runs/${runId}?wait=60`)).body.data;
const gauge = async (name: string, process: string): Promise<number> => {
  const text = await (await fetch(metricsUrl)).text();
  return Number(new RegExp(`^${name}\\{process="${process}"\\} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN);
};

it('measures calls correctly while the API process does not respond at all', async () => {
  const runId = await startRun(15);
  // Stopped while answers are on their way.
  await until('the agent is asked', () => agent.requests.length >= 5);
  const api = service.pidOf('api');
  process.kill(api, 'SIGSTOP');
  await sleep(PAUSE_MS);
  process.kill(api, 'SIGCONT');

  expect(await endOf(runId)).toMatchObject({ status: 'COMPLETED', counts: { passed: 15 } });
  const { data: calls } = (await client.get(`/runs/${runId}/calls`)).body;
  const details = await Promise.all(
    calls.map(async ({ id }: { id: string }) => (await client.get(`/calls/${id}`)).body.data),
  );
  const worst = Math.max(...details.map(({ measures }) => measures.latency.worst));
  expect(worst).toBeGreaterThanOrEqual(AGENT_MS - 5);
  expect(worst).toBeLessThan(AGENT_MS + SLACK_MS);
});

it('names the process in its metrics and log lines', async () => {
  for (const name of ['api', 'worker']) {
    expect(await gauge('process_resident_memory_bytes', name)).toBeGreaterThan(0);
    expect(await gauge('process_start_time_seconds', name)).toBeGreaterThan(0);
  }
  expect(await gauge('supervised_process_ready', 'worker')).toBe(1);
  const lines = service.output.trim().split('\n');
  const names = lines.filter((line) => line.startsWith('{')).map((line) => (JSON.parse(line) as { name: string }).name);
  expect(new Set(names)).toEqual(new Set(['primary', 'api', 'worker']));
  expect(lines.filter((line) => line.includes('Swagger page'))).toHaveLength(1);
});

it('replaces a killed worker process, which then executes the waiting runs', async () => {
  const worker = service.pidOf('worker');
  process.kill(worker, 'SIGKILL');
  await service.waitForOutput(`Process worker \\(${worker}\\) ended \\(SIGKILL\\)`);
  expect(await gauge('supervised_process_ready', 'worker')).toBe(0);
  const runId = await startRun(2);
  expect(await client.get('/readyz')).toMatchObject({ status: 200 });
  await workerReady(2);
  expect(await endOf(runId)).toMatchObject({ status: 'COMPLETED', counts: { passed: 2 } });
  expect(await gauge('supervised_process_replaced_total', 'worker')).toBe(1);
});

it('logs an error when the worker process fails repeatedly', async () => {
  for (let failures = 2; failures <= 3; failures++) {
    await workerReady(failures);
    process.kill(service.pidOf('worker'), 'SIGKILL');
    await service.waitForOutput('Process worker \\(\\d+\\) ended', failures);
  }
  const error = /"level":50,[^\n]*failure 3 in a row: runs and webhook deliveries wait until it can run/;
  await until('the error is logged', () => service.output.includes('failure 3 in a row'));
  expect(service.output).toMatch(error);
  await workerReady(4);
});

it('completes its calls on SIGTERM, and ends all processes', async () => {
  const worker = service.pidOf('worker');
  const runId = await startRun(1);
  await until('a call has begun', async () => (await client.get(`/runs/${runId}`)).body.data.status === 'RUNNING');
  service.child.kill('SIGTERM');
  expect(await service.waitForExit()).toEqual({ code: 0, signal: null });
  expect(() => execFileSync('ps', ['-p', String(worker)])).toThrow();
  expect(service.output.match(/Shutting down \(SIGTERM\)/g)).toHaveLength(3);
});
