import { gzipSync } from 'node:zlib';
import { operations, successStatus } from '../support/conformance.js';
import { expectInvalid, expectNotFound } from '../support/expect.js';
import { RawConnection } from '../support/hostile/wire.js';
import { HttpClient } from '../support/http.js';
import { pathFor, type WorkspaceWithKey, WITHOUT_WORKER, withoutWebhookLimits } from '../support/resources.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const WITHOUT_BODY = operations.filter(({ method, operation }) => method !== 'GET' && !operation.requestBody);
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('an operation without a body', () => {
  let app: TestApp;
  let subject: WorkspaceWithKey;
  let client: HttpClient;

  beforeAll(async () => {
    app = await createTestApp({ env: WITHOUT_WORKER });
    withoutWebhookLimits(app);
    subject = await app.createWorkspace();
    client = new HttpClient(app.url, subject.apiKey);
  });
  afterAll(() => app.close());

  it('exists for more methods than DELETE', () => {
    expect(new Set(WITHOUT_BODY.map(({ method }) => method))).toEqual(new Set(['POST', 'DELETE']));
  });

  it.each(WITHOUT_BODY)('$name refuses a body that it would ignore, and accepts {}', async (operation) => {
    const path = await pathFor(app, subject, operation.template);
    const refused: [string | Buffer, Record<string, string>][] = [
      ...['{"name":"x"}', '[]', 'null', 'x', '{}{}', `{${' '.repeat(2_000)}}`].map(
        (body): [string, typeof JSON_TYPE] => [body, JSON_TYPE],
      ),
      ['name=x', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      [gzipSync('{"name":"x"}'), { ...JSON_TYPE, 'Content-Encoding': 'gzip' }],
      ['{}', { ...JSON_TYPE, 'Content-Encoding': 'none' }],
    ];
    for (const [body, headers] of refused) {
      expectInvalid(await client.send(operation.method, path, body, headers), 'body');
    }
    const { status } = await client.send(operation.method, path, ' { }\n', JSON_TYPE);
    expect(status).toBe(successStatus(operation));
  });

  it('is not meant by an unknown path or method, which stays unknown', async () => {
    for (const [method, path] of [
      ['PROPFIND', '/workspace/api-keys'],
      ['POST', '/unknown'],
    ] as const) {
      expectNotFound(await client.send(method, path, '{"name":"x"}', JSON_TYPE));
    }
  });

  it.each(['Content-Length: 0\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'])(
    'accepts no bytes, stated as %j',
    async (rest) => {
      const path = await pathFor(app, subject, '/runs/{id}/cancel');
      const connection = await RawConnection.open(app.url);
      connection.send(`POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${subject.apiKey}\r\n${rest}`);
      expect((await connection.nextResponse())?.status).toBe(200);
      connection.close();
    },
  );
});
