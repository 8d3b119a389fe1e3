import {
  type FaultyAgentName,
  type FaultyAgentServer,
  startFaultyAgent,
} from '../simulators/agent/testing/faulty-agents.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const KEY = 'sk-live-0123456789abcdef';
const TWO_TURNS = shortEvaluation({
  script: [{ say: 'Hello' }, { say: 'And now?' }, { end: 'Done' }],
  checks: [{ type: 'never_says', text: 'goodbye' }],
});

/** What the service stores and shows of agents that break off their calls. */
describe('agents that break off their calls', () => {
  let app: TestApp;
  let agent: FaultyAgentServer;
  let faults: FaultyAgentName[];
  beforeAll(async () => {
    agent = await startFaultyAgent(() => (faults.length > 1 ? faults.shift()! : faults[0]!));
    app = await createTestApp({ env: callEnv(`${agent.url}?code=topsecretvalue&call={callId}`) });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  async function run(...names: FaultyAgentName[]) {
    faults = names;
    const { client, agentId } = await prepareEvaluations(app, [TWO_TURNS], { apiKey: KEY });
    const from = agent.requests.length;
    const ended = await executeRun(client, agentId);
    const [{ id }] = (await client.get(`/runs/${ended.id}/calls`)).body.data;
    const call = (await client.get(`/calls/${id}`)).body.data;
    const texts = await Promise.all(
      ['calls', 'report', 'junit'].map(async (form) => (await client.get(`/runs/${ended.id}/${form}`)).body),
    );
    return { run: ended, call, texts, requests: agent.requests.slice(from) };
  }

  it('have failed if every attempt breaks off after an answered turn, in whichever way', async () => {
    const { run: ended, call } = await run('malformed-stream', 'gateway-page', 'error-object');
    expect(ended).toMatchObject({ status: 'FAILED', counts: { failed: 1, error: 0 } });
    expect(call).toMatchObject({ outcome: 'failed', failure: { code: 'agent_error', fault: 'agent' } });
    expect(call.attempts).toMatchObject([
      { outcome: 'error', failureCode: 'invalid_answer', answeredTurns: 1 },
      { outcome: 'error', failureCode: 'http_status', answeredTurns: 1 },
      { outcome: 'failed', failureCode: 'agent_error', answeredTurns: 1 },
    ]);
    expect(call.reason).toMatch(
      /First attempt: .*not JSON.*second attempt: .*502 Bad Gateway.*third attempt: .*overloaded/,
    );
  });

  it('receive a new id with every attempt, which the attempt keeps', async () => {
    const { call, requests } = await run('status-400');
    const ids = call.attempts.map(({ callId }: any) => callId);
    expect(new Set(ids).size).toBe(3);
    // Two requests per attempt: the good answer and the broken one.
    const received = requests.map(({ headers, url }) => [headers['x-call-id'], /call=([\da-f-]+)/.exec(url)?.[1]]);
    expect(received).toEqual(
      ids.flatMap((id: string) => [
        [id, id],
        [id, id],
      ]),
    );
    expect(call.exchange).toMatchObject({
      protocol: 'chat-completions',
      url: 'AGENT_PROVIDER_1_URL',
      callId: ids[2],
      requests: [
        { status: 200, finishReason: 'stop' },
        { status: 400, finishReason: null },
      ],
    });
  });

  it('cannot have the service store or show the credentials that they repeat', async () => {
    const { call, texts } = await run('status-500');
    expect(call.reason).toContain('HTTP 500 (AGENT_PROVIDER_1_URL); it said "{"trace":"KeyError: name"');
    expect(call.reason).toContain('Bearer [redacted]');
    for (const text of texts) expect(JSON.stringify(text)).toContain('KeyError');
    const encoded = Buffer.from(`user:${KEY}`).toString('base64').slice(8, 28);
    const stored = await sql(
      app.databaseUrl,
      `SELECT c::text || coalesce(r.result::text, '') || coalesce(a.result::text, '') AS all
         FROM calls c LEFT JOIN call_results r ON r.call_id = c.id LEFT JOIN call_attempts a ON a.call_id = c.id
        WHERE c.id = '${call.id}'`,
    );
    expect(stored).toHaveLength(2);
    for (const secret of ['0123456789', encoded, 'topsecret']) {
      expect(JSON.stringify([call, texts, stored])).not.toContain(secret);
    }
  });

  it('are retried when they asked for it', async () => {
    const startedAt = performance.now();
    const { call } = await run('status-429');
    expect(call).toMatchObject({ outcome: 'error', failure: { code: 'rate_limited', retryAfterMs: 7_000 } });
    expect(performance.now() - startedAt).toBeGreaterThan(14_000);
  });
});
