import { randomUUID } from 'node:crypto';
import { sample } from '../../libs/statistics/testing/sample.js';
import { agentBody } from '../factories/bodies.js';
import { requiresAdmin, requiresEditorToRead } from '../support/conformance.js';
import { expectError, expectForbidden, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import {
  collectionOf,
  createWithChildren,
  NAMED_ALIKE,
  pathFor,
  type WorkspaceWithKey,
  withExistingPersonality,
  WITHOUT_WORKER,
  withoutWebhookLimits,
} from '../support/resources.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly template: string;
  /** The first example of the body, which is valid unchanged, and its media type. */
  readonly example: unknown;
  readonly mediaType: string | undefined;
  readonly success: number;
  readonly isPublic: boolean;
}

interface Member extends WorkspaceWithKey {
  readonly admin: HttpClient;
}

/** Routes that are not in the document; each of them is public. */
const PUBLIC_PAGES = [
  'GET /',
  'GET /client.tgz',
  'GET /docs',
  'GET /docs/evaluations.schema.json',
  'GET /docs/{name}',
  'GET /docs{/}',
  'GET /openapi.json',
  'GET /openapi.yaml',
];

let app: TestApp;
let operations: Operation[];
let owner: Member;
let foreign: Member;

/** `/agents/{agentId}/runs` with an id in place of the parameter. */
const fill = (template: string, id: string) => template.replace(/\{\w+\}/, encodeURIComponent(id));

const pathOf = ({ template }: Operation, member: Member): Promise<string> => pathFor(app, member, template);

const createMember = async (): Promise<Member> => {
  const subject = await app.createWorkspace();
  return { ...subject, admin: new HttpClient(app.url, subject.apiKey) };
};
/**
 * Stores nothing, and needs ADMIN for the default key of its example. assistants.test.ts tests its roles, and that it uses no
 * default key of another workspace.
 */
const LISTS_ASSISTANTS = 'POST /providers/{provider}/assistants';

const hasParameter = ({ template }: Operation) => template.includes('{');
const isNamedAlike = ({ template }: Operation) => NAMED_ALIKE.includes(collectionOf(template));
const send = async (client: HttpClient, { method, example, mediaType }: Operation, path: string) =>
  client.send(
    method,
    path,
    await withExistingPersonality(app, owner, example, path),
    mediaType === undefined ? {} : { 'Content-Type': mediaType },
  );

beforeAll(async () => {
  // The example of a connection is a loopback address.
  app = await createTestApp({ env: WITHOUT_WORKER });
  withoutWebhookLimits(app);
  const { body } = await new HttpClient(app.url).get('/openapi.json');
  operations = Object.entries<Record<string, any>>(body.paths).flatMap(([template, item]) =>
    Object.entries(item).map(([verb, operation]) => {
      const method = verb.toUpperCase();
      const [[mediaType, media] = []] = Object.entries<any>(operation.requestBody?.content ?? {});
      return {
        name: `${method} ${template}`,
        method,
        template,
        example: media?.example ?? Object.values<any>(media?.examples ?? {})[0]?.value,
        mediaType,
        success: successOf(method, Object.keys(operation.responses).map(Number)),
        isPublic: !operation.security?.length,
      };
    }),
  );
  owner = await createMember();
  foreign = await createMember();
});
afterAll(() => app.close());

/** The last success, so not that of a dry run; the first one of a deletion, so not that of an erasure. 206 is that of a range. */
function successOf(method: string, statuses: number[]): number {
  const successes = statuses.filter((status) => status < 206);
  return method === 'DELETE' ? Math.min(...successes) : Math.max(...successes);
}

