import { Database } from '../../src/platform/database/database.js';
import { insertRun } from '../factories/rows.js';
import { expectInvalid } from '../support/expect.js';
import { prepareEvaluations } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('the list of runs by status', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp();
  });
  afterAll(() => app.close());

  it('contains the runs with that status, and counts them', async () => {
    const { client, agentId, ...owner } = await prepareEvaluations(app);
    const manager = app.nest.get(Database).manager;
    for (const status of ['COMPLETED', 'COMPLETED', 'FAILED', 'CANCELLED'] as const) {
      await insertRun(manager, owner, agentId, { status });
    }
    const list = async (query: string) => (await client.get(`/agents/${agentId}/runs?${query}`)).body;
    expect((await list('status=COMPLETED')).meta).toEqual({ total: 2, page: 1, limit: 25, pageCount: 1 });
    expect((await list('status=COMPLETED&limit=1&page=2')).data).toHaveLength(1);
    expect((await list('status=RUNNING')).meta.total).toBe(0);
    expect((await list('')).meta.total).toBe(4);
    const [cancelled] = (await list('status=CANCELLED')).data;
    expect((await client.get(`/runs/${cancelled.id}`)).body.data.status).toBe('CANCELLED');
  });

  it.each(['', 'completed', 'DONE', 'COMPLETED,FAILED'])('rejects the status "%s"', async (status) => {
    const { client, agentId } = await prepareEvaluations(app);
    expectInvalid(await client.get(`/agents/${agentId}/runs?status=${status}`), 'status');
  });

  it('rejects a repeated status', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const response = await client.get(`/agents/${agentId}/runs?status=FAILED&status=COMPLETED`);
    expectInvalid(response, 'status');
  });
});
