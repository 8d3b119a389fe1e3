import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import type { FirstKey } from '../../src/modules/api-keys/first-key.service.js';
import { WebhookDeliveriesRepository } from '../../src/modules/webhooks/webhook-deliveries.repository.js';
import { WebhookPolicy } from '../../src/modules/webhooks/webhook-policy.js';
import { WebhooksService } from '../../src/modules/webhooks/webhooks.service.js';
import { Database } from '../../src/platform/database/database.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { QueueWorker } from '../../src/platform/queue/queue-worker.js';
import { runData } from '../factories/webhook-events.js';
import { HttpClient } from '../support/http.js';
import { eventually, type Receiver, startReceiver } from '../support/receiver.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase } from '../support/test-database.js';
import { crashWebhooks } from '../support/webhook-crash.js';
import { jobContext } from '../support/job-context.js';

describe('webhook delivery', () => {
  let app: TestApp;
  let admin: HttpClient;
  let first: FirstKey;
  let receiver: Receiver;
  let database: Client;

  beforeAll(async () => {
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    first = await app.createWorkspace();
    admin = new HttpClient(app.url, first.apiKey);
    receiver = await startReceiver();
    database = new Client({ connectionString: app.databaseUrl });
    await database.connect();
  });
  afterEach(async () => {
    await database.query('DELETE FROM webhook_endpoints');
    await database.query('DELETE FROM webhook_events');
    receiver.received.length = 0;
  });
  afterAll(async () => {
    await database.end();
    await receiver.close();
    await app.close();
  });

  const endpoint = async (url = receiver.url, events = ['run.completed']): Promise<string> =>
    (await admin.post('/workspace/webhooks', { url, events })).body.data.id;
  const emit = (agentId?: string) =>
    app.nest.get(WebhooksService).emit({
      workspaceId: first.workspaceId,
      type: 'run.completed',
      data: { run: runData(first), reportUrl: null },
      ...(agentId !== undefined && { agentId }),
    });
  const rows = async () => (await database.query('SELECT * FROM webhook_deliveries')).rows;

  it('sends committed events only, and only to subscribed endpoints of the workspace', async () => {
    await endpoint();
    await endpoint(`${receiver.url}/other`, ['run.failed']);
    await admin.patch(`/workspace/webhooks/${await endpoint(`${receiver.url}/disabled`)}`, { enabled: false });
    const stranger = admin.as((await app.createWorkspace()).apiKey);
    await stranger.post('/workspace/webhooks', { url: `${receiver.url}/stranger`, events: ['run.completed'] });
    const store = app.nest.get(Database);
    const undone = store.transaction(async () => {
      await emit();
      throw new Error('roll back');
    });
    await expect(undone).rejects.toThrow('roll back');
    expect(await rows()).toEqual([]);
    await emit();
    await eventually(rows, (all) => all.every(({ status }) => status === 'DELIVERED'));
    expect(receiver.received.map(({ path: where }) => where)).toEqual(['/hook']);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'run.completed',
      data: { run: { name: 'Nightly', metrics: { score: 92.5 } } },
    });
  });

  it.each([
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', undefined],
    ['any other text', { format: 'raw' as const }],
    [null, undefined],
  ])(
    "sends the events of an agent's runs to the agent's webhookUrl, signed with its secret %j",
    async (secret, options) => {
      const agent = await admin.post('/agents', {
        provider: 'AGENT_PROVIDER_1',
        assistantId: 'a',
        apiKey: 'k',
        webhookUrl: `${receiver.url}/agent`,
        webhookSecret: secret,
      });
      await emit(agent.body.data.id);
      await eventually(rows, (all) => all.every(({ status }) => status === 'DELIVERED'));
      const [got] = receiver.received;
      expect(got?.path).toBe('/hook/agent');
      expect(got?.headers['webhook-id']).toMatch(/^[0-9a-f-]{36}$/);
      if (secret === null) expect(got?.headers['webhook-signature']).toBeUndefined();
      else {
        expect(
          new Webhook(secret, options).verify(got?.body ?? '', got?.headers as Record<string, string>),
        ).toMatchObject({
          type: 'run.completed',
        });
        expect(JSON.stringify(await rows())).not.toContain(secret);
      }
      // No events are sent to a deleted agent.
      await admin.delete(`/agents/${agent.body.data.id}`);
      await emit(agent.body.data.id);
      expect(await rows()).toHaveLength(1);
    },
  );

  it('records the attempt of one claim only, and only once', async () => {
    await endpoint();
    const repository = app.nest.get(WebhookDeliveriesRepository);
    const by = app.nest.get(QueueWorker).id;
    const attempt = { time: new Date().toISOString(), responseStatus: 200, durationMs: 1, error: null };
    await database.query(`UPDATE webhook_endpoints SET url = 'http://127.0.0.1:1/'`);
    await emit();
    await eventually(rows, ([row]) => row?.attempts.length === 1);
    const [row] = await rows();
    await database.query('UPDATE webhook_deliveries SET next_attempt_at = now()');
    const one = await repository.claim(row.id, row.target_id, {
      by,
      id: '00000000-0000-4000-8000-000000000001',
      isBusy: false,
    });
    const two = await repository.claim(row.id, row.target_id, {
      by,
      id: '00000000-0000-4000-8000-000000000002',
      isBusy: false,
    });
    expect(one).toMatchObject({ id: row.id, url: 'http://127.0.0.1:1/' });
    expect(two).toBeUndefined();
    if (!one) throw new Error('Not claimed');
    await repository.record({ ...one, claimId: '00000000-0000-4000-8000-000000000002' }, { attempt, result: 'FAILED' });
    expect((await rows())[0].attempts).toHaveLength(1);
    await repository.record(one, { attempt, result: 'DELIVERED' });
    await repository.record(one, { attempt, result: 'DELIVERED' });
    expect((await rows())[0]).toMatchObject({ status: 'DELIVERED', tries: 2, claimed_by: null });
    expect((await rows())[0].attempts).toHaveLength(2);
  });

  it('resumes deliveries whose job or process was lost', async () => {
    const failing = await startReceiver((response, _, count) => void response.writeHead(count <= 3 ? 500 : 200).end());
    await endpoint(failing.url);
    for (let i = 0; i < 3; i++) await emit();
    await eventually(rows, (all) => all.length === 3 && all.every(({ attempts }) => attempts.length === 1));
    await database.query('DELETE FROM graphile_worker._private_jobs');
    await database.query(`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '6 seconds'`);
    const [one, two] = await rows();
    await database.query('UPDATE webhook_deliveries SET claimed_by = gen_random_uuid(), claim_id = id WHERE id = $1', [
      one.id,
    ]);
    await database.query('UPDATE webhook_deliveries SET is_parked = true WHERE id = $1', [two.id]);
    await eventually(rows, (all) => all.every(({ status }) => status === 'DELIVERED'), 20_000);
    expect(new Set(failing.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
    await failing.close();
  });

  it('deletes events whose deliveries all ended before the limit, with the deliveries', async () => {
    await endpoint();
    for (let i = 0; i < 4; i++) await emit();
    const [done, pending, redelivered, recent] = await eventually(
      rows,
      (all) => all.length === 4 && all.every(({ status }) => status === 'DELIVERED'),
    );
    const old = [done.event_id, pending.event_id, redelivered.event_id];
    await database.query(`UPDATE webhook_events SET created_at = now() - interval '31 days' WHERE id = ANY($1)`, [old]);
    await database.query(
      `UPDATE webhook_deliveries SET updated_at = now() - interval '31 days' WHERE event_id = ANY($1)`,
      [old],
    );
    await database.query(
      `UPDATE webhook_deliveries SET status = 'PENDING', next_attempt_at = now() + interval '1 hour' WHERE id = $1`,
      [pending.id],
    );
    // A later redelivery starts the time again.
    await database.query(`UPDATE webhook_deliveries SET updated_at = now() WHERE id = $1`, [redelivered.id]);
    const repository = app.nest.get(WebhookDeliveriesRepository);
    expect([await repository.prune(32), await repository.prune(30), await repository.prune(30)]).toEqual([0, 1, 0]);
    expect((await rows()).map(({ id }) => id).sort()).toEqual([pending.id, redelivered.id, recent.id].sort());
    expect((await database.query('SELECT 1 FROM webhook_events')).rowCount).toBe(3);
  });

  it.each([
    ['0', 1],
    ['45', 1],
    ['30', 0],
  ])('applies DELIVERY_RETENTION_DAYS=%s', async (days, left) => {
    await endpoint();
    await emit();
    await eventually(rows, ([row]) => row?.status === 'DELIVERED');
    await database.query(`UPDATE webhook_events SET created_at = now() - interval '40 days'`);
    await database.query(`UPDATE webhook_deliveries SET updated_at = now() - interval '40 days'`);
    const other = await createTestApp({
      env: { ROLE: 'api', DELIVERY_RETENTION_DAYS: days },
      databaseUrl: app.databaseUrl,
    });
    try {
      const { handler } = other.nest.get(Queue).handled.find(({ job }) => job.name === 'webhooks.prune')!;
      await handler({}, jobContext());
    } finally {
      await other.close();
    }
    expect(await rows()).toHaveLength(left);
  });

  it('delivers to others without delay while 10,000 deliveries wait for a dead receiver', async () => {
    const dead = await startReceiver(() => undefined);
    const id = await endpoint(dead.url);
    await emit();
    await eventually(
      () => dead.received.length,
      (count) => count === 1,
    );
    await database.query(
      `INSERT INTO webhook_deliveries (id, workspace_id, event_id, endpoint_id, target_id, status, attempts, tries,
                                       next_attempt_at, is_forced, is_parked)
       SELECT gen_random_uuid(), workspace_id, event_id, endpoint_id, target_id, 'PENDING', '[]', 0, now(), false, true
         FROM webhook_deliveries, generate_series(1, 10000)`,
    );
    const quick = await endpoint();
    const startedAt = performance.now();
    const test = await admin.post(`/workspace/webhooks/${quick}/test`);
    expect(test.body.data.status).toBe('DELIVERED');
    expect(performance.now() - startedAt).toBeLessThan(app.nest.get(WebhookPolicy).testWait);
    const list = await admin.get(`/workspace/webhooks/${id}/deliveries?limit=100`);
    expect(list.body.meta.total).toBe(10_001);
    await admin.delete(`/workspace/webhooks/${id}`);
    await dead.close();
  });

  it('loses no event if the process is killed repeatedly', async () => {
    const crashed = await createTestDatabase();
    const dataDir = await mkdtemp(path.join(tmpdir(), 'webhook-crash-'));
    const root = path.resolve(__dirname, '../..');
    const kills = shareOf(2);
    const figures = await crashWebhooks({ databaseUrl: crashed.url, events: 200, kills, root, dataDir });
    await crashed.drop();
    await rm(dataDir, { recursive: true, force: true });
    expect(figures).toMatchObject({ received: 200, delivered: 200, pending: 0, wrongSignatures: 0, unknownIds: 0 });
    expect(figures.deliveredAtKills.at(-1)).toBeLessThan(200);
    expect(figures.settledAfterMs).toBeLessThan(60_000);
  }, 180_000);
});
