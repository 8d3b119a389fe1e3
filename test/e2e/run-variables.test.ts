import { caseKey } from '../../libs/evaluation-definition/index.js';
import { summarise } from '../../libs/client/index.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';

/** Repeats what the caller says, unless it asks for Paris. */
const behave = ({ said }: { said: string }) => (said.includes('Paris') ? 'Sorry?' : `You said: ${said}`);

const ROWS = [
  { city: 'Rome', people: 4, price: '€4.50 (net)' },
  { city: 'Paris', people: 2, price: '€1.00 (net)' },
  { city: 'Oslo', people: 3, price: '{{city}}' },
];
const EVALUATION = {
  name: 'Books in a city',
  scenarioText: 'You want a table for {{people}} in {{city}}.',
  script: [{ say: 'A table for {{people}} in {{city}} for {{price}}, please.' }, { end: 'Asked for {{city}}' }],
  checks: [
    { type: 'says', name: 'Repeats {{city}}', text: 'for {{people}} in {{city}}' },
    { type: 'says', name: 'Repeats the price', pattern: 'for {{price}}', required: false },
    { type: 'max_turns', turns: '{{people}}' },
  ],
  variables: ROWS,
};

describe('runs of evaluations with variables', () => {
  let agent: ScriptedAgent;
  let app: TestApp;

  beforeAll(async () => {
    agent = await startScriptedAgent(behave);
    app = await createTestApp({ env: callEnv(agent.url) });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const plain = {
    name: 'Plain',
    scenarioText: 'You say {{hello}}.',
    script: [{ say: 'I say {{hello}}.' }],
    checks: [],
  };
  const callsOf = async (client: { get: (path: string) => Promise<any> }, runId: string): Promise<any[]> =>
    (await client.get(`/runs/${runId}/calls?limit=100`)).body.data;

  it('makes a case of each row, in the order of the rows, and shows the row of every call', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [EVALUATION, plain]);
    const [id = '', plainId = ''] = evaluationIds;
    const run = await executeRun(client, agentId, { repeat: 2 });
    expect(run).toMatchObject({ totalCalls: 8, repeat: 2, counts: { passed: 6, failed: 2 } });
    const calls = await callsOf(client, run.id);
    const expected = [...ROWS.map((row) => [caseKey(id, row), row]), [plainId, null]];
    expect(calls.map((call) => [call.caseKey, call.variables, call.repetition])).toEqual(
      expected.flatMap(([key, row]) => [
        [key, row, 1],
        [key, row, 2],
      ]),
    );
    const { data } = (await client.get(`/calls/${calls[0].id}`)).body;
    expect(data).toMatchObject({
      variables: ROWS[0],
      caseKey: caseKey(id, ROWS[0]!),
      evaluation: { scenarioText: EVALUATION.scenarioText },
      timeline: [{ text: 'A table for 4 in Rome for €4.50 (net), please.' }, {}, { reason: 'Asked for Rome' }],
      checks: [{ name: 'Repeats Rome', met: true }, { met: true }, { met: true }],
    });
    // A value is not searched for variables, and nothing is replaced without variables.
    const said = async (index: number) => (await client.get(`/calls/${calls[index].id}`)).body.data.timeline[0].text;
    expect(await said(4)).toBe('A table for 3 in Oslo for {{city}}, please.');
    expect(await said(6)).toBe('I say {{hello}}.');
  });

  it('repeats only the cases that did not pass', async () => {
    const { client, agentId } = await prepareEvaluations(app, [EVALUATION, plain]);
    const run = await executeRun(client, agentId, { repeat: 2 });
    const rerun = await client.post(`/runs/${run.id}/rerun?only=failed`, undefined);
    expect(rerun).toMatchObject({ status: 201, body: { data: { totalCalls: 2 } } });
    const calls = await callsOf(client, rerun.body.data.id);
    expect(calls.map(({ variables }) => variables)).toEqual([ROWS[1], ROWS[1]]);
    const whole = await client.post(`/runs/${run.id}/rerun`, undefined);
    expect(whole.body.data.totalCalls).toBe(8);
    expect((await callsOf(client, whole.body.data.id)).map(({ variables }) => variables)).toEqual(
      [...ROWS, null].flatMap((row) => [row, row]),
    );
  });

  it('lists the cases in the plan, and counts rows × repeat against the limit of calls', async () => {
    const variables = Array.from({ length: 200 }, (_, people) => ({ people }));
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
      { ...plain, scenarioText: 'You are {{people}}.', script: [{ say: '{{people}} people.' }], variables },
      EVALUATION,
    ]);
    const plan = await client.post(`/agents/${agentId}/runs`, { dryRun: true, repeat: 2 });
    expect(plan.body.data).toMatchObject({ totalCalls: 406, evaluations: [{ calls: 400 }, { calls: 6 }] });
    expect(plan.body.data.evaluations[1].cases).toEqual(
      ROWS.map((row) => ({ key: caseKey(evaluationIds[1] ?? '', row), variables: row })),
    );
    const tooMany = await client.post(`/agents/${agentId}/runs`, { dryRun: true, repeat: 50 });
    expect([tooMany.status, tooMany.body.issues]).toEqual([
      400,
      [{ message: 'repeat must be lower: a run can have at most 10000 calls, not 10150', field: 'repeat' }],
    ]);
  });

  it('is about cases in statistics, gate, report and JUnit', async () => {
    const { client, agentId } = await prepareEvaluations(app, [{ ...EVALUATION, key: 'city', critical: true }, plain]);
    const run = await executeRun(client, agentId, { repeat: 2, minimumPassRate: 0.5 });
    expect(run).toMatchObject({
      status: 'FAILED',
      reasons: [
        'The critical evaluation "Books in a city (city: Paris, people: 2, price: €1.00 (net))" failed in 2 of 2 counted calls.',
      ],
    });
    const { body: junit } = await client.get(`/runs/${run.id}/junit`);
    const names = [
      'Books in a city (city: Rome, people: 4, price: €4.50 (net))',
      'Books in a city (city: Paris, people: 2, price: €1.00 (net))',
      'Books in a city (city: Oslo, people: 3, price: {{city}})',
      'Plain',
    ];
    expect([...junit.matchAll(/<testcase classname="evaluations" name="([^"]+)"/g)].map(([, name]) => name)).toEqual(
      names.flatMap((name) => [`${name} #1`, `${name} #2`]),
    );
    // The comparison, and the command from what the API returns, use the same names.
    const { body: comparison } = await client.get(`/runs/${run.id}/comparison?with=${run.id}`);
    expect(comparison.data.cases.map(({ name }: any) => name)).toEqual(names);
    expect(summarise(run, await callsOf(client, run.id)).evaluations.map(({ name }) => name)).toEqual(names);
    const { body: page } = await client.get(`/runs/${run.id}/report`);
    const stability = [...page.matchAll(/Stable (pass|fail)<\/span>/g)].map(([, kind]) => kind);
    expect(stability.slice(0, 4)).toEqual(['pass', 'fail', 'pass', 'pass']);
    for (const name of names) expect(page).toContain(name);
    const { body: metrics } = await client.get(`/agents/${agentId}/metrics`);
    expect(metrics.data.evaluations).toMatchObject([
      { name: 'Books in a city', counted: 6, passed: 4, isFlaky: false },
      { name: 'Plain', counted: 2, passed: 2 },
    ]);
  });
});
