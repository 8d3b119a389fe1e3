import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { callEnv, shortEvaluation } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

const KEY = 'embedded-database-test-key';
/** Seconds on a busy machine; usually one. */
const RECOVERY_MS = 20_000;

let agent: ScriptedAgent;
let service: ServiceProcess;
let client: HttpClient;
let dataDir: string;

beforeAll(async () => {
  agent = await startScriptedAgent(() => delayed(300));
  dataDir = await mkdtemp(path.join(tmpdir(), 'embedded-database-'));
  // PostgreSQL, which does not run as root, must reach its data.
  chmodSync(dataDir, 0o755);
  service = await ServiceProcess.start({
    ...(callEnv(agent.url) as Record<string, string>),
    DATABASE_URL: '',
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: KEY,
    DEFAULT_PLAN: 'FREE',
    PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
  });
  client = new HttpClient(service.url, KEY);
  await service.waitForOutput('Process worker \\(\\d+\\) is ready');
});
afterAll(async () => {
  await service.dispose();
  await agent.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

const data = (...names: string[]) => path.join(dataDir, 'postgres/data', ...names);
const postmaster = () => Number(readFileSync(data('postmaster.pid'), 'utf8').split('\n')[0]);

it('restarts a killed postmaster and loses neither acknowledged writes nor calls in progress', async () => {
  const agentId: string = (await client.post('/agents', agentBody())).body.data.id;
  const personalityId: string = (await client.post('/personalities', personalityBody())).body.data.id;
  const script = [{ say: 'Hello' }, { say: 'Are you there?' }, { say: 'Hello again' }, { end: 'Greeted' }];
  const evaluation = shortEvaluation({ personalityId, script });
  expect(await client.post(`/agents/${agentId}/evaluations`, evaluation)).toMatchObject({ status: 201 });
  const runId: string = (await client.post(`/agents/${agentId}/runs`, { repeat: 20, concurrency: 5 })).body.data.id;
  await until('calls are in progress', () => agent.requests.length >= 5);

  const acknowledged: string[] = [];
  const unexpected: unknown[] = [];
  let rejected = 0;
  let killedAt = Infinity;
  let recoveredAfter: number | undefined;
  const write = async () => {
    while (recoveredAfter === undefined && performance.now() < killedAt + RECOVERY_MS) {
      const sentAt = performance.now();
      const { status, headers, body } = await client.post('/personalities', personalityBody());
      if (status === 201) acknowledged.push(body.data.id);
      else if (status === 503 && headers.has('retry-after')) rejected++;
      else unexpected.push(body);
      if (status === 201 && sentAt > killedAt && rejected > 0) recoveredAfter ??= performance.now() - killedAt;
      await sleep(20);
    }
  };
  const writers = Array.from({ length: 8 }, write);
  await until('writes are acknowledged', () => acknowledged.length > 20);
  const killed = postmaster();
  process.kill(killed, 'SIGKILL');
  killedAt = performance.now();
  await Promise.all(writers);

  expect(unexpected).toEqual([]);
  expect(recoveredAfter).toBeLessThan(RECOVERY_MS);
  expect(postmaster()).not.toBe(killed);
  expect(await client.get('/readyz')).toMatchObject({ status: 200 });
  const reads = await Promise.all(acknowledged.map((id) => client.get(`/personalities/${id}`)));
  expect(reads.map(({ status }) => status)).toEqual(acknowledged.map(() => 200));
  const run = (await client.get(`/runs/${runId}?wait=60`)).body.data;
  expect(run).toMatchObject({ status: 'COMPLETED', counts: { passed: 20 } });
  expect(service.exit).toBeUndefined();
});

it('ends with one line and code 1 when the server cannot be restarted', async () => {
  rmSync(data('global/pg_control'));
  process.kill(postmaster(), 'SIGKILL');
  const worker = service.children;
  expect(await service.waitForExit()).toEqual({ code: 1, signal: null });
  const plain = service.output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(plain).toEqual([expect.stringMatching(/^The embedded PostgreSQL was restarted 3 times .*pg_control/)]);
  await until('the worker process is gone', () => !worker.some(isRunning));
});

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
