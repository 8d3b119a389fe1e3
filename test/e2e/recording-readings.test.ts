import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ErasedAgentsService } from '../../src/modules/agents/erased-agents.service.js';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { agentBody } from '../factories/bodies.js';
import { expectForbidden, expectInvalid } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { importCall } from '../support/imported-calls.js';
import { jobContext } from '../support/job-context.js';
import { createKey } from '../support/keys.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const LIST = '/workspace/recording-readings';
const SAID = 'Zanzibar';
/** The report has the sound of failed calls. */
const FAILS = {
  ...{ key: 'refuses', name: 'Does not refuse', scenarioText: 'You want a table.', scope: 'both' },
  appliesTo: { type: 'says', speaker: 'caller', text: 'table' },
  checks: [{ type: 'never_says', speaker: 'agent', pattern: 'no table in .*', name: 'Does not refuse' }],
};
const TRANSCRIPT = [
  { speaker: 'agent', text: 'Good evening.', startMs: 500, endMs: 1_500 },
  { speaker: 'caller', text: `A table in ${SAID}, please.`, startMs: 2_400, endMs: 4_100 },
  { speaker: 'agent', text: `There is no table in ${SAID}.`, startMs: 5_150, endMs: 7_300 },
];

interface Reading {
  readonly callId: string;
  readonly requests: number;
  readonly parts: { readonly from: number; readonly to: number }[];
  readonly [name: string]: unknown;
}
interface Reader {
  readonly keyId: string;
  readonly client: HttpClient;
  readonly value: string;
}

