import { Database } from '../../src/platform/database/database.js';
import { RUN_STATUSES } from '../../src/modules/runs/run.entity.js';
import { agentBody } from '../factories/bodies.js';
import { insertRun } from '../factories/rows.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('runs', () => {
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

  const insert = (values = {}) => insertRun(app.nest.get(Database).manager, owner, agentId, values);

  it('are listed with the fields of the contract and their outcomes', async () => {
    const { id } = await insert({
      name: 'Nightly ☾',
      createdAt: new Date('2026-03-01T12:00:00.001Z'),
      updatedAt: new Date('2026-03-02T12:00:00.020Z'),
      endedAt: new Date('2026-03-02T12:00:00.010Z'),
      agentVersion: 'a1b2c3d',
    });
    const { status, body } = await client.get(`/agents/${agentId}/runs?limit=100`);
    expect(status).toBe(200);
    expect(body.data).toContainEqual({
      label: 'READ',
      id,
      name: 'Nightly ☾',
      createdAt: '2026-03-01T12:00:00.001Z',
      updatedAt: '2026-03-02T12:00:00.020Z',
      userId: owner.userId,
      workspaceId: owner.workspaceId,
      agentId,
      status: 'COMPLETED',
      outcomes: { passed: 0, failed: 0, invalid: 0, error: 0, cancelled: 0, pending: 0, provisional: 0 },
      score: null,
      passRate: null,
      origin: 'test',
      agentVersion: 'a1b2c3d',
      scheduleId: null,
      endedAt: '2026-03-02T12:00:00.010Z',
    });
  });

  // The score of a running run is computed from its ended calls, of which there are none.
  it.each(RUN_STATUSES.map((status, i) => ({ status, score: [0, 0, 100, 0.1, 66][i] ?? 0, totalCalls: i * 7 })))(
    'have metrics with status $status, score $score and totalCalls $totalCalls',
    async (metrics) => {
      const { id } = await insert(metrics);
      const { status, body } = await client.get(`/runs/${id}/metrics`);
      expect(status).toBe(200);
      expect(body).toEqual({ message: 'Run metrics retrieved successfully', data: metrics });
    },
  );
});
