import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { insertEvaluation, type Owner } from '../factories/rows.js';
import { expectForbidden, expectInvalid, expectNotFound, TIMESTAMP, UUID } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { sql } from '../support/sql.js';
import { createWorkspaceApp, type WorkspaceApp } from '../support/workspace-app.js';

const FULL = {
  gender: 'MALE',
  provider: 'PERSONALITY_PROVIDER_4',
  name: 'Wütend 😡',
  description: 'Calls twice a day',
  prompt: 'You are angry.\nYou interrupt.',
  temperature: 1.25,
  accent: 'Schwäbisch',
  backgroundNoise: true,
  voice_id: 'voice-7',
  interrupts: 'sometimes',
};

describe('personalities', () => {
  let app: WorkspaceApp;
  let client: HttpClient;
  let owner: Owner;

  beforeAll(async () => {
    app = await createWorkspaceApp();
    ({ client, owner } = app);
  });
  afterAll(() => app.close());

  const create = async (values: object = {}) => {
    const { status, body } = await client.post('/personalities', personalityBody(values));
    expect(status).toBe(201);
    return body.data;
  };

  describe('POST /personalities', () => {
    it('creates a personality with defaults and returns every field of the contract', async () => {
      const { status, body } = await client.post('/personalities', { name: 'X' });
      expect(status).toBe(201);
      expect(body).toEqual({
        message: 'Personality created successfully',
        data: {
          id: expect.stringMatching(UUID),
          gender: 'FEMALE',
          provider: 'PERSONALITY_PROVIDER_1',
          name: 'X',
          description: '',
          prompt: '',
          temperature: 0.7,
          accent: '',
          backgroundNoise: false,
          voice_id: '',
          createdByUserId: owner.userId,
          workspaceId: owner.workspaceId,
          createdAt: expect.stringMatching(TIMESTAMP),
          created_at: expect.stringMatching(TIMESTAMP),
          updatedAt: expect.stringMatching(TIMESTAMP),
        },
      });
      expect(body.data.created_at).toBe(body.data.createdAt);
    });

    it('stores every field of a personality as sent', async () => {
      const personality = await create(FULL);
      expect(personality).toMatchObject(FULL);
      const { status, body } = await client.get(`/personalities/${personality.id}`);
      expect(status).toBe(200);
      expect(body).toEqual({ message: 'Personality retrieved successfully', data: personality });
    });

    it('returns interrupts only while it is not the default', async () => {
      const { id, ...never } = await create({ interrupts: 'never' });
      expect(never).not.toHaveProperty('interrupts');
      const changed = await client.patch(`/personalities/${id}`, { interrupts: 'sometimes' });
      expect(changed.body.data.interrupts).toBe('sometimes');
      const { data } = (await client.get('/personalities?limit=100')).body;
      expect(data.find((one: { id: string }) => one.id === id).interrupts).toBe('sometimes');
      const back = await client.patch(`/personalities/${id}`, { interrupts: 'never' });
      expect(back.body.data).not.toHaveProperty('interrupts');
    });

    it('accepts empty texts and the bounds of temperature', async () => {
      const empty = { description: '', prompt: '', accent: '', voice_id: '' };
      expect(await create({ ...empty, temperature: 0 })).toMatchObject({ ...empty, temperature: 0 });
      expect(await create({ temperature: 2 })).toMatchObject({ temperature: 2 });
    });

    it('accepts its own workspaceId in any letter case and rejects another', async () => {
      for (const workspaceId of [owner.workspaceId, owner.workspaceId.toUpperCase(), null, undefined]) {
        expect(await create({ workspaceId })).toMatchObject({ workspaceId: owner.workspaceId });
      }
      const { workspaceId } = await app.createWorkspace();
      for (const other of [workspaceId, randomUUID(), 'x']) {
        expectForbidden(await client.post('/personalities', personalityBody({ workspaceId: other })));
      }
    });

    it.each([
      ['name', [undefined, null, '', 5, 'n'.repeat(256)]],
      ['description', [null, 5, 'd'.repeat(100_001)]],
      ['prompt', [null, {}, 'p'.repeat(100_001)]],
      ['temperature', [null, '1', -0.001, 2.001, 1e308, [1], true]],
      ['accent', [null, 5, 'a'.repeat(256)]],
      ['backgroundNoise', [null, 'false', 0]],
      ['gender', [null, 'female', 'OTHER', '']],
      ['provider', [null, 'PERSONALITY_PROVIDER_5', 'AGENT_PROVIDER_1', '']],
      ['voice_id', [null, 5, 'v'.repeat(256)]],
      ['interrupts', [null, true, 'always', 'NEVER', '']],
      ['workspaceId', [5]],
    ])('rejects invalid values of %s', async (field, values) => {
      for (const value of values) {
        expectInvalid(await client.post('/personalities', personalityBody({ [field]: value })), field);
      }
    });

    it('names each unknown field, including response-only fields', async () => {
      const unknown = { voiceId: 'x', id: randomUUID(), createdAt: 'x', created_at: 'x', createdByUserId: 'x' };
      expectInvalid(await client.post('/personalities', personalityBody(unknown)), ...Object.keys(unknown));
    });
  });

  describe('PATCH /personalities/{id}', () => {
    it('changes only the given fields of a personality', async () => {
      const before = await create(FULL);
      const { status, body } = await client.patch(`/personalities/${before.id}`, { temperature: 0.1, voice_id: '' });
      expect(status).toBe(200);
      expect(body).toEqual({
        message: 'Personality updated successfully',
        data: { ...before, temperature: 0.1, voice_id: '', updatedAt: expect.stringMatching(TIMESTAMP) },
      });
      expect((await client.get(`/personalities/${before.id}`)).body.data).toEqual(body.data);
    });

    it('changes every field, including gender and provider', async () => {
      const { id } = await create();
      expect((await client.patch(`/personalities/${id}`, FULL)).body.data).toMatchObject(FULL);
      expect((await client.get(`/personalities/${id}`)).body.data).toMatchObject(FULL);
    });

    it('changes nothing for an empty object, and updates updatedAt on a change', async () => {
      const { id } = await create();
      const past = '2020-01-01T00:00:00.000Z';
      await sql(app.databaseUrl, 'UPDATE personalities SET updated_at = $1 WHERE id = $2', [past, id]);
      const empty = await client.patch(`/personalities/${id}`, {});
      expect([empty.status, empty.body.data.updatedAt]).toEqual([200, past]);
      expect((await client.patch(`/personalities/${id}`, { name: 'New' })).body.data.updatedAt > past).toBe(true);
    });

    it('rejects workspaceId, even its own', async () => {
      const { id } = await create();
      for (const workspaceId of [owner.workspaceId, null, randomUUID()]) {
        expectInvalid(await client.patch(`/personalities/${id}`, { workspaceId }), 'workspaceId');
      }
    });

    it.each([...Object.keys(FULL), 'id', 'colour'])('rejects null for %s', async (field) => {
      const { id } = await create();
      expectInvalid(await client.patch(`/personalities/${id}`, { [field]: null }), field);
    });

    it('reports all violations and changes nothing', async () => {
      const before = await create();
      const wrong = { name: '', temperature: 3, gender: 'X', colour: 1, accent: 'Irish' };
      const response = await client.patch(`/personalities/${before.id}`, wrong);
      expectInvalid(response, 'name', 'temperature', 'gender', 'colour');
      expect((await client.get(`/personalities/${before.id}`)).body.data).toEqual(before);
    });
  });

  describe('DELETE /personalities/{id}', () => {
    it('returns only a message and hides the personality from reads, lists and writes', async () => {
      const { id, name } = await create({ name: randomUUID() });
      const { status, body } = await client.delete(`/personalities/${id}`);
      expect(status).toBe(200);
      expect(body).toEqual({ message: 'Personality deleted successfully' });
      expectNotFound(await client.get(`/personalities/${id}`));
      expectNotFound(await client.patch(`/personalities/${id}`, { name: 'Back' }));
      expectNotFound(await client.delete(`/personalities/${id}`));
      const { data } = (await client.get('/personalities?limit=100')).body;
      expect(data.map((personality: { name: string }) => personality.name)).not.toContain(name);
    });

    it('keeps the evaluations that use it unchanged', async () => {
      const { id } = await create();
      const agentId = (await client.post('/agents', agentBody())).body.data.id;
      const evaluation = await insertEvaluation(app.nest.get(Database).manager, owner, agentId, { personalityId: id });
      await client.delete(`/personalities/${id}`);
      expect((await client.get(`/evaluations/${evaluation.id}`)).body.data).toMatchObject({ personalityId: id });
      expect((await client.get(`/agents/${agentId}/evaluations`)).body.meta.total).toBe(1);
      expect(await sql(app.databaseUrl, 'SELECT deleted_at FROM personalities WHERE id = $1', [id])).toEqual([
        { deleted_at: expect.any(Date) },
      ]);
    });
  });
});
