import { createHash, randomUUID } from 'node:crypto';
import { REPORT_CSP } from '../../libs/run-report/index.js';
import { expectError, expectForbidden, expectInvalid, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { LogLines } from '../support/log-lines.js';
import { createRunApp, executeRun, prepareEvaluations, type RunApp } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { until } from '../support/until.js';

const PUBLIC_URL = 'https://tests.example.com/voice';

describe('report links', () => {
  const log = new LogLines();
  let app: RunApp;
  let prepared: Awaited<ReturnType<typeof prepareEvaluations>>;
  let editor: HttpClient;
  let anonymous: HttpClient;
  let runId: string;
  let path: string;

  beforeAll(async () => {
    app = await createRunApp({}, { env: { PUBLIC_URL: `${PUBLIC_URL}/` }, log });
    prepared = await prepareEvaluations(app);
    editor = prepared.client.as((await createKey(app, prepared, 'EDITOR')).value);
    anonymous = new HttpClient(app.url);
  });
  afterAll(() => app.close());

  beforeEach(async () => {
    runId = (await executeRun(prepared.client, prepared.agentId, { name: 'Shared run' })).id;
    path = `/runs/${runId}/report-links`;
  });

  const create = async (body: object = { expiresInHours: 72 }): Promise<any> => {
    const response = await editor.post<any>(path, body);
    expect(response).toMatchObject({ status: 201 });
    return response.body.data;
  };
  const expire = (id: string) => sql(app.databaseUrl, `UPDATE report_links SET expires_at = now() WHERE id = $1`, [id]);
  const pageOf = ({ url }: { url: string }): string => url.slice(PUBLIC_URL.length);

  it('shows the url in the response to its creation only, never with the Host header', async () => {
    const { url, ...link } = await create();
    expect(url).toMatch(/^https:\/\/tests\.example\.com\/voice\/reports\/[\w-]{43}$/);
    expect(link).toEqual({
      id: expect.any(String),
      includeRecordings: false,
      expiresAt: expect.any(String),
      createdAt: expect.any(String),
      createdByUserId: prepared.userId,
    });
    expect(Date.parse(link.expiresAt) - Date.parse(link.createdAt)).toBe(72 * 3_600_000);
    const { includeRecordings } = await create({ expiresInHours: 1, includeRecordings: true });
    expect(includeRecordings).toBe(true);
    const { body } = await editor.get<any>(path);
    expect(body).toMatchObject({ meta: { total: 2 }, data: [{ includeRecordings: true }, link] });
    expect(JSON.stringify(body)).not.toContain('/reports/');
  });

  it('replays its creation only to the API key that sent it', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await editor.post<any>(path, { expiresInHours: 1 }, headers);
    expect((await editor.post(path, { expiresInHours: 1 }, headers)).body).toEqual(first.body);
    const other = await prepared.client.post(path, { expiresInHours: 1 }, headers);
    expect(other).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('returns the path without PUBLIC_URL', async () => {
    const other = await createRunApp();
    try {
      const { client, agentId } = await prepareEvaluations(other);
      const { id } = await executeRun(client, agentId);
      const { body } = await client.post<any>(
        `/runs/${id}/report-links`,
        { expiresInHours: 1 },
        { 'X-Forwarded-Host': 'attacker.example' },
      );
      expect(body.data.url).toMatch(/^\/reports\/[\w-]{43}$/);
      expect((await new HttpClient(other.url).get(body.data.url)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  it('serves the report of the run without a key, and forbids to store or index it', async () => {
    const link = await create();
    const { status, headers, body } = await anonymous.get<any>(pageOf(link));
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'content-security-policy': REPORT_CSP,
      'x-ratelimit-limit': expect.any(String),
    });
    expect(body).toContain('Shared run');
    expect(body).toBe((await prepared.client.get<any>(`/runs/${runId}/report`)).body);
  });

  it('counts a request for the page against the address of the client', async () => {
    const link = await create();
    const first = await anonymous.get(pageOf(link));
    const second = await anonymous.get(`/reports/${randomUUID()}`);
    const remaining = [first, second].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(remaining[1]).toBe(remaining[0]! - 1);
  });

  it('returns 404, which is not stored either, for a link that is unknown, expired, deleted or of a deleted run', async () => {
    const expectGone = async (page: string) => {
      const response = await anonymous.get(page);
      expectNotFound(response);
      expect(response.headers.get('cache-control')).toBe('no-store');
    };
    await expectGone(`/reports/${'a'.repeat(43)}`);

    const expired = await create();
    await expire(expired.id);
    await expectGone(pageOf(expired));
    expect((await editor.get<any>(path)).body).toMatchObject({ meta: { total: 0 }, data: [] });
    expectNotFound(await editor.delete(`${path}/${expired.id}`));

    const deleted = await create();
    expect(await editor.delete(`${path}/${deleted.id}`)).toMatchObject({
      status: 200,
      body: { message: 'Report link deleted successfully' },
    });
    await expectGone(pageOf(deleted));
    expectNotFound(await editor.delete(`${path}/${deleted.id}`));

    const link = await create();
    expect((await anonymous.get(pageOf(link))).status).toBe(200);
    expect((await prepared.client.delete(`/runs/${runId}`)).status).toBe(200);
    await expectGone(pageOf(link));
    expect(await sql(app.databaseUrl, 'SELECT id FROM report_links WHERE run_id = $1', [runId])).toEqual([]);
    expectNotFound(await editor.post(path, { expiresInHours: 1 }));
  });

  it('returns 404 for a link of another run', async () => {
    const link = await create();
    const other = await executeRun(prepared.client, prepared.agentId);
    for (const id of [link.id, randomUUID(), 'nope']) {
      expectNotFound(await editor.delete(`/runs/${other.id}/report-links/${id}`));
    }
    expect((await anonymous.get(pageOf(link))).status).toBe(200);
  });

  it('requires the role EDITOR for each operation', async () => {
    const link = await create();
    const viewer = prepared.client.as((await createKey(app, prepared, 'VIEWER')).value);
    expectForbidden(await viewer.post(path, { expiresInHours: 1 }));
    expectForbidden(await viewer.get(path));
    expectForbidden(await viewer.delete(`${path}/${link.id}`));
  });

  it.each([[{}], [{ expiresInHours: 0 }], [{ expiresInHours: 721 }], [{ expiresInHours: 1.5 }]])(
    'rejects the lifetime in %j',
    async (body) => {
      expectInvalid(await editor.post(path, body), 'expiresInHours');
    },
  );

  it('returns 409 while the run is in progress', async () => {
    const started = await prepared.client.post<any>(`/agents/${prepared.agentId}/runs`, {});
    const { id } = started.body.data;
    await sql(app.databaseUrl, `UPDATE runs SET status = 'RUNNING' WHERE id = $1`, [runId]);
    expectError(await editor.post(path, { expiresInHours: 1 }), 409, 'CONFLICT', 'The run has not ended yet');
    await prepared.client.get(`/runs/${id}?wait=60`);
  });

  it('returns 409 for the twenty-first link, also under concurrency; expired links do not count', async () => {
    for (let i = 0; i < 15; i++) await create();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => editor.post<any>(path, { expiresInHours: 1 })),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(5).fill(201), ...Array<number>(5).fill(409)]);
    expectError(
      await editor.post(path, { expiresInHours: 1 }),
      409,
      'CONFLICT',
      'A run can have at most 20 report links that have not expired',
    );
    await expire(responses.find(({ status }) => status === 201)!.body.data.id);
    await create();
  });

  it('stores the SHA-256 of the token, and neither stores nor logs the token', async () => {
    const link = await create();
    const token = pageOf(link).slice('/reports/'.length);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const [row] = await sql<any>(app.databaseUrl, 'SELECT * FROM report_links WHERE id = $1', [link.id]);
    expect(row.token_hash).toEqual(createHash('sha256').update(token).digest());
    expect(JSON.stringify(row)).not.toContain(token);

    const logged = [
      [`/reports/${token}`, '/reports/[redacted]'],
      [`/reports/${token}/`, '/reports/[redacted]'],
      [`/Reports/${token}?a=b`, '/Reports/[redacted]'],
      [`//reports/${token}`, '//reports/[redacted]'],
      [`/reports/${token.slice(1)}`, '/reports/[redacted]'],
      // The path of PUBLIC_URL, if a proxy does not remove it, and mistyped addresses: their token is valid, too.
      [`/voice/reports/${token}`, '/voice/reports/[redacted]'],
      [`/%72eports/${token}`, '/%72eports/[redacted]'],
      [`/reports%2F${token}`, '/reports%[redacted]'],
    ] as const;
    for (const [target, expected] of logged) {
      const { headers } = await anonymous.get(target);
      const id = headers.get('x-request-id');
      const line = () => log.lines.find((each) => each['req']?.id === id && each['responseTime'] !== undefined);
      await until(`${target} is logged`, () => line() !== undefined);
      expect(line()?.['req'].path).toBe(expected);
    }
    // As a boolean, because a failed comparison would print the whole log.
    expect(log.text.includes(token)).toBe(false);
  });
});
