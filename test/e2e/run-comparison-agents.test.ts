import { randomUUID } from 'node:crypto';
import { agentBody } from '../factories/bodies.js';
import { expectForbidden } from '../support/expect.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('comparison of runs of two agents', () => {
  let app: TestApp;
  let script: ScriptedAgent;

  beforeAll(async () => {
    script = await startScriptedAgent(() => 'Welcome!');
    app = await createTestApp({ env: callEnv(script.url) });
  });
  afterAll(async () => {
    await app.close();
    await script.close();
  });

  const prepare = () => prepareEvaluations(app, [shortEvaluation({ name: 'Anna' }), shortEvaluation({ name: 'Bert' })]);

  it('compares runs of two agents by the keys of their evaluations and the rows of variables', async () => {
    const [mine, other] = [await prepare(), await prepare()];
    const rows = [{ city: 'Rome' }, { city: 'Oslo' }];
    const script = [{ say: 'Hello from {{city}}.' }, { end: 'Greeted' }];
    const namesTheCity = { name: 'Names the city', type: 'says', text: '{{city}}', required: false };
    const set = (id: string, body: object) => mine.client.patch(`/evaluations/${id}`, body);
    // The other agent belongs to the same workspace, and has the evaluations in another order.
    const agentId = (await mine.client.post('/agents', agentBody({ assistantId: randomUUID(), name: 'Candidate' })))
      .body.data.id;
    const nameOf = async (id: string) => (await mine.client.get(`/agents/${id}`)).body.data.name;
    const create = (body: object) =>
      mine.client.post(
        `/agents/${agentId}/evaluations`,
        shortEvaluation({ personalityId: mine.personalityId, ...body }),
      );
    await set(mine.evaluationIds[0]!, { key: 'anna', script, variables: rows });
    await set(mine.evaluationIds[1]!, { key: 'bert' });
    for (const body of [
      { name: 'Cleo', key: 'cleo' },
      {
        name: 'Second Anna',
        key: 'anna',
        script,
        variables: rows,
        checks: [...shortEvaluation().checks, namesTheCity],
      },
    ])
      expect((await create(body)).status).toBe(201);
    const run = await executeRun(mine.client, mine.agentId, { repeat: 3 });
    const baseline = await executeRun(mine.client, agentId, { repeat: 3, name: 'Of another agent' });
    const { status, body } = await mine.client.get(`/runs/${run.id}/comparison?with=${baseline.id}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      change: 'same',
      overall: { change: 'same', callsNeeded: null },
      current: { id: run.id, agentId: mine.agentId, agentName: await nameOf(mine.agentId), counted: 6 },
      baseline: { id: baseline.id, agentId, agentName: 'Candidate', counted: 6 },
      onlyInCurrent: 1,
      onlyInBaseline: 1,
      cases: [
        {
          ...{ key: 'anna', row: rows[0], change: 'undecided', pValue: null, callsNeeded: 4 },
          current: { runId: run.id, agentId: mine.agentId, counted: 3, latency: { clock: 'text' } },
          baseline: {
            ...{ runId: baseline.id, agentId, counted: 3, latency: { clock: 'text' } },
            interval: { low: expect.closeTo(0.44, 2), high: 1 },
          },
        },
        { key: 'anna', row: rows[1], change: 'undecided', pValue: null, callsNeeded: 4, baseline: { counted: 3 } },
      ],
    });
    expect(body.data.baseline).toMatchObject({ runId: baseline.id, interval: { high: 1 }, latency: { clock: 'text' } });
    expect(body.data.warnings.join()).not.toContain('clocks');
    // Once, not for each row.
    const otherChecks = body.data.warnings.filter((warning: string) => warning.includes('Names the city'));
    expect(otherChecks).toEqual(['"Anna": "Names the city" is only in the other run.']);
    const report = await mine.client.get<string>(`/runs/${run.id}/report?with=${baseline.id}`);
    expect(report.body).toContain('Compared with <bdi>Of another agent</bdi>');
    expect(report.body).toContain('<bdi>Candidate</bdi>');
    expect(report.body).toContain('Too few calls');
    expect(report.body).toContain('&#34;Names the city&#34; is only in the other run.');
    expectForbidden(await other.client.get(`/runs/${run.id}/report?with=${baseline.id}`));
    expectForbidden(
      await mine.client.get(`/runs/${run.id}/report?with=${(await executeRun(other.client, other.agentId)).id}`),
    );
    // As if the other agent had been called by telephone.
    await sql(app.databaseUrl, `UPDATE calls SET protocol = 'twilio-media-streams' WHERE run_id = $1`, [baseline.id]);
    const { data } = (await mine.client.get(`/runs/${run.id}/comparison?with=${baseline.id}`)).body;
    expect([data.baseline, data.cases[0].baseline]).toMatchObject([
      { latency: { clock: 'heard' } },
      { latency: { clock: 'heard' } },
    ]);
    expect(data.warnings).toContain('The latencies are measured on different clocks: text and heard.');
  });
});