/** Whether its owner can still read it, by its id or in its list. */
async function exists(path: string, { admin }: Member): Promise<boolean> {
  const [id, list] = [path.slice(path.lastIndexOf('/') + 1), path.slice(0, path.lastIndexOf('/'))];
  if (path.endsWith('/connection')) return (await admin.get(path)).status === 200;
  if (operations.some(({ name }) => name === `GET ${list}/{id}`)) return (await admin.get(path)).status === 200;
  const { body } = await admin.get(`${list}?limit=100`);
  return body.data.some((each: { id: string }) => each.id === id);
}

let samples = 0;
/** Runs a check for each operation, and names the operation if it fails. The checks together have all operations of a sample. */
async function forEach(chosen: Operation[], check: (operation: Operation) => Promise<void>): Promise<void> {
  for (const operation of sample(chosen, samples++)) {
    try {
      await check(operation);
    } catch (error) {
      throw new Error(`${operation.name}: ${(error as Error).message}`, { cause: error });
    }
  }
}

describe('every operation of the OpenAPI document', () => {
  it('is covered by this test or public', () => {
    const documented = operations.filter(({ isPublic }) => !isPublic).map(({ name }) => name);
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
    expect(operations.filter(({ isPublic }) => isPublic).map(({ template }) => template)).toEqual([
      '/reports/{token}',
      '/healthz',
      '/readyz',
    ]);
  });

  it('is every route of the server, except the public pages', () => {
    const { router } = app.nest.getHttpAdapter().getInstance() as {
      router: { stack: { route?: { path: string; methods: Record<string, boolean> } }[] };
    };
    const routes = router.stack.flatMap(({ route }) =>
      Object.keys(route?.methods ?? {}).map(
        (method) => `${method.toUpperCase()} ${route?.path.replaceAll(/:(\w+)/g, '{$1}')}`,
      ),
    );
    const documented = new Set(operations.map(({ name }) => name));
    const undocumented = routes.filter((route) => !documented.has(route) && !/ \/\{?\*/.test(route));
    expect([...new Set(undocumented)].sort()).toEqual(PUBLIC_PAGES);
    expect(routes).toEqual(expect.arrayContaining([...documented]));
  });

  it('has a second path parameter only for a resource below the first one, whose owner is checked', () => {
    const nested = operations.filter(({ template }) => (template.match(/\{/g) ?? []).length > 1);
    expect(nested.map(({ name }) => name)).toEqual(['DELETE /runs/{id}/report-links/{linkId}']);
  });

  it("returns 404 for a resource below another workspace's one by way of an own one", async () => {
    const path = await pathFor(app, foreign, '/runs/{id}/report-links/{linkId}');
    const own = await pathFor(app, owner, '/runs/{id}/report-links');
    expectNotFound(await owner.admin.delete(`${own}/${path.split('/').at(-1)}`));
    expect(await exists(path, foreign)).toBe(true);
  });

  it('shows nothing of another workspace where it takes no id', async () => {
    const newcomer = await createMember();
    const hidden = [foreign.workspaceId, foreign.userId];
    for (const collection of ['agents', 'personalities', 'workspace/webhooks', 'workspace/provider-keys']) {
      hidden.push(await createWithChildren(app, foreign, collection));
    }
    const chosen = operations.filter((operation) => operation.method === 'GET' && !hasParameter(operation));
    await forEach(
      chosen.filter(({ isPublic }) => !isPublic),
      async (operation) => {
        const response = await send(newcomer.admin, operation, operation.template);
        expect(response.status).toBe(200);
        for (const id of hidden) expect(JSON.stringify(response.body)).not.toContain(id);
      },
    );
  });

  it('requires a key unless it is public', () =>
    forEach(operations, async (operation) => {
      const path = operation.isPublic ? await pathOf(operation, owner) : fill(operation.template, randomUUID());
      const response = await send(new HttpClient(app.url), operation, path);
      if (operation.isPublic) expect(response.status).toBe(200);
      else expectError(response, 401, 'UNAUTHORIZED', 'Authorization not provided');
    }));

  it('returns 403 for a resource of another workspace, also in nested paths', () =>
    forEach(
      operations.filter((operation) => hasParameter(operation) && !operation.isPublic && !isNamedAlike(operation)),
      async (operation) => {
        const path = await pathOf(operation, foreign);
        expectForbidden(await send(owner.admin, operation, path));
        // The attempt changed nothing: its owner can still read the resource.
        if (operation.method === 'DELETE') expect(await exists(path, foreign)).toBe(true);
      },
    ));

  it('uses only its own workspace where resources have the same name in each', async () => {
    const chosen = operations.filter((operation) => hasParameter(operation) && isNamedAlike(operation));
    expect(chosen.map(({ name }) => name)).toEqual([
      'PUT /workspace/provider-keys/{provider}',
      'DELETE /workspace/provider-keys/{provider}',
      LISTS_ASSISTANTS,
    ]);
    await forEach(chosen.slice(0, 2), async (operation) => {
      const path = await pathOf(operation, foreign);
      const list = path.slice(0, path.lastIndexOf('/'));
      const before = await foreign.admin.get(list);
      const newcomer = await createMember();
      const { status } = await send(newcomer.admin, operation, path);
      expect(status).toBe(operation.method === 'DELETE' ? 404 : 200);
      expect((await newcomer.admin.get(list)).body.meta.total).toBe(operation.method === 'DELETE' ? 0 : 1);
      expect((await foreign.admin.get(list)).body).toEqual(before.body);
    });
  });

  it('returns 404 for an unknown id', () =>
    forEach(operations.filter(hasParameter), async (operation) => {
      expectNotFound(await send(owner.admin, operation, fill(operation.template, randomUUID())));
    }));

  it.each([
    '1',
    'x',
    'not-a-uuid',
    'null',
    '...',
    '%',
    '%00',
    '🍝',
    '{id}',
    "' OR 1=1 --",
    `${randomUUID()} `,
    'a'.repeat(2000),
  ])('returns 404 for the id "%s", which is not a UUID', (id) =>
    forEach(operations.filter(hasParameter), async (operation) => {
      expectNotFound(await send(owner.admin, operation, fill(operation.template, id)));
    }),
  );

  it('allows writes for EDITOR, not for VIEWER, and settings only for ADMIN', async () => {
    const viewer = owner.admin.as((await createKey(app, owner, 'VIEWER')).value);
    const editor = owner.admin.as((await createKey(app, owner, 'EDITOR')).value);
    const guarded = operations.filter(({ isPublic, name }) => !isPublic && name !== LISTS_ASSISTANTS);
    await forEach(guarded, async (operation) => {
      const path = await pathOf(operation, owner);
      const response = await send(viewer, operation, path);
      const isReadable = !requiresAdmin(operation) && !requiresEditorToRead(operation);
      if (operation.method === 'GET' && isReadable) expect(response.status).toBe(200);
      else expectForbidden(response);
      const change = await send(editor, operation, path);
      if (!requiresAdmin(operation)) {
        expect(change.status).toBe(operation.success);
        return;
      }
      expectForbidden(change);
      expect((await send(owner.admin, operation, path)).status).toBe(operation.success);
    });
  });

  it('checks the role before anything else', async () => {
    const viewer = owner.admin.as((await createKey(app, owner, 'VIEWER')).value);
    expectForbidden(await viewer.post('/agents', '{ this is not JSON'));
    expectForbidden(await viewer.delete(`/agents/${randomUUID()}`));
    const editor = owner.admin.as((await createKey(app, owner, 'EDITOR')).value);
    expectForbidden(await editor.post('/workspace/webhooks', '{ this is not JSON'));
    expectForbidden(await editor.delete(`/workspace/api-keys/${randomUUID()}`));
  });
});

it('records the user of the key as creator', async () => {
  const { body } = await foreign.admin.post('/agents', agentBody());
  expect(body.data).toMatchObject({ workspaceId: foreign.workspaceId, createdByUserId: foreign.userId });
});
