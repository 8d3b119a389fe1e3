import { randomUUID } from 'node:crypto';
import { HAS_ALL_CASES, sample } from '../../libs/statistics/testing/sample.js';
import {
  allowedValues,
  operationsWithStatus,
  bodySchema,
  BODY_LIMITS,
  exists,
  IGNORED_BODIES,
  isForm,
  RENAMED_TABLES,
  renameTables,
  LOCKED_TABLES,
  requiresAdmin,
  operations,
  Prober,
  QUERY_BESIDE,
  queryParameters,
  rejectedValues,
  retryable,
  successStatus,
  UNKNOWN_IDS,
  UNROUTED,
  whileLocked,
  WITHOUT_BODY,
} from '../support/conformance.js';
import { exampleRequests } from '../support/example-requests.js';
import { expectInvalid, expectNotFound } from '../support/expect.js';
import { RawConnection } from '../support/hostile/wire.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { createValidator, type OpenApiDocument, type OpenApiValidator } from '../support/openapi-validator.js';
import {
  cancelRuns,
  collectionOf,
  NAMED_ALIKE,
  importDeletable,
  pathFor,
  type WorkspaceWithKey,
  WITHOUT_WORKER,
  withoutWebhookLimits,
} from '../support/resources.js';
import { SPECIAL_RESPONSES } from '../support/special-responses.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let samples = 0;
/** The tests together have all operations of a sample. */
const forEach = <Case>(cases: readonly Case[]) => it.each(sample(cases, samples++));

