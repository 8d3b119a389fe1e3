import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WEBHOOK_EVENT_TYPES } from '../../src/modules/webhooks/webhook-event.js';
import { expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { importCall } from '../support/imported-calls.js';
import { createKey } from '../support/keys.js';
import { BOOKS, productionCall, takeCall } from '../support/production-calls.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const SAID = 'Zanzibar';
const LINES = ['Good evening.', `A table in ${SAID}, please.`, `There is no table in ${SAID}.`];
const TOOL = { name: 'find_table', arguments: { city: SAID }, result: { free: SAID }, startMs: 4_500 };
/** Fails with a quote; the evaluation itself does not have the word. */
const REFUSES = { type: 'never_says', speaker: 'agent', pattern: 'no table in .*', name: 'Does not refuse' };
const NEEDS_EDITOR = { message: 'The sound of production calls requires an EDITOR key' };

type Role = 'VIEWER' | 'EDITOR';
type Kind = 'fetched' | 'imported' | 'measured again';

describe('the words and the sound of production calls', () => {
  const dataDir = path.join(tmpdir(), `vat-words-${randomUUID()}`);
  let app: TestApp;
  let agentId: string;
  let readers: Record<Role, HttpClient>;
  const calls = {} as Record<Kind, { readonly id: string; readonly runId: string }>;

  beforeAll(async () => {
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), DATA_DIR: dataDir } });
    const subject = await prepareEvaluations(app, [{ ...BOOKS, critical: true, checks: [REFUSES] }]);
    const { client, workspaceId, apiKey } = subject;
    ({ agentId } = subject);
    const as = async (role: Role) => client.as((await createKey(app, subject, role)).value);
    const events = WEBHOOK_EVENT_TYPES.filter((type) => type !== 'webhook.test');
    const webhook = await client.post('/workspace/webhooks', { url: 'https://hooks.example.com/x', events });
    expect(webhook).toMatchObject({ status: 201 });
    readers = { VIEWER: await as('VIEWER'), EDITOR: await as('EDITOR') };
    const callOf = async (runId: string) => ({ runId, id: (await client.get(`/runs/${runId}/calls`)).body.data[0].id });

    await takeCall(
      app,
      { id: agentId, workspaceId },
      productionCall('a', LINES, { toolCalls: [{ ...TOOL, result: SAID }] }),
    );
    calls.fetched = await callOf((await client.get(`/agents/${agentId}/runs?origin=production`)).body.data[0].id);

    const sent = await importCall({ url: app.url, apiKey }, agentId, {
      ...{ origin: 'production', evaluationId: subject.evaluationIds[0], externalId: 'b', endedReason: SAID },
      ...{ reported: { summary: SAID }, toolCalls: [TOOL] },
      transcript: [
        { speaker: 'agent', text: LINES[0], startMs: 500, endMs: 1_500 },
        { speaker: 'caller', text: LINES[1], startMs: 2_400, endMs: 4_100 },
        { speaker: 'agent', text: LINES[2], startMs: 5_150, endMs: 7_300 },
      ],
    });
    expect(sent).toMatchObject({ status: 202 });
    const { runId } = sent.body.data;
    await client.get(`/runs/${runId}?wait=60`);
    calls.imported = await callOf(runId);
    const derived = await client.post(`/runs/${runId}/remeasure`);
    expect(derived).toMatchObject({ status: 201 });
    await client.get(`/runs/${derived.body.data.id}?wait=60`);
    calls['measured again'] = await callOf(derived.body.data.id);
    // A day ends after hours.
    await sql(app.databaseUrl, `UPDATE runs SET status = 'COMPLETED', ended_at = now() WHERE day IS NOT NULL`);
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const KINDS: Kind[] = ['fetched', 'imported', 'measured again'];
  const read = async (role: Role, address: string) => {
    const { status, body } = await readers[role].get(address);
    return { status, text: typeof body === 'string' ? body : JSON.stringify(body) };
  };
  const ROUTES: [name: string, address: (call: { id: string; runId: string }) => string][] = [
    ['a call', ({ id }) => `/calls/${id}`],
    ['the calls of its run', ({ runId }) => `/runs/${runId}/calls`],
    ['the calls of its agent', () => `/agents/${agentId}/calls?origin=production`],
    ['the report', ({ runId }) => `/runs/${runId}/report`],
    ['the JUnit file', ({ runId }) => `/runs/${runId}/junit`],
    ['the events of its run', ({ runId }) => `/runs/${runId}/events`],
    ['the page of its agent', () => `/agents/${agentId}/page`],
  ];

  it.each(KINDS.flatMap((kind) => ROUTES.map(([name, address]) => [name, kind, address] as const)))(
    'are in %s for an EDITOR, and not for a VIEWER, when it was %s',
    async (_name, kind, address) => {
      const target = address(calls[kind]);
      expect(await read('EDITOR', target)).toEqual({ status: 200, text: expect.stringContaining(SAID) });
      expect(await read('VIEWER', target)).toEqual({ status: 200, text: expect.not.stringContaining(SAID) });
    },
  );

  it.each(KINDS)('are replaced by figures for a VIEWER when it was %s', async (kind) => {
    const { id, runId } = calls[kind];
    const [own, shown] = [await readers.EDITOR.get(`/calls/${id}`), await readers.VIEWER.get(`/calls/${id}`)];
    const { outcome, score, startedAt, endedAt, latencies, measures, recording, voice } = own.body.data;
    expect(shown.body.data).toMatchObject({
      ...{ outcome, score, startedAt, endedAt, latencies, recording, voice, words: [] },
      measures: { durationMs: measures.durationMs, turns: measures.turns, toolCalls: measures.toolCalls },
      checks: [{ name: 'Does not refuse', met: false }],
      reason: 'Not met: Does not refuse. The texts of the call are shown to EDITOR and ADMIN keys.',
      imported: { origin: 'production', endedReason: null, reported: null },
      attempts: [{ outcome, reason: 'The texts of the call are shown to EDITOR and ADMIN keys.' }],
    });
    const times = ({ body }: typeof own) => body.data.timeline.map(({ type, start, end }: any) => [type, start, end]);
    expect(times(shown)).toEqual(times(own));
    expect(shown.body.data.timeline).toContainEqual(expect.objectContaining({ name: 'find_table', arguments: {} }));
    const { text } = await read('VIEWER', `/runs/${runId}/report`);
    expect(text).toContain('words not shown');
    expect(text).not.toContain(`/calls/${id}/recording`);
  });

  it.each(['recording', 'wire'])('need an EDITOR key for the file %s', async (file) => {
    for (const kind of KINDS) {
      const { status, body } = await readers.VIEWER.get(`/calls/${calls[kind].id}/${file}`);
      expect({ status, body }).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', issues: [NEEDS_EDITOR] } });
    }
    const { status } = await readers.EDITOR.get(`/calls/${calls.imported.id}/recording`);
    expect(status).toBe(200);
  });

  it('are in no event of a webhook, although a critical evaluation failed', async () => {
    expect((await readers.EDITOR.get(`/runs/${calls.imported.runId}`)).body.data).toMatchObject({ exitCode: 1 });
    expect(await sql(app.databaseUrl, 'SELECT type, body FROM webhook_events')).toEqual([]);
  });

  it.each(KINDS)('are behind no report link when it was %s', async (kind) => {
    const address = `/runs/${calls[kind].runId}/report-links`;
    const message = 'Reports of production calls have no links: they need an API key';
    expect(await readers.EDITOR.post(address, { expiresInHours: 1 })).toMatchObject({ status: 409, body: { message } });
    // As an earlier version made it.
    const setOrigin = (origin: string) =>
      sql(app.databaseUrl, `UPDATE runs SET origin = $2 WHERE id = $1`, [calls[kind].runId, origin]);
    await setOrigin('import');
    const { url } = (await readers.EDITOR.post(address, { expiresInHours: 1 })).body.data;
    const page = new URL(url, app.url).pathname;
    const anonymous = new HttpClient(app.url);
    expect((await anonymous.get(page)).status).toBe(200);
    await setOrigin('production');
    expectNotFound(await anonymous.get(page));
    expect((await readers.EDITOR.get(address)).body.meta.total).toBe(1);
  });
});
