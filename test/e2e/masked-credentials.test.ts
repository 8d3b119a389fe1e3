import { randomUUID } from 'node:crypto';
import { agentBody } from '../factories/bodies.js';
import { expectForbidden } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const CLEAR = { apiKey: 'provider-key-of-this-agent', webhookSecret: 'signing-secret-of-this-agent' };
const MASKED = { apiKey: '••••gent', webhookSecret: '••••gent' };

describe('credentials of agents', () => {
  let app: TestApp;
  let admin: HttpClient;
  let editor: HttpClient;
  let viewer: HttpClient;

  beforeAll(async () => {
    app = await createTestApp();
  });
  beforeEach(async () => {
    const owner = await app.createWorkspace();
    admin = new HttpClient(app.url, owner.apiKey);
    editor = admin.as((await createKey(app, owner, 'EDITOR')).value);
    viewer = admin.as((await createKey(app, owner, 'VIEWER')).value);
  });
  afterAll(() => app.close());

  const create = async (values: object = CLEAR): Promise<any> => {
    const { status, body } = await editor.post('/agents', agentBody(values));
    expect(status).toBe(201);
    return body.data;
  };

  it('are masked for VIEWER keys and in clear for EDITOR and ADMIN keys', async () => {
    const { id } = await create();
    for (const [client, expected] of [
      [viewer, MASKED],
      [editor, CLEAR],
      [admin, CLEAR],
    ] as const) {
      expect((await client.get(`/agents/${id}`)).body.data).toMatchObject(expected);
      expect((await client.get('/agents')).body.data[0]).toMatchObject(expected);
      expect((await client.get('/agents?search=assistant')).body.data[0]).toMatchObject(expected);
    }
  });

  it('are in clear in the responses to EDITOR keys that write them', async () => {
    const agent = await create();
    expect(agent).toMatchObject(CLEAR);
    expect((await editor.patch(`/agents/${agent.id}`, { name: 'x' })).body.data).toMatchObject(CLEAR);
    expect((await editor.delete(`/agents/${agent.id}`)).body.data).toMatchObject(CLEAR);
  });

  it('are masked as a whole below 12 characters, and null where there are none', async () => {
    const { id } = await create({ apiKey: 'elevenchars', webhookSecret: null });
    const { body } = await viewer.get(`/agents/${id}`);
    expect(body.data).toMatchObject({ apiKey: '••••', webhookSecret: null });
  });

  it('occur nowhere in any response to a VIEWER key', async () => {
    const { id } = await create();
    const responses: ApiResponse<any>[] = [];
    for (const path of [`/agents/${id}`, '/agents', `/agents/${id}/evaluations`, `/agents/${id}/runs`]) {
      responses.push(await viewer.get(path));
    }
    for (const secret of Object.values(CLEAR)) expect(JSON.stringify(responses)).not.toContain(secret);
  });

  it('are not replayed to a VIEWER key', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    expect((await editor.post('/agents', agentBody(CLEAR), headers)).status).toBe(201);
    expectForbidden(await viewer.post('/agents', agentBody(CLEAR), headers));
  });

  describe('that begin with ••••', () => {
    const issue = (field: string) => ({
      status: 400,
      body: {
        code: 'BAD_REQUEST',
        message: 'Invalid input data',
        issues: [
          {
            message:
              `${field} must not begin with ••••, the mask of a stored credential: send the credential itself, ` +
              'or leave the field out of an update to keep the stored one',
          },
        ],
      },
    });

    it.each(['apiKey', 'webhookSecret'])('are rejected in %s on create and update', async (field) => {
      for (const value of ['••••', '••••gent']) {
        expect(await editor.post('/agents', agentBody({ [field]: value }))).toMatchObject(issue(field));
        const { id } = await create();
        expect(await editor.patch(`/agents/${id}`, { [field]: value })).toMatchObject(issue(field));
        expect((await editor.get(`/agents/${id}`)).body.data).toMatchObject(CLEAR);
      }
      await create({ [field]: '•••' });
      await create({ [field]: 'x••••' });
    });

    it('are rejected as a default provider key', async () => {
      const { status, body } = await admin.put('/workspace/provider-keys/AGENT_PROVIDER_1', { apiKey: '••••gent' });
      expect({ status, body }).toMatchObject(issue('apiKey'));
      expect((await admin.get('/workspace/provider-keys')).body.meta.total).toBe(0);
    });
  });
});