describe('the list of who heard production calls', () => {
  const dataDir = path.join(tmpdir(), `vat-readings-${randomUUID()}`);
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;
  let admin: HttpClient;
  let call: { readonly id: string; readonly runId: string };
  let bytes: number;

  const query = (text: string, ...values: unknown[]) => sql<any>(app.databaseUrl, text, values);
  const readings = async (filter = ''): Promise<Reading[]> => (await admin.get(`${LIST}${filter}`)).body.data;
  const newReader = async (role: 'VIEWER' | 'EDITOR' = 'EDITOR'): Promise<Reader> => {
    const { id, value } = await createKey(app, subject, role);
    return { keyId: id, value, client: admin.as(value) };
  };
  /** Readings by one key, all minutes together. */
  const readBy = async ({ keyId }: Reader) => {
    const own = (await readings('?limit=100')).filter(({ apiKeyId }) => apiKeyId === keyId);
    return { rows: own.length, requests: own.reduce((sum, { requests }) => sum + requests, 0), own };
  };
  const hear = async ({ value }: Reader, callId: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(`${app.url}/calls/${callId}/recording`, {
      method,
      headers: { Authorization: `Bearer ${value}`, ...headers },
    });
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, body };
  };
  const imported = async (fields: object, agentId = subject.agentId, evaluationId = subject.evaluationIds[0]) => {
    const sent = await importCall({ url: app.url, apiKey: subject.apiKey }, agentId, {
      ...{ origin: 'production', evaluationId, transcript: TRANSCRIPT },
      ...fields,
    });
    expect(sent).toMatchObject({ status: 202 });
    const { id, runId } = sent.body.data;
    await admin.get(`/runs/${runId}?wait=60`);
    return { id: id as string, runId: runId as string };
  };

  beforeAll(async () => {
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), DATA_DIR: dataDir } });
    app.nest.get(RetentionRepository).pruneDelayMs = 0;
    app.nest.get(ErasedAgentsService).delayMs = 0;
    subject = await prepareEvaluations(app, [FAILS]);
    admin = subject.client;
    call = await imported({ externalId: 'platform-1' });
    bytes = Number((await admin.get(`/calls/${call.id}`)).body.data.recording.bytes);
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('names key, user, call and request of a recording that was sent whole, and nothing that was said', async () => {
    const reader = await newReader();
    const before = Date.now() - 1_000;
    const { status, body } = await hear(reader, call.id, { 'X-Request-Id': 'listening-1' });
    expect(status).toBe(200);
    expect(body.length).toBeGreaterThan(bytes);
    const [reading] = await readings();
    expect(reading).toEqual({
      id: expect.any(String),
      agentId: subject.agentId,
      callId: call.id,
      externalId: 'platform-1',
      apiKeyId: reader.keyId,
      apiKeyName: 'A key to test EDITOR',
      userId: subject.userId,
      userName: expect.any(String),
      requestId: 'listening-1',
      requests: 1,
      isWhole: true,
      parts: [{ from: 0, to: body.length - 1 }],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(Date.parse(String(reading!['createdAt']))).toBeGreaterThan(before);
    const [stored] = await query(`SELECT string_agg(t::text, '') AS text FROM recording_readings t`);
    expect(stored.text).not.toContain(SAID);
  });

  it('joins the requests of a player in one entry a minute, with each byte that was sent', async () => {
    const reader = await newReader();
    const ranges = Array.from({ length: 60 }, (_, index) => [index * 100, index * 100 + 49] as const);
    for (const [from, to] of ranges) {
      expect((await hear(reader, call.id, { Range: `bytes=${from}-${to}` })).status).toBe(206);
    }
    const { rows, requests, own } = await readBy(reader);
    expect(rows).toBeLessThanOrEqual(2);
    expect(requests).toBe(60);
    const sent = own.flatMap(({ parts }) => parts).sort((a, b) => a.from - b.from);
    expect(sent).toEqual(ranges.map(([from, to]) => ({ from, to })));
    expect(own).toEqual(own.map((reading) => ({ ...reading, isWhole: false })));
  });

  it('joins also requests that arrive at the same time', async () => {
    const reader = await newReader();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        hear(reader, call.id, { Range: `bytes=${index * 10}-${index * 10 + 9}` }),
      ),
    );
    const { rows, requests, own } = await readBy(reader);
    expect([rows <= 2, requests]).toEqual([true, 20]);
    if (rows === 1) expect(own[0]!.parts).toEqual([{ from: 0, to: 199 }]);
  });

  it('shows one part from the first to the last byte after 100 requests of a minute', async () => {
    const reader = await newReader();
    await hear(reader, call.id, { Range: 'bytes=0-9' });
    await query(
      `UPDATE recording_readings SET requests = 100, minute = date_trunc('minute', now()) WHERE api_key_id = $1`,
      reader.keyId,
    );
    await hear(reader, call.id, { Range: 'bytes=100-109' });
    const { own } = await readBy(reader);
    // A minute may have begun in between.
    if (own.length === 1) expect(own[0]).toMatchObject({ requests: 101, parts: [{ from: 0, to: 109 }] });
  });

  it('has an entry for each key', async () => {
    const [one, other] = [await newReader(), await newReader()];
    await hear(one, call.id);
    await hear(other, call.id);
    expect([(await readBy(one)).requests, (await readBy(other)).requests]).toEqual([1, 1]);
  });

  it('has a report whose page contains the sound', async () => {
    const reader = await newReader();
    const { body } = await reader.client.get(`/runs/${call.runId}/report`);
    expect(body).toContain('data:audio/wav;base64,');
    expect((await readBy(reader)).own).toMatchObject([
      { callId: call.id, isWhole: true, requests: 1, requestId: expect.any(String) },
    ]);
  });

  it('names the recorded call when one is heard that judges it again', async () => {
    const derived = await admin.post(`/runs/${call.runId}/remeasure`);
    const { id: runId } = derived.body.data;
    await admin.get(`/runs/${runId}?wait=60`);
    const again: string = (await admin.get(`/runs/${runId}/calls`)).body.data[0].id;
    const reader = await newReader();
    expect((await hear(reader, again)).status).toBe(200);
    expect((await readBy(reader)).own).toMatchObject([{ callId: call.id, externalId: 'platform-1' }]);
  });

  it('has no answer that sends no sound: HEAD, 304, 416, 403 and reports with figures only', async () => {
    const reader = await newReader();
    const viewer = await newReader('VIEWER');
    const { headers } = await hear(await newReader(), call.id, { Range: 'bytes=0-0' });
    const answers = [
      await hear(reader, call.id, {}, 'HEAD'),
      await hear(reader, call.id, { 'If-None-Match': headers.get('etag')! }),
      await hear(reader, call.id, { Range: 'bytes=99999999-' }),
      await hear(viewer, call.id),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 416, 403]);
    expect((await viewer.client.get(`/runs/${call.runId}/report`)).status).toBe(200);
    expect([(await readBy(reader)).rows, (await readBy(viewer)).rows]).toEqual([0, 0]);
  });

  it('has no calls of other origins', async () => {
    const { id } = await imported({ origin: 'import' });
    const reader = await newReader();
    expect((await hear(reader, id)).status).toBe(200);
    expect((await readBy(reader)).rows).toBe(0);
  });

  it('sends no sound that it cannot write down, alone or in a report', async () => {
    const reader = await newReader();
    await query('ALTER TABLE recording_readings RENAME TO elsewhere');
    try {
      const { status, headers, body } = await hear(reader, call.id);
      expect([status, headers.get('content-type'), headers.get('etag')]).toEqual([
        500,
        'application/json; charset=utf-8',
        null,
      ]);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(body.toString()).not.toContain('RIFF');
      const report = await reader.client.get(`/runs/${call.runId}/report`);
      expect(report.status).toBe(200);
      expect(report.body).not.toContain('data:audio/wav;base64,');
    } finally {
      await query('ALTER TABLE elsewhere RENAME TO recording_readings');
    }
    expect((await hear(reader, call.id)).status).toBe(200);
  });

  it('is filtered by agent, call and time', async () => {
    const other = await imported({ externalId: 'platform-2' });
    const reader = await newReader();
    await hear(reader, other.id);
    expect(await readings(`?callId=${other.id}`)).toMatchObject([{ callId: other.id, externalId: 'platform-2' }]);
    const all = await readings('?limit=100');
    expect(await readings(`?limit=100&agentId=${subject.agentId}`)).toEqual(all);
    expect(await readings(`?agentId=${randomUUID()}`)).toEqual([]);
    await query(`UPDATE recording_readings SET created_at = '2026-01-01T00:00:00Z' WHERE call_id = $1`, other.id);
    expect(await readings(`?callId=${other.id}&from=2026-01-02`)).toEqual([]);
    expect(await readings(`?callId=${other.id}&from=2026-01-01`)).toHaveLength(1);
    for (const bad of ['1', 'x'.repeat(300), "' OR true", `${other.id}\u0000`]) {
      expectInvalid(await admin.get(`${LIST}?callId=${encodeURIComponent(bad)}`), 'callId');
      expectInvalid(await admin.get(`${LIST}?agentId=${encodeURIComponent(bad)}`), 'agentId');
      expectInvalid(await admin.get(`${LIST}?from=${encodeURIComponent(bad)}`), 'from');
    }
  });

  it('is shown to ADMIN keys of the workspace only', async () => {
    await hear(await newReader(), call.id);
    for (const role of ['VIEWER', 'EDITOR'] as const) {
      expectForbidden(await (await newReader(role)).client.get(LIST));
    }
    const stranger = await prepareEvaluations(app);
    for (const filter of ['', `?agentId=${subject.agentId}`, `?callId=${call.id}`]) {
      expect((await stranger.client.get(`${LIST}${filter}`)).body).toMatchObject({ data: [], meta: { total: 0 } });
    }
  });

  it('outlives the call with its name, and the agent without it', async () => {
    const agentId: string = (await admin.post('/agents', agentBody())).body.data.id;
    const { personalityId } = subject;
    const created = await admin.post(`/agents/${agentId}/evaluations`, { personalityId, ...FAILS });
    const ofAgent = await imported({ externalId: 'platform-3' }, agentId, created.body.data.id);
    await hear(await newReader(), ofAgent.id);
    expect((await admin.delete(`/agents/${agentId}/calls?externalId=platform-3`)).status).toBe(200);
    expect((await admin.get(`/calls/${ofAgent.id}`)).status).toBe(404);
    const [kept] = await readings(`?callId=${ofAgent.id}`);
    expect(kept).toMatchObject({ externalId: 'platform-3', isWhole: true });
    expect((await admin.delete(`/agents/${agentId}?permanently=true`)).status).toBe(202);
    await until(
      'the agent is erased',
      async () => (await query('SELECT FROM agents WHERE id = $1', agentId)).length === 0,
    );
    expect(await readings(`?agentId=${agentId}`)).toEqual([{ ...kept, externalId: null }]);
  });

  it('keeps entries for 400 days', async () => {
    const reader = await newReader();
    await hear(reader, call.id);
    const age = (days: number) =>
      query(
        `UPDATE recording_readings SET created_at = now() - $2 * interval '1 day' WHERE api_key_id = $1`,
        reader.keyId,
        days,
      );
    const prune = async () =>
      app.nest
        .get(Queue)
        .handled.find(({ job }) => job.name === 'recordings.prune')!
        .handler({}, jobContext());
    await age(399);
    await prune();
    expect((await readBy(reader)).rows).toBe(1);
    await age(401);
    await prune();
    expect((await readBy(reader)).rows).toBe(0);
  });
});