describe('every response conforms to the served OpenAPI document', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let app: TestApp;
  let owner: WorkspaceWithKey;
  let foreign: WorkspaceWithKey;
  let viewerKey: string;
  let editorKey: string;
  let validator: OpenApiValidator;
  let prober: Prober;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await createTcpProxy(database.url);
    app = await createTestApp({ databaseUrl: proxy.url, env: WITHOUT_WORKER });
    withoutWebhookLimits(app);
    const served = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
    validator = createValidator(served);
    prober = new Prober(app.url, validator);
    owner = await app.createWorkspace();
    foreign = await app.createWorkspace();
    viewerKey = (await createKey(app, owner, 'VIEWER')).value;
    editorKey = (await createKey(app, owner, 'EDITOR')).value;
  });
  afterAll(async () => {
    await app.close();
    await proxy.close();
    await database.drop();
  });

  const { request, rejectedRequest, retryableRequest } = exampleRequests(() => ({ app, owner }));

  const withQuery = (path: string, query: Record<string, string>) => {
    const [base, given = ''] = path.split('?');
    const all = { ...Object.fromEntries(new URLSearchParams(given)), ...query };
    return `${base}?${new URLSearchParams(all).toString()}`;
  };

  it('covers all operations of the service', () => {
    expect([...validator.operations.keys()].sort()).toEqual(operations.map(({ name }) => name).sort());
  });

  describe('success', () => {
    forEach(operations)('$name succeeds', async (operation) => {
      const bodies = operation.bodies.length > 0 ? operation.bodies : [undefined];
      // Each example body is sent unchanged.
      for (const body of bodies) {
        await prober.expect(operation, successStatus(operation), await request(operation, owner, body));
      }
    });

    forEach(operations.filter(({ method }) => method === 'PATCH'))(
      '$name accepts an empty object',
      async (operation) => {
        await prober.expect(operation, 200, { ...(await request(operation)), body: {} });
      },
    );

    forEach(operations.filter(({ operation }) => operation.security && operation.requestBody))(
      '$name has an example body',
      ({ bodies }) => {
        expect(bodies.length).toBeGreaterThan(0);
      },
    );

    it('offers idempotent replays for every POST and nothing else', () => {
      const posts = operations.filter(({ method, operation }) => method === 'POST' && operation.security);
      expect(retryable).toEqual(posts);
    });

    forEach(retryable)('$name replays its response for the same Idempotency-Key', async (operation) => {
      const first = await retryableRequest(operation);
      const response = await prober.expect(operation, successStatus(operation), first);
      const again = await prober.expect(operation, successStatus(operation), first);
      expect(response.headers.get('idempotent-replayed')).toBeNull();
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.body).toEqual(response.body);
    });
  });

  describe('query parameters', () => {
    forEach(queryParameters)(
      '$name accepts and rejects $parameter.name as documented',
      async ({ parameter, ...operation }) => {
        for (const value of allowedValues(parameter.schema)) {
          // Each on a resource of its own, because a deletion succeeds only once.
          const { path, ...rest } = await request(operation);
          const query: Record<string, string> = { [parameter.name]: value, ...QUERY_BESIDE[parameter.name] };
          if (query['permanently'] === 'true') await cancelRuns(app, owner, path);
          if (parameter.required) await importDeletable(app, owner, path, value);
          const success = successStatus(operation, query);
          await prober.expect(operation, success, { ...rest, path: withQuery(path, query) });
        }
        const { path, ...rest } = await rejectedRequest(operation);
        for (const value of rejectedValues(parameter.schema)) {
          const { body } = await prober.expect(operation, 400, {
            ...rest,
            path: withQuery(path, { [parameter.name]: value }),
          });
          expect(body.issues.map(({ message }: { message: string }) => message.split(' ')[0])).toEqual([
            parameter.name,
          ]);
        }
        const [value = ''] = allowedValues(parameter.schema);
        const twice = `${path}?${parameter.name}=${value}&${parameter.name}=${value}`;
        await prober.expect(operation, 400, { ...rest, path: twice });
      },
    );
  });

  describe('400', () => {
    forEach(operationsWithStatus(400))('$name returns 400 for an unknown query parameter', async (operation) => {
      const { path, ...rest } = await rejectedRequest(operation);
      const { body } = await prober.expect(operation, 400, { ...rest, path: withQuery(path, { colour: 'red' }) });
      expect(body.message).toBe('Invalid input data');
      expect(body.issues).toEqual([{ message: expect.stringMatching(/^colour /), field: 'colour' }]);
    });

    forEach(operationsWithStatus(400).filter(bodySchema))('$name returns 400 for invalid bodies', async (operation) => {
      const { path, key, body } = await rejectedRequest(operation);
      const ofObjects = [{ ...(body as object), colour: 'red' }, { ...(body as object), name: 7 }, []];
      for (const wrong of [...(bodySchema(operation)?.properties ? ofObjects : [{}, [7]]), '{', 'null']) {
        await prober.expect(operation, 400, { path, key, body: wrong });
      }
    });

    forEach(retryable)('$name returns 400 for an Idempotency-Key that is too long', async (operation) => {
      await prober.expect(operation, 400, await retryableRequest(operation, 'x'.repeat(256)));
    });
  });

  describe('an operation without a body', () => {
    it('exists for more methods than DELETE', () => {
      expect(new Set(WITHOUT_BODY.map(({ method }) => method))).toEqual(new Set(['POST', 'DELETE']));
    });

    it.each(WITHOUT_BODY)('$name refuses a body that it would ignore, and accepts {}', async (operation) => {
      const { path, key } = await request(operation);
      for (const ignored of IGNORED_BODIES) {
        expectInvalid(await prober.expect(operation, 400, { path, key, ...ignored }), 'body');
      }
      const headers = { 'Content-Type': 'application/json' };
      await prober.expect(operation, successStatus(operation), { path, key, body: ' { }\n', headers });
    });

    it.each(['Content-Length: 0\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'])(
      'accepts no bytes, stated as %j',
      async (rest) => {
        const path = await pathFor(app, owner, '/runs/{id}/cancel');
        const connection = await RawConnection.open(app.url);
        connection.send(`POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.apiKey}\r\n${rest}`);
        expect((await connection.nextResponse())?.status).toBe(200);
        connection.close();
      },
    );
  });

  describe('401', () => {
    forEach(operationsWithStatus(401))('$name returns 401 without a key', async (operation) => {
      const { key: _key, ...rest } = await rejectedRequest(operation);
      const response = await prober.expect(operation, 401, rest);
      expect(response.body).toEqual({ code: 'UNAUTHORIZED', message: 'Authorization not provided' });
    });

    forEach(operationsWithStatus(401))('$name returns 401 for an unknown key', async (operation) => {
      const { key, ...rest } = await rejectedRequest(operation);
      const response = await prober.expect(operation, 401, { ...rest, key: `${key.slice(0, -1)}!` });
      expect(response.body).toEqual({ code: 'UNAUTHORIZED', message: 'Invalid API key' });
    });
  });

  describe('403', () => {
    const beyondViewers = operationsWithStatus(403).filter((each) => each.method !== 'GET' || requiresAdmin(each));
    const forbidden = [
      ...beyondViewers.map((operation) => ({ ...operation, role: 'a VIEWER', keyOfRole: () => viewerKey })),
      ...operationsWithStatus(403)
        .filter(requiresAdmin)
        .map((operation) => ({ ...operation, role: 'an EDITOR', keyOfRole: () => editorKey })),
    ];

    forEach(forbidden)('$name returns 403 to $role', async ({ keyOfRole, ...operation }) => {
      const { body } = await prober.expect(operation, 403, { ...(await rejectedRequest(operation)), key: keyOfRole() });
      expect(body).toEqual({ code: 'FORBIDDEN', message: 'Insufficient access' });
    });

    const naming = operationsWithStatus(403).filter(({ template }) => template.includes('{'));

    forEach(naming.filter(({ template }) => !NAMED_ALIKE.includes(collectionOf(template))))(
      "$name returns 403 for another workspace's resource, which stays",
      async (operation) => {
        const { body } = await prober.expect(operation, 403, {
          ...(await rejectedRequest(operation, foreign)),
          key: owner.apiKey,
        });
        expect(body).toEqual({ code: 'FORBIDDEN', message: 'Insufficient access' });
        const { path, key } = await rejectedRequest(operation, foreign);
        if (operation.method === 'DELETE') expect(await exists(path, new HttpClient(app.url, key))).toBe(true);
      },
    );

    const withWorkspaceId = operationsWithStatus(403).filter(
      (operation) => operation.method === 'POST' && bodySchema(operation)?.properties?.['workspaceId'],
    );

    it('is documented for operations with a workspaceId in the body', () => {
      expect(withWorkspaceId.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['POST /agents', 'POST /personalities']),
      );
    });

    forEach(withWorkspaceId)('$name returns 403 for the workspaceId of another workspace', async (operation) => {
      const { path, key, body } = await rejectedRequest(operation);
      const otherBody = { ...(body as object), workspaceId: foreign.workspaceId };
      await prober.expect(operation, 403, { path, key, body: otherBody });
    });
  });

  describe('404', () => {
    forEach(operationsWithStatus(404).filter(({ template }) => template.includes('{')))(
      '$name returns 404 for an unknown id, and for text that is not an id',
      async (operation) => {
        const existing = await rejectedRequest(operation);
        for (const id of UNKNOWN_IDS) {
          const query = /\?.*/.exec(existing.path)?.[0] ?? '';
          const path = operation.template.replace(/\{\w+\}/, encodeURIComponent(id)) + query;
          const response = await prober.expect(operation, 404, { ...existing, path });
          expect(response.body).toEqual({ code: 'NOT_FOUND', message: 'Not found' });
        }
      },
    );

    it.each(UNROUTED)('%s %s returns 404 because it is not an operation', async (method, path) => {
      for (const key of [undefined, owner.apiKey]) {
        for (const sent of method === 'GET' ? [undefined] : [undefined, '{"name":"x"}']) {
          const response = await new HttpClient(app.url, key).send(method, path, sent);
          expectNotFound(response);
          expect(validator.checkUnrouted(response.status, response.headers, response.body)).toEqual([]);
        }
      }
    });
  });

  describe('409 and 422', () => {
    forEach(retryable)(
      '$name returns 409 for a concurrent request with the same Idempotency-Key, and 422 for another body',
      async (operation) => {
        const first = await retryableRequest(operation);
        const collection = collectionOf(operation.template);
        const running = await whileLocked(
          database.url,
          LOCKED_TABLES[collection] ?? collection,
          async (blocked): Promise<{ response: Promise<ApiResponse<any>> }> => {
            const response = prober.expect(operation, successStatus(operation), first);
            await blocked();
            const { body } = await prober.expect(operation, 409, first);
            expect(body.message).toBe('A request with this Idempotency-Key is still in progress');
            return { response };
          },
        );
        await running.response;
        // Without a documented body there is no other body.
        if (!operation.operation.requestBody) return;
        const other = isForm(first.headers)
          ? { ...(first.body as object), externalId: 'another' }
          : typeof first.body === 'string'
            ? `${first.body}\n`
            : `${JSON.stringify(first.body)}\n`;
        const { body } = await prober.expect(operation, 422, { ...first, body: other });
        expect(body.issues).toEqual([{ message: expect.stringMatching(/^Idempotency-Key /) }]);
      },
    );
  });

  describe('responses that only one operation has', () => {
    it.each(SPECIAL_RESPONSES)('$name', ({ expectResponse }) => expectResponse({ app, owner, prober, request }));
  });

  describe('413 and 415', () => {
    forEach(operationsWithStatus(413))(
      '$name returns 413 for a large body and 415 for another media type',
      async (operation) => {
        const { path, key, body, headers } = await rejectedRequest(operation);
        const limit = BODY_LIMITS[operation.name] ?? 1024 * 1024;
        const large = isForm(headers) ? new Uint8Array(limit) : JSON.stringify({ name: 'x'.repeat(limit) });
        await prober.expect(operation, 413, { path, key, body: large, headers });
        const other = { 'Content-Type': 'text/plain' };
        await prober.expect(operation, 415, { path, key, body: JSON.stringify(body), headers: other });
      },
    );
  });

  describe('429', () => {
    forEach(operationsWithStatus(429))('$name returns 429 over the rate limit', async (operation) => {
      const limited = await app.createWorkspace({ requestsPerMinute: 1 });
      const valid = await rejectedRequest(operation);
      await new HttpClient(app.url, limited.apiKey).get('/agents');
      const response = await prober.expect(operation, 429, { ...valid, key: limited.apiKey });
      expect(response.body).toEqual({ code: 'TOO_MANY_REQUESTS', message: 'Rate limit exceeded' });
    });
  });

  describe('500, with the tables renamed', () => {
    const withoutTables = sample(operationsWithStatus(500), 3);
    beforeAll(async () => {
      for (const operation of withoutTables) await rejectedRequest(operation);
      await renameTables(database.url, RENAMED_TABLES, '', '_away');
    });
    afterAll(() => renameTables(database.url, RENAMED_TABLES, '_away', ''));

    it('does not affect the lookup of API keys', async () => {
      const unknown = await new HttpClient(app.url, `${viewerKey.slice(0, -1)}!`).get('/agents');
      const { status, body } = await new HttpClient(app.url, viewerKey).delete(`/agents/${randomUUID()}`);
      expect([unknown.status, status, body.code]).toEqual([401, 403, 'FORBIDDEN']);
    });

    it.each(withoutTables)('$name returns 500 if its tables are missing', async (operation) => {
      const { body } = await prober.expect(operation, 500, await rejectedRequest(operation));
      expect(body).toEqual({ code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' });
    });
  });

  // Must be last: the database is unavailable from here on.
  describe('503, with the database unavailable', () => {
    const withoutDatabase = sample(operationsWithStatus(503), 4);
    beforeAll(async () => {
      for (const operation of withoutDatabase) await rejectedRequest(operation);
      await proxy.close();
    });

    it.each(withoutDatabase)('$name returns 503 if the database is unavailable', async (operation) => {
      const { body } = await prober.expect(operation, 503, await rejectedRequest(operation));
      expect(body).toEqual({ code: 'SERVICE_UNAVAILABLE', message: 'Service is temporarily unavailable' });
    });
  });

  it('still serves operations that need no database', async () => {
    for (const operation of operations.filter(({ name }) => name === 'GET /healthz')) {
      await prober.expect(operation, 200, { path: operation.template, key: owner.apiKey });
    }
    expect((await new HttpClient(app.url).get('/docs')).status).toBe(200);
  });

  if (HAS_ALL_CASES) {
    it('has covered every status of every operation', () => {
      expect(prober.uncovered()).toEqual([]);
    });
  }
});
