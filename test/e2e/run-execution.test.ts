import { executeRun, createRunApp, prepareAgent, type RunApp } from '../support/run-app.js';

describe('a run', () => {
  let app: RunApp;

  beforeAll(async () => {
    app = await createRunApp();
  });
  afterAll(() => app.close());

  it('calls the agent and reports the result', async () => {
    const { client, agentId } = await prepareAgent(app, ['books-a-table', 'house-facts']);
    const run = await executeRun(client, agentId, { name: 'Nightly', repeat: 3, minimumScore: 90 });
    expect(run).toMatchObject({
      name: 'Nightly',
      status: 'COMPLETED',
      score: 100,
      totalCalls: 6,
      counts: { passed: 6, failed: 0, invalid: 0, error: 0, cancelled: 0, pending: 0, provisional: 0 },
      reasons: [],
    });
    expect((await client.get(`/runs/${run.id}/metrics`)).body.data).toEqual({
      status: 'COMPLETED',
      score: 100,
      totalCalls: 6,
    });
    const calls = (await client.get(`/runs/${run.id}/calls`)).body;
    expect(calls.meta.total).toBe(6);
    expect(calls.data.map(({ evaluationName, repetition }: any) => [evaluationName, repetition])).toEqual([
      ['Books a table, detail by detail', 1],
      ['Books a table, detail by detail', 2],
      ['Books a table, detail by detail', 3],
      ['Answers questions about the restaurant', 1],
      ['Answers questions about the restaurant', 2],
      ['Answers questions about the restaurant', 3],
    ]);
    const call = (await client.get(`/calls/${calls.data[0].id}`)).body.data;
    expect(call).toMatchObject({ status: 'ENDED', outcome: 'passed', failure: null, end: { by: 'caller' } });
    expect(call.timeline.length).toBeGreaterThan(8);
    expect(call.latencies).toHaveLength(call.measures.turns);
  });
});
