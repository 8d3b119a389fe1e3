import { randomUUID } from 'node:crypto';
import { Readiness } from '../../src/platform/observability/readiness.js';
import { agentBody } from '../factories/bodies.js';
import { UUID } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { LogLines } from '../support/log-lines.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const FAULT = { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' };

describe('the log', () => {
  const log = new LogLines();
  let app: TestApp;
  let client: HttpClient;
  let key: string;
  let workspaceId: string;

  beforeAll(async () => {
    app = await createTestApp({ log });
    ({ apiKey: key, workspaceId } = await app.createWorkspace());
    client = new HttpClient(app.url, key);
  });
  afterAll(() => app.close());

  /** Waits for the request line of a response, and returns the log lines with its request id. */
  const linesOf = async ({ headers }: ApiResponse<any>) => {
    const id = headers.get('x-request-id');
    const lines = () => log.lines.filter((line) => line['req']?.id === id);
    await until(`the request ${id} is logged`, () => lines().some((line) => line['responseTime'] !== undefined));
    return lines();
  };

  it('has one line per request, with the workspace and without the query', async () => {
    const [line, ...others] = await linesOf(await client.get('/agents?search=%2B15550100&limit=5'));
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      level: 30,
      msg: 'GET 200',
      req: { id: expect.stringMatching(UUID), method: 'GET', path: '/agents' },
      res: { status: 200 },
      workspaceId,
      responseTime: expect.any(Number),
    });
    expect(JSON.stringify(line)).not.toContain('15550100');
  });

  it('names no workspace for a client without a key', async () => {
    const [line] = await linesOf(await client.as(undefined).get('/agents'));
    expect(line).toMatchObject({ msg: 'GET 401', level: 30 });
    expect(line).not.toHaveProperty('workspaceId');
  });

  // FgForrest/evitaDB#1364, gofr-dev/gofr#3858: probes during a rolling restart set off alerts on lines of level error.
  it('has no line of level error for the readiness of a process that starts or ends', async () => {
    const readiness = app.nest.get(Readiness);
    for (const state of ['isStarting', 'isShuttingDown'] as const) {
      readiness[state] = true;
      const response = await client.get('/readyz').finally(() => (readiness[state] = false));
      expect(response.status).toBe(503);
      const lines = await linesOf(response);
      expect(lines.map(({ level }) => Number(level))).toEqual([20, 20]);
    }
  });

  it('contains the request id of the client', async () => {
    const response = await client.get('/agents', { 'X-Request-Id': 'from-ci-42' });
    expect((await linesOf(response))[0]?.['req'].id).toBe('from-ci-42');
  });

  it('contains the cause of a 500 under its request id, which the response does not', async () => {
    await sql(app.databaseUrl, 'ALTER TABLE personalities RENAME TO elsewhere');
    const response = await client.get('/personalities');
    await sql(app.databaseUrl, 'ALTER TABLE elsewhere RENAME TO personalities');
    expect([response.status, response.body]).toEqual([500, FAULT]);
    expect(response.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
    const errors = (await linesOf(response)).filter(({ level }) => level === 50);
    expect(errors[0]).toMatchObject({
      msg: 'Internal server error',
      err: { message: 'relation "personalities" does not exist', code: '42P01', stack: expect.any(String) },
    });
    expect(errors[1]).toMatchObject({ msg: 'GET 500', res: { status: 500 }, workspaceId });
    expect(errors[1]).not.toHaveProperty('err');
    expect((await client.get('/personalities')).status).toBe(200);
  });

  describe('contains no secret', () => {
    const SECRET = `s3cr3t-${randomUUID()}`;
    const secrets = { apiKey: `${SECRET}-a`, webhookSecret: `${SECRET}-w`, prompt: `${SECRET}-p` };

    // Compared as booleans, because a failed comparison of texts would print the whole log.
    afterEach(() => {
      expect(log.text.includes(SECRET)).toBe(false);
      expect(log.text.includes(key.slice(12))).toBe(false);
    });

    it('when agents are created, updated and listed', async () => {
      const { body } = await client.post('/agents', agentBody(secrets), { 'Idempotency-Key': SECRET });
      await client.post('/agents', agentBody(secrets), { 'Idempotency-Key': SECRET });
      await client.patch(`/agents/${body.data.id}`, secrets);
      await client.get(`/agents?search=${SECRET}`);
      const response = await client.delete(`/agents/${body.data.id}`);
      expect((await linesOf(response))[0]).toMatchObject({ msg: 'DELETE 200' });
    });

    it('when input is rejected', async () => {
      const wrong = [{ apiKey: [SECRET] }, { webhookSecret: { [SECRET]: SECRET } }, { [SECRET]: 1 }, { type: SECRET }];
      for (const values of wrong) expect((await client.post('/agents', agentBody(values))).status).toBe(400);
      await client.post('/agents', `{"apiKey": "${SECRET}`);
      await client.post('/agents', SECRET, { 'Content-Type': 'text/plain' });
      const response = await client.as(`${SECRET}-unknown-key`).get('/agents', { Cookie: `key=${SECRET}` });
      expect((await linesOf(response))[0]).toMatchObject({ msg: 'GET 401' });
    });

    it('when the database rejects a row, whose detail would contain the row', async () => {
      await sql(app.databaseUrl, 'ALTER TABLE agents ADD CONSTRAINT broken CHECK (false) NOT VALID');
      const response = await client.post('/agents', agentBody(secrets));
      await sql(app.databaseUrl, 'ALTER TABLE agents DROP CONSTRAINT broken');
      expect([response.status, response.body]).toEqual([500, FAULT]);
      expect(JSON.stringify(await linesOf(response))).toContain('violates check constraint');
    });

    it('when a stored secret cannot be decrypted, whether it is in clear text or encrypted with another key', async () => {
      const { id } = (await client.post('/agents', agentBody(secrets))).body.data;
      for (const stored of [SECRET, `${SECRET}.x`, `gone.${SECRET}`, `test.${SECRET}`, '', '.']) {
        await sql(app.databaseUrl, 'UPDATE agents SET api_key = $1 WHERE id = $2', [stored, id]);
        const response = await client.get(`/agents/${id}`);
        expect([response.status, response.body]).toEqual([500, FAULT]);
        expect(JSON.stringify(await linesOf(response))).toContain('DecryptionError');
      }
    });
  });
});
