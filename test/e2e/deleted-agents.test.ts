import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database.js';
import { agentBody } from '../factories/bodies.js';
import { insertEvaluation, insertRun, type Owner } from '../factories/rows.js';
import { expectError, expectForbidden, expectInvalid, expectNotFound, TIMESTAMP } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { createWorkspaceApp, type WorkspaceApp } from '../support/workspace-app.js';

describe('deleted agents', () => {
  let app: WorkspaceApp;
  let client: HttpClient;
  let owner: Owner;

  beforeAll(async () => {
    app = await createWorkspaceApp();
    ({ client, owner } = app);
  });
  afterAll(() => app.close());

  const create = async (values: object = {}) => (await client.post('/agents', agentBody(values))).body.data;

  describe('POST /agents/{id}/restore', () => {
    it('restores the agent with its evaluations, runs and secrets', async () => {
      const agent = await create({ name: 'Deleted by mistake' });
      const { manager } = app.nest.get(Database);
      const evaluation = await insertEvaluation(manager, owner, agent.id);
      const run = await insertRun(manager, owner, agent.id);
      await client.delete(`/agents/${agent.id}`);
      const { status, body } = await client.post(`/agents/${agent.id}/restore`);
      expect([status, body.message]).toEqual([200, 'Agent restored successfully']);
      expect(body.data).toEqual({ ...agent, updated_at: expect.stringMatching(TIMESTAMP) });
      expect((await client.get(`/agents/${agent.id}`)).body.data).toEqual(body.data);
      expect((await client.get(`/agents/${agent.id}/evaluations`)).body.data).toMatchObject([{ id: evaluation.id }]);
      expect((await client.get(`/agents/${agent.id}/runs`)).body.data).toMatchObject([{ id: run.id }]);
      const { body: found } = await client.get('/agents?search=Deleted%20by%20mistake');
      expect(found.meta.total).toBe(1);
    });

    it('returns 409 for an agent that is not deleted, also to all but one of concurrent requests', async () => {
      const { id } = await create();
      expectError(await client.post(`/agents/${id}/restore`), 409, 'CONFLICT', 'The agent is not deleted');
      await client.delete(`/agents/${id}`);
      const responses = await Promise.all(Array.from({ length: 5 }, () => client.post(`/agents/${id}/restore`)));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
      expect((await client.delete(`/agents/${id}`)).status).toBe(200);
    });

    it('is refused to another workspace, whether the agent is deleted or not', async () => {
      const { id } = await create();
      const other = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
      expectForbidden(await other.post(`/agents/${id}/restore`));
      await client.delete(`/agents/${id}`);
      expectForbidden(await other.post(`/agents/${id}/restore`));
      expectNotFound(await client.get(`/agents/${id}`));
      expectNotFound(await client.post(`/agents/${randomUUID()}/restore`));
    });
  });

  describe('GET /agents?deleted=true', () => {
    it('lists only deleted agents of the workspace, by provider and text, too', async () => {
      const workspace = await app.createWorkspace();
      const admin = new HttpClient(app.url, workspace.apiKey);
      const make = async (values: object): Promise<string> =>
        (await admin.post('/agents', agentBody(values))).body.data.id;
      await make({ name: 'Kept' });
      const first = await make({ name: 'First', provider: 'AGENT_PROVIDER_1' });
      const second = await make({ name: 'Second', provider: 'AGENT_PROVIDER_2' });
      for (const id of [first, second]) await admin.delete(`/agents/${id}`);
      const idsOf = async (query: string) => {
        const { meta, data } = (await admin.get(`/agents?deleted=true${query}`)).body;
        expect(meta.total).toBe(data.length);
        return data.map(({ id }: { id: string }) => id);
      };
      expect(await idsOf('')).toEqual([second, first]);
      expect(await idsOf('&provider=AGENT_PROVIDER_1')).toEqual([first]);
      expect(await idsOf('&search=secon')).toEqual([second]);
      expect((await client.get('/agents?deleted=true&limit=100')).body.data).not.toContainEqual(
        expect.objectContaining({ id: first }),
      );
      expect((await admin.get('/agents?deleted=false')).body.data).toMatchObject([{ name: 'Kept' }]);
      expectInvalid(await admin.get('/agents?deleted=yes'), 'deleted');
    });

    it('requires an EDITOR key', async () => {
      const viewer = client.as((await createKey(app, owner, 'VIEWER')).value);
      expect((await viewer.get('/agents?deleted=false')).status).toBe(200);
      const { status, body } = await viewer.get('/agents?deleted=true');
      expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
    });
  });
});
