import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import type { FirstKey } from '../../src/modules/api-keys/first-key.service.js';
import type { WebhookDelivery } from '../../src/modules/webhooks/dto/webhook.responses.js';
import { WebhookPolicy } from '../../src/modules/webhooks/webhook-policy.js';
import { WebhooksService } from '../../src/modules/webhooks/webhooks.service.js';
import { HttpClient } from '../support/http.js';
import { eventually, type Receiver, startReceiver, type Behaviour } from '../support/receiver.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { runData } from '../factories/webhook-events.js';

const RETRIES = [40];
const MEBIBYTE = 1024 * 1024;

/** Tests deliveries to all kinds of receivers over real sockets. */
describe('receivers of webhooks', () => {
  let app: TestApp;
  let admin: HttpClient;
  let first: FirstKey;
  const receivers: Receiver[] = [];
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const names = new Map<string, string[][]>();

  beforeAll(async () => {
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    first = await app.createWorkspace();
    admin = new HttpClient(app.url, first.apiKey);
    Object.assign(app.nest.get(WebhookPolicy), { retryDelays: RETRIES, timeout: 700, maxEndpoints: 1_000 });
    app.nest.get(OutboundClient).resolve = async (hostname) => names.get(hostname)?.shift() ?? [];
  });
  afterAll(async () => {
    await app.close();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  const receiver = async (behaviour?: Behaviour) => {
    const started = await startReceiver(behaviour);
    receivers.push(started);
    return started;
  };
  const endpoint = async (url: string): Promise<string> =>
    (await admin.post('/workspace/webhooks', { url, events: ['run.completed'] })).body.data.id;
  const emit = () =>
    app.nest.get(WebhooksService).emit({
      workspaceId: first.workspaceId,
      type: 'run.completed',
      data: { run: runData(first), reportUrl: null },
    });
  const deliveries = async (id: string): Promise<WebhookDelivery[]> =>
    (await admin.get(`/workspace/webhooks/${id}/deliveries?limit=100`)).body.data;
  /** Sends one event to a receiver and waits until its delivery has ended. */
  const settle = async (url: string): Promise<{ id: string; delivery: WebhookDelivery }> => {
    const id = await endpoint(url);
    await emit();
    const [delivery] = await eventually(
      () => deliveries(id),
      (all) => all.length > 0 && all.every(({ status }) => status !== 'PENDING'),
    );
    if (!delivery) throw new Error('The event was not sent');
    await admin.patch(`/workspace/webhooks/${id}`, { enabled: false });
    return { id, delivery };
  };
  const outcomes = ({ attempts }: WebhookDelivery) =>
    attempts.map(({ responseStatus, error }) => [responseStatus, error]);

  it.each([200, 204, 299])('a response with %d is delivered on the first attempt', async (status) => {
    const { url, received } = await receiver((response) => void response.writeHead(status).end());
    const { delivery } = await settle(url);
    expect(delivery).toMatchObject({ status: 'DELIVERED', nextAttemptAt: null });
    expect(outcomes(delivery)).toEqual([[status, null]]);
    expect(received).toHaveLength(1);
  });

  it('a response with 301 fails on each attempt and is not followed', async () => {
    const trap = await receiver();
    const { url } = await receiver((response) => void response.writeHead(301, { Location: trap.url }).end());
    const { delivery } = await settle(url);
    expect(delivery.status).toBe('FAILED');
    expect(outcomes(delivery)).toEqual(
      Array(2).fill([301, 'The receiver responded with 301; redirects are not followed']),
    );
    expect(trap.received).toHaveLength(0);
  });

  it('a response with 410 disables the endpoint and its pending deliveries fail', async () => {
    let gone = false;
    const { url, received } = await receiver((response) => void response.writeHead(gone ? 410 : 500).end());
    const id = await endpoint(url);
    app.nest.get(WebhookPolicy).retryDelays = [60_000];
    await emit();
    await eventually(
      () => deliveries(id),
      ([delivery]) => delivery?.attempts.length === 1,
    );
    gone = true;
    await emit();
    const all = await eventually(
      () => deliveries(id),
      (list) => list.every(({ status }) => status === 'FAILED'),
    );
    app.nest.get(WebhookPolicy).retryDelays = RETRIES;
    expect(all.map(outcomes)).toEqual([
      [[410, 'The receiver responded with 410: it wants no more events']],
      [[500, 'The receiver responded with 500']],
    ]);
    const { data } = (await admin.get(`/workspace/webhooks/${id}`)).body;
    expect(data).toMatchObject({ enabled: false, disabledReason: 'GONE', disabledAt: expect.any(String) });
    await emit();
    expect(await deliveries(id)).toHaveLength(2);
    expect(received).toHaveLength(2);
    const { data: enabled } = (await admin.patch(`/workspace/webhooks/${id}`, { enabled: true })).body;
    expect(enabled).toMatchObject({ enabled: true, disabledReason: null, disabledAt: null, failingSince: null });
    await admin.patch(`/workspace/webhooks/${id}`, { enabled: false });
  });

  it('a response with 429 and Retry-After delays the next attempt accordingly', async () => {
    const { url, received } = await receiver((response, _, count) =>
      count === 1 ? void response.writeHead(429, { 'Retry-After': '1' }).end() : void response.end(),
    );
    const { delivery } = await settle(url);
    expect(outcomes(delivery)).toEqual([
      [429, 'The receiver responded with 429'],
      [200, null],
    ]);
    expect((received[1]?.at ?? 0) - (received[0]?.at ?? 0)).toBeGreaterThan(950);
  });

  it('a response with 500, then 200, is delivered on the second attempt with a new timestamp and the same webhook-id', async () => {
    const { url, received } = await receiver(
      (response, _, count) => void response.writeHead(count === 1 ? 500 : 200).end(),
    );
    const { id, delivery } = await settle(url);
    expect(delivery.status).toBe('DELIVERED');
    expect(outcomes(delivery)).toEqual([
      [500, 'The receiver responded with 500'],
      [200, null],
    ]);
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([delivery.eventId, delivery.eventId]);
    expect((await admin.get(`/workspace/webhooks/${id}`)).body.data.failingSince).toBeNull();
  });

  it('responses that hang or trickle time out', async () => {
    const hanging = await receiver(() => undefined);
    const dripping = await receiver((response) => {
      response.writeHead(200, { 'Content-Length': '2000' });
      const drip = setInterval(() => response.write('x'), 50);
      response.once('close', () => clearInterval(drip));
    });
    for (const { url } of [hanging, dripping]) {
      const { id, delivery } = await settle(url);
      expect(delivery.status).toBe('FAILED');
      expect(outcomes(delivery)).toEqual(Array(2).fill([null, 'The response was not complete in time']));
      for (const { durationMs } of delivery.attempts) expect(durationMs).toBeGreaterThanOrEqual(690);
      expect((await admin.get(`/workspace/webhooks/${id}`)).body.data.failingSince).toEqual(expect.any(String));
    }
  });

  it('a response of 100 MB is delivered after its first 4 KiB with constant memory', async () => {
    const chunk = Buffer.alloc(MEBIBYTE / 4);
    let offered = 0;
    const { url } = await receiver((response) => {
      offered += 100 * MEBIBYTE;
      let left = 400;
      const more = () => {
        while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', more);
        response.end();
      };
      more();
    });
    await settle(url);
    const id = await endpoint(url);
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 30; i++) await emit();
    const all = await eventually(
      () => deliveries(id),
      (list) => list.every(({ status }) => status !== 'PENDING'),
    );
    expect(all).toHaveLength(30);
    expect(new Set(all.map((delivery) => JSON.stringify(outcomes(delivery))))).toEqual(new Set(['[[200,null]]']));
    expect(process.memoryUsage().rss - before).toBeLessThan(offered / 20);
    await admin.patch(`/workspace/webhooks/${id}`, { enabled: false });
  });

  it('connection reset, connection refused and invalid HTTP fail with a reason', async () => {
    const raw = async (response: (socket: Socket) => void) => {
      const server = createTcpServer((socket) => {
        sockets.add(socket.on('error', () => undefined));
        socket.once('data', () => response(socket));
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    };
    const broken = 'The connection could not be established or was interrupted';
    const cases: [string, string][] = [
      [await raw((socket) => socket.resetAndDestroy()), broken],
      ['http://127.0.0.1:1/', broken],
      [
        await raw((socket) => socket.end('220 mail.example.com ESMTP\r\n')),
        'The response is not valid HTTP, or its headers are too large',
      ],
      ['https://127.0.0.1:1/', broken],
    ];
    for (const [url, error] of cases) {
      const { delivery } = await settle(url);
      expect([url, delivery.status, outcomes(delivery)]).toEqual([url, 'FAILED', Array(2).fill([null, error])]);
    }
  });

  it('a name that resolves to a private address on the second lookup is rejected without a connection', async () => {
    const { port, received } = await receiver((response) => void response.writeHead(500).end());
    names.set('rebinding.test', [['127.0.0.1'], ['10.0.0.1'], ['169.254.169.254']]);
    const { delivery } = await settle(`http://rebinding.test:${port}/`);
    const rejected = [null, 'The address is in a network that must not be reached from here'];
    expect(outcomes(delivery)).toEqual([[500, 'The receiver responded with 500'], rejected]);
    expect(received).toHaveLength(1);
    const unknown = await settle('http://nowhere.test/');
    expect(outcomes(unknown.delivery)[0]).toEqual([null, 'The host name could not be resolved']);
  });

  it('a slow receiver gets at most four deliveries at once and does not delay others', async () => {
    app.nest.get(WebhookPolicy).timeout = 60_000;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow = await receiver((response) => void released.then(() => setTimeout(() => response.end(), 50)));
    const quick = await receiver();
    const [slowId, quickId] = [await endpoint(slow.url), await endpoint(quick.url)];
    for (let i = 0; i < 40; i++) await emit();
    await eventually(
      () => quick.received.length,
      (count) => count === 40,
    );
    // The slow one has answered none in the time that the quick one needs for all of them.
    expect(slow.received.length).toBeLessThanOrEqual(4);
    release();
    await eventually(
      () => slow.received.length,
      (count) => count === 40,
    );
    expect(slow.maxConcurrent).toBe(4);
    for (const id of [slowId, quickId]) {
      const all = await eventually(
        () => deliveries(id),
        (list) => list.every(({ status }) => status !== 'PENDING'),
      );
      expect(all.map((delivery) => [delivery.status, delivery.attempts.length])).toEqual(
        Array(40).fill(['DELIVERED', 1]),
      );
      await admin.patch(`/workspace/webhooks/${id}`, { enabled: false });
    }
    const ids = slow.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(40);
    app.nest.get(WebhookPolicy).timeout = 700;
  });

  it('many dead receivers do not delay others', async () => {
    // A delivery that waits for an attempt to a dead receiver does not arrive within the time limit of the test.
    app.nest.get(WebhookPolicy).timeout = 60_000;
    const dead = await receiver(() => undefined);
    const quick = await receiver();
    const ids: string[] = [];
    for (let i = 0; i < 45; i++) ids.push(await endpoint(`${dead.url}/${i}`));
    // An endpoint that failed before gets one attempt at a time, others four: 45 endpoints, 450 deliveries.
    for (let i = 0; i < 10; i++) await emit();
    await eventually(
      () => dead.received.length,
      (count) => count >= 45,
    );
    ids.push(await endpoint(quick.url));
    await emit();
    await eventually(
      () => quick.received.length,
      (count) => count === 1,
    );
    expect(dead.received.length).toBeGreaterThanOrEqual(45);
    for (const id of ids) await admin.delete(`/workspace/webhooks/${id}`);
    await dead.close();
    app.nest.get(WebhookPolicy).timeout = 700;
  });

  it('after five days of failures the endpoint is disabled with the reason', async () => {
    const { url } = await receiver((response) => void response.writeHead(503).end());
    Object.assign(app.nest.get(WebhookPolicy), { disableAfter: 30, retryDelays: [40, 40, 40, 40] });
    const { id, delivery } = await settle(url);
    Object.assign(app.nest.get(WebhookPolicy), { disableAfter: 5 * 24 * 3_600_000, retryDelays: RETRIES });
    expect(delivery.status).toBe('FAILED');
    expect(delivery.attempts).toHaveLength(2);
    const { data } = (await admin.get(`/workspace/webhooks/${id}`)).body;
    expect(data).toMatchObject({ enabled: false, disabledReason: 'FAILING', failingSince: expect.any(String) });
  });
});
