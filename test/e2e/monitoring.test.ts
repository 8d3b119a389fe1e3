import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { executeInProcess } from '../../libs/client/testing/in-process.js';
import { CallFetcher } from '../../src/modules/monitoring/call-fetcher.service.js';
import { ProductionDays } from '../../src/modules/production-days/production-days.service.js';
import type { KeptCall } from '../simulators/records/kept-calls.js';
import { expectInvalid } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const KEY = 'key_of_the_test_1234567890';
const DAY_MS = 24 * 60 * 60_000;
const KINDS = ['card', 'iban', 'email', 'phone'];

describe('the monitoring of production calls', () => {
  let database: TestDatabase;
  let app: TestApp;
  let vapi: VapiServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    vapi = await VapiServer.start({ apiKey: KEY });
    const env = { ROLE: 'api', OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', AGENT_PROVIDER_4_PROTOCOL: 'vapi' };
    app = await createTestApp({ env: { ...env, AGENT_PROVIDER_4_URL: vapi.url }, databaseUrl: database.url });
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await vapi?.stop();
    await database?.drop();
  });

  const agentBody = { provider: 'AGENT_PROVIDER_4', assistantId: 'assistant_1', apiKey: KEY, name: 'Bella' };

  async function prepare(values: object = {}) {
    await sql(database.url, 'UPDATE agents SET call_monitoring = false');
    vapi.kept.all.clear();
    const owner = await app.createWorkspace();
    const client = new HttpClient(app.url, owner.apiKey);
    const as = async (role: 'VIEWER' | 'EDITOR') => client.as((await createKey(app, owner, role)).value);
    const [editor, viewer] = [await as('EDITOR'), await as('VIEWER')];
    const created = await client.post('/agents', { workspaceId: owner.workspaceId, ...agentBody, ...values });
    expect(created.status).toBe(201);
    const agentId: string = created.body.data.id;
    return { owner, client, editor, viewer, agentId, path: `/agents/${agentId}/monitoring` };
  }

  const call = (id: string, more: Partial<KeptCall> = {}): KeptCall => ({
    ...{ id, agent: 'assistant_1', startedAt: Date.now() - 41_000, endedAt: Date.now() - 1_000, sound: null },
    lines: [
      { speaker: 'agent', text: 'Good evening.', startMs: 1_000, endMs: 3_000 },
      {
        speaker: 'caller',
        text: 'A table for four, please. My card is 4111 1111 1111 1111.',
        startMs: 4_000,
        endMs: 6_000,
      },
      { speaker: 'agent', text: 'Goodbye.', startMs: 9_000, endMs: 10_000 },
    ],
    ...more,
  });

  /** The message of a refusal, or that of its only issue. */
  function refusal({ status, body }: ApiResponse<any>, expected: number): string {
    expect({ status, body }).toMatchObject({ status: expected });
    return body.issues?.[0].message ?? body.message;
  }

  async function fetch() {
    const fetcher = app.nest.get(CallFetcher, { strict: false });
    await sql(database.url, 'UPDATE agent_monitoring SET due_at = now(), lease_until = NULL');
    await fetcher.begin();
    await fetcher.settled();
  }

  it('judges the calls of an agent by its evaluations for production, from the moment it is switched on', async () => {
    const { client, owner, agentId, path } = await prepare();
    const personality = await client.post('/personalities', {
      workspaceId: owner.workspaceId,
      name: 'Any',
    });
    const evaluation = {
      ...{ key: 'books', name: 'Books the table', scenarioText: 'You want a table.', scope: 'production' },
      ...{ personalityId: personality.body.data.id, checks: [{ type: 'calls_tool', tool: 'book_table' }] },
    };
    expect(await client.post(`/agents/${agentId}/evaluations`, evaluation)).toMatchObject({ status: 201 });
    expect((await client.get(path)).body.data).toMatchObject({ state: 'off', lastFetchedAt: null });
    await client.patch(`/agents/${agentId}`, { callMonitoring: true });
    await fetch();
    vapi.kept.keep(call('one'), call('two', { fields: { artifact: { messages: 'none' } } }));
    await fetch();
    await fetch();
    expect((await client.get(path)).body.data).toMatchObject({
      ...{ state: 'healthy', message: null, lastFetchedAt: expect.stringMatching(/Z$/) },
      today: { judged: 1, awaited: 1, own: 0, notApplicable: 0, overLimit: 0, sampledOut: 0, malformed: 0, noWords: 0 },
      issues: [{ externalId: 'two', message: expect.stringContaining('its messages are not a list') }],
    });
    const { body } = await client.get(`/agents/${agentId}/calls?origin=production`);
    expect(body.data).toMatchObject([{ externalId: 'one', outcome: 'failed', evaluationName: 'Books the table' }]);
    const details = JSON.stringify((await client.get(`/calls/${body.data[0].id}`)).body);
    expect(details).toContain('[card number 1]');
    expect(details).not.toContain('4111');
  });

  it('creates the evaluation "Real callers" for an agent without one for production', async () => {
    const { client, agentId } = await prepare({ callMonitoring: true });
    vapi.kept.keep(call('first'));
    await fetch();
    const { body } = await client.get(`/agents/${agentId}/evaluations`);
    expect(body.data).toMatchObject([{ key: 'production', name: 'Real callers', scope: 'production' }]);
    expect((await client.get(`/agents/${agentId}/calls?origin=production`)).body.data).toHaveLength(1);
  });

  it('shares one personality between the evaluations "Real callers" of agents that are switched on at once', async () => {
    const { client, owner, agentId } = await prepare();
    const { workspaceId } = owner;
    const other = await client.post('/agents', { workspaceId, ...agentBody });
    const days = app.nest.get(ProductionDays, { strict: false });
    const ids: string[] = [agentId, other.body.data.id];
    await Promise.all(ids.map((id) => days.begin({ id, workspaceId })));
    const used = await Promise.all(
      ids.map(async (id) => (await client.get(`/agents/${id}/evaluations`)).body.data[0].personalityId),
    );
    expect(used).toEqual([used[0], used[0]]);
    const { body } = await client.get('/personalities');
    expect(body.data.map(({ id, name }: { id: string; name: string }) => [id, name])).toEqual([
      [used[0], 'Real caller'],
    ]);
  });

  it('names the evaluations that were added or changed after the first call of the day', async () => {
    const { client, owner, agentId, path } = await prepare({ callMonitoring: true });
    const env = { VAT_URL: app.url, VAT_API_KEY: owner.apiKey };
    const pending = async () =>
      (await client.get(path)).body.data.pendingEvaluations.map((one: { name: string }) => one.name);
    const evaluations = `/agents/${agentId}/evaluations`;
    vapi.kept.keep(call('first'));
    await fetch();
    expect(await pending()).toEqual([]);
    const [{ id, personalityId }] = (await client.get(evaluations)).body.data;
    const added = { name: 'Added', scenarioText: 'Calls.', personalityId, checks: [{ type: 'ends_by', by: 'caller' }] };
    expect((await client.post(evaluations, { ...added, scope: 'production' })).status).toBe(201);
    expect((await client.post(evaluations, { ...added, name: 'Of tests' })).status).toBe(201);
    expect(await pending()).toEqual(['Added']);
    expect((await client.patch(`/evaluations/${id}`, { name: 'Changed' })).status).toBe(200);
    expect(await pending()).toEqual(['Changed', 'Added']);
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
    expect((await executeInProcess(['monitor', agentId], env)).stdout).toContain(
      `\n2 evaluations count from ${tomorrow} (UTC): Changed, Added\n`,
    );
    await sql(database.url, `UPDATE runs SET day = day - 1 WHERE agent_id = '${agentId}'`);
    expect(await pending()).toEqual([]);
  });

  it('has settings with defaults, which a PUT without them restores', async () => {
    const { client, viewer, path } = await prepare();
    const defaults = { samplePercent: 100, redact: KINDS, judge: false, maxJudgedPerDay: 500 };
    expect((await viewer.get(path)).body.data).toMatchObject(defaults);
    const other = { samplePercent: 5, redact: ['phone'], judge: true, maxJudgedPerDay: 0 };
    expect(await client.put(path, other)).toMatchObject({ status: 200, body: { data: other } });
    expect((await viewer.get(path)).body.data).toMatchObject(other);
    expect((await client.put(path, { samplePercent: 7, redact: [] })).body.data).toMatchObject({
      ...{ ...defaults, samplePercent: 7, redact: [] },
    });
    for (const [field, value] of [
      ['samplePercent', 101],
      ['redact', ['name']],
      ['redact', ['card', 'card']],
      ['judge', 'yes'],
      ['maxJudgedPerDay', 10_001],
    ] as const) {
      expectInvalid(await client.put(path, { [field]: value }), field);
    }
  });

  it('fetches calls of the last 30 days on request, at once after it was switched on', async () => {
    const { client, agentId, path } = await prepare();
    const from = (days: number) => ({ from: new Date(Date.now() - days * DAY_MS).toISOString() });
    expect(refusal(await client.post(`${path}/backfill`, from(1)), 409)).toContain('switch it on first');
    await client.patch(`/agents/${agentId}`, { callMonitoring: true });
    for (const [days, why] of [
      [31, 'from must be at most 30 days ago'],
      [-1, 'from must not be in the future'],
    ] as const) {
      expect(refusal(await client.post(`${path}/backfill`, from(days)), 400)).toBe(why);
    }
    expectInvalid(await client.post(`${path}/backfill`, { from: '2026-11-20' }), 'from');
    const past = Date.now() - 3 * DAY_MS;
    vapi.kept.keep(
      call('past', { startedAt: past, endedAt: past + 60_000 }),
      call('older', { startedAt: 1, endedAt: 2 }),
    );
    expect(await client.post(`${path}/backfill`, from(4))).toMatchObject({
      status: 202,
      body: { data: { state: 'starting' } },
    });
    await fetch();
    const { body } = await client.get(`/agents/${agentId}/runs?origin=production`);
    const day = new Date(past + 60_000).toISOString().slice(0, 10);
    expect(body.data).toMatchObject([{ name: `Production, ${day}`, origin: 'production' }]);
  });

  it('needs an ADMIN wherever calls would be read with a default key', async () => {
    const { client, editor, owner, agentId, path } = await prepare();
    await client.put('/workspace/provider-keys/AGENT_PROVIDER_4', { apiKey: KEY });
    const both = { ...agentBody, workspaceId: owner.workspaceId, isUsingDefaultApiKey: true, callMonitoring: true };
    const refused = (response: ApiResponse<any>) => expect(refusal(response, 403)).toMatch(/ADMIN/);
    refused(await editor.post('/agents', both));
    const agent = `/agents/${agentId}`;
    expect((await editor.patch(agent, { isUsingDefaultApiKey: true })).status).toBe(200);
    refused(await editor.patch(agent, { callMonitoring: true }));
    expect((await client.patch(agent, { callMonitoring: true })).status).toBe(200);
    refused(await editor.patch(agent, { assistantId: 'that_of_others' }));
    expect((await editor.patch(agent, { assistantId: 'assistant_1', callMonitoring: true, name: 'Same' })).status).toBe(
      200,
    );
    refused(await editor.put(path, { samplePercent: 50 }));
    refused(await editor.post(`${path}/backfill`, { from: new Date().toISOString() }));
    expect((await client.put(path, { samplePercent: 50 })).status).toBe(200);
    expect((await editor.patch(agent, { isUsingDefaultApiKey: false })).status).toBe(200);
    refused(await editor.patch(agent, { isUsingDefaultApiKey: true }));
    expect((await editor.put(path, {})).status).toBe(200);
  });

  it('is only for platforms that keep records, and the refusal names the import of calls', async () => {
    const { client, owner, viewer, agentId, path } = await prepare();
    await client.put(`/agents/${agentId}/connection`, { protocol: 'chat-completions', url: `${vapi.url}/v1` });
    const env = { VAT_URL: app.url, VAT_API_KEY: owner.apiKey };
    expect(await executeInProcess(['monitor', agentId, '--on'], env)).toMatchObject({
      ...{ code: 3, stderr: expect.stringContaining('POST /agents/{id}/calls/import') },
    });
    expect((await client.get(`/agents/${agentId}`)).body.data.callMonitoring).toBe(false);
    for (const response of [
      await client.put(path, {}),
      await client.post(`${path}/backfill`, { from: new Date().toISOString() }),
    ]) {
      expect(refusal(response, 409)).toContain('POST /agents/{id}/calls/import');
    }
    await client.patch(`/agents/${agentId}`, { callMonitoring: true });
    const unavailable = { state: 'unavailable', message: expect.stringContaining('POST /agents/{id}/calls/import') };
    expect((await viewer.get(path)).body.data).toMatchObject(unavailable);
    await fetch();
    expect((await viewer.get(path)).body.data).toMatchObject(unavailable);
  });

  it('is refused to a VIEWER by vat monitor, which says what a change requires', async () => {
    const { owner, agentId } = await prepare();
    const env = { VAT_URL: app.url, VAT_API_KEY: (await createKey(app, owner, 'VIEWER')).value };
    const { code, stderr } = await executeInProcess(['monitor', agentId, '--on'], env);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('what changes something requires EDITOR'),
    });
    expect(stderr).not.toContain('runs');
  });

  it('names the failed fetched calls with the ids, their evaluation, what was not met, and the command for the report', async () => {
    const { owner, client, agentId } = await prepare();
    const { id: personalityId } = (await client.post('/personalities', { workspaceId: owner.workspaceId, name: 'Any' }))
      .body.data;
    const ids: string[] = [];
    for (const key of ['books', 'reserves']) {
      const checks = [{ type: 'calls_tool', tool: 'book_table' }];
      const evaluation = {
        key,
        name: `It ${key}`,
        scenarioText: 'You want a table.',
        scope: 'production',
        personalityId,
        checks,
      };
      const created = await client.post(`/agents/${agentId}/evaluations`, evaluation);
      expect(created.status).toBe(201);
      ids.push(created.body.data.id);
    }
    await client.patch(`/agents/${agentId}`, { callMonitoring: true });
    await fetch();
    vapi.kept.keep(call('one'));
    await fetch();
    const list = `/agents/${agentId}/calls?origin=production`;
    const imported = new FormData();
    for (const [field, value] of Object.entries({
      ...{ origin: 'production', externalId: 'sent', evaluationId: ids[0]!, startedAt: '2026-11-20T00:00:00Z' },
      ...{ endedReason: 'customer-ended-call', toolCalls: '[]' },
      transcript: JSON.stringify([
        { speaker: 'agent', text: 'Good evening.', startMs: 400, endMs: 1_300 },
        { speaker: 'caller', text: 'A table, please.', startMs: 2_100, endMs: 3_900 },
      ]),
    }))
      imported.append(field, value);
    const headers = { Authorization: `Bearer ${owner.apiKey}` };
    const sent = await globalThis.fetch(`${app.url}/agents/${agentId}/calls/import`, {
      method: 'POST',
      body: imported,
      headers,
    });
    expect(sent.status).toBe(202);
    const of = async (fetched: boolean) =>
      (await client.get(`${list}&fetched=${fetched}`)).body.data.map((one: any) => one.externalId);
    expect([await of(true), await of(false)]).toEqual([['one', 'one'], ['sent']]);

    const vat = async (apiKey: string) =>
      (await executeInProcess(['monitor', agentId], { VAT_URL: app.url, VAT_API_KEY: apiKey })).stdout;
    const [{ id, runId }] = (await client.get(`${list}&fetched=true`)).body.data;
    const viewer = (await createKey(app, owner, 'VIEWER')).value;
    const [written, read] = [await vat(owner.apiKey), await vat(viewer)];
    for (const stdout of [written, read]) {
      expect(stdout).toContain('Today (UTC): 1 judged, 1 of them failed\n');
      expect(stdout).toMatch(
        new RegExp(`^${id} +one +\\S+Z +It (books|reserves) +Not met: Agent calls book_table`, 'm'),
      );
      expect(stdout).toContain(`\nvat report ${runId} --out report.html\n`);
      expect(stdout).not.toContain('sent');
    }
    expect(written).toContain('vat promote CALL');
    expect(read).not.toContain('vat promote');
  });

  it('is switched on, printed and switched off by vat monitor', async () => {
    const { owner, agentId } = await prepare();
    const env = { VAT_URL: app.url, VAT_API_KEY: owner.apiKey };
    const vat = (...words: string[]) => executeInProcess(['monitor', agentId, ...words], env);
    const none = 'off\nCalls were not fetched yet.\nRecordings: measured, and not kept\nToday (UTC): no calls\n';
    expect(await vat()).toMatchObject({ code: 0, stdout: none });
    expect((await vat('--on')).stdout).toMatch(/^starting\n/);
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    expect(await vat('--on', '--backfill', hourAgo)).toMatchObject({
      code: 0,
      stderr: `Fetching calls that ended since ${hourAgo} begins.\n`,
      stdout: expect.stringMatching(/^starting\n/),
    });
    vapi.kept.keep(call('one'), call('two', { fields: { artifact: { messages: 'none' } } }));
    await fetch();
    const { stdout } = await vat();
    expect(stdout).toMatch(
      /^healthy\nCalls were fetched at \S+Z\.\nRecordings: .+\nToday \(UTC\): 1 judged, 1 whose record or recording is read again later\n/,
    );
    expect(stdout).toMatch(/two .*its record of the call cannot be\s+read/);
    expect((await vat('--off')).stdout).toMatch(/^off\n(?![^]*Failed call)/);
    await fetch();
    expect((await vat()).stdout).toMatch(/^off\n/);
    expect(await vat('--on', '--off')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('--off is given beside'),
    });
    expect((await vat('--backfill', hourAgo)).stderr).toContain('switch it on first');
  });
});
