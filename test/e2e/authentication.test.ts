import { createHash } from 'node:crypto';
import { generateKey } from '../../src/modules/api-keys/key-format.js';
import type { FirstKey } from '../../src/modules/api-keys/first-key.service.js';
import { Clock } from '../../src/platform/clock.js';
import { expectError } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

function expectUnauthorized(response: ApiResponse<any>, message: string): void {
  expectError(response, 401, 'UNAUTHORIZED', message);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
}
const expectMissing = (response: ApiResponse<any>) => expectUnauthorized(response, 'Authorization not provided');
const expectUnknown = (response: ApiResponse<any>) => expectUnauthorized(response, 'Invalid API key');
const expectExpired = (response: ApiResponse<any>) => expectUnauthorized(response, 'Expired API key');

let app: TestApp;
let workspace: FirstKey;

beforeAll(async () => {
  app = await createTestApp();
  workspace = await app.createWorkspace();
});
afterAll(() => app.close());

const as = (key: string, on = app) => new HttpClient(on.url, key).get('/agents');
const withHeader = (authorization: string) => new HttpClient(app.url).get('/agents', { Authorization: authorization });

describe('the Authorization header', () => {
  it('returns 401 if it is missing', async () => expectMissing(await new HttpClient(app.url).get('/agents')));

  it.each(['Bearer', 'Bearer ', 'Bearer    ', 'Basic dTpw', 'Token abc', 'Digest x', 'bearerabc', ',', ''])(
    'returns 401 for "%s", which carries no key',
    async (value) => expectMissing(await withHeader(value)),
  );

  it('returns 401 for a key without a scheme', async () => expectMissing(await withHeader(workspace.apiKey)));

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('accepts the scheme %s', async (scheme) => {
    expect((await withHeader(`${scheme} ${workspace.apiKey}`)).status).toBe(200);
    expect((await withHeader(`${scheme}   ${workspace.apiKey} `)).status).toBe(200);
  });

  it.each([
    'x',
    'vat_',
    'null',
    'undefined',
    'a b',
    'ä'.repeat(20),
    'x'.repeat(8000),
    "' OR '1'='1",
    `${generateKey()}, Bearer ${generateKey()}`,
  ])('rejects the unknown key "%.40s"', async (key) => expectUnknown(await withHeader(`Bearer ${key}`)));

  it('is not required for the 404 of an unknown path', async () => {
    expectError(await new HttpClient(app.url).get('/nothing'), 404, 'NOT_FOUND', 'Not found');
  });
});

describe('an API key', () => {
  it('is rejected if it is well-formed but was never issued', async () => expectUnknown(await as(generateKey())));

  it('is rejected in another letter case, truncated or extended', async () => {
    const { apiKey } = workspace;
    const swapped = [...apiKey.slice(4)]
      .map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()))
      .join('');
    for (const key of [`vat_${swapped}`, apiKey.slice(0, -1), `${apiKey}0`]) expectUnknown(await as(key));
  });

  it('is stored only as its SHA-256', async () => {
    const { id, value } = await createKey(app, workspace);
    const [row] = await sql(app.databaseUrl, 'SELECT * FROM api_keys WHERE id = $1', [id]);
    expect(row?.['hash']).toBe(createHash('sha256').update(value).digest('hex'));
    expect(JSON.stringify(row)).not.toContain(value.slice(12));
  });

  it('is rejected after it has expired, even if it was in use', async () => {
    const { id, value } = await createKey(app, workspace);
    expect((await as(value)).status).toBe(200);
    await sql(app.databaseUrl, `UPDATE api_keys SET expires_at = now() + interval '1 hour' WHERE id = $1`, [id]);
    expect((await as(value)).status).toBe(200);
    const clock = jest.spyOn(app.nest.get(Clock), 'now').mockReturnValue(Date.now() + 3_601_000);
    try {
      // Nothing is written from here on, so the cache itself must check the expiry, once it has heard of it.
      await until('the key has expired', async () => (await as(value)).status !== 200);
      expectExpired(await as(value));
    } finally {
      clock.mockRestore();
    }
  });

  it('is invalid, not expired, if it was revoked', async () => {
    const { id, value } = await createKey(app, workspace);
    await sql(
      app.databaseUrl,
      `UPDATE api_keys SET expires_at = now() - interval '1 hour', revoked_at = now() WHERE id = $1`,
      [id],
    );
    expectUnknown(await as(value));
  });

  it('has its workspace and role as soon as it is created', async () => {
    const { value } = await createKey(app, workspace, 'VIEWER');
    const client = new HttpClient(app.url, value);
    expect((await client.get('/agents')).status).toBe(200);
    expect((await client.post('/agents', {})).status).toBe(403);
  });
});
