import { HttpClient } from '../support/http.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { ExecutionRepository } from '../../src/modules/execution/execution.repository.js';

/** Two service instances in one process: each has its own pools, queue and signals. */
describe('runs on two processes', () => {
  let database: TestDatabase;
  let agent: ScriptedAgent;
  let first: TestApp;
  let second: TestApp;
  let hangs = new Set<string>();

  beforeAll(async () => {
    database = await createTestDatabase();
    agent = await startScriptedAgent(({ model }) => {
      if (hangs.delete(model)) return delayed(60_000);
      return delayed(model === 'slow' ? 3_000 : 60);
    });
    const options = { databaseUrl: database.url, env: callEnv(agent.url) };
    first = await createTestApp(options);
    second = await createTestApp(options);
  });
  afterAll(async () => {
    await agent.close();
    await database.drop();
  });

  const start = async (client: HttpClient, agentId: string, body: object): Promise<string> => {
    const { status, body: response } = await client.post(`/agents/${agentId}/runs`, body);
    expect(status).toBe(201);
    return response.data.id;
  };
  const ended = async (client: HttpClient, id: string): Promise<any> =>
    (await client.get(`/runs/${id}?wait=60`)).body.data;

  it('never exceed the concurrency of an agent', async () => {
    const { client, agentId, apiKey } = await prepareEvaluations(first, undefined, { assistantId: 'busy' });
    const viaSecond = new HttpClient(second.url, apiKey);
    const runs = await Promise.all([
      start(client, agentId, { repeat: 40, concurrency: 4 }),
      start(viaSecond, agentId, { repeat: 40, concurrency: 4 }),
    ]);
    for (const id of runs) {
      expect(await ended(client, id)).toMatchObject({ status: 'COMPLETED', counts: { passed: 40, error: 0 } });
    }
    // At most the allowed number, but more than one at a time.
    expect(agent.peak.get('busy')).toBe(4);
    expect(agent.requests.filter(({ model }) => model === 'busy')).toHaveLength(80);
  });

  it('the run with the lower concurrency uses its own limit once it is alone', async () => {
    const { client, agentId } = await prepareEvaluations(first, undefined, { assistantId: 'narrow' });
    const id = await start(client, agentId, { repeat: 10, concurrency: 1 });
    await ended(client, id);
    expect(agent.peak.get('narrow')).toBe(1);
  });

  it('agents do not delay each other', async () => {
    const slow = await prepareEvaluations(first, undefined, { assistantId: 'slow' });
    const quick = await prepareEvaluations(first, undefined, { assistantId: 'quick' });
    const long = await start(slow.client, slow.agentId, { repeat: 10, concurrency: 2 });
    await until('the slow agent is called', () => agent.active.get('slow') === 2);
    const run = await ended(quick.client, await start(quick.client, quick.agentId, { repeat: 5, concurrency: 5 }));
    expect(run.status).toBe('COMPLETED');
    expect((await slow.client.get(`/runs/${long}`)).body.data.status).toBe('RUNNING');
    await slow.client.post(`/runs/${long}/cancel`);
  });

  it('a call whose process seems dead is retried and ends once', async () => {
    const { client, agentId } = await prepareEvaluations(first, undefined, { assistantId: 'stuck' });
    hangs = new Set(['stuck']);
    const id = await start(client, agentId, {});
    await until('the call is under way', () => agent.active.get('stuck') === 1);
    await sql(database.url, `UPDATE calls SET lease_until = now() - interval '1 s' WHERE run_id = '${id}'`);
    await first.nest.get(ExecutionRepository).sweep();
    expect(await ended(client, id)).toMatchObject({ status: 'COMPLETED', counts: { passed: 1 } });
    // The first one aborts as soon as it learns that it has lost the lease.
    await until('no call is in progress', () => agent.active.get('stuck') === 0);
    const [call] = (await client.get(`/runs/${id}/calls`)).body.data;
    expect(call.attempts.map(({ outcome, failureCode }: any) => [outcome, failureCode])).toEqual([
      ['error', 'interrupted'],
      ['passed', null],
    ]);
    expect(agent.requests.filter(({ model }) => model === 'stuck')).toHaveLength(2);
  }, 60_000);

  it('a process that shuts down hands its calls over', async () => {
    const { agentId, apiKey } = await prepareEvaluations(first, undefined, { assistantId: 'moved' });
    // Other processes would take over the calls immediately, so that their waiting could not be observed.
    await Promise.all([first.close(), second.close()]);
    const leaving = await createTestApp({ databaseUrl: database.url, env: callEnv(agent.url) });
    hangs = new Set(['moved']);
    const id = await start(new HttpClient(leaving.url, apiKey), agentId, { repeat: 3, concurrency: 1 });
    await until('the call is under way', () => agent.active.get('moved') === 1);
    await leaving.close();
    const [row] = await sql(
      database.url,
      `SELECT count(*)::int AS queued FROM calls WHERE run_id = '${id}' AND status = 'QUEUED'`,
    );
    expect(row).toEqual({ queued: 3 });
    expect(agent.active.get('moved')).toBe(0);
    const heir = await createTestApp({ databaseUrl: database.url, env: callEnv(agent.url) });
    const client = new HttpClient(heir.url, apiKey);
    const run = await ended(client, id);
    const calls = (await client.get(`/runs/${id}/calls`)).body.data;
    const moved = calls.find(({ attempts }: any) => attempts.length > 1);
    const { attempts } = (await client.get(`/calls/${moved.id}`)).body.data;
    const report = await client.get<string>(`/runs/${id}/report`);
    await heir.close();
    // What was said before the process shut down is kept.
    expect(attempts).toMatchObject([
      {
        failureCode: 'interrupted',
        timeline: [{ type: 'speech', speaker: 'caller' }, { type: 'error' }, { type: 'end' }],
      },
      { outcome: 'passed' },
    ]);
    expect(report.status).toBe(200);
    expect(run).toMatchObject({ status: 'COMPLETED', counts: { passed: 3, error: 0 } });
  }, 60_000);
});
