import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { isRunning } from '../../libs/embedded-postgres/testing/processes.js';
import { callEnv, shortEvaluation } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);

const KEY = 'uncaught-errors-test-key';
const AGENT_MS = 400;
const PROVOKE = path.resolve(__dirname, '../support/provoke.mjs');

let agent: ScriptedAgent;
let service: ServiceProcess;
let client: HttpClient;
let dataDir: string;

beforeAll(async () => {
  agent = await startScriptedAgent(() => delayed(AGENT_MS));
});
afterAll(() => agent.close());

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'uncaught-errors-'));
  // PostgreSQL, which does not run as root, must reach its data.
  chmodSync(dataDir, 0o755);
});
afterEach(async () => {
  await service.dispose();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

const start = async (env: Record<string, string> = {}) => {
  service = await ServiceProcess.start({
    ...(callEnv(agent.url) as Record<string, string>),
    ...{ DATABASE_URL: '', DATA_DIR: dataDir, BOOTSTRAP_API_KEY: KEY, PLAN_FREE_REQUESTS_PER_MINUTE: '1000000' },
    ...{ NODE_OPTIONS: `--import=${PROVOKE}`, PROVOKE_FILE: provokeFile() },
    ...env,
  });
  client = new HttpClient(service.url, KEY);
};
const provokeFile = () => path.join(dataDir, 'provoke');
const pidFile = () => path.join(dataDir, 'postgres/data/postmaster.pid');
const postmaster = () => Number(readFileSync(pidFile(), 'utf8').split('\n')[0]);
const isReady = (name: string, times = 1) => service.waitForOutput(`Process ${name} \\(\\d+\\) is ready`, times);
/** Lines of the log of level fatal. */
const fatal = (): any[] =>
  service.output
    .split('\n')
    .filter((line) => line.includes('"level":60'))
    .map((line) => JSON.parse(line) as object);

async function startRun(repeat: number): Promise<{ agentId: string; runId: string }> {
  const agentId: string = (await client.post('/agents', agentBody())).body.data.id;
  const personalityId: string = (await client.post('/personalities', personalityBody())).body.data.id;
  const script = [{ say: 'Hello' }, { say: 'Are you there?' }, { say: 'Hello again' }, { end: 'Greeted' }];
  await client.post(`/agents/${agentId}/evaluations`, shortEvaluation({ personalityId, script }));
  const run = await client.post(`/agents/${agentId}/runs`, { repeat, concurrency: 5 });
  return { agentId, runId: run.body.data.id };
}

// nodejs/help#2546: a body arrives outside of the functions that the middleware calls.
it.each(['listener', 'timer', 'rejection'])(
  'an error that nothing caught in the API process (%s) is logged with its request, turns /readyz, and restarts the process',
  async (how) => {
    await start();
    await isReady('worker');
    const before = postmaster();
    const { runId } = await startRun(20);
    const waiting = client.get(`/runs/${runId}?wait=4`);
    // A request whose listener has failed may never get a response.
    client.post('/agents', agentBody(), { 'X-Provoke': how }).catch(() => undefined);
    await until('the error is logged', () => fatal().length > 0);

    expect(fatal()).toMatchObject([
      {
        name: 'api',
        err: { message: expect.stringMatching(/^Provoked/), stack: expect.stringContaining('provoke.mjs') },
        during: { req: { method: 'POST', path: '/agents', id: expect.any(String) } },
        msg: 'An error that nothing caught ends this process',
      },
    ]);
    const readiness = await client.get('/readyz');
    expect(readiness).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(readiness.body.issues[0].message).toMatch(/an error that nothing caught/);
    expect((await client.post('/agents', agentBody())).status).toBe(503);
    expect(await waiting).toMatchObject({ status: 200, body: { data: { id: runId } } });

    await service.waitForOutput('Process api \\(\\d+\\) ended \\(exit code 1\\)');
    await isReady('api', 2);
    expect((await client.get('/readyz')).status).toBe(200);
    // The worker process has gone on.
    expect((await client.get(`/runs/${runId}?wait=60`)).body.data).toMatchObject({ counts: { passed: 20 } });
    expect([service.exit, postmaster()]).toEqual([undefined, before]);
  },
);

it.each(['timer', 'rejection'])(
  'an error that nothing caught in the worker process (%s) is logged with its call, whose run completes after a restart',
  async (how) => {
    await start();
    await isReady('worker');
    const { runId } = await startRun(10);
    await until(
      'calls are in progress',
      async () => (await client.get(`/runs/${runId}`)).body.data.status === 'RUNNING',
    );
    writeFileSync(provokeFile(), how);
    await until('the error is logged', () => fatal().length > 0);
    const [{ name, during, inProgress }] = fatal() as [any];
    expect([name, during, inProgress]).toMatchObject([
      'worker',
      { runId, callId: expect.any(String) },
      expect.arrayContaining([expect.objectContaining({ runId })]),
    ]);
    await service.waitForOutput('Process worker \\(\\d+\\) ended \\(exit code 1\\)');
    expect((await client.get('/readyz')).status).toBe(200);
    const run = (await client.get(`/runs/${runId}?wait=60`)).body.data;
    expect(run).toMatchObject({ status: 'COMPLETED', counts: { passed: 10 } });
    expect(fatal()).toHaveLength(1);
  },
);

it.each(['api', 'worker'])(
  'an error that nothing caught ends a process with ROLE=%s with code 1 and stops its database',
  async (role) => {
    await start({ ROLE: role });
    await service.waitForOutput(role === 'api' ? 'Listening on' : 'Running jobs and calls');
    const server = postmaster();
    service.child.kill('SIGWINCH');
    expect(await service.waitForExit()).toEqual({ code: 1, signal: null });
    expect(fatal()).toMatchObject([{ name: role, err: { message: 'Provoked in a listener' } }]);
    expect([existsSync(pidFile()), isRunning(server)]).toEqual([false, false]);
  },
);

it('an error that nothing caught in the primary process ends all processes in order, the database last', async () => {
  await start();
  await isReady('worker');
  const [server, children] = [postmaster(), service.children];
  expect(children).toHaveLength(2);
  service.child.kill('SIGWINCH');
  expect(await service.waitForExit()).toEqual({ code: 1, signal: null });
  expect(fatal()).toMatchObject([{ name: 'primary' }]);
  expect(service.output.match(/Shutting down \(SIGTERM\)/g)).toHaveLength(2);
  expect([existsSync(pidFile()), [server, ...children].some(isRunning)]).toEqual([false, false]);
});
