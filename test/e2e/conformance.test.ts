import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import type { Role } from '../../src/platform/access/caller.js';
import {
  allowedValues,
  answering,
  type DocumentedOperation,
  operations,
  pathFor,
  Prober,
  refusedValues,
  type Subject,
  whileLocked,
} from '../support/conformance.js';
import { type Answer, HttpClient } from '../support/http.js';
import { createValidator, type OpenApiDocument, type OpenApiValidator } from '../support/openapi-validator.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Documented answers that cannot be provoked from outside, each with the reason. There is none, and may it stay so. */
const UNPROVOKED: Readonly<Record<string, string>> = {};

/** Keeps the API key look-up away: what is taken away here leaves a request its identity. */
const RESOURCE_TABLES = ['agents', 'personalities', 'evaluations', 'runs'];

describe('every answer conforms to the served OpenAPI document', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let app: TestApp;
  let own: Subject;
  let foreign: Subject;
  let viewerKey: string;
  let validator: OpenApiValidator;
  let prober: Prober;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await createTcpProxy(database.url);
    app = await createTestApp({ databaseUrl: proxy.url });
    const served = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
    validator = createValidator(served);
    prober = new Prober(app.url, validator);
    own = await app.createWorkspace();
    foreign = await app.createWorkspace();
    viewerKey = await keyOf(own, 'VIEWER');
  });
  afterAll(async () => {
    await app.close();
    await proxy.close();
    await database.drop();
  });

  const keyOf = async ({ workspaceId, userId }: Subject, role: Role): Promise<string> =>
    (await app.nest.get(ApiKeysService).create({ workspaceId, userId, name: role, role })).value;

  const manager = () => app.nest.get(DataSource).manager;

  /** A request that succeeds, on resources of its own. */
  const request = async ({ template, bodies }: DocumentedOperation, subject = own) => ({
    path: await pathFor(app.url, manager(), subject, template),
    body: bodies[0],
    key: subject.apiKey,
  });

  const withQuery = (path: string, query: Record<string, string>) => `${path}?${new URLSearchParams(query).toString()}`;

  it('covers the operations that the service really serves', () => {
    expect([...validator.operations.keys()].sort()).toEqual(operations.map(({ name }) => name).sort());
  });

  describe('success', () => {
    it.each(operations)('$name', async (operation) => {
      const [status] = operation.statuses.filter((candidate) => candidate < 300);
      const bodies = operation.bodies.length > 0 ? operation.bodies : [undefined];
      expect(status).toBeDefined();
      // Every example of a body is sent as it stands.
      for (const body of bodies) await prober.expect(operation, status ?? 0, { ...(await request(operation)), body });
    });

    it.each(operations.filter(({ method }) => method === 'PATCH'))(
      '$name with nothing to change',
      async (operation) => {
        await prober.expect(operation, 200, { ...(await request(operation)), body: {} });
      },
    );

    it.each(operations.filter(({ operation }) => operation.security && operation.requestBody))(
      '$name has an example for its body',
      ({ bodies }) => {
        expect(bodies.length).toBeGreaterThan(0);
      },
    );

    it.each(operations.filter(({ operation }) => operation.responses['201']))('$name, replayed', async (operation) => {
      const first = { ...(await request(operation)), headers: { 'Idempotency-Key': randomUUID() } };
      const answer = await prober.expect(operation, 201, first);
      const again = await prober.expect(operation, 201, first);
      expect(answer.headers.get('idempotent-replayed')).toBeNull();
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.body).toEqual(answer.body);
    });
  });

  const parameters = operations.flatMap((operation) =>
    (operation.operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query')
      .map((parameter) => ({ ...operation, parameter })),
  );

  describe('query parameters', () => {
    it.each(parameters)('$name, $parameter.name', async ({ parameter, ...operation }) => {
      const { path, key } = await request(operation);
      for (const value of allowedValues(parameter.schema)) {
        // The last page only exists where pages are short.
        const query = { [parameter.name]: value, ...(parameter.name === 'page' && { limit: '1' }) };
        await prober.expect(operation, 200, { path: withQuery(path, query), key });
      }
      for (const value of refusedValues(parameter.schema)) {
        const { body } = await prober.expect(operation, 400, {
          path: withQuery(path, { [parameter.name]: value }),
          key,
        });
        expect(body.issues.map(({ message }: { message: string }) => message.split(' ')[0])).toEqual([parameter.name]);
      }
      const [value = ''] = allowedValues(parameter.schema);
      const twice = `${path}?${parameter.name}=${value}&${parameter.name}=${value}`;
      await prober.expect(operation, 400, { path: twice, key });
    });
  });

  describe('400', () => {
    it.each(answering(400))('$name, unknown query parameter', async (operation) => {
      const { path, ...rest } = await request(operation);
      const { body } = await prober.expect(operation, 400, { ...rest, path: withQuery(path, { colour: 'red' }) });
      expect(body.message).toBe('Invalid input data');
      expect(body.issues).toEqual([{ message: expect.stringMatching(/^colour /) }]);
    });

    it.each(answering(400).filter(({ bodies }) => bodies.length > 0))('$name, bodies', async (operation) => {
      const { path, key, body } = await request(operation);
      for (const wrong of [{ ...(body as object), colour: 'red' }, { ...(body as object), name: 7 }, [], '{', 'null']) {
        await prober.expect(operation, 400, { path, key, body: wrong });
      }
    });

    it.each(answering(409))('$name, Idempotency-Key', async (operation) => {
      const headers = { 'Idempotency-Key': 'x'.repeat(256) };
      await prober.expect(operation, 400, { ...(await request(operation)), headers });
    });
  });

  describe('401', () => {
    it.each(answering(401))('$name without a key', async (operation) => {
      const { path, body } = await request(operation);
      const answer = await prober.expect(operation, 401, { path, body });
      expect(answer.body).toEqual({ code: 'UNAUTHORIZED', message: 'Authorization not provided' });
    });

    it.each(answering(401))('$name with an unknown key', async (operation) => {
      const { path, body, key } = await request(operation);
      const answer = await prober.expect(operation, 401, { path, body, key: `${key.slice(0, -1)}!` });
      expect(answer.body).toEqual({ code: 'UNAUTHORIZED', message: 'Invalid API key' });
    });
  });

  describe('403', () => {
    it.each(answering(403).filter(({ method }) => method !== 'GET'))('$name as a VIEWER', async (operation) => {
      const { body } = await prober.expect(operation, 403, { ...(await request(operation)), key: viewerKey });
      expect(body).toEqual({ code: 'FORBIDDEN', message: 'Insufficient access' });
    });

    it.each(answering(403).filter(({ template }) => template.includes('{')))(
      "$name on another workspace's resource",
      async (operation) => {
        const { body } = await prober.expect(operation, 403, {
          ...(await request(operation, foreign)),
          key: own.apiKey,
        });
        expect(body).toEqual({ code: 'FORBIDDEN', message: 'Insufficient access' });
      },
    );

    it.each(answering(403).filter(({ method }) => method === 'POST'))(
      '$name into another workspace',
      async (operation) => {
        const { path, key, body } = await request(operation);
        const elsewhere = { ...(body as object), workspaceId: foreign.workspaceId };
        await prober.expect(operation, 403, { path, key, body: elsewhere });
      },
    );
  });

  describe('404', () => {
    it.each(answering(404))('$name', async (operation) => {
      const [body] = operation.bodies;
      for (const id of [randomUUID(), 'nope', '%25', 'ä€🙂'].map(encodeURI)) {
        const path = operation.template.replace(/\{\w+\}/, id);
        const answer = await prober.expect(operation, 404, { path, key: own.apiKey, body });
        expect(answer.body).toEqual({ code: 'NOT_FOUND', message: 'Not found' });
      }
    });

    it.each([
      ['GET', '/'],
      ['GET', '/nope'],
      ['GET', '/agents/'],
      ['GET', '/Agents'],
      ['PUT', '/agents'],
      ['POST', '/healthz'],
      ['DELETE', '/runs/nope/metrics'],
      ['GET', '/docs/swagger-ui-bundle.js.map'],
      ['GET', '/docs/..%2f..%2fpackage.json'],
    ])('%s %s, which is no operation', async (method, path) => {
      for (const key of [undefined, own.apiKey]) {
        const { status, headers, body } = await new HttpClient(app.url, key).send(method, path);
        expect(validator.checkUnrouted(status, headers, body)).toEqual([]);
      }
    });
  });

  describe('409 and 422', () => {
    it.each(answering(409))('$name', async (operation) => {
      const first = { ...(await request(operation)), headers: { 'Idempotency-Key': randomUUID() } };
      const table = operation.template.slice(1);
      const running = await whileLocked(
        database.url,
        table,
        async (blocked): Promise<{ answer: Promise<Answer<any>> }> => {
          const answer = prober.expect(operation, 201, first);
          await blocked();
          await prober.expect(operation, 409, first);
          return { answer };
        },
      );
      await running.answer;
      const { body } = await prober.expect(operation, 422, {
        ...first,
        body: { ...(first.body as object), name: 'Other' },
      });
      expect(body.issues).toEqual([{ message: expect.stringMatching(/^Idempotency-Key /) }]);
    });
  });

  describe('413 and 415', () => {
    it.each(answering(413))('$name', async (operation) => {
      const { path, key, body } = await request(operation);
      await prober.expect(operation, 413, { path, key, body: JSON.stringify({ name: 'x'.repeat(1024 * 1024) }) });
      const headers = { 'Content-Type': 'text/plain' };
      await prober.expect(operation, 415, { path, key, body: JSON.stringify(body), headers });
    });
  });

  describe('429', () => {
    it.each(answering(429))('$name', async (operation) => {
      const narrow = await app.createWorkspace({ requestsPerMinute: 1 });
      const { path, body } = await request(operation);
      await new HttpClient(app.url, narrow.apiKey).get('/agents');
      const answer = await prober.expect(operation, 429, { path, body, key: narrow.apiKey });
      expect(answer.body).toEqual({ code: 'TOO_MANY_REQUESTS', message: 'Rate limit exceeded' });
    });
  });

  describe('500, with the tables taken away', () => {
    const requests = new Map<string, Awaited<ReturnType<typeof request>>>();
    const rename = async (suffix: [string, string]) => {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      for (const table of RESOURCE_TABLES)
        await client.query(`ALTER TABLE ${table}${suffix[0]} RENAME TO ${table}${suffix[1]}`);
      await client.end();
    };
    beforeAll(async () => {
      for (const operation of answering(500)) requests.set(operation.name, await request(operation));
      await rename(['', '_away']);
    });
    afterAll(() => rename(['_away', '']));

    it.each(answering(500))('$name', async (operation) => {
      const { body } = await prober.expect(operation, 500, requests.get(operation.name) ?? { path: '' });
      expect(body).toEqual({ code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' });
    });
  });

  // The last of all: from here on there is no database any more.
  describe('503, with the database out of reach', () => {
    const requests = new Map<string, Awaited<ReturnType<typeof request>>>();
    beforeAll(async () => {
      for (const operation of answering(503)) requests.set(operation.name, await request(operation));
      await proxy.close();
    });

    it.each(answering(503))('$name', async (operation) => {
      const { body } = await prober.expect(operation, 503, requests.get(operation.name) ?? { path: '' });
      expect(body).toEqual({ code: 'SERVICE_UNAVAILABLE', message: 'Service is temporarily unavailable' });
    });
  });

  it('leaves what needs no database as it was', async () => {
    for (const operation of operations.filter(({ name }) => name === 'GET /healthz')) {
      await prober.expect(operation, 200, { path: operation.template, key: own.apiKey });
    }
    expect((await new HttpClient(app.url).get('/docs')).status).toBe(200);
  });

  it('has seen every status of every operation', () => {
    expect(prober.unseen()).toEqual(Object.keys(UNPROVOKED));
  });
});
