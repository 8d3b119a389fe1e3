import { randomUUID } from 'node:crypto';
import { sample } from '../../libs/statistics/testing/sample.js';
import { agentBody } from '../factories/bodies.js';
import {
  type DocumentedOperation,
  exists,
  mediaTypeOf,
  operations,
  requiresAdmin,
  requiresEditorToRead,
  successStatus,
} from '../support/conformance.js';
import { expectForbidden, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import {
  collectionOf,
  createWithChildren,
  NAMED_ALIKE,
  pathFor,
  requestPath,
  type WorkspaceWithKey,
  withExistingPersonality,
  WITHOUT_WORKER,
  withoutWebhookLimits,
} from '../support/resources.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

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
let owner: Member;
let foreign: Member;

const pathOf = (operation: DocumentedOperation, member: Member): Promise<string> => requestPath(app, member, operation);

const createMember = async (): Promise<Member> => {
  const subject = await app.createWorkspace();
  return { ...subject, admin: new HttpClient(app.url, subject.apiKey) };
};
/**
 * Stores nothing, and needs ADMIN for the default key of its example. assistants.test.ts tests its roles, and that it uses no
 * default key of another workspace.
 */
const LISTS_ASSISTANTS = 'POST /providers/{provider}/assistants';

const hasParameter = ({ template }: DocumentedOperation) => template.includes('{');
const isNamedAlike = ({ template }: DocumentedOperation) => NAMED_ALIKE.includes(collectionOf(template));
const isPublic = ({ operation }: DocumentedOperation) => !operation.security?.length;
const send = async (client: HttpClient, { method, bodies: [example] }: DocumentedOperation, path: string) =>
  client.send(method, path, await withExistingPersonality(app, owner, example?.value, path), mediaTypeOf(example));

beforeAll(async () => {
  // The example of a connection is a loopback address.
  app = await createTestApp({ env: WITHOUT_WORKER });
  withoutWebhookLimits(app);
  owner = await createMember();
  foreign = await createMember();
});
afterAll(() => app.close());

let samples = 0;
/** Runs a check for each operation, and names the operation if it fails. The checks together have all operations of a sample. */
async function forEach(
  chosen: readonly DocumentedOperation[],
  check: (operation: DocumentedOperation) => Promise<void>,
): Promise<void> {
  for (const operation of sample(chosen, samples++)) {
    try {
      await check(operation);
    } catch (error) {
      throw new Error(`${operation.name}: ${(error as Error).message}`, { cause: error });
    }
  }
}

// conformance.test.ts tests that others need a key, and that ids of other workspaces and unknown ones are refused.
describe('every operation of the OpenAPI document', () => {
  it('is covered by this test or public', () => {
    const documented = operations.filter((each) => !isPublic(each)).map(({ name }) => name);
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
    expect(operations.filter(isPublic).map(({ template }) => template)).toEqual([
      '/reports/{token}',
      '/pages/{token}',
      '/pages/{token}/runs/{runId}',
      '/pages/{token}/calls/{callId}/recording',
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
    expect(nested.map(({ name }) => name)).toEqual([
      'DELETE /runs/{id}/report-links/{linkId}',
      'GET /agents/{id}/cases/{key}/history',
      'POST /agents/{id}/alarms/{alarmId}/accept',
      'DELETE /agents/{id}/page-links/{linkId}',
      'GET /pages/{token}/runs/{runId}',
      'GET /pages/{token}/calls/{callId}/recording',
    ]);
  });

  it("returns 404 for a resource below another workspace's one by way of an own one", async () => {
    const path = await pathFor(app, foreign, '/runs/{id}/report-links/{linkId}');
    const own = await pathFor(app, owner, '/runs/{id}/report-links');
    expectNotFound(await owner.admin.delete(`${own}/${path.split('/').at(-1)}`));
    expect(await exists(path, foreign.admin)).toBe(true);
    const page = (await pathFor(app, foreign, '/agents/{id}/page-links/{linkId}')).split('/').slice(3).join('/');
    expectNotFound(await owner.admin.delete(`${await pathFor(app, owner, '/agents/{id}')}/${page}`));
    const run = (await pathFor(app, foreign, '/runs/{id}')).split('/').at(-1);
    expectNotFound(await owner.admin.get(`${await pathFor(app, owner, '/pages/{token}')}/runs/${run}`));
    const call = (await pathFor(app, foreign, '/calls/{id}')).split('/').at(-1);
    expectNotFound(await owner.admin.get(`${await pathFor(app, owner, '/pages/{token}')}/calls/${call}/recording`));
    const history = (await pathFor(app, foreign, '/agents/{id}/cases/{key}/history')).split('/').slice(3).join('/');
    expectNotFound(await owner.admin.get(`${await pathFor(app, owner, '/agents/{id}')}/${history}`));
    const accept = (await pathFor(app, foreign, '/agents/{id}/alarms/{alarmId}/accept')).split('/').slice(3).join('/');
    expectNotFound(await owner.admin.post(`${await pathFor(app, owner, '/agents/{id}')}/${accept}`));
  });

  it('shows nothing of another workspace where it takes no id', async () => {
    const newcomer = await createMember();
    const hidden = [foreign.workspaceId, foreign.userId];
    for (const collection of ['agents', 'personalities', 'workspace/webhooks', 'workspace/provider-keys']) {
      hidden.push(await createWithChildren(app, foreign, collection));
    }
    const chosen = operations.filter((operation) => operation.method === 'GET' && !hasParameter(operation));
    await forEach(
      chosen.filter((each) => !isPublic(each)),
      async (operation) => {
        const response = await send(newcomer.admin, operation, operation.template);
        expect(response.status).toBe(200);
        for (const id of hidden) expect(JSON.stringify(response.body)).not.toContain(id);
      },
    );
  });

  it('needs no key if it is public', async () => {
    for (const operation of operations.filter(isPublic)) {
      expect(await send(new HttpClient(app.url), operation, await pathOf(operation, owner))).toMatchObject({
        status: 200,
      });
    }
  });

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

  it('allows writes for EDITOR, not for VIEWER, and settings only for ADMIN', async () => {
    const viewer = owner.admin.as((await createKey(app, owner, 'VIEWER')).value);
    const editor = owner.admin.as((await createKey(app, owner, 'EDITOR')).value);
    const guarded = operations.filter((each) => !isPublic(each) && each.name !== LISTS_ASSISTANTS);
    await forEach(guarded, async (operation) => {
      const path = await pathOf(operation, owner);
      const response = await send(viewer, operation, path);
      const isReadable = !requiresAdmin(operation) && !requiresEditorToRead(operation);
      if (operation.method === 'GET' && isReadable) expect(response.status).toBe(200);
      else expectForbidden(response);
      const change = await send(editor, operation, path);
      if (!requiresAdmin(operation)) {
        expect(change.status).toBe(successStatus(operation));
        return;
      }
      expectForbidden(change);
      expect((await send(owner.admin, operation, path)).status).toBe(successStatus(operation));
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
