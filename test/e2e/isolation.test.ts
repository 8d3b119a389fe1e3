import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { insertEvaluation, insertRun, type Owner } from '../factories/rows.js';
import { expectError, expectForbidden, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

interface Operation {
  readonly method: string;
  readonly path: string;
  /** The first example of the body, which works as it stands. */
  readonly example: unknown;
  readonly isPublic: boolean;
}

interface Member extends Owner {
  readonly admin: HttpClient;
}

let app: TestApp;
let operations: Operation[];
let mine: Member;
let foreign: Member;

/** How to make the resource that an id in a path names, by the collection before it. A new collection is added here. */
const MAKE: Record<string, (member: Member) => Promise<string>> = {
  agents: async ({ admin }) => (await admin.post('/agents', agentBody())).body.data.id,
  personalities: async ({ admin }) => (await admin.post('/personalities', personalityBody())).body.data.id,
  evaluations: async (member) =>
    (await insertEvaluation(app.nest.get(Database).manager, member, await make('agents', member))).id,
  runs: async (member) => (await insertRun(app.nest.get(Database).manager, member, await make('agents', member))).id,
};

function make(collection: string, member: Member): Promise<string> {
  const maker = MAKE[collection];
  if (!maker) throw new Error(`This test does not know how to make one of /${collection}: teach it in MAKE`);
  return maker(member);
}

/** `/agents/{agentId}/runs` with an id in place of each parameter. */
async function fill(path: string, idOf: (collection: string) => string | Promise<string>): Promise<string> {
  let filled = path;
  for (const [whole, collection = '', parameter] of path.matchAll(/([^/]+)\/(\{[^}]+\})/g)) {
    filled = filled.replace(whole, `${collection}/${encodeURIComponent(await idOf(collection))}`);
    expect(parameter).toBeDefined();
  }
  return filled;
}

const joined = async (): Promise<Member> => {
  const { apiKey, ...owner } = await app.createWorkspace();
  return { ...owner, admin: new HttpClient(app.url, apiKey) };
};
const named = ({ path }: Operation) => path.includes('{');
const send = (client: HttpClient, { method, example }: Operation, path: string) => client.send(method, path, example);

beforeAll(async () => {
  app = await createTestApp();
  const { body } = await new HttpClient(app.url).get('/openapi.json');
  operations = Object.entries<Record<string, any>>(body.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const examples = Object.values<any>(operation.requestBody?.content['application/json'].examples ?? {});
      return { method: method.toUpperCase(), path, example: examples[0]?.value, isPublic: !operation.security?.length };
    }),
  );
  mine = await joined();
  foreign = await joined();
});
afterAll(() => app.close());

/** Runs a check for each operation and says which one failed. */
async function forEach(chosen: Operation[], check: (operation: Operation) => Promise<void>): Promise<void> {
  for (const operation of chosen) {
    try {
      await check(operation);
    } catch (error) {
      throw new Error(`${operation.method} ${operation.path}: ${(error as Error).message}`, { cause: error });
    }
  }
}

describe('every operation of the OpenAPI document', () => {
  it('is one of the contract’s fourteen, or public', () => {
    const documented = operations.filter(({ isPublic }) => !isPublic).map(({ method, path }) => `${method} ${path}`);
    expect(documented).toEqual(
      expect.arrayContaining([
        'POST /agents',
        'GET /agents',
        'GET /agents/{id}',
        'PATCH /agents/{id}',
        'DELETE /agents/{id}',
        'POST /personalities',
        'GET /personalities',
        'GET /personalities/{id}',
        'PATCH /personalities/{id}',
        'DELETE /personalities/{id}',
        'GET /agents/{agentId}/evaluations',
        'GET /evaluations/{id}',
        'GET /agents/{agentId}/runs',
        'GET /runs/{runId}/metrics',
      ]),
    );
    expect(operations.filter(({ isPublic }) => isPublic).map(({ path }) => path)).toEqual(['/healthz', '/readyz']);
  });

  it('needs a key unless it is public', () =>
    forEach(operations, async (operation) => {
      const answer = await send(new HttpClient(app.url), operation, await fill(operation.path, () => randomUUID()));
      if (operation.isPublic) expect(answer.status).toBe(200);
      else expectError(answer, 401, 'UNAUTHORIZED', 'Authorization not provided');
    }));

  it('answers 403 for a resource of another workspace, in nested paths too', () =>
    forEach(operations.filter(named), async (operation) => {
      const path = await fill(operation.path, (collection) => make(collection, foreign));
      expectForbidden(await send(mine.admin, operation, path));
      // Whatever was tried did nothing: the owner finds it as it was.
      if (operation.method === 'DELETE') expect((await foreign.admin.get(path)).status).toBe(200);
    }));

  it('answers 404 for an id that names nothing', () =>
    forEach(operations.filter(named), async (operation) => {
      expectNotFound(await send(mine.admin, operation, await fill(operation.path, () => randomUUID())));
    }));

  it.each([
    '1',
    'x',
    'not-a-uuid',
    'null',
    '..',
    '%',
    '%00',
    '🍝',
    '{id}',
    "' OR 1=1 --",
    `${randomUUID()} `,
    'a'.repeat(2000),
  ])('answers 404 for the id "%s", which is no UUID', (id) =>
    forEach(operations.filter(named), async (operation) => {
      expectNotFound(await send(mine.admin, operation, await fill(operation.path, () => id)));
    }),
  );

  it('that writes is beyond a VIEWER, and within an EDITOR', async () => {
    const viewer = mine.admin.as((await createKey(app, mine, 'VIEWER')).value);
    const editor = mine.admin.as((await createKey(app, mine, 'EDITOR')).value);
    const guarded = operations.filter(({ isPublic }) => !isPublic);
    await forEach(guarded, async (operation) => {
      const path = await fill(operation.path, (collection) => make(collection, mine));
      const answer = await send(viewer, operation, path);
      if (operation.method === 'GET') expect(answer.status).toBe(200);
      else expectForbidden(answer);
      expect((await send(editor, operation, path)).status).toBe(operation.method === 'POST' ? 201 : 200);
    });
  });

  it('is refused by role before anything else is looked at', async () => {
    const viewer = mine.admin.as((await createKey(app, mine, 'VIEWER')).value);
    expectForbidden(await viewer.post('/agents', '{ this is not JSON'));
    expectForbidden(await viewer.delete(`/agents/${randomUUID()}`));
  });
});

it('records the user of the key as creator', async () => {
  const { body } = await foreign.admin.post('/agents', agentBody());
  expect(body.data).toMatchObject({ workspaceId: foreign.workspaceId, createdByUserId: foreign.userId });
});
