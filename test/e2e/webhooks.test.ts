import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import type { Role } from '../../src/platform/access/caller.js';
import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import type { FirstKey } from '../../src/modules/api-keys/first-key.service.js';
import { WebhookPolicy } from '../../src/modules/webhooks/webhook-policy.js';
import { HttpClient } from '../support/http.js';
import { eventually, type Receiver, startReceiver } from '../support/receiver.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('webhooks over HTTP', () => {
  const lines: string[] = [];
  let app: TestApp;
  let admin: HttpClient;
  let first: FirstKey;
  let receiver: Receiver;
  let database: Client;

  beforeAll(async () => {
    app = await createTestApp({
      env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' },
      log: { write: (line: string) => void lines.push(line) },
    });
    first = await app.createWorkspace();
    admin = new HttpClient(app.url, first.apiKey);
    receiver = await startReceiver();
    database = new Client({ connectionString: app.databaseUrl });
    await database.connect();
  });
  afterAll(async () => {
    await database.end();
    await receiver.close();
    await app.close();
  });

  const keyOf = async (role: Role) => {
    const { workspaceId, userId } = first;
    return (await app.nest.get(ApiKeysService).create({ workspaceId, userId, name: role, role })).value;
  };
  const create = async (more: object = {}) => {
    const { status, body } = await admin.post('/workspace/webhooks', {
      url: receiver.url,
      events: ['run.completed'],
      ...more,
    });
    expect(status).toBe(201);
    return body.data;
  };

  it('supports create, list, read, update and delete', async () => {
    const created = await admin.post('/workspace/webhooks', {
      url: 'https://example.com/hook',
      events: ['run.completed', 'run.failed'],
      description: 'Team channel',
    });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      message: 'Webhook created successfully',
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        url: 'https://example.com/hook',
        description: 'Team channel',
        events: ['run.completed', 'run.failed'],
        format: 'standard',
        links: false,
        enabled: true,
        disabledReason: null,
        disabledAt: null,
        failingSince: null,
        createdByUserId: first.userId,
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      },
    });
    const { secret: _, ...shown } = created.body.data;
    const path = `/workspace/webhooks/${shown.id}`;
    expect((await admin.get(path)).body).toEqual({ message: 'Webhook retrieved successfully', data: shown });
    const list = await admin.get('/workspace/webhooks?limit=1');
    expect(list.body).toEqual({
      message: 'Webhooks retrieved successfully',
      meta: { total: 1, page: 1, limit: 1, pageCount: 1 },
      data: [shown],
    });

    const changed = await admin.patch(path, { events: ['run.failed'], description: null, enabled: false });
    expect(changed.status).toBe(200);
    expect(changed.body.data).toEqual({
      ...shown,
      events: ['run.failed'],
      description: null,
      enabled: false,
      disabledAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const again = await admin.patch(path, { enabled: true, url: 'https://example.org/' });
    expect(again.body.data).toMatchObject({
      enabled: true,
      disabledAt: null,
      url: 'https://example.org/',
      events: ['run.failed'],
    });

    expect((await admin.delete(path)).body).toEqual({ message: 'Webhook deleted successfully' });
    expect((await admin.get(path)).status).toBe(404);
    expect((await admin.delete(path)).status).toBe(404);
    expect((await admin.get('/workspace/webhooks')).body.meta.total).toBe(0);
  });

  it.each([
    [{}, ['url must be a string', 'events must be an array']],
    [{ url: 'ftp://example.com', events: ['run.failed'] }, ['url must be an absolute http or https address']],
    [{ url: 'https://example.com', events: [] }, ['events must name at least one type of event']],
    [{ url: 'https://example.com', events: 'run.failed' }, ['events must be an array']],
    [
      { url: 'https://example.com', events: ['run.failed', 'run.failed'] },
      ['events must not name a type of event twice'],
    ],
    [
      { url: 'https://example.com', events: ['run.started'] },
      [
        'events must hold only run.completed, run.failed, agent.score_dropped, evaluation.critical_failed, schedule.not_run, agent.degraded, agent.recovered, tester.unavailable, monitoring.paused, webhook.test',
      ],
    ],
    [{ url: 'https://example.com', events: ['run.failed'], enabled: 'yes' }, ['enabled must be true or false']],
    [{ url: 'https://example.com', events: ['run.failed'], secret: 'mine' }, ['secret is not a known field']],
    [
      { url: 'https://user:pass@example.com', events: ['run.failed'] },
      ['url must be an absolute http or https address without user name and password'],
    ],
    ...['http://10.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest', 'http://0xa000001/'].map(
      (url) =>
        [
          { url, events: ['run.failed'] },
          ['url must not point to a private or reserved network unless OUTBOUND_ALLOWED_NETWORKS allows it'],
        ] as [object, string[]],
    ),
  ])('rejects the body %j', async (body: object, issues: string[]) => {
    const response = await admin.post('/workspace/webhooks', body);
    expect(response.status).toBe(400);
    expect(response.body).toEqual({
      code: 'BAD_REQUEST',
      message: 'Invalid input data',
      issues: issues.map((message) => ({ message, field: message.split(' ')[0] })),
    });
  });

  it('rejects null for fields that are not nullable, and an invalid address on update', async () => {
    const { id } = await create();
    for (const field of ['url', 'events', 'enabled']) {
      expect((await admin.patch(`/workspace/webhooks/${id}`, { [field]: null })).status).toBe(400);
    }
    expect((await admin.patch(`/workspace/webhooks/${id}`, { url: 'http://10.1.1.1/' })).status).toBe(400);
    expect((await admin.get(`/workspace/webhooks/${id}`)).body.data.url).toBe(receiver.url);
    await admin.delete(`/workspace/webhooks/${id}`);
  });

  it('allow only admins of the workspace to manage webhooks', async () => {
    const { id } = await create();
    const test = await admin.post(`/workspace/webhooks/${id}/test`);
    const routes: [string, string, object?][] = [
      ['GET', '/workspace/webhooks'],
      ['POST', '/workspace/webhooks', { url: receiver.url, events: ['run.failed'] }],
      ['GET', `/workspace/webhooks/${id}`],
      ['PATCH', `/workspace/webhooks/${id}`, { description: 'x' }],
      ['DELETE', `/workspace/webhooks/${id}`],
      ['POST', `/workspace/webhooks/${id}/rotate-secret`],
      ['POST', `/workspace/webhooks/${id}/test`],
      ['GET', `/workspace/webhooks/${id}/deliveries`],
      ['POST', `/workspace/webhook-deliveries/${test.body.data.id}/redeliver`],
    ];
    const stranger = admin.as((await app.createWorkspace()).apiKey);
    for (const [method, path, body] of routes) {
      expect((await admin.as(undefined).send(method, path, body)).status).toBe(401);
      for (const role of ['VIEWER', 'EDITOR'] as const) {
        expect((await admin.as(await keyOf(role)).send(method, path, body)).status).toBe(403);
      }
      if (path === '/workspace/webhooks') continue;
      const foreign = await stranger.send(method, path, body);
      expect([path, foreign.status]).toEqual([path, 403]);
      const unknown = path.replace(/[0-9a-f-]{36}/, randomUUID());
      expect([unknown, (await admin.send(method, unknown, body)).status]).toEqual([unknown, 404]);
      expect((await admin.send(method, path.replace(/[0-9a-f-]{36}/, 'no-uuid'), body)).status).toBe(404);
    }
    expect((await stranger.get('/workspace/webhooks')).body.data).toEqual([]);
    expect((await admin.get(`/workspace/webhooks/${id}`)).body.data.description).toBeNull();
    await admin.delete(`/workspace/webhooks/${id}`);
  });

  it('tests an endpoint, shows the delivery and redelivers it with the same webhook-id', async () => {
    const before = receiver.received.length;
    const { id, secret } = await create();
    const test = await admin.post(`/workspace/webhooks/${id}/test`);
    expect(test.status).toBe(201);
    expect(test.body.data).toEqual({
      id: expect.any(String),
      eventId: expect.any(String),
      eventType: 'webhook.test',
      status: 'DELIVERED',
      attempts: [{ time: expect.any(String), responseStatus: 200, durationMs: expect.any(Number), error: null }],
      nextAttemptAt: null,
      createdAt: expect.any(String),
    });
    const delivery = test.body.data;

    const again = await admin.post(`/workspace/webhook-deliveries/${delivery.id}/redeliver`);
    expect(again.status).toBe(200);
    expect(again.body.data).toMatchObject({ id: delivery.id, eventId: delivery.eventId, attempts: delivery.attempts });
    const deliveries = () => admin.get(`/workspace/webhooks/${id}/deliveries`);
    const { body } = await eventually(deliveries, (response) => response.body.data[0].attempts.length === 2);
    expect(body.meta).toEqual({ total: 1, page: 1, limit: 25, pageCount: 1 });
    expect(body.data[0]).toMatchObject({ id: delivery.id, status: 'DELIVERED', nextAttemptAt: null });

    const received = receiver.received.slice(before);
    expect(received).toHaveLength(2);
    for (const { headers, body: text } of received) {
      expect(headers['webhook-id']).toBe(delivery.eventId);
      expect(headers['content-type']).toBe('application/json');
      expect(headers['user-agent']).toMatch(/^voice-agent-testing\/\d/);
      const event = new Webhook(secret).verify(text, headers as Record<string, string>);
      expect(event).toEqual({
        type: 'webhook.test',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        data: { endpointId: id, message: expect.any(String) },
      });
      const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
      expect(() => new Webhook(other).verify(text, headers as Record<string, string>)).toThrow('No matching signature');
    }
    expect(received[0]?.body).toBe(received[1]?.body);
    for (const [status, total] of [
      ['DELIVERED', 1],
      ['FAILED', 0],
      ['PENDING', 0],
    ] as const) {
      const filtered = await admin.get(`/workspace/webhooks/${id}/deliveries?status=${status}&limit=1`);
      expect(filtered.body.meta).toMatchObject({ total, limit: 1 });
    }
    expect((await admin.get(`/workspace/webhooks/${id}/deliveries?status=LOST`)).status).toBe(400);
  });

  it('returns 409 for a redelivery while the delivery is pending', async () => {
    const failing = await startReceiver((response) => void response.writeHead(500).end());
    const { id } = await create({ url: failing.url });
    const { body } = await admin.post(`/workspace/webhooks/${id}/test`);
    expect(body.data).toMatchObject({ status: 'PENDING', nextAttemptAt: expect.any(String) });
    expect(body.data.attempts).toMatchObject([{ responseStatus: 500, error: 'The receiver responded with 500' }]);
    const again = await admin.post(`/workspace/webhook-deliveries/${body.data.id}/redeliver`);
    expect(again.status).toBe(409);
    expect(again.body).toEqual({ code: 'CONFLICT', message: 'The delivery is still pending' });
    // Disabling ends the pending delivery; it can then be redelivered once, although the endpoint is disabled.
    await admin.patch(`/workspace/webhooks/${id}`, { enabled: false });
    const list = () => admin.get(`/workspace/webhooks/${id}/deliveries`);
    expect((await list()).body.data[0]).toMatchObject({ status: 'FAILED', nextAttemptAt: null });
    expect((await admin.post(`/workspace/webhook-deliveries/${body.data.id}/redeliver`)).status).toBe(200);
    const ended = await eventually(list, (response) => response.body.data[0].attempts.length === 2);
    expect(ended.body.data[0]).toMatchObject({ status: 'FAILED', nextAttemptAt: null });
    await admin.delete(`/workspace/webhooks/${id}`);
    await failing.close();
  });

  it('signs with both secrets after a rotation, and only with the new one after the overlap', async () => {
    const { id, secret: old } = await create();
    const rotated = await admin.post(`/workspace/webhooks/${id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    const { secret } = rotated.body.data;
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(old);
    await admin.post(`/workspace/webhooks/${id}/test`);
    const during = receiver.received.at(-1);
    for (const valid of [old, secret]) {
      expect(new Webhook(valid).verify(during?.body ?? '', during?.headers as Record<string, string>)).toBeDefined();
    }
    await database.query(`UPDATE webhook_endpoints SET previous_secret_expires_at = now() WHERE id = $1`, [id]);
    await admin.post(`/workspace/webhooks/${id}/test`);
    const after = receiver.received.at(-1);
    expect(new Webhook(secret).verify(after?.body ?? '', after?.headers as Record<string, string>)).toBeDefined();
    expect(() => new Webhook(old).verify(after?.body ?? '', after?.headers as Record<string, string>)).toThrow(
      'No matching signature',
    );
  });

  it('stores secrets encrypted, shows them once and never logs them', async () => {
    const { id, secret: old } = await create();
    const { secret } = (await admin.post(`/workspace/webhooks/${id}/rotate-secret`)).body.data;
    await admin.post(`/workspace/webhooks/${id}/test`);
    const responses = await Promise.all([
      admin.get(`/workspace/webhooks/${id}`),
      admin.get('/workspace/webhooks'),
      admin.patch(`/workspace/webhooks/${id}`, { description: 'x' }),
      admin.get(`/workspace/webhooks/${id}/deliveries`),
    ]);
    const tables: unknown[] = [];
    for (const table of [
      'webhook_endpoints',
      'webhook_events',
      'webhook_deliveries',
      'graphile_worker._private_jobs',
    ]) {
      tables.push((await database.query(`SELECT * FROM ${table}`)).rows);
    }
    const everything = JSON.stringify([responses.map(({ body }) => body), tables, receiver.received]) + lines.join('');
    expect(lines.length).toBeGreaterThan(0);
    for (const value of [old, secret]) expect(everything).not.toContain(value.replace('whsec_', ''));
    expect(everything).not.toContain('whsec_');
  });

  it('replays creations and tests with the same Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const body = { url: receiver.url, events: ['run.failed'] };
    const [one, two] = [
      await admin.post('/workspace/webhooks', body, key),
      await admin.post('/workspace/webhooks', body, key),
    ];
    expect(two.headers.get('idempotent-replayed')).toBe('true');
    expect(two.body).toEqual(one.body);
    const path = `/workspace/webhooks/${one.body.data.id}`;
    const test = await admin.post(`${path}/test`, undefined, { 'Idempotency-Key': 'test-1' });
    // The event is committed with the response, so its delivery cannot have started yet.
    expect(test.body.data).toMatchObject({ status: 'PENDING', attempts: [] });
    await admin.post(`${path}/test`, undefined, { 'Idempotency-Key': 'test-1' });
    const { body: list } = await eventually(
      () => admin.get(`${path}/deliveries`),
      (response) => response.body.data[0].status === 'DELIVERED',
    );
    expect(list.meta.total).toBe(1);
  });

  it('limits the number of endpoints, also for concurrent requests', async () => {
    const policy = app.nest.get(WebhookPolicy);
    const other = admin.as((await app.createWorkspace()).apiKey);
    policy.maxEndpoints = 3;
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => other.post('/workspace/webhooks', { url: receiver.url, events: ['run.failed'] })),
    );
    policy.maxEndpoints = 50;
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
    const rejected = responses.find(({ status }) => status === 409);
    expect(rejected?.body).toEqual({ code: 'CONFLICT', message: 'A workspace can have at most 3 webhooks' });
  });
});
