import { AgentsRepository } from '../../src/modules/agents/agents.repository.js';
import { ErasedAgentsService } from '../../src/modules/agents/erased-agents.service.js';
import { expectNotFound } from '../support/expect.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const TESTS_MS = 1_500;

describe('an erasure beside other requests', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let receiver: Receiver;

  beforeAll(async () => {
    agent = await startScriptedAgent(({ model }) => (model === 'slow' ? delayed(TESTS_MS) : 'Welcome!'));
    receiver = await startReceiver();
    app = await createTestApp({ env: callEnv(agent.url) });
  });
  // The job of an erasure runs after the test.
  beforeEach(() => (app.nest.get(ErasedAgentsService).delayMs = 60_000));
  afterAll(async () => {
    await app.close();
    await agent.close();
    await receiver.close();
  });

  const query = (text: string, ...values: unknown[]) => sql<any>(app.databaseUrl, text, values);
  type Subject = Awaited<ReturnType<typeof prepareEvaluations>>;
  const erase = ({ client, agentId }: Subject) => client.delete(`/agents/${agentId}?permanently=true`);
  const statuses = async (requests: Promise<{ status: number }>[]) =>
    (await Promise.all(requests)).map(({ status }) => status);

  it('either finds a run that started or prevents it, also a rerun', async () => {
    const seen = new Set<number>();
    for (let round = 0; round < 12; round++) {
      const subject = await prepareEvaluations(app);
      const { client, agentId } = subject;
      const { id } = await executeRun(client, agentId);
      const starts = () => [client.post(`/agents/${agentId}/runs`, {}), client.post(`/runs/${id}/rerun`)];
      const [before, after] = round % 2 === 0 ? [starts(), []] : [[], starts()];
      const [erased, ...started] = await statuses([erase(subject), ...before, ...after]);
      seen.add(erased!);
      if (erased === 202) {
        // A rerun that had found its run sees the deletion of the agent.
        for (const status of started) expect([404, 409]).toContain(status);
      } else {
        expect([erased, started.includes(201)]).toEqual([409, true]);
      }
      const open = await query(
        `SELECT FROM runs r JOIN agents a ON a.id = r.agent_id
          WHERE a.id = $1 AND a.erased_at IS NOT NULL AND r.status IN ('QUEUED', 'RUNNING')`,
        agentId,
      );
      expect(open).toEqual([]);
    }
    expect([...seen].every((status) => status === 202 || status === 409)).toBe(true);
  });

  it('is final, whatever deletes or restores the agent at the same time', async () => {
    for (let round = 0; round < 6; round++) {
      const subject = await prepareEvaluations(app);
      const { client, agentId } = subject;
      if (round % 2 === 0) await client.delete(`/agents/${agentId}`);
      const [erased, ...others] = await statuses([
        erase(subject),
        client.post(`/agents/${agentId}/restore`),
        client.delete(`/agents/${agentId}`),
        client.patch(`/agents/${agentId}`, { name: 'Still here' }),
      ]);
      expect(erased).toBe(202);
      for (const status of others) expect([200, 404, 409]).toContain(status);
      expectNotFound(await client.get(`/agents/${agentId}`));
      expectNotFound(await client.post(`/agents/${agentId}/restore`));
      for (const list of ['/agents', '/agents?deleted=true']) {
        const { data, meta } = (await client.get(list)).body;
        expect([data, meta.total]).toEqual([[], 0]);
      }
    }
  });

  it('applies an update that overlaps the restore of a deleted agent', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const repository = app.nest.get(AgentsRepository);
    const update = repository.update.bind(repository);
    const spy = jest.spyOn(repository, 'update').mockImplementationOnce(async (...values) => {
      await client.delete(`/agents/${agentId}`);
      const row = await update(...values);
      await client.post(`/agents/${agentId}/restore`);
      return row;
    });
    const changed = await client.patch(`/agents/${agentId}`, { name: 'Restored' });
    spy.mockRestore();
    expect([changed.status, changed.body.data?.name]).toEqual([200, 'Restored']);
  });

  it('hides what is written at the same time, and deletes it', async () => {
    const subject = await prepareEvaluations(app);
    const { client, agentId, personalityId } = subject;
    const evaluation = (await client.get(`/agents/${agentId}/evaluations`)).body.data[0].id;
    const written = Array.from({ length: 10 }, (_, n) => [
      client.post(`/agents/${agentId}/evaluations`, shortEvaluation({ name: `Number ${n}`, personalityId })),
      client.patch(`/evaluations/${evaluation}`, { name: `Changed ${n}` }),
      client.put(`/agents/${agentId}/connection`, { protocol: 'chat-completions', url: agent.url }),
    ]).flat();
    const [erased, ...others] = await statuses([erase(subject), ...written]);
    expect(erased).toBe(202);
    for (const status of others) expect([200, 201, 404]).toContain(status);
    const left = await query('SELECT id FROM evaluations WHERE agent_id = $1', agentId);
    for (const { id } of left) expectNotFound(await client.get(`/evaluations/${id}`));
    app.nest.get(ErasedAgentsService).delayMs = 0;
    await query(`SELECT graphile_worker.add_job('agents.erase', '{}')`);
    await until('it is erased', async () => (await query('SELECT FROM agents WHERE id = $1', agentId)).length === 0);
    expect(await query('SELECT FROM evaluations WHERE agent_id = $1', agentId)).toEqual([]);
  });

  it('does not let a response be repeated that is stored after it', async () => {
    const subject = await prepareEvaluations(app, undefined, { assistantId: 'slow' });
    const { client, agentId } = subject;
    const test = () => client.post(`/agents/${agentId}/connection/test`, undefined, { 'Idempotency-Key': 'slow' });
    const tested = test();
    await until('the agent is being tested', () => agent.active.get('slow') === 1);
    expect((await erase(subject)).status).toBe(202);
    expect((await tested).status).toBe(200);
    expectNotFound(await test());
  });

  it('forgets the stored response of a redelivery', async () => {
    const subject = await prepareEvaluations(app);
    const { client, agentId } = subject;
    const webhook = { url: `${receiver.url}/workspace`, events: ['run.completed'] };
    const { id: webhookId } = (await client.post('/workspace/webhooks', webhook)).body.data;
    await executeRun(client, agentId);
    const deliveries = async () => (await client.get(`/workspace/webhooks/${webhookId}/deliveries`)).body.data;
    await until('it is delivered', async () => (await deliveries())[0]?.status === 'DELIVERED');
    const path = `/workspace/webhook-deliveries/${(await deliveries())[0].id}/redeliver`;
    const redeliver = () => client.post(path, undefined, { 'Idempotency-Key': 'again' });
    const first = await redeliver();
    expect((await redeliver()).body).toEqual(first.body);
    expect((await erase(subject)).status).toBe(202);
    expectNotFound(await redeliver());
  });
});
