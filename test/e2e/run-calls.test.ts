import { TIMESTAMP, UUID } from '../support/expect.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { suiteTimes } from '../support/suite-times.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('the calls of a run', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let prepared: Awaited<ReturnType<typeof prepareEvaluations>>;
  let run: any;

  beforeAll(async () => {
    agent = await startScriptedAgent(({ said, response }) => {
      if (said === 'Break') return void response.writeHead(403).end();
      return said === 'Hello' ? 'Welcome!' : 'What?';
    });
    app = await createTestApp({ env: callEnv(agent.url) });
    const saying = (name: string, say: string) => shortEvaluation({ name, script: [{ say }, { end: 'Done' }] });
    prepared = await prepareEvaluations(app, [
      saying('First', 'Hello'),
      saying('Second', 'Hm'),
      saying('Third', 'Break'),
      saying('Fourth', 'Hello'),
    ]);
    run = await executeRun(prepared.client, prepared.agentId, { repeat: 3, concurrency: 12 });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const list = async (query = ''): Promise<any> => {
    const { status, body } = await prepared.client.get(`/runs/${run.id}/calls${query}`);
    expect(status).toBe(200);
    return body;
  };
  const names = (calls: any[]) => calls.map(({ evaluationName, repetition }) => `${evaluationName} ${repetition}`);
  const ALL = ['First', 'Second', 'Third', 'Fourth'].flatMap((name) => [1, 2, 3].map((n) => `${name} ${n}`));

  it('are listed in plan order, whichever ended first', async () => {
    expect(run.counts).toEqual({
      passed: 6,
      failed: 3,
      invalid: 0,
      error: 3,
      cancelled: 0,
      pending: 0,
      provisional: 0,
    });
    const { data, meta } = await list();
    expect(names(data)).toEqual(ALL);
    expect(meta).toMatchObject({ total: 12, page: 1, limit: 25 });
    const pages = await Promise.all([1, 2, 3].map((page) => list(`?limit=5&page=${page}`)));
    expect(pages.flatMap((page) => names(page.data))).toEqual(ALL);
  });

  it('can be filtered by outcome, with the filtered total', async () => {
    const failed = await list('?outcome=failed');
    expect([failed.meta.total, names(failed.data)]).toEqual([3, ['Second 1', 'Second 2', 'Second 3']]);
    expect((await list('?outcome=passed&limit=4&page=2')).data.map(({ outcome }: any) => outcome)).toEqual([
      'passed',
      'passed',
    ]);
    expect((await list('?outcome=error')).meta.total).toBe(3);
    expect(await list('?outcome=invalid')).toMatchObject({ meta: { total: 0 }, data: [] });
  });

  it('have the same fields individually as in the list, plus their evidence', async () => {
    const { data } = await list('?outcome=failed&limit=1');
    const [row] = data;
    const { status, body } = await prepared.client.get(`/calls/${row.id}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject(row);
    expect(row).toMatchObject({
      id: expect.stringMatching(UUID),
      runId: run.id,
      evaluationId: prepared.evaluationIds[1],
      outcome: 'failed',
      score: 0,
      reason: expect.stringContaining('Greets'),
      startedAt: expect.stringMatching(TIMESTAMP),
      endedAt: expect.stringMatching(TIMESTAMP),
    });
    expect(body.data.checks).toMatchObject([{ name: 'Greets', met: false }]);
    expect(body.data.timeline.map(({ type }: any) => type)).toEqual(['speech', 'speech', 'end']);
    expect(row.latencies).toHaveLength(1);
    expect(body.data.measures.latency).toMatchObject({ count: 1, worst: row.latencies[0], p95: null });
  });

  it('appear in the JUnit file and the report in the same numbers', async () => {
    const junit = await prepared.client.get<string>(`/runs/${run.id}/junit`);
    expect(junit.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    // The case of the gate, which is not met, besides the twelve calls.
    expect(junit.body).toMatch(/<testsuites [^>]*tests="13"[^>]*failures="4"[^>]*errors="3"/);
    expect(junit.body.match(/<testcase /g)).toHaveLength(13);
    const times = suiteTimes(junit.body);
    expect(times.map(({ own }) => own)).toEqual(times.map(({ ofCases }) => ofCases));
    expect(Math.max(...times.map(({ own }) => own))).toBeGreaterThan(0);
    const report = await prepared.client.get<string>(`/runs/${run.id}/report`);
    expect(report.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(report.body).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
  });
});
