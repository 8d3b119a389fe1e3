import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { prepareVoice, type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { sendCompletion, TestServers } from '../simulators/servers.js';
import { FliteEngine } from '../../libs/speech/index.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { freePort } from '../support/redis.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { ServiceProcess } from '../support/service-process.js';
import { sql } from '../support/sql.js';
import { createTestApp, TEST_KEY } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

const KEY = 'call-metrics-test-key';
const TEXT = 'protocol="chat-completions"';
const VOICE = 'protocol="twilio-media-streams"';
const LINE = 'Until when are you open?';

let agent: ScriptedAgent;
let database: TestDatabase;
let service: ServiceProcess;
let metricsUrl: string;

beforeAll(async () => {
  agent = await startScriptedAgent();
});
afterAll(() => agent.close());

const start = async (env: Record<string, string>) => {
  database = await createTestDatabase();
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  service = await ServiceProcess.start({
    ...(callEnv(agent.url) as Record<string, string>),
    DATABASE_URL: database.url,
    METRICS_PORT: String(metricsPort),
    ...env,
  });
};
const stop = async () => {
  await service.dispose();
  await database.drop();
};
const scrape = async () => (await fetch(metricsUrl)).text();
/** @param labels as they are written, without that of the process */
const valueIn = (text: string, name: string, ...labels: string[]): number | undefined => {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const found = lines.find((line) => labels.every((label) => line.includes(label)));
  return found === undefined ? undefined : Number(found.split(' ').at(-1));
};
const value = async (name: string, ...labels: string[]) => valueIn(await scrape(), name, ...labels);

describe('metrics of calls in the worker process beside the API', () => {
  const engine = new FliteEngine();
  const servers = new TestServers();
  let voiceAgent: ReferenceAgentServer;
  let client: HttpClient;
  let personalityId: string;

  beforeAll(async () => {
    const prepare = () => prepareVoice({ speech: engine, today: Date.now(), lines: [LINE] });
    voiceAgent = await startReferenceAgent({ port: 0, telephone: { prepare } });
    const judgement = JSON.stringify({ reasoning: 'It does.', quote: 'Welcome!', met: true });
    const model = await servers.http((response) => sendCompletion(response, judgement));
    await start({
      BOOTSTRAP_API_KEY: KEY,
      DEFAULT_PLAN: 'FREE',
      PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
      WORKER_CONCURRENCY: '1',
      LLM_BASE_URL: `${model}/v1`,
      LLM_MODEL: 'stub',
    });
    client = new HttpClient(service.url, KEY);
    await service.waitForOutput('Process worker \\(\\d+\\) is ready');
    personalityId = (await client.post('/personalities', personalityBody())).body.data.id;
  });
  afterAll(async () => {
    await stop();
    await voiceAgent.close();
    await engine.close();
    await servers.close();
  });

  /** An agent with one evaluation. */
  const prepared = async (evaluation: object = {}): Promise<string> => {
    const agentId: string = (await client.post('/agents', agentBody())).body.data.id;
    const body = shortEvaluation({ personalityId, ...evaluation });
    expect(await client.post(`/agents/${agentId}/evaluations`, body)).toMatchObject({ status: 201 });
    return agentId;
  };

  it('show calls in progress and ended, calls that wait for a slot, and the depth of the queue', async () => {
    const ended = 'call_attempts_ended_total';
    expect(await value('calls_in_progress', TEXT)).toBe(0);
    const [long, waiting] = [await prepared({ script: [{ say: 'Hello' }, { waitSeconds: 60 }] }), await prepared()];
    const { id } = (await client.post(`/agents/${long}/runs`, {})).body.data;
    await until('a call is in progress', async () => (await value('calls_in_progress', TEXT)) === 1);
    const run = executeRun(client, waiting);
    await until(
      'the other call waits for the slot',
      async () => (await value('calls_waiting_for_slot', TEXT)) === 1,
      20_000,
    );
    // No process has this job.
    await sql(database.url, `SELECT graphile_worker.add_job('test.unknown')`);
    await until('a job waits', async () => (await value('queue_jobs_waiting'))! >= 1, 30_000);
    expect(await value('queue_oldest_job_age_seconds')).toBeGreaterThan(0);
    await sql(database.url, `DELETE FROM graphile_worker._private_jobs`);
    expect(await value(ended, TEXT, 'outcome="passed"')).toBe(0);

    expect(await client.post(`/runs/${id}/cancel`)).toMatchObject({ status: 200 });
    expect(await run).toMatchObject({ status: 'COMPLETED' });
    const text = await scrape();
    expect(valueIn(text, ended, TEXT, 'outcome="interrupted"')).toBe(1);
    expect(valueIn(text, ended, TEXT, 'outcome="passed"')).toBe(1);
    expect(valueIn(text, ended, VOICE, 'outcome="passed"')).toBe(0);
    expect(valueIn(text, 'calls_in_progress', TEXT)).toBe(0);
    expect(valueIn(text, 'call_longest_stall_seconds_count', TEXT)).toBe(1);
    const waitsNothing = async () => {
      const after = await scrape();
      const names = ['calls_waiting_for_slot', 'queue_jobs_waiting', 'queue_oldest_job_age_seconds'];
      return names.every((name) => valueIn(after, name) === 0);
    };
    await until('nothing waits', waitsNothing, 30_000);
  });

  it('show the time of the language model', async () => {
    const run = await executeRun(client, await prepared({ checks: [], criteria: [{ text: 'The agent greets.' }] }));
    expect(run).toMatchObject({ status: 'COMPLETED' });
    const text = await scrape();
    const name = 'language_model_request_duration_seconds';
    expect(valueIn(text, `${name}_count`, 'outcome="answered"')).toBe(2);
    expect(valueIn(text, `${name}_sum`, 'outcome="answered"')).toBeGreaterThan(0);
  });

  it('show frame lateness, stalls, memory and synthesis of a voice call', async () => {
    expect(await value('voice_calls_memory_bytes')).toBe(0);
    const checks = [{ name: 'Answers in time', type: 'max_latency_ms', ms: 60_000 }];
    const agentId = await prepared({ script: [{ say: LINE }, { end: 'Answered' }], checks });
    const connection = { protocol: 'twilio-media-streams', url: `${voiceAgent.url}/voice` };
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    const run = executeRun(client, agentId);
    await until('the call is in progress', async () => (await value('calls_in_progress', VOICE)) === 1);
    expect(await run).toMatchObject({ status: 'COMPLETED' });
    const text = await scrape();
    expect(valueIn(text, 'call_attempts_ended_total', VOICE, 'outcome="passed"')).toBe(1);
    expect(valueIn(text, 'call_frame_lateness_p99_seconds_count', VOICE)).toBe(1);
    expect(valueIn(text, 'call_frame_lateness_p99_seconds_sum', VOICE)).toBeGreaterThan(0);
    expect(valueIn(text, 'call_longest_stall_seconds_count', VOICE)).toBe(1);
    expect(valueIn(text, 'speech_synthesis_duration_seconds_count')).toBe(1);
    expect(valueIn(text, 'speech_synthesis_duration_seconds_sum')).toBeGreaterThan(0);
    expect(valueIn(text, 'voice_calls_memory_bytes')).toBeGreaterThan(2 ** 20);
  });

  it('name the worker process, and are those of the table in docs/production.md', async () => {
    const text = await scrape();
    const document = await readFile(path.join(__dirname, '../../docs/production.md'), 'utf8');
    const documented = [...document.matchAll(/^\| `(\w+)` +\| (gauge|counter|histogram) /gm)];
    const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].filter(([, name]) => !/^(process|nodejs)_/.test(name!));
    const listed = (rows: readonly RegExpExecArray[]) => rows.map(([, name, type]) => `${name} ${type}`).sort();
    expect(listed(documented)).toEqual(listed(types));
    const ofCalls = text.split('\n').filter((line) => /^(calls?|voice|speech|language_model|queue)_/.test(line));
    expect(ofCalls.length).toBeGreaterThan(50);
    expect(ofCalls.filter((line) => !line.includes('process="worker"'))).toEqual([]);
  });
});

describe('metrics of calls in a process with ROLE=worker', () => {
  beforeAll(() => start({ ROLE: 'worker', ENCRYPTION_KEYS: `${TEST_KEY.id}:${TEST_KEY.key.toString('base64')}` }));
  afterAll(stop);

  it('are served by that process itself', async () => {
    await service.waitForOutput('Running jobs and calls');
    const api = await createTestApp({ env: { ...callEnv(agent.url), ROLE: 'api' }, databaseUrl: database.url });
    try {
      const { client, agentId } = await prepareEvaluations(api);
      expect(await executeRun(client, agentId)).toMatchObject({ status: 'COMPLETED' });
    } finally {
      await api.close();
    }
    const text = await scrape();
    expect(text).toContain(`call_attempts_ended_total{${TEXT},outcome="passed"} 1`);
    expect(text).toContain(`call_longest_stall_seconds_count{${TEXT}} 1`);
    // As of the last sweep.
    expect(text).toMatch(/^queue_jobs_waiting \d+$/m);
  });
});
