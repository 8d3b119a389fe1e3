import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { RunsRepository } from '../../src/modules/runs/runs.repository.js';
import { StartRepository } from '../../src/modules/starts/start.repository.js';
import type { Role } from '../../src/platform/access/caller.js';
import { openEventStream } from '../support/event-stream.js';
import { expectError, expectForbidden, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { LogLines } from '../support/log-lines.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('deleting a run', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  const log = new LogLines();

  beforeAll(async () => {
    agent = await startScriptedAgent(({ model }) => (model === 'slow' ? delayed(30_000) : 'Welcome!'));
    app = await createTestApp({ env: callEnv(agent.url), log });
    app.nest.get(RetentionRepository).pruneDelayMs = 0;
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const query = (text: string, ...values: unknown[]) => sql(app.databaseUrl, text, values);
  const start = async (client: HttpClient, agentId: string, body: object = {}): Promise<string> =>
    (await client.post(`/agents/${agentId}/runs`, body)).body.data.id;
  const idsOfCalls = async (client: HttpClient, runId: string): Promise<string[]> =>
    (await client.get(`/runs/${runId}/calls`)).body.data.map(({ id }: { id: string }) => id);
  const clientOf = async (subject: { workspaceId: string; userId: string }, role: Role) =>
    new HttpClient(app.url, (await createKey(app, subject, role)).value);
  /** Rows of the run in every table that has a reference to it. */
  const rowsOf = async (runId: string, callIds: readonly string[]) => {
    const counts: number[] = [];
    for (const [table, column, ids] of [
      ['runs', 'id', [runId]],
      ['run_evaluations', 'run_id', [runId]],
      ['calls', 'run_id', [runId]],
      ['call_results', 'call_id', callIds],
      ['call_attempts', 'call_id', callIds],
      ['deleted_runs', 'id', [runId]],
    ] as const) {
      const [row] = await query(`SELECT count(*)::int AS n FROM ${table} WHERE ${column} = ANY ($1)`, ids);
      counts.push(row!.n);
    }
    return counts;
  };

  it('removes it with its calls, from every response and from the database', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const run = await executeRun(client, agentId, { repeat: 3 });
    const other = await executeRun(client, agentId);
    const callIds = await idsOfCalls(client, run.id);
    expect(callIds).toHaveLength(3);

    const { status, body } = await client.delete(`/runs/${run.id}`);
    expect([status, body]).toEqual([200, { message: 'Run deleted successfully' }]);
    for (const suffix of ['', '?wait=1', '/metrics', '/calls', '/junit', '/report', '/events']) {
      expectNotFound(await client.get(`/runs/${run.id}${suffix}`));
    }
    for (const id of callIds) expectNotFound(await client.get(`/calls/${id}`));
    for (const suffix of ['/cancel', '/rerun']) expectNotFound(await client.post(`/runs/${run.id}${suffix}`));
    const list = (await client.get(`/agents/${agentId}/runs`)).body;
    expect([list.data.map(({ id }: any) => id), list.meta.total]).toEqual([[other.id], 1]);
    const metrics = (await client.get(`/agents/${agentId}/metrics`)).body.data;
    expect(metrics).toMatchObject({ runs: { total: 1 }, calls: { passed: 1 }, scores: [{ runId: other.id }] });
    expect(metrics.evaluations).toMatchObject([{ counted: 1 }]);

    expectNotFound(await client.delete(`/runs/${run.id}`));
    await until('no row of the run is left', async () => (await rowsOf(run.id, callIds)).every((count) => count === 0));
    expect(await idsOfCalls(client, other.id)).toHaveLength(1);
  });

  it('is logged with the user and the API key', async () => {
    const { client, agentId, workspaceId, userId } = await prepareEvaluations(app);
    const { id } = await executeRun(client, agentId);
    await client.delete(`/runs/${id}`);
    const line = log.lines.find(({ msg }) => String(msg).startsWith(`Run ${id} `))?.msg;
    expect(line).toMatch(
      new RegExp(`of workspace ${workspaceId} was deleted by user ${userId} with API key [0-9a-f-]{36}: 1 calls`),
    );
  });

  it('returns 409 and changes nothing until the run has ended', async () => {
    const { client, agentId } = await prepareEvaluations(app, undefined, { assistantId: 'slow' });
    const id = await start(client, agentId, { repeat: 2, concurrency: 1 });
    const refused = async () =>
      expectError(await client.delete(`/runs/${id}`), 409, 'CONFLICT', 'The run has not ended yet; cancel it first');
    await refused();
    await until('a call is running', () => agent.active.get('slow') === 1);
    await refused();
    expect((await client.get(`/runs/${id}`)).body.data).toMatchObject({ status: 'RUNNING', counts: { pending: 2 } });
    await client.post(`/runs/${id}/cancel`);
    expect((await client.delete(`/runs/${id}`)).status).toBe(200);
    expectNotFound(await client.get(`/runs/${id}`));
  });

  it.each(['COMPLETED', 'FAILED', 'CANCELLED'])('succeeds for a run that is %s', async (status) => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = await executeRun(client, agentId);
    await query('UPDATE runs SET status = $1 WHERE id = $2', status, id);
    expect((await client.delete(`/runs/${id}`)).status).toBe(200);
    expectNotFound(await client.get(`/runs/${id}`));
  });

  it('needs the role ADMIN in the workspace of the run', async () => {
    const { client, agentId, ...subject } = await prepareEvaluations(app);
    const { id } = await executeRun(client, agentId);
    const stranger = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    for (const refused of [await clientOf(subject, 'VIEWER'), await clientOf(subject, 'EDITOR'), stranger]) {
      expectForbidden(await refused.delete(`/runs/${id}`));
    }
    expect((await client.get(`/runs/${id}`)).status).toBe(200);
    expect((await (await clientOf(subject, 'ADMIN')).delete(`/runs/${id}`)).status).toBe(200);
    // Nothing is left that would tell the workspaces apart.
    for (const anyone of [client, stranger]) expectNotFound(await anyone.delete(`/runs/${id}`));
    for (const unknown of ['nope', agentId]) expectNotFound(await client.delete(`/runs/${unknown}`));
  });

  it('succeeds after the agent was deleted', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = await executeRun(client, agentId);
    await client.delete(`/agents/${agentId}`);
    expect((await client.delete(`/runs/${id}`)).status).toBe(200);
    expectNotFound(await client.get(`/runs/${id}`));
  });

  it('succeeds for exactly one of many concurrent requests, and is counted once', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = await executeRun(client, agentId);
    const responses = await Promise.all(Array.from({ length: 10 }, () => client.delete(`/runs/${id}`)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
    expect((await client.get(`/agents/${agentId}/runs`)).body.meta.total).toBe(0);
  });

  it('makes a report that is being prepared return 404', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = await executeRun(client, agentId);
    const repository = app.nest.get(RunsRepository);
    const cases = repository.cases.bind(repository);
    const reading = jest.spyOn(repository, 'cases').mockImplementationOnce(async (runId) => {
      expect((await client.delete(`/runs/${runId}`)).status).toBe(200);
      return cases(runId);
    });
    expectNotFound(await client.get(`/runs/${id}/report`));
    expect(reading).toHaveBeenCalledTimes(1);
    reading.mockRestore();
  });

  it.each(['', '?only=failed'])('makes a rerun%s that is being prepared return 404', async (query) => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = await executeRun(client, agentId);
    const repository = app.nest.get(StartRepository);
    const readPlan = repository.readPlan.bind(repository);
    const reading = jest.spyOn(repository, 'readPlan').mockImplementationOnce(async (...input) => {
      expect((await client.delete(`/runs/${id}`)).status).toBe(200);
      return readPlan(...input);
    });
    expectNotFound(await client.post(`/runs/${id}/rerun${query}`));
    expect(reading).toHaveBeenCalledTimes(1);
    reading.mockRestore();
  });

  it('ends event streams and waits that are still open', async () => {
    const { client, agentId, apiKey } = await prepareEvaluations(app, undefined, { assistantId: 'slow' });
    const id = await start(client, agentId);
    const stream = await openEventStream(`${app.url}/runs/${id}/events`, { Authorization: `Bearer ${apiKey}` });
    const waiting = client.get(`/runs/${id}?wait=30`);
    await until('the stream has begun', () => stream.events.length > 0);
    // Ended and deleted at the same moment, so that neither has read the end.
    const deletedAt = performance.now();
    await query('DELETE FROM runs WHERE id = $1', id);
    expectNotFound(await waiting);
    await stream.ended;
    expect(performance.now() - deletedAt).toBeLessThan(10_000);
    await query('DELETE FROM calls WHERE run_id = $1', id);
  });

  it('takes effect at once however many calls the run has', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = await executeRun(client, agentId);
    await query(
      `INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, outcome, score,
                          attempts, lease_expirations, latencies, due_at, changed_in)
       SELECT gen_random_uuid(), workspace_id, agent_id, run_id, evaluation_id, case_key, n, n, 'ENDED', 'passed', 100, '[]', 0, '{}',
              now(), 0 FROM calls, generate_series(1, 9999) n WHERE run_id = $1`,
      id,
    );
    expect((await client.get(`/runs/${id}/calls`)).body.meta.total).toBe(10_000);
    const callIds = await idsOfCalls(client, id);
    expect((await client.delete(`/runs/${id}`)).status).toBe(200);
    // Deleted in batches, so most of them are still stored.
    const [row] = await query('SELECT count(*)::int AS n FROM calls WHERE run_id = $1', id);
    expect(row!.n).toBeGreaterThan(5_000);
    expectNotFound(await client.get(`/calls/${callIds[0]}`));
    expectNotFound(await client.get(`/runs/${id}/calls`));
    expect((await client.get(`/agents/${agentId}/runs`)).body.meta.total).toBe(0);
    await until('no row of the run is left', async () => (await rowsOf(id, callIds)).every((n) => n === 0), 60_000);
  });
});
