import { randomUUID } from 'node:crypto';
import { CaseHistoryService } from '../../src/modules/case-history/case-history.service.js';
import { RunFinisher } from '../../src/modules/run-ends/run-finisher.service.js';
import {
  type AgentRequest,
  type ScriptedAgent,
  startScriptedAgent,
} from '../simulators/agent/testing/scripted-agent.js';
import { expectNotFound } from '../support/expect.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Greets, or refuses to talk or says something else, where the caller asks for it. */
const answer = ({ said, response }: AgentRequest): string | void => {
  if (said.includes('Refuse')) return void response.writeHead(403).end();
  return said.includes('Fail') ? 'Good day.' : 'Welcome!';
};

describe('the history of cases', () => {
  let app: TestApp;
  let agent: ScriptedAgent;

  beforeAll(async () => {
    agent = await startScriptedAgent(answer);
    app = await createTestApp({ env: callEnv(agent.url) });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const rowsOf = (runId: string) =>
    sql<any>(app.databaseUrl, 'SELECT * FROM case_results WHERE run_id = $1 ORDER BY position', [runId]);
  const saying = (say: string, values: object = {}) =>
    shortEvaluation({ name: say, script: [{ say }, { end: 'Done' }], ...values });

  it('has a row for each case of an ended run, with its outcomes, latencies and the call that shows them best', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
      saying('Hello', { key: 'greets' }),
      saying('Fail', {
        name: '{{word}} now',
        script: [{ say: '{{word}}' }],
        variables: [{ word: 'Fail' }, { word: 'Hello' }],
      }),
      saying('Refuse'),
    ]);
    const run = await executeRun(client, agentId, { repeat: 2, agentVersion: 'a1b2c3d' });
    const rows = await rowsOf(run.id);
    const counts = rows.map(({ passed, failed, invalid, error }) => [passed, failed, invalid, error]);
    expect(counts).toEqual([
      [2, 0, 0, 0],
      [0, 2, 0, 0],
      [2, 0, 0, 0],
      [0, 0, 0, 2],
    ]);
    expect(rows.map(({ latencies }) => latencies.length)).toEqual([2, 2, 2, 0]);
    expect(rows.map(({ position }) => position)).toEqual([0, 1, 2, 3]);
    expect(rows.map(({ name }) => name)).toEqual([
      'Hello',
      '{{word}} now (word: Fail)',
      '{{word}} now (word: Hello)',
      'Refuse',
    ]);
    expect(rows[0]).toMatchObject({
      agent_id: agentId,
      schedule_id: null,
      case_key: evaluationIds[0],
      evaluation_key: 'greets',
      agent_version: 'a1b2c3d',
      ended_at: new Date(run.endedAt),
      tester: { service: expect.stringMatching(/^\d/), judge: null, transcription: null, speech: [] },
    });
    const calls = (await client.get(`/runs/${run.id}/calls?outcome=failed`)).body.data;
    expect(calls.map(({ id }: { id: string }) => id)).toContain(rows[1].call_id);
  });

  it('is in the list of runs as counts, also of runs of earlier versions, open ones and cancelled ones', async () => {
    const { client, agentId } = await prepareEvaluations(app, [saying('Hello'), saying('Fail'), saying('Refuse')]);
    const ended = await executeRun(client, agentId, { agentVersion: 'a1b2c3d' });
    const list = async () => (await client.get(`/agents/${agentId}/runs`)).body.data;
    const outcomes = { passed: 1, failed: 1, invalid: 0, error: 1, cancelled: 0, pending: 0, provisional: 0 };
    const expected = { id: ended.id, status: 'FAILED', outcomes, score: 50, passRate: 0.5 };
    expect(await list()).toEqual([
      expect.objectContaining({ ...expected, agentVersion: 'a1b2c3d', endedAt: ended.endedAt }),
    ]);
    await sql(app.databaseUrl, 'UPDATE runs SET outcomes = NULL WHERE id = $1', [ended.id]);
    expect(await list()).toMatchObject([expected]);

    const { id } = (await client.post(`/agents/${agentId}/runs`, { repeat: 50, concurrency: 1 })).body.data;
    const [open] = await list();
    expect(open).toMatchObject({ id, status: expect.stringMatching(/QUEUED|RUNNING/), endedAt: null });
    const { data: details } = (await client.post(`/runs/${id}/cancel`)).body;
    expect((await list())[0]).toMatchObject({ id, status: 'CANCELLED', outcomes: details.counts });
    expect(details.counts.cancelled).toBeGreaterThan(0);
  });

  it('has no score and no pass rate until a call counts', async () => {
    const { client, agentId } = await prepareEvaluations(app, [saying('Refuse')]);
    await executeRun(client, agentId);
    const [run] = (await client.get(`/agents/${agentId}/runs`)).body.data;
    expect(run).toMatchObject({ status: 'FAILED', outcomes: { error: 1 }, score: null, passRate: null });
  });

  it('has the schedule of the run', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const history = app.nest.get(CaseHistoryService);
    const run = await executeRun(client, agentId);
    const scheduleId = randomUUID();
    await sql(app.databaseUrl, 'UPDATE runs SET schedule_id = $2 WHERE id = $1', [run.id, scheduleId]);
    await history.forgetRun(run.id);
    await history.record(run);
    const [{ case_key: key }] = await rowsOf(run.id);
    expect((await client.get(`/agents/${agentId}/cases/${key}/history`)).body.data).toMatchObject([{ scheduleId }]);
    expect((await client.get(`/agents/${agentId}/runs`)).body.data).toMatchObject([{ scheduleId }]);
  });

  it('has the same hash of a case until what is asked changes; its name and tags are not asked', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app);
    const hash = async (body: object = {}) =>
      (await rowsOf((await executeRun(client, agentId, body)).id))[0].definition_hash;
    const first = await hash();
    // What the agent is given decides what it says, as in the body of a schedule that is changed.
    const given = await hash({ agentVariables: { name: 'Rossi' } });
    expect(given).not.toBe(first);
    expect(await hash({ agentVariables: { name: 'Rossi' } })).toBe(given);
    await client.patch(`/evaluations/${evaluationIds[0]}`, { name: 'Another name', tags: ['new'] });
    expect(await hash()).toBe(first);
    await client.patch(`/evaluations/${evaluationIds[0]}`, {
      checks: [{ name: 'Greets', type: 'says', text: 'welcome', weight: 2 }],
    });
    expect(await hash()).not.toBe(first);
  });

  it('is read by the case, or by the key of its evaluation, newest first', async () => {
    const word = (say: string) => ({ name: '{{word}}', script: [{ say: '{{word}}' }], variables: [{ word: say }] });
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
      saying('Hello', { key: 'greets / you?' }),
      shortEvaluation(word('Fail')),
      saying('Refuse'),
    ]);
    const first = await executeRun(client, agentId, { repeat: 2 });
    await client.patch(`/evaluations/${evaluationIds[0]}`, { script: [{ say: 'Fail' }] });
    const second = await executeRun(client, agentId, { agentVersion: 'b' });
    const history = async (key: string, query = '') =>
      (await client.get(`/agents/${agentId}/cases/${encodeURIComponent(key)}/history${query}`)).body;

    const { data, meta, message } = await history('greets / you?');
    expect([message, meta.total]).toEqual(['History of the case retrieved successfully', 2]);
    const outcomes = { passed: 0, failed: 1, invalid: 0, error: 0 };
    expect(data).toEqual([
      expect.objectContaining({ runId: second.id, agentVersion: 'b', state: 'failed', outcomes, passRate: 0 }),
      expect.objectContaining({ runId: first.id, state: 'passed', passRate: 1, endedAt: first.endedAt, name: 'Hello' }),
    ]);
    expect(data[1].latency).toMatchObject({ count: 2, p50: expect.any(Number), p95: null });
    expect((await client.get(`/calls/${data[0].callId}`)).body.data).toMatchObject({
      runId: second.id,
      outcome: 'failed',
    });

    const { caseKey } = (await history('greets / you?')).data[0];
    expect((await history(caseKey, '?limit=1&page=2')).data).toEqual([data[1]]);
    const [{ case_key: row }] = (await rowsOf(first.id)).filter(({ name }: { name: string }) => name.includes('word'));
    expect((await history(row)).data.map(({ state }: any) => state)).toEqual(['failed', 'failed']);
    expect((await history(evaluationIds[2]!)).data[0]).toMatchObject({ state: 'not_judged', passRate: null });

    for (const unknown of ['unknown', '%00', '..%2F..'])
      expectNotFound(await client.get(`/agents/${agentId}/cases/${unknown}/history`));
    await sql(app.databaseUrl, 'DELETE FROM runs WHERE id = $1', [first.id]);
    expect((await history(caseKey)).data[1]).toMatchObject({ runId: first.id, callId: null, state: 'passed' });
  });

  it('is written in the transaction that ends the run: without its rows, the run has not ended', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const history = app.nest.get(CaseHistoryService);
    const record = jest.spyOn(history, 'record').mockRejectedValue(new Error('The process dies here'));
    const { id } = (await client.post(`/agents/${agentId}/runs`, {})).body.data;
    await until('the run is being ended', () => record.mock.calls.length > 0);

    expect((await client.get(`/runs/${id}?wait=1`)).body.data.status).not.toBe('COMPLETED');
    record.mockRestore();
    await app.nest.get(RunFinisher).finish(id);
    expect((await client.get(`/runs/${id}`)).body.data.status).toBe('COMPLETED');
    expect(await rowsOf(id)).toHaveLength(1);
  });

  it('has no rows of a cancelled run, and none of one that was deleted on request', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = (await client.post(`/agents/${agentId}/runs`, { repeat: 50, concurrency: 1 })).body.data;
    expect((await client.post(`/runs/${id}/cancel`)).body.data.status).toBe('CANCELLED');
    expect(await rowsOf(id)).toEqual([]);
    const run = await executeRun(client, agentId);
    expect(await rowsOf(run.id)).toHaveLength(1);
    expect((await client.delete(`/runs/${run.id}`)).status).toBe(200);
    expect(await rowsOf(run.id)).toEqual([]);
  });

  it('keeps the rows of a run for 400 days, also after the run itself was deleted by its retention', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const [kept, old] = [await executeRun(client, agentId), await executeRun(client, agentId)];
    const age = (id: string, days: number) =>
      sql(app.databaseUrl, `UPDATE case_results SET ended_at = now() - $2 * interval '24 hours' WHERE run_id = $1`, [
        id,
        days,
      ]);
    await age(kept.id, 399);
    await age(old.id, 401);
    await sql(app.databaseUrl, 'DELETE FROM runs WHERE id = $1', [kept.id]);
    const history = app.nest.get(CaseHistoryService);
    expect(await history.deleteExpired()).toBe(1);
    expect(await history.deleteExpired()).toBe(0);
    expect([await rowsOf(kept.id), await rowsOf(old.id)]).toEqual([[expect.anything()], []]);
    expect(await history.eraseAgent(randomUUID())).toBe(0);
  });
});
