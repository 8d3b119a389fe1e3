import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import type { WebhookDelivery } from '../../src/modules/webhooks/dto/webhook.responses.js';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../src/modules/webhooks/webhook-event.js';
import { WebhookPolicy } from '../../src/modules/webhooks/webhook-policy.js';
import { WebhooksService } from '../../src/modules/webhooks/webhooks.service.js';
import { HOSTILE_NAMES } from '../factories/hostile-names.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { type Chat, shown, startChat, textOf } from '../support/chat-receivers.js';
import { committedDocument } from '../support/conformance.js';
import { eventually, type Behaviour, type Receiver, startReceiver } from '../support/receiver.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const PUBLIC_URL = 'https://tests.example.com';
const ALL = [...WEBHOOK_EVENT_TYPES];

/** Those that an agent can have: a text with NUL or half a character is refused. */
const names = HOSTILE_NAMES.filter((name) => !name.includes('\0') && name.isWellFormed());

describe('webhooks with the format slack', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  const receivers: Receiver[] = [];

  beforeAll(async () => {
    agent = await startScriptedAgent(({ model }) => (model === 'rude' ? 'What? <!channel> @here' : 'Welcome!'));
    app = await createTestApp({ env: { ...callEnv(agent.url), PUBLIC_URL } });
    Object.assign(app.nest.get(WebhookPolicy), { retryDelays: [40] });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  /** A workspace with an agent of this name and an endpoint for all events. */
  async function prepare(
    receiver: Receiver,
    { name = '<!channel> @here', more = { format: 'slack' } }: { name?: string; more?: object } = {},
  ) {
    receivers.push(receiver);
    const prepared = await prepareEvaluations(app, [shortEvaluation({ name, critical: true })], { name });
    const { client } = prepared;
    const { data } = (await client.post('/workspace/webhooks', { url: receiver.url, events: ALL, ...more })).body;
    const deliveries = async (): Promise<WebhookDelivery[]> =>
      (await client.get(`/workspace/webhooks/${data.id}/deliveries?limit=100`)).body.data;
    /** Waits until all deliveries have ended. */
    const settled = () =>
      eventually(deliveries, (all) => all.length > 0 && all.every(({ status }) => status !== 'PENDING'));
    return { ...prepared, endpoint: data, settled };
  }
  const answering = async (behaviour: Behaviour) => prepare(await startReceiver(behaviour));

  describe.each<Chat>(['slack', 'mattermost', 'discord'])('sent to %s', (chat) => {
    it('delivers every type of event at the first attempt, signed, with two links and without a mention', async () => {
      const receiver = await startChat(chat);
      const { endpoint, settled, workspaceId, agentId } = await prepare(receiver);
      for (const type of ALL) {
        const { example } = (committedDocument.webhooks as any)[type].post.requestBody.content['application/json'];
        const about = type === 'webhook.test' ? {} : { agentId };
        await app.nest
          .get(WebhooksService)
          .emit({ workspaceId, type: type as 'webhook.test', data: example.data, ...about });
      }
      const deliveries = await settled();
      expect(deliveries.map(({ eventType }) => eventType).sort()).toEqual([...ALL].sort());
      for (const { status, attempts } of deliveries) {
        expect([status, attempts.map(({ responseStatus }) => responseStatus)]).toEqual(['DELIVERED', [200]]);
      }
      const webhook = new Webhook(endpoint.secret);
      for (const { body, headers } of receiver.received) {
        expect(webhook.verify(body, headers as Record<string, string>)).toEqual({ text: expect.any(String) });
        const { mentions, links } = shown(chat, textOf({ body }));
        expect([body, mentions, links.length]).toEqual([body, [], 2]);
        for (const address of links) expect(address.startsWith(`${PUBLIC_URL}/`)).toBe(true);
      }
    });

    it(`notifies no one for ${names.length} hostile names of agents`, async () => {
      const receiver = await startChat(chat);
      const { client, agentId, workspaceId, settled } = await prepare(receiver);
      const { example } = (committedDocument.webhooks as any)['run.completed'].post.requestBody.content[
        'application/json'
      ];
      for (const [index, name] of names.entries()) {
        expect((await client.patch(`/agents/${agentId}`, { name })).status).toBe(200);
        await app.nest.get(WebhooksService).emit({ workspaceId, type: 'run.completed', data: example.data, agentId });
        await eventually(
          () => receiver.received.length,
          (length) => length > index,
        );
      }
      await settled();
      const texts = receiver.received.map(textOf);
      expect(texts).toHaveLength(names.length);
      expect(texts.flatMap((text) => shown(chat, text).mentions)).toEqual([]);
      expect(texts.map((text) => shown(chat, text).links.length)).toEqual(names.map(() => 2));
    });
  });

  it('describes a real run that failed, with the name of the agent', async () => {
    const receiver = await startChat('slack');
    const { client, agentId, settled } = await prepare(receiver, { name: 'Bella & Vista' });
    await client.patch('/workspace', { scoreThreshold: 80 });
    await executeRun(client, agentId, { name: 'Nightly' });
    await client.patch(`/agents/${agentId}`, { assistantId: 'rude' });
    const run = await executeRun(client, agentId, { name: 'Nightly' });
    await settled();
    const footer = `<${PUBLIC_URL}/runs/${run.id}/report|Report> · <${PUBLIC_URL}/agents/${agentId}/page|Agent>`;
    const texts = receiver.received.map(textOf).filter((text) => text.endsWith(footer));
    expect(texts.map((text) => text.split('\n')[0]).sort()).toEqual([
      '*Critical evaluation failed*: Bella &amp; Vista',
      '*Run failed*: Bella &amp; Vista · Nightly',
      '*Score dropped*: Bella &amp; Vista',
    ]);
    expect(texts.find((text) => text.startsWith('*Run failed*'))).toMatch(
      /\n• Bella &amp; Vista \(failed\): .*Greets.*\n</,
    );
  });

  it('tests a webhook with a message, and says in deliveries why the receiver refused it (kanbn/kan#453)', async () => {
    const { client, endpoint } = await prepare(await startChat('slack'));
    const good = (await client.post(`/workspace/webhooks/${endpoint.id}/test`)).body.data;
    expect(good).toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 200, error: null }] });
    // An event as JSON, as Slack answers it (cvat-ai/cvat#6353).
    await client.patch(`/workspace/webhooks/${endpoint.id}`, { format: 'standard' });
    const bad = (await client.post(`/workspace/webhooks/${endpoint.id}/test`)).body.data;
    expect(bad.attempts[0]).toMatchObject({
      responseStatus: 400,
      error: 'The receiver responded with 400 (no_text)',
    });
  });

  it.each<[status: number, answer: string | Buffer, shown: string]>([
    [400, 'invalid_payload', ' (invalid_payload)'],
    [403, 'action_prohibited', ' (action_prohibited)'],
    [404, 'channel_not_found\n', ' (channel_not_found)'],
    [404, 'no_service', ' (no_service)'],
    [500, 'rollup_error', ' (rollup_error)'],
    // Mattermost answers in the language of its server (mattermost/mattermost#30071).
    [400, '{"message":"Impossible d\'interpréter"}', ' ({"message":"Impossible d\'interpréter"})'],
    [404, '{"message": "Unknown Webhook", "code": 10015}', ' ({"message": "Unknown Webhook", "code": 10015})'],
    [502, '<html>\n<title>502 Bad Gateway</title>', ''],
    [500, gzipSync('no words'), ''],
    [500, '', ''],
    [500, 'a\u0000\u001b[31m\u202Eb', ' (a␀␛[31m[U+202E]b)'],
    [302, 'moved', ' (moved); redirects are not followed'],
  ])('shows of an answer with %d %j what the receiver said', async (status, answer, said) => {
    const { client, endpoint } = await answering(
      (response) => void response.writeHead(status, { 'Content-Type': 'text/html' }).end(answer),
    );
    const { data } = (await client.post(`/workspace/webhooks/${endpoint.id}/test`)).body;
    expect(data.attempts[0]).toMatchObject({
      responseStatus: status,
      error: `The receiver responded with ${status}${said}`,
    });
  });

  it('cuts long answers', async () => {
    const { client, endpoint } = await answering((response) => void response.writeHead(410).end('é'.repeat(10_000)));
    const { data } = (await client.post(`/workspace/webhooks/${endpoint.id}/test`)).body;
    const [attempt] = data.attempts;
    expect(attempt.error).toMatch(/^The receiver responded with 410 \(é{159}…\): it wants no more events$/);
  });

  it('disables the endpoint of an archived channel, which Slack answers with 410', async () => {
    const { client, endpoint } = await answering((response) => void response.writeHead(410).end('channel_is_archived'));
    const { data } = (await client.post(`/workspace/webhooks/${endpoint.id}/test`)).body;
    expect(data.attempts[0].error).toBe(
      'The receiver responded with 410 (channel_is_archived): it wants no more events',
    );
    const shownEndpoint = (await client.get(`/workspace/webhooks/${endpoint.id}`)).body.data;
    expect(shownEndpoint).toMatchObject({ enabled: false, disabledReason: 'GONE' });
  });

  it('loses no message of a burst that Slack limits to some a second (DependencyTrack/dependency-track#1159)', async () => {
    let free = 2;
    const refill = setInterval(() => (free = 2), 300);
    const receiver = await startReceiver((response) => {
      if (free-- > 0) return void response.end('ok');
      response.writeHead(429, { 'Retry-After': '0.3', 'Content-Type': 'text/html' }).end('rate_limited');
    });
    Object.assign(app.nest.get(WebhookPolicy), { retryDelays: Array<number>(60).fill(40) });
    const { workspaceId, settled } = await prepare(receiver);
    const data = { endpointId: 'e', message: 'm' };
    for (let i = 0; i < 8; i++) await app.nest.get(WebhooksService).emit({ workspaceId, type: 'webhook.test', data });
    const deliveries = await settled();
    clearInterval(refill);
    Object.assign(app.nest.get(WebhookPolicy), { retryDelays: [40] });
    expect(deliveries.map(({ status }) => status)).toEqual(Array(8).fill('DELIVERED'));
    const errors = deliveries.flatMap(({ attempts }) => attempts.flatMap(({ error }) => error ?? []));
    expect(new Set(errors)).toEqual(new Set(['The receiver responded with 429 (rate_limited)']));
  });

  it('sends a pending event in the format that the endpoint has at the time of the attempt', async () => {
    let isDown = true;
    const receiver = await startReceiver((response) => void response.writeHead(isDown ? 503 : 200).end());
    Object.assign(app.nest.get(WebhookPolicy), { retryDelays: [1_000] });
    const { client, endpoint, workspaceId, settled } = await prepare(receiver, { more: {} });
    expect(endpoint.format).toBe('standard');
    const type: WebhookEventType = 'webhook.test';
    await app.nest.get(WebhooksService).emit({ workspaceId, type, data: { endpointId: 'e', message: 'Later' } });
    await eventually(
      () => receiver.received.length,
      (length) => length === 1,
    );
    isDown = false;
    const changed = await client.patch(`/workspace/webhooks/${endpoint.id}`, { format: 'slack' });
    expect(changed.body.data.format).toBe('slack');
    await settled();
    Object.assign(app.nest.get(WebhookPolicy), { retryDelays: [40] });
    const [first, second] = receiver.received;
    expect(JSON.parse(first!.body)).toMatchObject({ type, data: { message: 'Later' } });
    expect(textOf(second!)).toMatch(/^\*Test\*\nLater\n/);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  });

  it.each(['teams', null, 'Slack', ['slack']])('rejects the format %j', async (format) => {
    const { client, endpoint } = await prepare(await startChat('slack'));
    const issue = { field: 'format', message: 'format must be one of standard, slack' };
    const body = { url: 'https://example.com', events: ['run.failed'], format };
    expect((await client.post('/workspace/webhooks', body)).body.issues).toEqual([issue]);
    expect((await client.patch(`/workspace/webhooks/${endpoint.id}`, { format })).body.issues).toEqual([issue]);
  });
});
