import { randomUUID } from 'node:crypto';
import { Dispatcher } from '../../src/modules/execution/dispatcher.js';
import { sendCompletion, TestServers } from '../simulators/servers.js';
import { expectError, expectForbidden, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { vat } from '../support/vat.js';

const evaluation = (criteria: readonly string[], values: object = {}) =>
  shortEvaluation({ criteria: criteria.map((text) => ({ text })), ...values });
/** A line at which the agent breaks off. */
const BREAK = 'Please break off.';
/** Fields of a call that is another row. */
const OF_ITS_OWN = ['id', 'runId', 'startedAt', 'endedAt', 'createdAt', 'updatedAt', 'attempts', 'retries'];

describe('a run that is judged again', () => {
  const servers = new TestServers();
  let app: TestApp;
  let agent: ScriptedAgent;
  let isRefusing = false;
  /** Settled when the judge may answer. */
  let held = Promise.resolve();
  let asked: string[] = [];

  beforeAll(async () => {
    // As judge, confirms statements with "polite" or "role"; as caller, says one sentence and hangs up.
    const model = await servers.http((response, { messages }) => {
      if (isRefusing) return void response.writeHead(401).end();
      const found = /^Statement: (.*)$/m.exec(messages[1]?.content ?? '')?.[1];
      if (found === undefined) {
        const isFirst = messages.every(({ role }: { role: string }) => role !== 'assistant');
        const said = isFirst
          ? { say: 'Good day, please greet me.', end: null }
          : { say: 'Goodbye.', end: 'I was greeted' };
        return void sendCompletion(response, JSON.stringify(said));
      }
      const statement = JSON.parse(found) as string;
      asked.push(statement);
      const quote = statement.includes('role') ? 'Good day, please greet me' : 'Welcome!';
      const decided = JSON.stringify({ reasoning: 'So it is.', quote, met: /polite|role/.test(statement) });
      void held.then(() => sendCompletion(response, decided));
    });
    agent = await startScriptedAgent(({ said, response }) => {
      if (said === BREAK) response.destroy();
      return said === BREAK ? undefined : 'Welcome!';
    });
    app = await createTestApp({ env: { ...callEnv(agent.url), LLM_BASE_URL: `${model}/v1`, LLM_MODEL: 'stub-2' } });
  });
  beforeEach(() => {
    asked = [];
    isRefusing = false;
    held = Promise.resolve();
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
    await servers.close();
  });

  const ended = async (client: HttpClient, id: string) => (await client.get(`/runs/${id}?wait=60`)).body.data;
  const rejudged = async (client: HttpClient, id: string) => {
    const response = await client.post(`/runs/${id}/rejudge`);
    expect(response).toMatchObject({ status: 201, body: { message: 'Run started successfully' } });
    return ended(client, response.body.data.id);
  };
  const callsOf = async (client: HttpClient, id: string): Promise<any[]> => {
    const listed: { id: string }[] = (await client.get(`/runs/${id}/calls`)).body.data;
    return Promise.all(listed.map(async (call) => (await client.get(`/calls/${call.id}`)).body.data));
  };
  const without = (call: any, fields: readonly string[]) =>
    Object.fromEntries(Object.entries(call).filter(([field]) => !fields.includes(field)));

  it('has the calls of the run, judged by the criteria of today, and the agent is not called', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
      evaluation(['The agent is rude.'], { name: 'Changed' }),
      evaluation(['The agent is polite.'], { name: 'Deleted' }),
    ]);
    const source = await executeRun(client, agentId, { name: 'Nightly', repeat: 2, agentVersion: 'a1b2c3d' });
    expect(source).toMatchObject({ status: 'FAILED', counts: { passed: 2, failed: 2 } });
    await client.patch(`/evaluations/${evaluationIds[0]!}`, { criteria: [{ text: 'The agent is polite, I think.' }] });
    await client.delete(`/evaluations/${evaluationIds[1]!}`);
    const called = agent.requests.length;
    asked = [];

    const run = await rejudged(client, source.id);
    expect(agent.requests).toHaveLength(called);
    expect(new Set(asked)).toEqual(new Set(['The agent is polite, I think.', 'The agent is polite.']));
    expect(run).toMatchObject({
      ...{ name: 'Rejudged: Nightly', derivedFrom: { runId: source.id, kind: 'rejudge' } },
      ...{ status: 'COMPLETED', exitCode: 0, totalCalls: 4, repeat: 2, agentVersion: 'a1b2c3d', warnings: [] },
      counts: { passed: 4, failed: 0 },
    });
    const [was, is] = [await callsOf(client, source.id), await callsOf(client, run.id)];
    const judged = ['criteria', 'evaluation', 'outcome', 'score', 'reason', 'measures', 'versions'];
    for (const [index, call] of is.entries()) {
      const changed = index < 2 ? [...OF_ITS_OWN, ...judged] : OF_ITS_OWN;
      expect(without(call, [...changed, 'measures'])).toEqual(without(was[index], [...changed, 'measures']));
      expect(call.measures.durationMs).toBe(was[index].measures.durationMs);
      expect(call.measures.tester.judge.requests).toBe(2);
    }
    expect(is[0]).toMatchObject({ outcome: 'passed', criteria: [{ verdict: 'met', reason: 'So it is' }] });
    const { body } = await client.get(`/runs/${run.id}/comparison`);
    expect(body.data).toMatchObject({ baseline: { id: source.id }, current: { counted: 4 } });
    const report = await client.get<string>(`/runs/${run.id}/report`);
    expect(report.body).toContain(`judged again from the transcripts of run <code>${source.id}</code>`);
    // The run itself stays, and later runs are compared with it, not with the new one.
    expect(await ended(client, source.id)).toMatchObject({ counts: { passed: 2, failed: 2 } });
    const metrics = (await client.get(`/agents/${agentId}/metrics`)).body.data;
    expect(metrics).toMatchObject({ runs: { total: 1 }, calls: { passed: 2, failed: 2 } });
  });

  it('gives a verdict to calls whose judge failed, and keeps those that broke off', async () => {
    const { client, agentId } = await prepareEvaluations(app, [
      evaluation(['The agent is polite.'], { name: 'Without a judge' }),
      evaluation(['The agent is polite.'], { name: 'Broken off', script: [{ say: BREAK }, { end: 'Over' }] }),
    ]);
    isRefusing = true;
    const source = await executeRun(client, agentId);
    expect(source.counts).toMatchObject({ passed: 0 });
    const [first, second] = await callsOf(client, source.id);
    expect(first).toMatchObject({ outcome: 'error', failure: { code: expect.stringMatching(/^llm_/) } });
    expect(second.end.code).toBe('failure');
    isRefusing = false;
    const [judged, broken] = await callsOf(client, (await rejudged(client, source.id)).id);
    expect(judged).toMatchObject({ outcome: 'passed', failure: null });
    expect(without(broken, OF_ITS_OWN)).toEqual(without(second, OF_ITS_OWN));
    expect(broken.attempts).toHaveLength(1);
  });

  it('decides again whether a caller without a script kept its role', async () => {
    const { client, agentId } = await prepareEvaluations(app, [shortEvaluation({ script: [] })]);
    const source = await executeRun(client, agentId);
    expect(source.counts).toMatchObject({ passed: 1 });
    asked = [];
    expect((await rejudged(client, source.id)).counts).toMatchObject({ passed: 1 });
    expect(asked).toEqual([expect.stringContaining('role'), expect.stringContaining('role')]);
  });

  it('ends a call as an error whose model fails, and can itself be judged again', async () => {
    const { client, agentId } = await prepareEvaluations(app, [evaluation(['The agent is polite.'])]);
    const source = await executeRun(client, agentId);
    isRefusing = true;
    const failed = await rejudged(client, source.id);
    expect(failed).toMatchObject({ exitCode: 2, counts: { error: 1 } });
    const [call] = await callsOf(client, failed.id);
    expect(call).toMatchObject({ outcome: 'error', failure: { code: expect.stringMatching(/^llm_/) } });
    expect(call.attempts).toHaveLength(1);
    isRefusing = false;
    const again = await rejudged(client, failed.id);
    expect(again).toMatchObject({ derivedFrom: { runId: failed.id }, counts: { passed: 1 } });
  });

  it('counts calls that are left out as not tested', async () => {
    const { client, agentId } = await prepareEvaluations(app, [
      evaluation(['The agent is polite.'], { name: 'Kept' }),
      evaluation(['The agent is polite.'], { name: 'Left out', critical: true }),
    ]);
    const source = await executeRun(client, agentId);
    expect(source).toMatchObject({ status: 'COMPLETED', exitCode: 0 });
    await sql(
      app.databaseUrl,
      `DELETE FROM call_results WHERE call_id IN
         (SELECT c.id FROM calls c JOIN run_evaluations e ON e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id
           WHERE c.run_id = $1 AND e.snapshot ->> 'name' = 'Left out')`,
      [source.id],
    );
    const warning =
      '1 call of the run left out, which the gate counts as not tested: no result that can be judged again.';
    const missing = [
      'The critical evaluation "Left out" has no counted calls.',
      '1 of 2 planned calls could not be tested (1 left out); allowed: 0.',
    ];
    const run = await rejudged(client, source.id);
    expect(run).toMatchObject({ status: 'FAILED', exitCode: 1, totalCalls: 1, counts: { passed: 1 } });
    expect(run).toMatchObject({ warnings: [warning], reasons: missing });
    // So does a run that is derived from it.
    expect(await rejudged(client, run.id)).toMatchObject({ exitCode: 1, warnings: [], reasons: missing });
  });

  it('is completed by a process that shuts down, also where the calls had a voice', async () => {
    const { client, agentId } = await prepareEvaluations(app, [evaluation(['The agent is polite.'])]);
    const source = await executeRun(client, agentId);
    // As if the call had been made over a telephone: calls in progress there end at once.
    await sql(
      app.databaseUrl,
      `UPDATE calls SET protocol = 'twilio-media-streams', medium = 'voice' WHERE run_id = $1`,
      [source.id],
    );
    let answer = () => {};
    held = new Promise((resolve) => (answer = resolve));
    asked = [];
    const { id } = (await client.post(`/runs/${source.id}/rejudge`)).body.data;
    await until('the judge is asked', () => asked.length > 0);
    const dispatcher = app.nest.get(Dispatcher);
    dispatcher.onModuleDestroy();
    answer();
    await dispatcher.beforeApplicationShutdown();
    dispatcher.onApplicationBootstrap();
    const [call] = await callsOf(client, id);
    expect(call).toMatchObject({ status: 'ENDED', outcome: 'passed', attempts: [{ failureCode: null }] });
  });

  it('keeps the criteria of the run if the names of the variables have changed', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
      evaluation(['The agent is polite on {{day}}.'], { name: 'Renamed', variables: [{ day: 'Monday' }] }),
    ]);
    const source = await executeRun(client, agentId);
    asked = [];
    const changed = { variables: [{ town: 'Rome' }], criteria: [{ text: 'The agent is polite in {{town}}.' }] };
    await client.patch(`/evaluations/${evaluationIds[0]!}`, changed);
    const run = await rejudged(client, source.id);
    expect(new Set(asked)).toEqual(new Set(['The agent is polite on Monday.']));
    expect(run.warnings).toEqual([
      'The criteria of "Renamed" are those of the run: the names of its variables have changed since.',
    ]);
  });

  it('is followed by `vat rejudge`, which exits as the gate decides', async () => {
    const { client, agentId, apiKey } = await prepareEvaluations(app, [evaluation(['The agent is rude.'])]);
    const source = await executeRun(client, agentId, { name: 'Nightly' });
    const env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
    const { code, stdout, stderr } = await vat(['rejudge', source.id], env);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('"Rejudged: Nightly"') });
    expect(stdout).toContain('The agent is rude');
  });

  it('is refused to others, before the end of a run, and without anything to judge', async () => {
    const subject = await prepareEvaluations(app);
    const { client, agentId } = subject;
    const source = await executeRun(client, agentId);
    const stranger = await app.createWorkspace();
    expectForbidden(await new HttpClient(app.url, stranger.apiKey).post(`/runs/${source.id}/rejudge`));
    const viewer = await createKey(app, subject, 'VIEWER');
    expectForbidden(await new HttpClient(app.url, viewer.value).post(`/runs/${source.id}/rejudge`));
    expectNotFound(await client.post(`/runs/${randomUUID()}/rejudge`));
    const before = (await client.get(`/agents/${agentId}/runs`)).body.meta.total;
    const nothing = 'The evaluations of the run have no criteria, and no caller without a script';
    expectError(await client.post(`/runs/${source.id}/rejudge`), 409, 'CONFLICT', nothing);
    expect((await client.get(`/agents/${agentId}/runs`)).body.meta.total).toBe(before);
    const cancelled = (await client.post(`/agents/${agentId}/runs`, { repeat: 50 })).body.data.id;
    expectError(await client.post(`/runs/${cancelled}/rejudge`), 409, 'CONFLICT', 'The run has not ended yet');
    await client.post(`/runs/${cancelled}/cancel`);
    await sql(app.databaseUrl, 'DELETE FROM call_results WHERE call_id IN (SELECT id FROM calls WHERE run_id = $1)', [
      cancelled,
    ]);
    const none = 'No call of the run has a result that can be judged again';
    expectError(await client.post(`/runs/${cancelled}/rejudge`), 409, 'CONFLICT', none);
  });

  it('is refused without a language model', async () => {
    const other = await createTestApp({ env: callEnv(agent.url) });
    try {
      const { client, agentId } = await prepareEvaluations(other);
      const source = await executeRun(client, agentId);
      const message = 'No language model is configured: set LLM_BASE_URL and LLM_MODEL';
      expectError(await client.post(`/runs/${source.id}/rejudge`), 409, 'CONFLICT', message);
    } finally {
      await other.close();
    }
  });
});
