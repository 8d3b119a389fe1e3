import { setTimeout as sleep } from 'node:timers/promises';
import { expectError } from '../support/expect.js';
import type { HttpClient } from '../support/http.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('controlling runs', () => {
  let app: TestApp;
  let agent: ScriptedAgent;

  beforeAll(async () => {
    agent = await startScriptedAgent(async ({ model, said }) => {
      if (model === 'slow') return delayed(30_000);
      if (model === 'steady') return delayed(400);
      return said === 'Are you there?' ? 'No.' : 'Welcome!';
    });
    app = await createTestApp({ env: callEnv(agent.url) });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const start = async (client: HttpClient, agentId: string, body: object = {}): Promise<any> => {
    const { status, body: response } = await client.post(`/agents/${agentId}/runs`, body);
    expect(status).toBe(201);
    return response.data;
  };
  const isUnderWay = (assistant: string, count: number) =>
    until(`${count} calls are under way`, () => agent.active.get(assistant) === count);

  describe('cancelling', () => {
    it('stops running calls within a second and records nothing of them later', async () => {
      const { client, agentId } = await prepareEvaluations(app, undefined, { assistantId: 'slow' });
      const run = await start(client, agentId, { repeat: 6, concurrency: 3 });
      await isUnderWay('slow', 3);
      const { status, body } = await client.post(`/runs/${run.id}/cancel`);
      expect([status, body.message]).toEqual([200, 'Run cancelled successfully']);
      expect(body.data).toMatchObject({
        status: 'CANCELLED',
        endedAt: expect.any(String),
        counts: { passed: 0, failed: 0, invalid: 0, error: 0, cancelled: 6, pending: 0, provisional: 0 },
      });
      await until('no call is under way', () => agent.active.get('slow') === 0, 1_000);
      await sleep(500);
      const calls = (await client.get(`/runs/${run.id}/calls`)).body.data;
      expect(new Set(calls.map((call: any) => call.status))).toEqual(new Set(['CANCELLED']));
      expect(calls.every((call: any) => call.outcome === null && call.attempts.length === 0)).toBe(true);
      const ids = calls.map(({ id }: any) => `'${id}'`).join();
      expect(await sql(app.databaseUrl, `SELECT 1 FROM call_results WHERE call_id IN (${ids})`)).toEqual([]);
      expect(agent.requests.filter(({ model }) => model === 'slow')).toHaveLength(3);
    });

    it('keeps ended calls and is idempotent', async () => {
      const { client, agentId } = await prepareEvaluations(app, undefined, { assistantId: 'steady' });
      const run = await start(client, agentId, { repeat: 20, concurrency: 1 });
      await until('a call has ended', async () => (await client.get(`/runs/${run.id}`)).body.data.counts.passed > 0);
      const first = (await client.post(`/runs/${run.id}/cancel`)).body.data;
      expect(first.score).toBe(100);
      expect(first.counts.passed + first.counts.cancelled).toBe(20);
      const again = await client.post(`/runs/${run.id}/cancel`);
      expect([again.status, again.body.data]).toEqual([200, first]);
      await sleep(600);
      expect((await client.get(`/runs/${run.id}`)).body.data).toEqual(first);
    });

    it('returns 409 after the run has ended', async () => {
      const { client, agentId } = await prepareEvaluations(app);
      const { id } = await executeRun(client, agentId);
      expectError(await client.post(`/runs/${id}/cancel`), 409, 'CONFLICT', 'The run has ended already');
    });

    it('works at any moment, also while calls are claimed and recorded', async () => {
      const { client, agentId } = await prepareEvaluations(app);
      const statuses: number[] = [];
      for (let round = 0; round < 15; round++) {
        const { id } = await start(client, agentId, { repeat: 40, concurrency: 40 });
        await sleep((round % 5) * 10);
        statuses.push((await client.post(`/runs/${id}/cancel`)).status);
        const ended = (await client.get(`/runs/${id}`)).body.data;
        const { passed, cancelled, pending } = ended.counts;
        expect({ total: passed + cancelled, pending }).toEqual({ total: 40, pending: 0 });
      }
      expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    });
  });

  describe('rerunning', () => {
    it('uses the evaluations of the run and the current agent', async () => {
      const { client, agentId, evaluationIds } = await prepareEvaluations(app);
      const first = await executeRun(client, agentId, { name: 'Nightly', repeat: 2, concurrency: 7, minimumScore: 50 });
      await client.patch(`/evaluations/${evaluationIds[0]}`, { script: [{ say: 'Changed' }], name: 'Changed' });
      await client.patch(`/agents/${agentId}`, { assistantId: 'renamed' });
      const from = agent.requests.length;
      const { status, body } = await client.post(`/runs/${first.id}/rerun`);
      expect(status).toBe(201);
      expect(body.data).toMatchObject({ name: 'Nightly', repeat: 2, concurrency: 7, minimumScore: 50, totalCalls: 2 });
      expect(body.data.id).not.toBe(first.id);
      const ended = (await client.get(`/runs/${body.data.id}?wait=30`)).body.data;
      expect(ended).toMatchObject({ status: 'COMPLETED', score: 100 });
      expect(agent.requests.slice(from).map(({ model, said }) => [model, said])).toEqual([
        ['renamed', 'Hello'],
        ['renamed', 'Hello'],
      ]);
    });

    it('runs with only=failed the evaluations with a call that did not pass', async () => {
      const { client, agentId } = await prepareEvaluations(app, [
        shortEvaluation({ name: 'Passes' }),
        shortEvaluation({ name: 'Fails', script: [{ say: 'Are you there?' }, { end: 'Done' }] }),
      ]);
      const first = await executeRun(client, agentId, { repeat: 2 });
      expect(first.counts).toMatchObject({ passed: 2, failed: 2 });
      const planned = await client.post<any>(`/runs/${first.id}/rerun?only=failed&dryRun=true`);
      const plan = { totalCalls: 2, dialling: null, evaluations: [{ name: 'Fails' }] };
      expect(planned).toMatchObject({ status: 200, body: { data: plan } });
      expect((await client.get<any>(`/agents/${agentId}/runs`)).body.meta.total).toBe(1);
      const { body } = await client.post(`/runs/${first.id}/rerun?only=failed`);
      expect(body.data.totalCalls).toBe(2);
      await client.get(`/runs/${body.data.id}?wait=30`);
      const calls = (await client.get(`/runs/${body.data.id}/calls`)).body.data;
      expect(calls.map(({ evaluationName }: any) => evaluationName)).toEqual(['Fails', 'Fails']);
    });

    it('with only=failed requires an ended run with a failure', async () => {
      const { client, agentId } = await prepareEvaluations(app);
      const passed = await executeRun(client, agentId);
      const nothing = await client.post(`/runs/${passed.id}/rerun?only=failed`);
      expectError(nothing, 409, 'CONFLICT', 'Every call of the run has passed');
      await client.patch(`/agents/${agentId}`, { assistantId: 'slow' });
      const { id } = await start(client, agentId);
      const early = await client.post(`/runs/${id}/rerun?only=failed`);
      expectError(early, 409, 'CONFLICT', 'The run has not ended yet');
      await client.post(`/runs/${id}/cancel`);
    });
  });

  describe('snapshots', () => {
    it('later edits do not change a run', async () => {
      const { client, agentId, evaluationIds, personalityId } = await prepareEvaluations(app, undefined, {
        assistantId: 'steady',
        name: 'Before',
      });
      await client.patch(`/personalities/${personalityId}`, { interrupts: 'sometimes' });
      const from = agent.requests.length;
      const { id } = await start(client, agentId, { repeat: 3, concurrency: 1, minimumScore: 100 });
      await client.patch(`/evaluations/${evaluationIds[0]}`, {
        name: 'After',
        script: [{ say: 'After' }],
        checks: [{ name: 'Never', type: 'says', text: 'never said' }],
      });
      await client.patch(`/personalities/${personalityId}`, { name: 'After', interrupts: 'never' });
      await client.patch(`/agents/${agentId}`, { name: 'After', assistantId: 'after' });
      await client.delete(`/evaluations/${evaluationIds[0]}`);
      const run = (await client.get(`/runs/${id}?wait=30`)).body.data;
      expect(run).toMatchObject({ status: 'COMPLETED', score: 100, counts: { passed: 3 } });
      expect(agent.requests.slice(from).map(({ model, said }) => `${model} ${said}`)).toEqual([
        'steady Hello',
        'steady Hello',
        'steady Hello',
      ]);
      const [call] = (await client.get(`/runs/${id}/calls`)).body.data;
      expect((await client.get(`/calls/${call.id}`)).body.data).toMatchObject({
        evaluationName: 'Is greeted',
        evaluation: {
          name: 'Is greeted',
          personality: { name: 'Impatient regular', voice: { interrupts: 'sometimes' } },
        },
        agent: { name: 'Before', assistantId: 'steady' },
      });
    });
  });

  describe('waiting', () => {
    it('responds at the end of the run', async () => {
      const { client, agentId } = await prepareEvaluations(app, undefined, { assistantId: 'steady' });
      const { id } = await start(client, agentId);
      const startedAt = performance.now();
      const { body } = await client.get(`/runs/${id}?wait=30`);
      const took = performance.now() - startedAt;
      expect(body.data.status).toBe('COMPLETED');
      expect(took).toBeGreaterThan(300);
      expect(took).toBeLessThan(20_000);
      expect(Date.now() - Date.parse(body.data.endedAt)).toBeLessThan(10_000);
    });

    it('responds when the time has passed', async () => {
      const { client, agentId } = await prepareEvaluations(app, undefined, { assistantId: 'slow' });
      const { id } = await start(client, agentId);
      const startedAt = performance.now();
      const { body } = await client.get(`/runs/${id}?wait=1`);
      expect(['QUEUED', 'RUNNING']).toContain(body.data.status);
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
      expect(performance.now() - startedAt).toBeLessThan(15_000);
      await client.post(`/runs/${id}/cancel`);
    });
  });
});
