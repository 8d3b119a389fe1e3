import { Database } from '../../src/platform/database/database.js';
import { agentBody } from '../factories/bodies.js';
import { insertEvaluation } from '../factories/rows.js';
import { expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('evaluations', () => {
  let app: TestApp;
  let client: HttpClient;
  let owner: { workspaceId: string; userId: string };
  let agentId: string;

  beforeAll(async () => {
    app = await createTestApp();
    const { apiKey, ...ids } = await app.createWorkspace();
    owner = ids;
    client = new HttpClient(app.url, apiKey);
    agentId = (await client.post('/agents', agentBody())).body.data.id;
  });
  afterAll(() => app.close());

  const insert = (values = {}) => insertEvaluation(app.nest.get(Database).manager, owner, agentId, values);

  it('are returned with exactly the documented fields', async () => {
    const row = await insert({
      name: 'Réserve 🍝',
      scenarioText: 'You want a table.',
      generalInstructions: 'Be polite.',
      vendorCallPhoneNumber: '+15550199',
      createdAt: new Date('2026-03-01T12:00:00.001Z'),
      updatedAt: new Date('2026-03-02T12:00:00.020Z'),
    });
    const evaluation = {
      id: row.id,
      createdAt: '2026-03-01T12:00:00.001Z',
      updatedAt: '2026-03-02T12:00:00.020Z',
      name: 'Réserve 🍝',
      scenarioText: 'You want a table.',
      generalInstructions: 'Be polite.',
      personalityId: row.personalityId,
      agentId,
      createdByUserId: owner.userId,
      workspaceId: owner.workspaceId,
      vendorCallPhoneNumber: '+15550199',
      // Fields of this service in addition to those of the contract.
      key: null,
      critical: false,
      tags: [],
      script: [],
      checks: [],
      criteria: [],
      maxTurns: 40,
      maxDurationSeconds: 600,
      language: null,
      timezone: null,
      variables: [],
      history: [],
      toolResults: [],
      conditions: {},
      turnEndMs: 700,
      fillers: false,
      agentVariables: {},
      scope: 'tests',
      appliesTo: null,
      origin: null,
      provisional: false,
      provenAt: null,
    };
    const one = await client.get(`/evaluations/${row.id}`);
    expect(one.status).toBe(200);
    expect(one.body).toEqual({ message: 'Evaluation retrieved successfully', data: evaluation });
    const listed = await client.get(`/agents/${agentId.toUpperCase()}/evaluations?limit=100`);
    expect(listed.body.data).toContainEqual(evaluation);
  });

  it('are hidden once deleted', async () => {
    const before = (await client.get(`/agents/${agentId}/evaluations`)).body.meta.total;
    const { id } = await insert({ deletedAt: new Date() });
    expectNotFound(await client.get(`/evaluations/${id}`));
    expect((await client.get(`/agents/${agentId}/evaluations`)).body.meta.total).toBe(before);
  });
});
