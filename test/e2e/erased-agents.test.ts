import { existsSync } from 'node:fs';
import path from 'node:path';
import { ErasedAgentsService } from '../../src/modules/agents/erased-agents.service.js';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { agentBody } from '../factories/bodies.js';
import { expectError, expectForbidden, expectInvalid, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { LogLines } from '../support/log-lines.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { insertRecording } from '../support/recordings.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const DELAY_MS = 60_000;
const SECRET = `whsec_${Buffer.from('a secret of twenty-four!').toString('base64')}`;

describe('DELETE /agents/{id}?permanently=true', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let receiver: Receiver;
  const log = new LogLines();

  beforeAll(async () => {
    agent = await startScriptedAgent(({ model }) => (model === 'slow' ? delayed(30_000) : 'Welcome!'));
    receiver = await startReceiver();
    app = await createTestApp({ env: callEnv(agent.url), log });
    app.nest.get(RetentionRepository).pruneDelayMs = 0;
  });
  beforeEach(() => eraseAfter(0));
  afterAll(async () => {
    await app.close();
    await agent.close();
    await receiver.close();
  });

  const query = (text: string, ...values: unknown[]) => sql(app.databaseUrl, text, values);
  const eraseAfter = (ms: number) => (app.nest.get(ErasedAgentsService).delayMs = ms);
  const erase = (client: HttpClient, agentId: string) => client.delete(`/agents/${agentId}?permanently=true`);
  /** Tables that have this text in a row. */
  const tablesWith = async (text: string): Promise<string[]> => {
    const tables = await query(`SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`);
    const found: string[] = [];
    for (const { name } of tables) {
      const [row] = await query(
        `SELECT EXISTS (SELECT FROM ${name} t WHERE t::text LIKE '%' || $1 || '%') AS has`,
        text,
      );
      if (row!.has) found.push(name);
    }
    return found;
  };

  /** Adds to an agent everything that belongs to one. */
  async function fill(client: HttpClient, agentId: string) {
    await client.patch(`/agents/${agentId}`, { webhookUrl: `${receiver.url}/${agentId}`, webhookSecret: SECRET });
    await client.put(`/agents/${agentId}/connection`, { protocol: 'chat-completions', url: agent.url });
    await client.post(`/agents/${agentId}/connection/test`);
    await executeRun(client, agentId);
    const run = await executeRun(client, agentId, { repeat: 3, notWorseThan: 'previous' });
    const calls: string[] = (await client.get(`/runs/${run.id}/calls`)).body.data.map(({ id }: any) => id);
    const recording = await insertRecording(app.nest, calls[0]!);
    const link = (await client.post(`/runs/${run.id}/report-links`, { expiresInHours: 1 })).body.data;
    const evaluations = (await client.get(`/agents/${agentId}/evaluations`)).body.data;
    await client.delete(`/evaluations/${evaluations[1].id}`);
    return { runId: run.id as string, calls, recording, link, evaluationId: evaluations[0].id as string, evaluations };
  }
  const prepare = async () => {
    const subject = await prepareEvaluations(app, [shortEvaluation(), shortEvaluation({ name: 'Second' })]);
    const webhook = await subject.client.post('/workspace/webhooks', {
      url: `${receiver.url}/workspace`,
      events: ['run.completed'],
    });
    return { ...subject, webhookId: webhook.body.data.id as string };
  };
  const everyRoute = ({ runId, calls, link, evaluationId }: Awaited<ReturnType<typeof fill>>, agentId: string) => [
    ...['', '/connection', '/evaluations', '/evaluations/export', '/runs', '/metrics'].map(
      (suffix) => `/agents/${agentId}${suffix}`,
    ),
    ...['', '?wait=1', '/metrics', '/calls', '/junit', '/report', '/events', '/comparison', '/report-links'].map(
      (suffix) => `/runs/${runId}${suffix}`,
    ),
    ...['', '/recording', '/wire'].map((suffix) => `/calls/${calls[0]}${suffix}`),
    `/evaluations/${evaluationId}`,
    link.url,
  ];

  it('hides everything of the agent at once, before any of it is deleted', async () => {
    eraseAfter(DELAY_MS);
    const { client, agentId, personalityId } = await prepare();
    const filled = await fill(client, agentId);
    const before = (await client.get(`/agents/${agentId}`)).body.data;
    const routes = everyRoute(filled, agentId);
    for (const route of routes) expect([route, (await client.get(route)).status]).toEqual([route, 200]);

    const { status, body } = await erase(client, agentId);
    expect([status, body.message]).toEqual([202, 'Agent is being erased']);
    expect(body.data).toEqual({ ...before, deletedAt: expect.any(String), updated_at: expect.any(String) });

    for (const route of routes) expect([route, (await client.get(route)).status]).toEqual([route, 404]);
    const { runId, evaluationId } = filled;
    expectNotFound(await client.patch(`/evaluations/${evaluationId}`, { name: 'Back again' }));
    expectNotFound(await client.delete(`/evaluations/${evaluationId}`));
    expectNotFound(await client.delete(`/runs/${runId}`));
    for (const route of [`/runs/${runId}/rerun`, `/runs/${runId}/cancel`, `/agents/${agentId}/restore`]) {
      expectNotFound(await client.post(route));
    }
    expectNotFound(await client.post(`/runs/${runId}/report-links`, { expiresInHours: 1 }));
    expectNotFound(await client.post(`/agents/${agentId}/evaluations`, shortEvaluation({ personalityId })));
    expectNotFound(await client.post(`/agents/${agentId}/runs`, {}));
    expectNotFound(await client.patch(`/agents/${agentId}`, { name: 'Back again' }));
    expectNotFound(await erase(client, agentId));
    expectNotFound(await client.delete(`/agents/${agentId}`));
    for (const list of ['/agents', '/agents?deleted=true']) {
      const listed = (await client.get(list)).body;
      expect([listed.data, listed.meta.total]).toEqual([[], 0]);
    }
    expect(await tablesWith(agentId)).toEqual(expect.arrayContaining(['agents', 'evaluations', 'runs', 'calls']));
  });

  it('deletes every row and file of the agent, and nothing of another one', async () => {
    const { client, agentId, personalityId, workspaceId } = await prepare();
    const other = (await client.post('/agents', agentBody())).body.data.id;
    for (const name of ['First', 'Second']) {
      await client.post(`/agents/${other}/evaluations`, shortEvaluation({ name, personalityId }));
    }
    const kept = await fill(client, other);
    const filled = await fill(client, agentId);
    const ids = [
      agentId,
      filled.runId,
      ...filled.calls,
      ...filled.evaluations.map(({ id }: any) => id),
      filled.link.id,
    ];
    // Every response of these has other ids or times.
    const changing = [`/agents/${other}/metrics`, `/runs/${kept.runId}/events`];
    const routes = everyRoute(kept, other).filter((route) => !changing.includes(route));
    const read = async () => {
      const responses = await Promise.all(routes.map((route) => client.get(route)));
      return responses.map(({ status, body }) => ({ status, body }));
    };
    const before = await read();
    const [{ folders }] = (await query(
      `SELECT array_agg(DISTINCT run_id::text) AS folders FROM recordings WHERE workspace_id = $1`,
      workspaceId,
    )) as [{ folders: string[] }];
    expect(folders.sort()).toEqual([filled.runId, kept.runId].sort());

    expect((await erase(client, agentId)).status).toBe(202);
    await until('the agent is erased', async () => (await tablesWith(agentId)).length === 0);
    await until('its calls are gone', async () => (await tablesWith(filled.runId)).length === 0);
    for (const id of ids) expect([id, await tablesWith(id)]).toEqual([id, []]);
    expect(existsSync(path.dirname(filled.recording.paths.audio))).toBe(false);

    expect(existsSync(kept.recording.paths.audio)).toBe(true);
    expect(await read()).toEqual(before);
    expect((await client.get(`/personalities/${personalityId}`)).status).toBe(200);
    expect((await client.get('/agents')).body.data).toMatchObject([{ id: other }]);
    expectNotFound(await client.post(`/agents/${agentId}/restore`));
    const messages = log.lines.map(({ msg }) => String(msg)).filter((msg) => msg.includes(agentId));
    expect(messages.join('\n')).toMatch(
      /is erased at the request of user .* with API key [0-9a-f-]{36}\n.* was erased/,
    );
  });

  it('succeeds for an agent that was deleted before', async () => {
    const { client, agentId } = await prepare();
    const { body } = await client.delete(`/agents/${agentId}?permanently=false`);
    expect(body.message).toBe('Agent deleted successfully');
    expect((await erase(client, agentId)).body.data).toMatchObject({ id: agentId, deletedAt: body.data.deletedAt });
    await until('the agent is erased', async () => (await tablesWith(agentId)).length === 0);
  });

  it('returns 409 and changes nothing while a run goes on, also one of a deleted agent', async () => {
    const { client, agentId } = await prepareEvaluations(app, undefined, { assistantId: 'slow' });
    const run = (await client.post(`/agents/${agentId}/runs`, {})).body.data;
    const refused = async () =>
      expectError(
        await erase(client, agentId),
        409,
        'CONFLICT',
        'A run of the agent has not ended yet; cancel it first',
      );
    await refused();
    await until('the call is running', () => agent.active.get('slow') === 1);
    await client.delete(`/agents/${agentId}`);
    await refused();
    expect((await client.post(`/agents/${agentId}/restore`)).status).toBe(200);
    await client.post(`/runs/${run.id}/cancel`);
    expect((await erase(client, agentId)).status).toBe(202);
  });

  it('is for ADMIN keys of the workspace, and for true and false only', async () => {
    const { client, agentId, ...subject } = await prepare();
    for (const role of ['VIEWER', 'EDITOR'] as const) {
      const refused = await erase(new HttpClient(app.url, (await createKey(app, subject, role)).value), agentId);
      expect([refused.status, refused.body.code]).toEqual([403, 'FORBIDDEN']);
    }
    const stranger = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    expectForbidden(await erase(stranger, agentId));
    for (const value of ['yes', '', '1', 'TRUE', 'true&permanently=false']) {
      expectInvalid(await client.delete(`/agents/${agentId}?permanently=${value}`), 'permanently');
    }
    expect((await client.get(`/agents/${agentId}`)).body.data.deletedAt).toBeNull();
    eraseAfter(DELAY_MS);
    await erase(client, agentId);
    expectNotFound(await erase(stranger, agentId));
    expectNotFound(await stranger.post(`/agents/${agentId}/restore`));
  });

  it('succeeds for one of many concurrent requests', async () => {
    eraseAfter(DELAY_MS);
    const { client, agentId } = await prepare();
    const responses = await Promise.all(Array.from({ length: 8 }, () => erase(client, agentId)));
    expect(responses.map(({ status }) => status).sort()).toEqual([202, ...Array(7).fill(404)]);
  });

  it('does not repeat stored responses about the agent', async () => {
    eraseAfter(DELAY_MS);
    const { client, agentId } = await prepare();
    const { runId } = await fill(client, agentId);
    const keyed = (key: string, route: string, body: object) => client.post(route, body, { 'Idempotency-Key': key });
    const created = (await keyed('made', '/agents', agentBody())).body.data.id;
    const link = await keyed('shared', `/runs/${runId}/report-links`, { expiresInHours: 1 });
    const started = await keyed('begun', `/agents/${agentId}/runs`, {});
    await client.get(`/runs/${started.body.data.id}?wait=60`);
    expect((await keyed('shared', `/runs/${runId}/report-links`, { expiresInHours: 1 })).body).toEqual(link.body);
    const kept = await keyed('kept', '/personalities', { name: 'Kept' });
    for (const id of [created, agentId]) expect((await erase(client, id)).status).toBe(202);
    expectNotFound(await keyed('shared', `/runs/${runId}/report-links`, { expiresInHours: 1 }));
    expectNotFound(await keyed('begun', `/agents/${agentId}/runs`, {}));
    expect((await keyed('made', '/agents', agentBody())).body.data.id).not.toBe(created);
    expect((await keyed('kept', '/personalities', { name: 'Kept' })).body).toEqual(kept.body);
  });

  it('neither lists nor sends deliveries about the agent', async () => {
    eraseAfter(DELAY_MS);
    const { client, agentId, webhookId } = await prepare();
    await executeRun(client, agentId);
    const deliveries = async () => (await client.get(`/workspace/webhooks/${webhookId}/deliveries`)).body;
    await until('it is delivered', async () => (await deliveries()).data[0]?.status === 'DELIVERED');
    const { id } = (await deliveries()).data[0];
    await client.post(`/workspace/webhooks/${webhookId}/test`);
    await query(
      `UPDATE webhook_deliveries SET status = 'PENDING', next_attempt_at = now() + interval '1 hour' WHERE id = $1`,
      id,
    );
    await erase(client, agentId);
    const { data, meta } = await deliveries();
    expect([data.map(({ eventType }: any) => eventType), meta.total]).toEqual([['webhook.test'], 1]);
    expectNotFound(await client.post(`/workspace/webhook-deliveries/${id}/redeliver`));
    const sent = receiver.received.length;
    await query('UPDATE webhook_deliveries SET next_attempt_at = now() WHERE id = $1', id);
    await query(
      `SELECT graphile_worker.add_job('webhooks.deliver', json_build_object('deliveryId', id, 'targetId', target_id))
         FROM webhook_deliveries WHERE id = $1`,
      id,
    );
    await until(
      'the job has run',
      async () =>
        (await query(`SELECT FROM graphile_worker.jobs WHERE task_identifier = 'webhooks.deliver'`)).length === 0,
    );
    expect(receiver.received.length).toBe(sent);
  });
});
