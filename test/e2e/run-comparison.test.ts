import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database.js';
import { agentBody } from '../factories/bodies.js';
import { insertRun } from '../factories/rows.js';
import { expectError, expectForbidden, expectInvalid, expectNotFound } from '../support/expect.js';
import type { HttpClient } from '../support/http.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('comparison of runs', () => {
  let app: TestApp;
  let script: ScriptedAgent;
  /** What callers say that the agent does not greet, by assistant. */
  const broken = new Map<string, string>();

  beforeAll(async () => {
    script = await startScriptedAgent(({ model, said }) =>
      broken.has(model) && said.includes(broken.get(model)!) ? 'Good day.' : 'Welcome!',
    );
    app = await createTestApp({ env: callEnv(script.url) });
  });
  afterAll(async () => {
    await app.close();
    await script.close();
  });

  /** An agent with the evaluations Anna, Bert and so on, whose callers say their names. */
  const prepare = async (...names: string[]) => {
    const assistantId = randomUUID();
    const evaluations = names.map((name) =>
      shortEvaluation({ name, script: [{ say: `Hello, I am ${name}.` }, { end: 'Greeted' }] }),
    );
    const prepared = await prepareEvaluations(app, evaluations, { assistantId });
    const { client, agentId } = prepared;
    return {
      ...prepared,
      run: (body: object = {}) => executeRun(client, agentId, body),
      start: (body: object) => client.post(`/agents/${agentId}/runs`, body),
      break: (name: string) => broken.set(assistantId, name),
      repair: () => broken.delete(assistantId),
    };
  };
  const compare = (client: HttpClient, id: string, query = '') => client.get(`/runs/${id}/comparison${query}`);

  it('shows pass rates, scores and latencies of both runs, and names the cases that changed', async () => {
    const { client, evaluationIds, run, break: breakFor } = await prepare('Anna', 'Bert');
    const first = await run({ repeat: 5, agentVersion: 'v1' });
    breakFor('Bert');
    const second = await run({ repeat: 5, agentVersion: 'v2', name: 'After the change' });
    expect([first.agentVersion, second.agentVersion, second.status]).toEqual(['v1', 'v2', 'FAILED']);
    const { status, body } = await compare(client, second.id);
    expect([status, body.message]).toEqual([200, 'Runs compared successfully']);
    expect(body.data).toMatchObject({
      change: 'worse',
      current: {
        id: second.id,
        name: 'After the change',
        status: 'FAILED',
        agentVersion: 'v2',
        score: 50,
        passRate: 0.5,
      },
      baseline: { id: first.id, status: 'COMPLETED', agentVersion: 'v1', score: 100, counted: 10, passed: 10 },
      onlyInCurrent: 0,
      onlyInBaseline: 0,
      warnings: [],
    });
    const [anna, bert] = body.data.cases;
    expect(anna).toMatchObject({
      caseKey: evaluationIds[0],
      evaluationId: evaluationIds[0],
      name: 'Anna',
      change: 'same',
    });
    expect(bert).toMatchObject({
      name: 'Bert',
      change: 'worse',
      current: { counted: 5, passed: 0, passRate: 0, score: 0 },
      baseline: { counted: 5, passed: 5, passRate: 1, score: 100 },
    });
    expect(bert.current.passRateInterval.high).toBeCloseTo(0.4345, 3);
    for (const side of [bert.current, bert.baseline, body.data.current, body.data.baseline]) {
      expect(side.latency).toMatchObject({
        count: expect.any(Number),
        p50: expect.any(Number),
        p95: expect.any(Number),
      });
    }
    const back = (await compare(client, first.id, `?with=${second.id}`)).body.data;
    expect(back.cases.map(({ change }: { change: string }) => change)).toEqual(['same', 'better']);
    const [one] = (await client.get(`/runs/${second.id}/calls`)).body.data;
    expect((await client.get(`/calls/${one.id}`)).body.data.agentVersion).toBe('v2');
  });

  it('calculates latencies like the report: percentiles by nearest rank of the counted calls', async () => {
    const { client, run } = await prepare('Anna');
    const { id } = await run({ repeat: 3 });
    const calls = (await client.get(`/runs/${id}/calls`)).body.data as { id: string; outcome: string }[];
    const latencies = [[10, 20, 30], [40, 50], [999]];
    for (const [index, call] of calls.entries()) {
      await sql(app.databaseUrl, 'UPDATE calls SET latencies = $2 WHERE id = $1', [call.id, latencies[index]]);
    }
    await sql(app.databaseUrl, `UPDATE calls SET outcome = 'error', score = NULL WHERE id = $1`, [calls[2]!.id]);
    const { current, cases } = (await compare(client, id, `?with=${id}`)).body.data;
    const expected = { count: 5, p50: 30, p90: 50, p95: 50, p99: 50, worst: 50, clock: 'text' };
    expect([current.latency, cases[0].current.latency]).toEqual([expected, expected]);
    expect(cases[0].current).toMatchObject({ counted: 2, passed: 2, passRate: 1 });
  });

  describe('previous', () => {
    it('is the newest run that ended before the run started, whether its gate was met or not', async () => {
      const { client, evaluationIds, run, break: breakFor, repair } = await prepare('Anna', 'Bert');
      const all = await run();
      const onlyAnna = await run({ evaluationIds: [evaluationIds[0]] });
      breakFor('Bert');
      const failed = await run();
      repair();
      const latest = await run();
      const previousOf = async (id: string) => (await compare(client, id)).body.data.baseline.id;
      expect(await previousOf(onlyAnna.id)).toBe(all.id);
      expect(await previousOf(failed.id)).toBe(onlyAnna.id);
      expect(await previousOf(latest.id)).toBe(failed.id);
      expect(await previousOf((await run({ evaluationIds: [evaluationIds[0]] })).id)).toBe(latest.id);
    });

    it('shares a case with the run', async () => {
      const { client, evaluationIds, run } = await prepare('Anna', 'Bert');
      const onlyAnna = await run({ evaluationIds: [evaluationIds[0]] });
      const all = await run();
      const { body } = await compare(client, all.id, '?with=previous');
      expect(body.data).toMatchObject({
        baseline: { id: onlyAnna.id },
        cases: [{ name: 'Anna' }],
        onlyInCurrent: 1,
        warnings: [
          '"Anna": too few counted calls in one of the runs to find a difference; each run needs 3 of a case.',
          '1 of the cases is not in the other run.',
        ],
      });
    });

    it('is fixed when the run starts: the deletion of the previous run changes nothing', async () => {
      const { client, run } = await prepare('Anna');
      await run({ repeat: 3 });
      const previous = await run({ repeat: 3 });
      const { id } = await run({ repeat: 3 });
      const before = (await compare(client, id)).body.data;
      expect(before.baseline.id).toBe(previous.id);
      expect((await client.delete(`/runs/${previous.id}`)).status).toBe(200);
      expect((await compare(client, id)).body.data).toEqual(before);
    });

    it('is found for runs of earlier versions of the service, which did not store it', async () => {
      const { client, run } = await prepare('Anna');
      const first = await run();
      const second = await run();
      await run();
      await sql(app.databaseUrl, 'DELETE FROM run_baselines WHERE run_id = $1', [second.id]);
      expect((await compare(client, second.id)).body.data.baseline.id).toBe(first.id);
    });

    it('does not exist for the first run, or after runs that were cancelled or had other cases: 404 names them', async () => {
      const { client, evaluationIds, run, start } = await prepare('Anna', 'Bert');
      const first = await run({ evaluationIds: [evaluationIds[0]], name: 'Only Anna' });
      const missing = (issue: string) => ({
        status: 404,
        body: { code: 'NOT_FOUND', message: 'Not found', issues: [{ message: issue }] },
      });
      const none = 'with: the agent has no other run that has ended';
      expect(await compare(client, first.id)).toMatchObject(missing(none));
      const { id } = (await start({ evaluationIds: [evaluationIds[1]], name: 'Stopped', concurrency: 1, repeat: 50 }))
        .body.data;
      await client.post(`/runs/${id}/cancel`);
      const other = await run({ evaluationIds: [evaluationIds[1]] });
      expect(await compare(client, other.id)).toMatchObject(
        missing(
          `with: no earlier run shares a case with this one; the agent has the runs "Stopped" (${id}), "Only Anna" (${first.id})`,
        ),
      );
      expect((await client.get(`/runs/${other.id}/report`)).status).toBe(200);
      expect((await client.get(`/runs/${other.id}/report?with=previous`)).status).toBe(404);
    });
  });

  describe('rejects', () => {
    it('unknown runs with 404, and those of another workspace with 403', async () => {
      const mine = await prepare('Anna');
      const foreign = await prepare('Anna');
      const [{ id }, other] = [await mine.run(), await foreign.run()];
      const unknown = randomUUID();
      const { status, body } = await compare(mine.client, id, `?with=${unknown}`);
      const issue = { message: `with is not the id of a run: ${unknown}`, field: 'with' };
      expect([status, body.issues]).toEqual([404, [issue]]);
      expectNotFound(await compare(mine.client, randomUUID(), `?with=${id}`));
      expectForbidden(await compare(mine.client, id, `?with=${other.id}`));
      expectForbidden(await compare(mine.client, other.id, `?with=${id}`));
      expectForbidden(await mine.start({ notWorseThan: other.id }));
    });

    it('a run without a shared case with 400, and one of another agent in the gate', async () => {
      const { client, run, start, evaluationIds, agentId, personalityId } = await prepare('Anna', 'Bert');
      const [anna, bert] = [
        await run({ evaluationIds: [evaluationIds[0]] }),
        await run({ evaluationIds: [evaluationIds[1]] }),
      ];
      expectInvalid(await compare(client, anna.id, `?with=${bert.id}`), 'with');
      expectInvalid(await start({ evaluationIds: [evaluationIds[0]], notWorseThan: bert.id }), 'notWorseThan');
      const otherAgent = (await client.post('/agents', agentBody())).body.data.id;
      await client.post(`/agents/${otherAgent}/evaluations`, shortEvaluation({ personalityId }));
      const other = await executeRun(client, otherAgent);
      // Its evaluation has no key, so no case is the same.
      expectInvalid(await compare(client, anna.id, `?with=${other.id}`), 'with');
      expectInvalid(await start({ notWorseThan: other.id }), 'notWorseThan');
      expectInvalid(await start({ notWorseThan: randomUUID() }), 'notWorseThan');
      expect((await client.get(`/agents/${agentId}/runs`)).body.meta.total).toBe(2);
    });

    it('a run that has not ended with 409, on either side', async () => {
      const { client, agentId, workspaceId, userId, run, start } = await prepare('Anna');
      const { id } = await run();
      const manager = app.nest.get(Database).manager;
      const open = await insertRun(manager, { workspaceId, userId }, agentId, { status: 'QUEUED', endedAt: null });
      for (const response of [
        await compare(client, id, `?with=${open.id}`),
        await compare(client, open.id, `?with=${id}`),
        await compare(client, open.id),
      ]) {
        expectError(response, 409, 'CONFLICT', 'The run has not ended yet');
      }
      expect((await start({ notWorseThan: open.id })).status).toBe(409);
    });

    it.each(['', 'Previous', 'latest', '1', ' '])('the reference "%s" with 400', async (reference) => {
      const { client, start } = await prepare('Anna');
      const { id } = (await start({})).body.data;
      expectInvalid(await compare(client, id, `?with=${encodeURIComponent(reference)}`), 'with');
      expectInvalid(await start({ notWorseThan: reference }), 'notWorseThan');
      await client.get(`/runs/${id}?wait=60`);
    });
  });

  describe('notWorseThan', () => {
    const LOOSE = { repeat: 6, minimumPassRate: 0 };

    it('fails a run in which a case became worse, in its status, report, JUnit file and webhook alike', async () => {
      const { client, run, break: breakFor } = await prepare('Anna', 'Bert');
      await client.post('/workspace/webhooks', { url: 'https://example.com/hook', events: ['run.failed'] });
      const first = await run({ ...LOOSE, name: 'Before' });
      breakFor('Bert');
      const loose = await run(LOOSE);
      expect(loose).toMatchObject({ status: 'COMPLETED', notWorseThan: null, baselineRunId: null, warnings: [] });
      await client.delete(`/runs/${loose.id}`);
      const second = await run({ ...LOOSE, notWorseThan: 'previous' });
      const reason =
        '"Bert" became worse than in run "Before": 0 of 6 counted calls passed, instead of 6 of 6 (p = 0.003).';
      expect(second).toMatchObject({
        status: 'FAILED',
        exitCode: 1,
        notWorseThan: 'previous',
        baselineRunId: first.id,
        warnings: [],
      });
      expect(second.reasons[0]).toBe(reason);
      const report: string = (await client.get(`/runs/${second.id}/report`)).body;
      expect(report).toContain('no case worse than in the previous run');
      expect(report).toContain('Compared with <bdi>Before</bdi>');
      expect((await client.get<string>(`/runs/${first.id}/report`)).body).not.toContain('Compared with');
      const junit: string = (await client.get(`/runs/${second.id}/junit`)).body;
      for (const text of [report, junit]) expect(text.replaceAll('&#34;', '"')).toContain(reason);
      const [event] = await sql<{ data: { reason: string } }>(
        app.databaseUrl,
        `SELECT body::jsonb -> 'data' AS data FROM webhook_events WHERE body::jsonb -> 'data' -> 'run' ->> 'id' = $1`,
        [second.id],
      );
      expect(event!.data.reason).toContain(reason);
    });

    it('is met if nothing became worse, and does not loosen the strict gate', async () => {
      const { run, break: breakFor } = await prepare('Anna', 'Bert');
      breakFor('Bert');
      const first = await run(LOOSE);
      expect(await run({ ...LOOSE, notWorseThan: first.id })).toMatchObject({ status: 'COMPLETED', exitCode: 0 });
      const strict = await run({ repeat: 6, notWorseThan: first.id.toUpperCase() });
      expect(strict).toMatchObject({ status: 'FAILED', notWorseThan: first.id, baselineRunId: first.id });
      expect(strict.reasons).toEqual([expect.stringContaining('every one must pass')]);
    });

    it('is met with a warning if there is no previous run, which the plan shows as well', async () => {
      const { run, start } = await prepare('Anna');
      const warnings = ['There is no previous completed run to compare with.'];
      const plan = await start({ notWorseThan: 'previous', dryRun: true });
      expect(plan.body.data).toMatchObject({ notWorseThan: 'previous', baselineRunId: null, warnings });
      expect(await run({ notWorseThan: 'previous' })).toMatchObject({
        status: 'COMPLETED',
        notWorseThan: 'previous',
        baselineRunId: null,
        warnings,
      });
    });

    it('warns about cases with too few calls to become worse', async () => {
      const { run, start, break: breakFor } = await prepare('Anna');
      const first = await run({ repeat: 2 });
      const warnings = [
        '"Anna": too few counted calls in one of the runs to find a difference; each run needs 3 of a case.',
      ];
      const plan = (await start({ repeat: 3, notWorseThan: 'previous', dryRun: true })).body.data;
      expect(plan).toMatchObject({ baselineRunId: first.id, warnings });
      breakFor('Anna');
      const body = { repeat: 3, minimumPassRate: 0, notWorseThan: 'previous' };
      expect(await run(body)).toMatchObject({ status: 'COMPLETED', warnings });
    });

    it('keeps the counts of the baseline: its deletion before the end changes nothing', async () => {
      const { client, run, start, break: breakFor } = await prepare('Anna');
      const first = await run(LOOSE);
      breakFor('Anna');
      const started = (await start({ ...LOOSE, notWorseThan: first.id, concurrency: 1 })).body.data;
      expect((await client.delete(`/runs/${first.id}`)).status).toBe(200);
      const ended = (await client.get(`/runs/${started.id}?wait=60`)).body.data;
      expect(ended).toMatchObject({ status: 'FAILED', baselineRunId: first.id });
      expect(ended.reasons[0]).toContain('0 of 6 counted calls passed, instead of 6 of 6');
    });

    it('is kept by a rerun with its baseline, also by one of the failed cases', async () => {
      const { client, run, break: breakFor } = await prepare('Anna', 'Bert');
      const first = await run(LOOSE);
      breakFor('Bert');
      const second = await run({ ...LOOSE, notWorseThan: 'previous', agentVersion: 'v2' });
      // A completed run in between is not the baseline.
      await run(LOOSE);
      await client.delete(`/runs/${first.id}`);
      for (const query of ['', '?only=failed']) {
        const { id } = (await client.post(`/runs/${second.id}/rerun${query}`)).body.data;
        const rerun = (await client.get(`/runs/${id}?wait=60`)).body.data;
        expect(rerun).toMatchObject({
          status: 'FAILED',
          notWorseThan: 'previous',
          baselineRunId: first.id,
          agentVersion: null,
          totalCalls: query === '' ? 12 : 6,
        });
        expect(rerun.reasons[0]).toContain('"Bert" became worse');
      }
    });
  });

  it('compares rows of variables by their content, in whatever order they are', async () => {
    const { client, evaluationIds, run, start, break: breakFor } = await prepare('Anna');
    const path = `/evaluations/${evaluationIds[0]}`;
    const [rome, oslo, bonn] = ['Rome', 'Oslo', 'Bonn'].map((city) => ({ city }));
    const script = [{ say: 'Hello from {{city}}.' }, { end: 'Greeted' }];
    expect((await client.patch(path, { script, variables: [rome, oslo] })).status).toBe(200);
    await run({ repeat: 5, name: 'Before' });
    expect((await client.patch(path, { variables: [bonn, oslo, rome] })).status).toBe(200);
    breakFor('Oslo');
    const body = { repeat: 5, minimumPassRate: 0, notWorseThan: 'previous' };
    const missing = '1 of the cases is not in the other run.';
    expect((await start({ ...body, dryRun: true })).body.data.warnings).toContain(missing);
    const second = await run(body);
    expect(second).toMatchObject({ status: 'FAILED', warnings: [missing] });
    expect(second.reasons[0]).toMatch(
      /^"Anna \(city: Oslo\)" became worse than in run "Before": 0 of 5 .* instead of 5 of 5 /,
    );
    const { cases, onlyInCurrent } = (await compare(client, second.id)).body.data;
    expect(cases.map(({ name, change }: { name: string; change: string }) => [name, change])).toEqual([
      ['Anna (city: Oslo)', 'worse'],
      ['Anna (city: Rome)', 'same'],
    ]);
    expect(onlyInCurrent).toBe(1);
    const rerun = (await client.post(`/runs/${second.id}/rerun?only=failed`)).body.data;
    expect(rerun.totalCalls).toBe(5);
    expect((await client.get(`/runs/${rerun.id}?wait=60`)).body.data.reasons[0]).toContain(
      '(city: Oslo)" became worse',
    );
  });

  it('compares two runs of 10,000 calls each', async () => {
    const { client, agentId, evaluationIds, run } = await prepare('Anna');
    const ids = [await run(), await run()].map(({ id }) => id as string);
    await sql(
      app.databaseUrl,
      `INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, outcome,
                          score, attempts, lease_expirations, latencies, due_at, changed_in)
       SELECT gen_random_uuid(), c.workspace_id, c.agent_id, c.run_id, c.evaluation_id, c.case_key || '#' || n / 50, n,
              n % 50 + 1, 'ENDED', CASE WHEN random() < 0.5 THEN 'passed' ELSE 'failed' END, 50, '[]', 0,
              ARRAY(SELECT random() * 1000 FROM generate_series(1, 10) WHERE n > 0), now(), 0
         FROM calls c, generate_series(1, 9999) n WHERE c.run_id = ANY ($1)`,
      [ids],
    );
    expect(evaluationIds).toHaveLength(1);
    const { status, body } = await compare(client, ids[1]!, `?with=${ids[0]}`);
    expect(status).toBe(200);
    expect(body.data.cases.length).toBe(200);
    expect(body.data.current.latency.count).toBeGreaterThan(99_990);
    expect((await client.get(`/agents/${agentId}/runs`)).body.meta.total).toBe(2);
  });
});
