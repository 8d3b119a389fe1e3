import { ProductionDays } from '../../src/modules/production-days/production-days.service.js';
import { agentBody } from '../factories/bodies.js';
import { importCall, type ImportFields } from '../support/imported-calls.js';
import { createKey } from '../support/keys.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';

const TRANSCRIPT = [
  { speaker: 'agent', text: 'Good evening.', startMs: 500, endMs: 1_500 },
  { speaker: 'caller', text: 'A table for two under Rossi, my number is 415-555-0142.', startMs: 2_400, endMs: 6_100 },
  { speaker: 'agent', text: 'Bye.', startMs: 7_150, endMs: 7_300 },
];
const ASKED = {
  key: 'real',
  name: 'Real callers',
  scenarioText: 'Real callers.',
  scope: 'production',
  checks: [
    { name: 'Confirms', type: 'says', text: 'booked', required: false },
    { name: 'Greets', type: 'says', text: 'Good evening' },
    { name: 'Books', type: 'calls_tool', tool: 'book_table', arguments: { name: 'Rossi' } },
  ],
};
const BOOKED = { name: 'book_table', arguments: { name: 'Rossi' }, result: { id: 7 }, startMs: 6_200 };

describe('a production call as a test', () => {
  let agent: ScriptedAgent;
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;
  /** What the agent says in tests. */
  let answer: string;

  beforeEach(() => {
    answer = 'Your table is booked.';
  });
  beforeAll(async () => {
    agent = await startScriptedAgent(({ said }) => (said.includes('Hello') ? 'Welcome!' : answer));
    app = await createTestApp({ env: { ...callEnv(agent.url), RECORDINGS: 'off' } });
    subject = await prepareEvaluations(app, [ASKED, shortEvaluation({ key: 'greets' })]);
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await agent?.close();
  });

  const imported = async (fields: ImportFields = {}) => {
    const { status, body } = await importCall({ url: app.url, apiKey: subject.apiKey }, subject.agentId, {
      ...{ recording: null, channels: null, evaluationId: subject.evaluationIds[0]!, origin: 'production' },
      ...{ transcript: TRANSCRIPT, toolCalls: [BOOKED], ...fields },
    });
    expect({ status, body }).toMatchObject({ status: 202 });
    await subject.client.get(`/runs/${body.data.runId}?wait=60`);
    return body.data.id as string;
  };
  const promote = (callId: string) => subject.client.post<any>(`/calls/${callId}/evaluation`);
  const evaluationOf = async (id: string) => (await subject.client.get<any>(`/evaluations/${id}`)).body.data;
  const run = (keys: string[], more: object = {}) =>
    executeRun(subject.client, subject.agentId, { evaluationKeys: keys, ...more });

  it('has the lines of the caller, the checks that were not met and the results of the tools', async () => {
    const callId = await imported();
    const { status, body } = await promote(callId);
    expect({ status, message: body.message }).toEqual({ status: 201, message: 'Evaluation created successfully' });
    expect(body.data).toMatchObject({
      ...{ key: `call-${callId}`, name: expect.stringMatching(/^Real callers, call of 2026-11-20 09:30$/) },
      script: [{ say: 'A table for two under {{name}}, my number is 555-0101.' }, { end: expect.any(String) }],
      checks: [{ name: 'Confirms', type: 'says', required: true }],
      variables: [{ name: 'Rossi' }],
      toolResults: [{ tool: 'book_table', result: { id: 7 } }],
      ...{ scope: 'tests', origin: { callId }, provisional: true, provenAt: null, notFailing: [] },
    });
    expect(body.data.checks).toHaveLength(1);
    expect(await promote(callId)).toMatchObject({
      ...{ status: 409, body: { issues: [{ field: 'key', message: expect.stringContaining('another evaluation') }] } },
    });
  });

  it('counts in nothing of a run until it has failed in one, and then in the next', async () => {
    const callId = await imported({ externalId: 'counts' });
    const { id, key } = (await promote(callId)).body.data;
    answer = 'Bye.';
    const first = await run(['greets', key], { notWorseThan: 'previous' });
    expect(first).toMatchObject({
      ...{ status: 'COMPLETED', exitCode: 0, reasons: [], score: 100, totalCalls: 2 },
      counts: { passed: 1, failed: 0, provisional: 1 },
    });
    const { body: calls } = await subject.client.get<any>(`/runs/${first.id}/calls`);
    expect(calls.data).toMatchObject([{ provisional: false }, { outcome: 'failed', provisional: true }]);
    const junit = (await subject.client.get<any>(`/runs/${first.id}/junit`)).body;
    expect(junit).toContain('<skipped message="Provisional, failed: Not met: Confirms');
    expect(junit).toMatch(/<testsuite name="evaluations" tests="2" failures="0" errors="0" skipped="1"/);
    const { body: page } = await subject.client.get<any>(`/runs/${first.id}/report`);
    expect(page).toContain('The evaluation was provisional: this is not counted.');
    expect(await subject.client.get(`/agents/${subject.agentId}/cases/${key}/history`)).toMatchObject({ status: 404 });
    const { body: list } = await subject.client.get<any>(`/agents/${subject.agentId}/runs`);
    expect(list.data[0]).toMatchObject({ passRate: 1, score: 100, outcomes: { passed: 1, provisional: 1 } });

    expect(await evaluationOf(id)).toMatchObject({ provisional: false, provenAt: expect.any(String) });
    const second = await run(['greets', key]);
    expect(second).toMatchObject({ exitCode: 1, counts: { passed: 1, failed: 1, provisional: 0 } });
    const { body: compared } = await subject.client.get<any>(`/runs/${second.id}/comparison?with=${first.id}`);
    expect(compared.data.cases.map((one: any) => one.baseline?.counted)).toEqual([1]);
    answer = 'Your table is booked.';
    expect(await run(['greets', key], { notWorseThan: 'previous' })).toMatchObject({ exitCode: 0 });
  });

  it('stays provisional while it passes, tests nothing alone, and counts when it is accepted', async () => {
    const { id, key } = (await promote(await imported({ externalId: 'accepted' }))).body.data;
    expect(await run([key])).toMatchObject({
      ...{ exitCode: 2, reasons: ['No call could be counted: 1 provisional.'], counts: { provisional: 1 } },
    });
    expect(await evaluationOf(id)).toMatchObject({ provisional: true });
    expect(await subject.client.patch(`/evaluations/${id}`, { provisional: true })).toMatchObject({ status: 400 });
    const { body } = await subject.client.patch<any>(`/evaluations/${id}`, { provisional: false, critical: true });
    expect(body.data).toMatchObject({ provisional: false, provenAt: expect.any(String), critical: true });
    expect(await run([key])).toMatchObject({ exitCode: 0, counts: { passed: 1, provisional: 0 } });
    const again = await subject.client.patch<any>(`/evaluations/${id}`, { provisional: false });
    expect(again.body.data.provenAt).toBe(body.data.provenAt);
  });

  it('is left out although it is critical, as the plan says, and in runs that judge the calls again', async () => {
    const { id, key } = (await promote(await imported({ externalId: 'critical' }))).body.data;
    await subject.client.patch(`/evaluations/${id}`, { critical: true });
    const path = `/agents/${subject.agentId}`;
    const plan = await subject.client.post<any>(`${path}/runs`, { evaluationKeys: ['greets', key], dryRun: true });
    expect(plan.body.data.evaluations).toMatchObject([
      { provisional: false },
      { key, critical: true, provisional: true },
    ]);
    const env = { VAT_URL: app.url, VAT_API_KEY: subject.apiKey };
    const printed = await vat(['run', '--agent', subject.agentId, '--evaluation', key, '--dry-run'], env);
    expect(printed.stdout).toMatch(/scripted +1 +provisional/);
    expect(printed.stdout).not.toContain('critical');
    answer = 'Bye.';
    const { id: runId, ...ended } = await run(['greets', key]);
    expect(ended).toMatchObject({ exitCode: 0, counts: { passed: 1, provisional: 1 } });
    expect(await subject.client.post(`/runs/${runId}/rerun`)).toMatchObject({ status: 201 });
  });

  it('stays provisional when its file is imported again, and counts where it is new', async () => {
    const { id, key } = (await promote(await imported({ externalId: 'moved' }))).body.data;
    const path = `/agents/${subject.agentId}/evaluations`;
    const { evaluations, ...file } = (await subject.client.get<any>(`${path}/export?format=json`)).body;
    const moved = { ...file, evaluations: evaluations.filter((one: any) => one.key === key) };
    expect(moved.evaluations[0]).not.toHaveProperty('provisional');
    moved.evaluations[0].name = 'Edited';
    const importInto = (target: string, query = '') => subject.client.post<any>(`${target}/import${query}`, moved);
    const planned = await importInto(path, '?dryRun=true');
    expect(planned.body.data.plan.evaluations).toMatchObject([{ key, provisional: true }]);
    expect((await importInto(path)).body.data).toMatchObject({ updated: 1 });
    expect(await evaluationOf(id)).toMatchObject({ name: 'Edited', provisional: true });
    const other = `/agents/${(await subject.client.post<any>('/agents', agentBody())).body.data.id}/evaluations`;
    expect((await importInto(other, '?dryRun=true')).body.data.plan.evaluations).toMatchObject([
      { provisional: false },
    ]);
    expect((await importInto(other)).body.data).toMatchObject({ created: 1 });
    expect((await subject.client.get<any>(other)).body.data).toMatchObject([{ key, provisional: false, origin: null }]);
    moved.evaluations[0].provisional = true;
    const refused = await importInto(other);
    expect(refused).toMatchObject({
      status: 400,
      body: { issues: [{ message: expect.stringContaining('provisional') }] },
    });
  });

  it('is deleted for good with its call', async () => {
    const { id } = (await promote(await imported({ externalId: 'erased' }))).body.data;
    const { id: other } = (await promote(await imported({ externalId: 'kept' }))).body.data;
    expect(await subject.client.delete(`/evaluations/${id}`)).toMatchObject({ status: 200 });
    const path = `/agents/${subject.agentId}/calls?externalId=erased`;
    expect(await subject.client.delete(path)).toMatchObject({ status: 200 });
    const left = await sql(app.databaseUrl, 'SELECT id FROM evaluations WHERE id = ANY ($1)', [[id, other]]);
    expect(left).toEqual([{ id: other }]);
  });

  it('is made of a fetched call, whose numbers are placeholders, and deleted with it', async () => {
    const { agentId, workspaceId, client } = subject;
    const said = TRANSCRIPT.map((line) => ({ ...line, speaker: line.speaker as 'agent' | 'caller' }));
    const taken = await app.nest.get(ProductionDays, { strict: false }).take(
      { id: agentId, workspaceId },
      {
        ...{ id: 'fetched', startedAt: Date.now() - 60_000, endedAt: Date.now() - 1_000, said, toolCalls: [] },
        ...{ endedReason: null, latencies: {}, recording: 'none', attemptId: null, callerNumber: null },
      },
    );
    expect(taken).toBe('judged');
    const { body: calls } = await client.get<any>(`/agents/${agentId}/calls?externalId=fetched`);
    expect(calls.data).toMatchObject([{ origin: 'production', outcome: 'failed' }]);
    const { body } = await promote(calls.data[0].id);
    expect(body.data).toMatchObject({
      script: [{ say: 'A table for two under Rossi, my number is 555-0101.' }, {}],
      ...{ checks: [{ name: 'Confirms' }, { name: 'Books' }], provisional: true, notFailing: [] },
    });
    expect(await client.delete(`/agents/${agentId}/calls?externalId=fetched`)).toMatchObject({ status: 200 });
    expect(await client.get(`/evaluations/${body.data.id}`)).toMatchObject({ status: 404 });
  });

  it('has the first 199 lines of a call with thousands of them, and of arguments', async () => {
    const long = Array.from({ length: 4_000 }, (_, n) => ({
      ...{
        speaker: n % 2 ? 'caller' : 'agent',
        text: `Line (${n}) [phone number 1]`,
        startMs: n * 10,
        endMs: n * 10 + 9,
      },
    }));
    const toolCalls = Array.from({ length: 200 }, (_, n) => ({
      ...{
        name: 'find',
        startMs: n * 10,
        arguments: Object.fromEntries(Object.keys([...Array(50)]).map((k) => [`a${k}`, `v-${n}`])),
      },
    }));
    const { status, body } = await promote(await imported({ transcript: long, toolCalls, externalId: 'long' }));
    expect(status).toBe(201);
    expect(body.data.script).toHaveLength(200);
    expect(body.data.script[0]).toEqual({ say: 'Line (1) 555-0101' });
  }, 60_000);

  it('is refused for a call that shows no fault, or whose agent or personality is deleted', async () => {
    const passed = [...TRANSCRIPT.slice(0, 2), { ...TRANSCRIPT[2]!, text: 'Your table is booked.' }];
    expect(await promote(await imported({ transcript: passed, externalId: 'passed' }))).toMatchObject({
      ...{ status: 409, body: { message: expect.stringMatching(/^Only a call on which a check/) } },
    });
    const viewer = subject.client.as((await createKey(app, subject, 'VIEWER')).value);
    const callId = await imported({ externalId: 'deleted' });
    expect(await viewer.post(`/calls/${callId}/evaluation`)).toMatchObject({ status: 403 });
    await subject.client.delete(`/personalities/${subject.personalityId}`);
    expect(await promote(callId)).toMatchObject({
      ...{ status: 409, body: { message: 'The personality of the evaluation of the call was deleted' } },
    });
    await subject.client.delete(`/agents/${subject.agentId}`);
    expect(await promote(callId)).toMatchObject({
      ...{ status: 409, body: { message: 'The agent of the call was deleted' } },
    });
    await subject.client.post(`/agents/${subject.agentId}/restore`);
  });
});

describe('vat promote', () => {
  it('prints the id of the evaluation, and that it is provisional', async () => {
    const app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), RECORDINGS: 'off' } });
    try {
      const { agentId, apiKey, evaluationIds, client } = await prepareEvaluations(app, [ASKED]);
      const { body } = await importCall({ url: app.url, apiKey }, agentId, {
        ...{ recording: null, channels: null, evaluationId: evaluationIds[0]!, transcript: TRANSCRIPT, toolCalls: [] },
      });
      await client.get(`/runs/${body.data.runId}?wait=60`);
      const env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
      const { code, stdout, stderr } = await vat(['promote', body.data.id], env);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/: 1 line, 2 requirements\.\nIt is provisional: /),
      });
      expect((await client.get<any>(`/evaluations/${stdout.trim()}`)).body.data.origin).toEqual({
        callId: body.data.id,
      });
      expect(await vat(['promote', body.data.id], env)).toMatchObject({ code: 3 });
    } finally {
      await app.close();
    }
  }, 60_000);
});
