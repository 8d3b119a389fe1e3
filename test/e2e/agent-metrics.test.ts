import { randomUUID } from 'node:crypto';
import type { Outcome } from '../../libs/statistics/index.js';
import { Database } from '../../src/platform/database/database.js';
import { insertRun } from '../factories/rows.js';
import { expectInvalid } from '../support/expect.js';
import type { HttpClient } from '../support/http.js';
import { prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

interface CallRow {
  readonly evaluation: string;
  readonly outcome: Outcome;
  readonly score?: number;
  readonly latencies?: readonly number[];
}

const passed = (evaluation: string, ...latencies: number[]): CallRow => ({
  evaluation,
  outcome: 'passed',
  score: 100,
  latencies,
});
const failed = (evaluation: string, score: number, ...latencies: number[]): CallRow => ({
  evaluation,
  outcome: 'failed',
  score,
  latencies,
});

describe('GET /agents/{agentId}/metrics', () => {
  let app: TestApp;
  let client: HttpClient;
  let agentId: string;
  let owner: { workspaceId: string; userId: string };
  const [A, B] = [randomUUID(), randomUUID()].sort() as [string, string];

  beforeAll(async () => {
    app = await createTestApp({ env: { ROLE: 'api' } });
  });
  beforeEach(async () => {
    ({ client, agentId, ...owner } = await prepareEvaluations(app, []));
  });
  afterAll(() => app.close());

  /** Inserts an ended run with its calls. */
  async function insert(endedAt: string, score: number, calls: readonly CallRow[], status = 'COMPLETED') {
    const { workspaceId, userId } = owner;
    const values = { endedAt: new Date(endedAt), score, totalCalls: calls.length, status: status as 'COMPLETED' };
    const run = await insertRun(app.nest.get(Database).manager, { workspaceId, userId }, agentId, values);
    for (const [position, evaluation] of [...new Set(calls.map((call) => call.evaluation))].entries()) {
      const snapshot = JSON.stringify({ name: `${evaluation === A ? 'A' : 'B'} on ${endedAt.slice(0, 10)}` });
      await sql(
        app.databaseUrl,
        `INSERT INTO run_evaluations (run_id, evaluation_id, position, snapshot, first_call, cases)
         VALUES ('${run.id}', '${evaluation}', ${position}, '${snapshot}', ${position}, 1)`,
      );
    }
    for (const [position, { evaluation, outcome, score: of, latencies = [] }] of calls.entries()) {
      await sql(
        app.databaseUrl,
        `INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, outcome, score,
                            attempts, lease_expirations, latencies, due_at, changed_in)
         VALUES ('${randomUUID()}', '${workspaceId}', '${agentId}', '${run.id}', '${evaluation}', '${evaluation}', ${position}, 1, 'ENDED',
                 '${outcome}', ${of ?? 'NULL'}, '[]', 0, '{${latencies.join()}}', now(), 0)`,
      );
    }
    return run.id;
  }
  const read = async (query = ''): Promise<any> => {
    const { status, body } = await client.get(`/agents/${agentId}/metrics${query}`);
    expect(status).toBe(200);
    return body.data;
  };

  it('returns the values computed by hand', async () => {
    const first = await insert('2026-03-01T10:00:00Z', 66.7, [
      passed(A, 100, 200, 300),
      passed(A, 400, 500),
      failed(B, 0.2, 600, 700, 800),
      { evaluation: B, outcome: 'error', latencies: [99_999] },
    ]);
    const second = await insert(
      '2026-03-02T10:00:00Z',
      50,
      [
        passed(A, 900),
        failed(A, 33.3, 1_000, 1_100),
        { evaluation: B, outcome: 'invalid', latencies: [88_888] },
        passed(B),
      ],
      'FAILED',
    );
    await insert('2026-03-03T10:00:00Z', 100, [passed(A, 1_200)], 'CANCELLED');
    const uncounted = await insert('2026-03-04T10:00:00Z', 0, [{ evaluation: A, outcome: 'error' }], 'FAILED');
    const metrics = await read('?from=2026-03-01&to=2026-04-01');
    expect(metrics).toMatchObject({
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-04-01T00:00:00.000Z',
      runs: { total: 4, completed: 1, failed: 2, cancelled: 1 },
      calls: { passed: 5, failed: 2, invalid: 1, error: 2 },
      // (5 · 100 + 0.2 + 33.3) / 7 = 76.214…
      score: 76.2,
      // Twelve latencies of counted calls, by nearest rank: ⌈0.5·12⌉ = 6, ⌈0.9·12⌉ = 11, ⌈0.95·12⌉ = ⌈0.99·12⌉ = 12.
      latency: { count: 12, p50: 600, p90: 1_100, p95: 1_200, p99: 1_200, worst: 1_200 },
      flakyEvaluationIds: [A],
    });
    expect(metrics.scores.map(({ runId, score, status }: any) => [runId, score, status])).toEqual([
      [first, 66.7, 'COMPLETED'],
      [second, 50, 'FAILED'],
    ]);
    expect(metrics.scores.map(({ runId }: any) => runId)).not.toContain(uncounted);
    // A: 4 of 5 passed; B: 1 of 2, but in different runs. The name is from the newest run with a counted call.
    expect(metrics.evaluations).toMatchObject([
      { evaluationId: A, name: 'A on 2026-03-03', counted: 5, passed: 4, passRate: 0.8, isFlaky: true },
      { evaluationId: B, name: 'B on 2026-03-02', counted: 2, passed: 1, passRate: 0.5, isFlaky: false },
    ]);
    // Wilson, 95 %: n = 5, c = 4 and n = 2, c = 1, by the formula with z = 1.959964.
    const [{ passRateInterval: a }, { passRateInterval: b }] = metrics.evaluations;
    expect([a.low, a.high].map((value) => value.toFixed(4))).toEqual(['0.3755', '0.9638']);
    expect([b.low, b.high].map((value) => value.toFixed(4))).toEqual(['0.0945', '0.9055']);
  });

  it('includes runs from `from` (inclusive) to `to` (exclusive)', async () => {
    await insert('2026-03-01T00:00:00.000Z', 100, [passed(A)]);
    await insert('2026-03-02T00:00:00.000Z', 100, [passed(A)]);
    const total = async (from: string, to: string) =>
      (await read(`?${new URLSearchParams({ from, to }).toString()}`)).runs.total;
    expect(await total('2026-03-01', '2026-03-02')).toBe(1);
    expect(await total('2026-03-01', '2026-03-02T00:00:00.001Z')).toBe(2);
    expect(await total('2026-03-01T00:00:00.001Z', '2026-03-02')).toBe(0);
    expect(await total('2026-03-01T01:00:00+01:00', '2026-03-02T00:59:00+01:00')).toBe(1);
    expect((await read()).runs.total).toBe(0);
  });

  it('hides percentiles below five turns and is empty without runs', async () => {
    const empty = await read();
    expect(empty).toMatchObject({
      runs: { total: 0, completed: 0, failed: 0, cancelled: 0 },
      calls: { passed: 0, failed: 0, invalid: 0, error: 0 },
      score: null,
      scores: [],
      latency: { count: 0, p50: null, p90: null, p95: null, p99: null, worst: null },
      evaluations: [],
      flakyEvaluationIds: [],
    });
    expect(Date.parse(empty.to) - Date.parse(empty.from)).toBe(30 * 86_400_000);
    await insert('2026-03-01T00:00:00Z', 100, [passed(A, 40, 10, 30, 20)]);
    const { latency } = await read('?from=2026-03-01&to=2026-03-02');
    expect(latency).toEqual({ count: 4, p50: 20, p90: null, p95: null, p99: null, worst: 40 });
  });

  it.each([
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['from=2026-03-01&to=2026-03-01', 'from'],
    ['from=2025-01-01&to=2026-03-01', 'from'],
    ['from=yesterday', 'from'],
    ['to=2026-13-01', 'to'],
    ['to=2026-03-01T10:00', 'to'],
    ['from=', 'from'],
    ['to=2026-02-30', 'to'],
  ])('rejects %s', async (query, field) => {
    expectInvalid(await client.get(`/agents/${agentId}/metrics?${query}`), field);
  });
});
