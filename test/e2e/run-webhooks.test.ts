import { Webhook } from 'standardwebhooks';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { eventually, type Receiver, startReceiver } from '../support/receiver.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const SECRET = `whsec_${Buffer.from('a secret of twenty-four!').toString('base64')}`;
const PUBLIC_URL = 'https://tests.example.com';
const EVENTS = ['run.completed', 'run.failed', 'agent.score_dropped', 'evaluation.critical_failed'];

describe('webhook events of a run', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let receiver: Receiver;

  beforeAll(async () => {
    agent = await startScriptedAgent(({ model, response }) => {
      if (model === 'broken') return void response.writeHead(403).end();
      return model === 'rude' ? 'What?' : 'Welcome!';
    });
    receiver = await startReceiver();
    app = await createTestApp({ env: { ...callEnv(agent.url), PUBLIC_URL } });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
    await receiver.close();
  });

  /** A workspace with an endpoint for all events, and an agent with its own webhookUrl. */
  async function prepare(evaluations?: object[], { threshold }: { threshold?: number } = {}) {
    const prepared = await prepareEvaluations(app, evaluations, { name: 'Bella Vista', webhookSecret: SECRET });
    const { client, agentId, workspaceId } = prepared;
    await client.patch(`/agents/${agentId}`, { webhookUrl: `${receiver.url}/${agentId}/own` });
    await client.post('/workspace/webhooks', { url: `${receiver.url}/${agentId}/workspace`, events: EVENTS });
    if (threshold !== undefined) await client.patch('/workspace', { scoreThreshold: threshold });
    /** Requests received for one target, after all deliveries have arrived. */
    const received = async (target: 'own' | 'workspace') => {
      await eventually(
        () => sql(app.databaseUrl, `SELECT status FROM webhook_deliveries WHERE workspace_id = '${workspaceId}'`),
        (rows) => rows.every(({ status }: any) => status === 'DELIVERED'),
      );
      return receiver.received.filter(({ path }) => path === `/hook/${agentId}/${target}`);
    };
    const types = async (target: 'own' | 'workspace') =>
      (await received(target)).map(({ body }) => JSON.parse(body).type as string).sort();
    const of = async (type: string): Promise<any[]> =>
      (await received('workspace')).map(({ body }) => JSON.parse(body)).filter((event) => event.type === type);
    const behave = (assistantId: string) => client.patch(`/agents/${agentId}`, { assistantId });
    return { ...prepared, received, types, of, behave };
  }

  it('sends run.completed once to the endpoint and once to the agent, each signed', async () => {
    const { client, agentId, types, of, received } = await prepare();
    const run = await executeRun(client, agentId, { name: 'Nightly' });
    expect(await types('workspace')).toEqual(['run.completed']);
    expect(await types('own')).toEqual(['run.completed']);
    const [event] = await of('run.completed');
    expect(event).toEqual({
      type: 'run.completed',
      timestamp: expect.any(String),
      data: {
        reportUrl: `${PUBLIC_URL}/runs/${run.id}/report`,
        run: {
          label: 'READ',
          id: run.id,
          name: 'Nightly',
          createdAt: run.createdAt,
          updatedAt: run.updatedAt,
          userId: run.userId,
          workspaceId: run.workspaceId,
          agentId,
          metrics: { status: 'COMPLETED', score: 100, totalCalls: 1 },
        },
      },
    });
    const [delivery] = await received('own');
    const headers = delivery?.headers as Record<string, string>;
    expect(new Webhook(SECRET).verify(delivery?.body ?? '', headers)).toEqual(event);
  });

  it('sends run.failed with the reason if the gate is not met or nothing could be counted', async () => {
    const { client, agentId, types, of, behave } = await prepare();
    await behave('rude');
    await executeRun(client, agentId, { minimumScore: 1 });
    await behave('broken');
    await executeRun(client, agentId);
    expect(await types('workspace')).toEqual(['run.failed', 'run.failed']);
    expect(await types('own')).toEqual(['run.failed', 'run.failed']);
    const events = await of('run.failed');
    expect(events.map(({ data }) => data.reason).sort()).toEqual([
      'No call could be counted: 1 ended as error.',
      'The score of 0 is below the minimum of 1.',
    ]);
    expect(events[0].data.run.metrics.status).toBe('FAILED');
  });

  it('names up to 20 cases of a failed run, each with the outcome and the reason of its first call', async () => {
    const evaluations = Array.from({ length: 22 }, (_, index) => shortEvaluation({ name: `Case ${index}` }));
    evaluations[3] = shortEvaluation({ name: 'Asks back', key: 'asks-back', checks: [{ type: 'says', text: 'what' }] });
    const { client, agentId, of, behave } = await prepare(evaluations);
    await behave('rude');
    const run = await executeRun(client, agentId, { repeat: 2 });
    const [event] = await of('run.failed');
    expect(event.data.reportUrl).toBe(`${PUBLIC_URL}/runs/${run.id}/report`);
    const { failedCases } = event.data;
    expect(failedCases).toHaveLength(20);
    const [call] = (await client.get(`/runs/${run.id}/calls?outcome=failed&limit=1`)).body.data;
    expect(failedCases[0]).toEqual({ key: null, name: 'Case 0', outcome: 'failed', reason: call.reason });
    expect(failedCases.map(({ name }: any) => name)).not.toContain('Asks back');
    await behave('broken');
    await executeRun(client, agentId, { evaluationKeys: ['asks-back'] });
    const events = await of('run.failed');
    const uncounted = events.find(({ data }) => data.failedCases.length === 1);
    expect(uncounted.data.failedCases).toMatchObject([{ key: 'asks-back', name: 'Asks back', outcome: 'error' }]);
  });

  it('sends agent.score_dropped only when the score drops below the threshold', async () => {
    const { client, agentId, types, of, behave } = await prepare(undefined, { threshold: 80 });
    const drops = async () => (await of('agent.score_dropped')).length;
    await behave('rude');
    await executeRun(client, agentId);
    // The first run has no previous score.
    expect(await drops()).toBe(0);
    await behave('polite');
    await executeRun(client, agentId);
    await executeRun(client, agentId);
    await behave('broken');
    await executeRun(client, agentId);
    // A run without counted calls has no score.
    expect(await drops()).toBe(0);
    await behave('rude');
    const dropped = await executeRun(client, agentId);
    expect(await drops()).toBe(1);
    await executeRun(client, agentId);
    expect(await drops()).toBe(1);
    expect((await of('agent.score_dropped'))[0].data).toEqual({
      agentId,
      agentName: 'Bella Vista',
      runId: dropped.id,
      score: 0,
      previousScore: 100,
      scoreThreshold: 80,
    });
    expect(await types('own')).toEqual(await types('workspace'));
  });

  it('sends evaluation.critical_failed for each failed call of a critical evaluation, with the failed criteria', async () => {
    const { client, agentId, of, types, behave } = await prepare([
      shortEvaluation({ name: 'Not critical' }),
      shortEvaluation({
        critical: true,
        checks: [
          { name: 'Greets', type: 'says', text: 'welcome' },
          { name: 'Asks back', type: 'says', text: 'what' },
        ],
      }),
    ]);
    await behave('rude');
    const run = await executeRun(client, agentId, { repeat: 2 });
    expect(await types('workspace')).toEqual([
      'evaluation.critical_failed',
      'evaluation.critical_failed',
      'run.failed',
    ]);
    const calls = (await client.get(`/runs/${run.id}/calls?outcome=failed`)).body.data;
    const critical = calls.filter(({ evaluationId }: any) => evaluationId !== calls[0].evaluationId);
    const events = await of('evaluation.critical_failed');
    expect(events.map(({ data }) => data.callId).sort()).toEqual(critical.map(({ id }: any) => id).sort());
    for (const { data } of events) {
      expect(data).toMatchObject({ runId: run.id, failedCriteria: ['Greets'] });
      expect(data.evaluationId).toBe(critical[0].evaluationId);
    }
  });

  it('sends nothing for a cancelled run', async () => {
    const { client, agentId, types } = await prepare();
    const { id } = (await client.post(`/agents/${agentId}/runs`, { repeat: 50, concurrency: 1 })).body.data;
    expect((await client.post(`/runs/${id}/cancel`)).status).toBe(200);
    expect(await types('workspace')).toEqual([]);
    expect(await types('own')).toEqual([]);
  });
});
