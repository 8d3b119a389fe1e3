import { WebhooksService } from '../../src/modules/webhooks/webhooks.service.js';
import { runData } from '../factories/webhook-events.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { shown, startChat, textOf } from '../support/chat-receivers.js';
import { HttpClient } from '../support/http.js';
import { eventually, type Receiver } from '../support/receiver.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const PUBLIC_URL = 'https://tests.example.com';
const HOUR = 3_600_000;

describe('links in the messages of a webhook', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let reader: HttpClient;
  const receivers: Receiver[] = [];

  beforeAll(async () => {
    agent = await startScriptedAgent(() => 'Welcome!');
    app = await createTestApp({ env: { ...callEnv(agent.url), PUBLIC_URL } });
    reader = new HttpClient(app.url);
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  async function prepare() {
    const receiver = await startChat('slack');
    receivers.push(receiver);
    const prepared = await prepareEvaluations(app, undefined, { name: 'Bella Vista' });
    const { client, agentId, workspaceId } = prepared;
    const body = { url: receiver.url, events: ['run.completed', 'webhook.test'], format: 'slack', links: true };
    const webhook = (await client.post('/workspace/webhooks', body)).body.data;
    /** Paths of the links of the newest message, after the `count`-th has arrived. */
    const paths = async (count: number): Promise<string[]> => {
      await eventually(
        () => receiver.received.length,
        (length) => length >= count,
      );
      return shown('slack', textOf(receiver.received.at(-1)!)).links.map((url) => url.slice(PUBLIC_URL.length));
    };
    const emit = () =>
      app.nest.get(WebhooksService).emit({
        ...{ workspaceId, agentId, type: 'run.completed' },
        data: { run: runData(prepared), reportUrl: null },
      });
    const statuses = (links: readonly string[]) =>
      Promise.all(links.map(async (path) => (await reader.get(path)).status));
    const links = async () => (await client.get(`/agents/${agentId}/page-links`)).body.data;
    return { ...prepared, webhook, paths, emit, statuses, links };
  }

  it('opens the report of the run and the page of the agent without a key, for 168 hours', async () => {
    const { client, agentId, webhook, paths, statuses, links } = await prepare();
    expect(webhook).toMatchObject({ format: 'slack', links: true });
    const run = await executeRun(client, agentId);
    const [report, page] = await paths(1);
    expect(page).toMatch(/^\/pages\/[\w-]{43}$/);
    expect(report).toBe(`${page}/runs/${run.id}`);
    expect(await statuses([report!, page!])).toEqual([200, 200]);
    const [link, ...others] = await links();
    expect(others).toEqual([]);
    expect(link).toMatchObject({ includeRecordings: false, createdByUserId: webhook.createdByUserId });
    expect((Date.parse(link.expiresAt) - Date.now()) / HOUR).toBeCloseTo(168, 1);
  });

  it('uses one link for a day, which does not count among the twenty of the agent', async () => {
    const { client, agentId, paths, emit, links } = await prepare();
    for (let i = 1; i <= 3; i++) await emit();
    const [, first] = await paths(3);
    for (let i = 0; i < 20; i++) {
      expect((await client.post(`/agents/${agentId}/page-links`, { expiresInHours: 1 })).status).toBe(201);
    }
    await sql(app.databaseUrl, `UPDATE report_links SET expires_at = now() + interval '1 hour'`);
    await emit();
    expect((await paths(4))[1]).toBe(first);
    const renewed = (await links()).filter(({ expiresAt }: any) => Date.parse(expiresAt) > Date.now() + 160 * HOUR);
    expect(renewed).toHaveLength(1);
    await sql(
      app.databaseUrl,
      `UPDATE report_links SET created_at = now() - interval '25 hours' WHERE webhook_id IS NOT NULL`,
    );
    await emit();
    expect((await paths(5))[1]).not.toBe(first);
  });

  it('makes another link after one was revoked, and after the secret was changed', async () => {
    const { client, agentId, webhook, paths, emit, statuses, links } = await prepare();
    await emit();
    const [, first] = await paths(1);
    const [{ id }] = await links();
    expect((await client.delete(`/agents/${agentId}/page-links/${id}`)).status).toBe(200);
    await emit();
    const [, second] = await paths(2);
    await client.post(`/workspace/webhooks/${webhook.id}/rotate-secret`);
    await emit();
    const [, third] = await paths(3);
    expect(await statuses([first!, second!, third!])).toEqual([404, 200, 200]);
    await client.delete(`/workspace/webhooks/${webhook.id}`);
    expect(await statuses([second!, third!])).toEqual([404, 404]);
  });

  it('has the links that need a key in messages about a test and about a deleted agent', async () => {
    const { client, agentId, webhook, paths, emit, links } = await prepare();
    await client.post(`/workspace/webhooks/${webhook.id}/test`);
    const ofWebhook = `/workspace/webhooks/${webhook.id}`;
    expect(await paths(1)).toEqual([ofWebhook, `${ofWebhook}/deliveries`]);
    await client.delete(`/agents/${agentId}`);
    await emit();
    expect((await paths(2))[1]).toBe(`/agents/${agentId}/page`);
    await client.post(`/agents/${agentId}/restore`);
    expect(await links()).toEqual([]);
  });

  it('is refused for events, which have no page links', async () => {
    const { client, webhook } = await prepare();
    const issues = [{ field: 'links', message: 'links needs format slack' }];
    const body = { url: 'https://example.com', events: ['run.failed'] };
    expect((await client.post('/workspace/webhooks', { ...body, links: true })).body.issues).toEqual(issues);
    const path = `/workspace/webhooks/${webhook.id}`;
    expect((await client.patch(path, { format: 'standard' })).body.issues).toEqual(issues);
    expect((await client.patch(path, { format: 'standard', links: false })).body.data).toMatchObject({ links: false });
  });
});
