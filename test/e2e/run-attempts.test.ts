import { expectForbidden } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

/** An agent that answers the second turn with HTTP 500 in the first call of each caller, and in order afterwards. */
function failsFirst() {
  const broken = new Set<string>();
  return (caller: string): boolean => {
    if (broken.has(caller)) return false;
    broken.add(caller);
    return true;
  };
}

describe('attempts at calls', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let prepared: Awaited<ReturnType<typeof prepareEvaluations>>;
  let run: any;
  /** The ids that the agent received, in order. */
  const callIds: unknown[] = [];

  beforeAll(async () => {
    const isFirst = failsFirst();
    agent = await startScriptedAgent(({ said, response }) => {
      if (said === 'Hello') callIds.push(response.req.headers['x-call-id']);
      if (said.startsWith('Book') && said !== 'Book 1' && isFirst(said)) return void response.writeHead(500).end();
      return said === 'Hello' ? 'Good day.' : 'Welcome, it is booked.';
    });
    app = await createTestApp({ env: callEnv(agent.url) });
    const booking = (name: string) =>
      shortEvaluation({ name, script: [{ say: 'Hello' }, { say: name }, { end: 'Booked' }] });
    prepared = await prepareEvaluations(app, [booking('Book 1'), booking('Book 2'), booking('Book 3')]);
    run = await executeRun(prepared.client, prepared.agentId, { concurrency: 1 });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const calls = async (): Promise<any[]> => (await prepared.client.get(`/runs/${run.id}/calls`)).body.data;
  const details = async (id: string): Promise<any> => (await prepared.client.get(`/calls/${id}`)).body.data;

  it('are counted when a call needed a second one, although all calls passed', async () => {
    expect(run).toMatchObject({ counts: { passed: 3, error: 0 }, retriedCalls: 2 });
    expect((await calls()).map(({ retries }) => retries)).toEqual([0, 1, 1]);
    const { body } = await prepared.client.get(`/agents/${prepared.agentId}/metrics`);
    expect(body.data).toMatchObject({ calls: { passed: 3 }, retriedCalls: 2 });
    // The shapes of the contract stay as they are.
    const [listed] = (await prepared.client.get(`/agents/${prepared.agentId}/runs`)).body.data;
    expect(listed).not.toHaveProperty('retriedCalls');
    const metrics = await prepared.client.get(`/runs/${run.id}/metrics`);
    expect(Object.keys(metrics.body.data).sort()).toEqual(['score', 'status', 'totalCalls']);
  });

  it('are shown in the report and the JUnit file', async () => {
    const report = await prepared.client.get<string>(`/runs/${run.id}/report`);
    expect(report.body).toContain('2 of 3 calls needed a second attempt');
    expect(report.body.match(/<details class="attempt">/g)).toHaveLength(2);
    const junit = await prepared.client.get<string>(`/runs/${run.id}/junit`);
    expect(junit.body).toContain('<property name="retriedCalls" value="2"/>');
    expect(junit.body.match(/Attempt 1 of 2: error: The agent responded with a server error: HTTP 500/g)).toHaveLength(
      2,
    );
  });

  it('keep their own transcripts and failures', async () => {
    const [, second] = await calls();
    const { attempts, timeline, failure } = await details(second.id);
    expect(attempts.map(({ outcome, failureCode }: any) => [outcome, failureCode])).toEqual([
      ['error', 'agent_status'],
      ['passed', null],
    ]);
    const [first, last] = attempts;
    const said = (entries: any[]) => entries.flatMap(({ type, text }) => (type === 'speech' ? [text] : []));
    expect(said(first.timeline)).toEqual(['Hello', 'Good day.', 'Book 2']);
    expect(first).toMatchObject({ failure: { code: 'agent_status' }, end: { code: 'failure' }, isShortened: false });
    expect(first.reason).toContain('HTTP 500');
    expect(said(last.timeline)).toEqual(['Hello', 'Good day.', 'Book 2', 'Welcome, it is booked.']);
    expect(last).toMatchObject({ timeline, failure: null, checks: [{ met: true }] });
    expect(failure).toBeNull();
  });

  it('name the id that the agent received with each, and what was exchanged', async () => {
    const all = await Promise.all((await calls()).map(({ id }) => details(id)));
    const attempts = all.flatMap((call) => call.attempts);
    expect(attempts.map(({ callId }) => callId).sort()).toEqual([...callIds].sort());
    expect(new Set(callIds).size).toBe(5);
    const [
      ,
      {
        exchange,
        reliability,
        attempts: [first],
      },
    ] = all;
    expect(exchange.requests.map(({ turn, status }: any) => [turn, status])).toEqual([
      [1, 200],
      [2, 200],
    ]);
    expect(first.exchange).toMatchObject({ callId: first.callId, url: 'AGENT_PROVIDER_1_URL' });
    expect(first.exchange.requests.map(({ status }: any) => status)).toEqual([200, 500]);
    expect(exchange.requests[0].tokenTimesMs.length).toBeGreaterThan(0);
    expect(reliability).toMatchObject({ stalls: expect.any(Array), worstStallMs: expect.any(Number) });
  });

  it('cannot be read from another workspace', async () => {
    const [, second] = await calls();
    const { apiKey } = await app.createWorkspace();
    const other = new HttpClient(app.url, apiKey);
    for (const path of [`/calls/${second.id}`, `/runs/${run.id}/calls`, `/runs/${run.id}/report`, `/runs/${run.id}`]) {
      const response = await other.get(path);
      expectForbidden(response);
      expect(JSON.stringify(response.body)).not.toContain('Good day');
    }
  });
});
