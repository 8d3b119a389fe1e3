import {
  type EvaluationKey,
  expectationOf,
  type FaultName,
  type ReferenceAgentServer,
  startReferenceAgent,
} from '../simulators/agent/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { CallExecutor } from '../../src/modules/execution/call-executor.js';
import { delta } from '../simulators/servers.js';
import { callEnv, executeRun, prepareAgent, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import {
  type AgentRequest,
  type ScriptedAgent,
  startScriptedAgent,
} from '../simulators/agent/testing/scripted-agent.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const MEBIBYTE = 1024 * 1024;

/** Behaviours of the scripted agent by assistant id. */
const BEHAVIOURS: Readonly<Record<string, (request: AgentRequest) => string | void>> = {
  greets: () => 'Welcome!',
  mute: () => 'Good day.',
  'greets-or-refuses': ({ said, response }) =>
    said.includes('Refuse') ? void response.writeHead(403).end() : 'Welcome!',
  'every-other': (() => {
    let count = 0;
    return () => (count++ % 2 === 0 ? 'Welcome!' : 'Good day.');
  })(),
  redirects: ({ response }) => void response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
  refuses: ({ response }) => void response.writeHead(403).end(),
  floods: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"text":"');
    const chunk = Buffer.alloc(MEBIBYTE, 'x');
    let left = 100;
    const write = () => {
      while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', write);
      response.end();
    };
    write();
  },
  'talks-forever': ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = () => {
      if (response.destroyed) return;
      response.write(delta({ content: 'and so on '.repeat(1_000) }));
      setImmediate(write);
    };
    write();
  },
  recovers: (() => {
    let count = 0;
    return ({ response }: AgentRequest) => (count++ === 0 ? void response.writeHead(503).end() : 'Welcome!');
  })(),
  'drips-forever': ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(': \n\n'), 50);
    response.once('close', () => clearInterval(timer));
  },
};

describe('outcomes of runs', () => {
  let app: TestApp;
  let script: ScriptedAgent;

  beforeAll(async () => {
    script = await startScriptedAgent((request) => BEHAVIOURS[request.model]?.(request));
    app = await createTestApp({
      env: {
        ...callEnv(script.url),
        AGENT_PROVIDER_2_URL: 'http://127.0.0.1:9/v1/chat/completions',
        AGENT_PROVIDER_3_URL: 'http://inside.example/v1/chat/completions',
      },
    });
    app.nest.get(OutboundClient).resolve = async () => ['10.0.0.1'];
  });
  afterAll(async () => {
    await app.close();
    await script.close();
  });

  const scripted = (assistantId: string, evaluations?: object[]) =>
    prepareEvaluations(app, evaluations, { assistantId });

  describe('the gate', () => {
    it('is met at the minimum score and not below it', async () => {
      const checks = [
        { name: 'Greets', type: 'says', text: 'welcome', weight: 3 },
        { name: 'Sings', type: 'says', text: 'la la', required: false, weight: 1 },
      ];
      const { client, agentId } = await scripted('greets', [shortEvaluation({ checks })]);
      const met = await executeRun(client, agentId, { minimumScore: 75 });
      expect(met).toMatchObject({ status: 'COMPLETED', score: 75, reasons: [], counts: { passed: 1 } });
      const missed = await executeRun(client, agentId, { minimumScore: 75.1 });
      expect(missed).toMatchObject({
        status: 'FAILED',
        score: 75,
        reasons: ['The score of 75 is below the minimum of 75.1.'],
      });
    });

    it('requires every call to pass by default', async () => {
      const { client, agentId } = await scripted('every-other');
      const run = await executeRun(client, agentId, { repeat: 4, concurrency: 1 });
      expect(run).toMatchObject({
        status: 'FAILED',
        exitCode: 1,
        score: 50,
        counts: { passed: 2, failed: 2 },
        reasons: ['2 of 4 counted calls failed; without a minimum score or pass rate, every one must pass.'],
      });
    });

    it('allows failed calls down to the minimum pass rate', async () => {
      const { client, agentId } = await scripted('every-other');
      const met = await executeRun(client, agentId, { repeat: 4, concurrency: 1, minimumPassRate: 0.5 });
      expect(met).toMatchObject({ status: 'COMPLETED', exitCode: 0, minimumPassRate: 0.5, reasons: [] });
      const missed = await executeRun(client, agentId, { repeat: 4, concurrency: 1, minimumPassRate: 0.51 });
      expect(missed).toMatchObject({ status: 'FAILED', exitCode: 1 });
      expect(missed.reasons).toEqual(['The pass rate of 0.5 (2 of 4 counted calls) is below the minimum of 0.51.']);
    });

    it('is not met with exit code 2 if calls could not be tested, unless that many are allowed', async () => {
      const { client, agentId } = await scripted('greets-or-refuses', [
        shortEvaluation({ name: 'Is greeted' }),
        shortEvaluation({ name: 'Is refused', script: [{ say: 'Refuse me, please.' }] }),
      ]);
      const strict = await executeRun(client, agentId, { minimumScore: 90 });
      expect(strict).toMatchObject({ status: 'FAILED', exitCode: 2, score: 100, allowedUncounted: 0 });
      expect(strict.reasons).toEqual(['1 of 2 planned calls could not be tested (1 ended as error); allowed: 0.']);
      const loose = await executeRun(client, agentId, { minimumScore: 90, allowedUncounted: 1 });
      expect(loose).toMatchObject({ status: 'COMPLETED', exitCode: 0, allowedUncounted: 1, reasons: [] });
    });

    it('is kept by a rerun', async () => {
      const { client, agentId } = await scripted('greets');
      const gate = { minimumScore: 10, minimumPassRate: 0.2, allowedUncounted: 3 };
      const { id } = await executeRun(client, agentId, gate);
      const { body } = await client.post(`/runs/${id}/rerun`, {});
      expect(body.data).toMatchObject({ ...gate, exitCode: null });
      await client.get(`/runs/${body.data.id}?wait=60`);
    });

    it('is never met if a critical evaluation failed, whatever the score', async () => {
      const { client, agentId } = await scripted('mute', [
        shortEvaluation({ name: 'Says good day', checks: [{ name: 'Good day', type: 'says', text: 'good day' }] }),
        shortEvaluation({ critical: true }),
      ]);
      const run = await executeRun(client, agentId, { minimumScore: 0 });
      expect(run).toMatchObject({
        status: 'FAILED',
        score: 50,
        reasons: ['The critical evaluation "Is greeted" failed in 1 of 1 counted call.'],
        counts: { passed: 1, failed: 1 },
      });
    });

    it('considers every repetition', async () => {
      const { client, agentId } = await scripted('every-other', [shortEvaluation({ critical: true })]);
      const run = await executeRun(client, agentId, { repeat: 4, concurrency: 1 });
      expect(run).toMatchObject({ status: 'FAILED', score: 50, counts: { passed: 2, failed: 2 } });
    });
  });

  describe('infrastructure failures', () => {
    const FINAL: readonly [assistantId: string, provider: string, code: string][] = [
      ['redirects', 'AGENT_PROVIDER_1', 'redirect'],
      ['refuses', 'AGENT_PROVIDER_1', 'http_refused'],
      ['floods', 'AGENT_PROVIDER_1', 'answer_too_large'],
      ['talks-forever', 'AGENT_PROVIDER_1', 'answer_too_large'],
      ['anybody', 'AGENT_PROVIDER_3', 'address_refused'],
    ];

    it.each(FINAL)('%s (%s) ends as %s without retry and is not counted', async (assistantId, provider, code) => {
      const { client, agentId } = await prepareEvaluations(app, undefined, { provider, assistantId });
      const run = await executeRun(client, agentId, { minimumScore: 0 });
      expect(run).toMatchObject({
        status: 'FAILED',
        score: 0,
        exitCode: 2,
        reasons: ['No call could be counted: 1 ended as error.'],
        counts: { passed: 0, failed: 0, error: 1 },
      });
      const [call] = (await client.get(`/runs/${run.id}/calls`)).body.data;
      expect(call).toMatchObject({ status: 'ENDED', outcome: 'error', score: null });
      expect(call.attempts.map(({ failureCode }: any) => failureCode)).toEqual([code]);
      const { failure, checks, timeline } = (await client.get(`/calls/${call.id}`)).body.data;
      expect(failure).toMatchObject({ code });
      // Checks are evaluated only if the agent has said something.
      const wasHeard = timeline.some(({ speaker }: any) => speaker === 'agent');
      expect(checks).toHaveLength(wasHeard ? 1 : 0);
    });

    it('are retried up to three attempts, all of which are kept', async () => {
      const { client, agentId } = await prepareEvaluations(app, undefined, { provider: 'AGENT_PROVIDER_2' });
      const run = await executeRun(client, agentId);
      expect(run).toMatchObject({ status: 'FAILED', counts: { error: 1 } });
      const [{ attempts, reason }] = (await client.get(`/runs/${run.id}/calls`)).body.data;
      expect(attempts.map(({ outcome, failureCode }: any) => [outcome, failureCode])).toEqual(
        Array.from({ length: 3 }, () => ['error', 'connection_failed']),
      );
      const gaps = attempts
        .slice(1)
        .map(({ startedAt }: any, index: number) => Date.parse(startedAt) - Date.parse(attempts[index].endedAt));
      expect(gaps[0]).toBeGreaterThanOrEqual(1_000);
      expect(gaps[1]).toBeGreaterThanOrEqual(4_000);
      expect(reason).toMatch(/Could not connect to the agent: ECONNREFUSED/);
    });

    it('that are transient are not blamed on the agent: the next attempt counts', async () => {
      const { client, agentId } = await scripted('recovers');
      const run = await executeRun(client, agentId, { minimumScore: 100 });
      expect(run).toMatchObject({ status: 'COMPLETED', score: 100, counts: { passed: 1, error: 0 } });
      const [{ attempts }] = (await client.get(`/runs/${run.id}/calls`)).body.data;
      expect(attempts.map(({ outcome, failureCode }: any) => [outcome, failureCode])).toEqual([
        ['error', 'http_status'],
        ['passed', null],
      ]);
    });

    it('an endless response is bounded by the duration of the evaluation', async () => {
      const { client, agentId } = await scripted('drips-forever', [shortEvaluation({ maxDurationSeconds: 1 })]);
      const startedAt = performance.now();
      const run = await executeRun(client, agentId);
      expect(performance.now() - startedAt).toBeLessThan(20_000);
      const [call] = (await client.get(`/runs/${run.id}/calls`)).body.data;
      expect(call).toMatchObject({ status: 'ENDED', outcome: 'failed' });
      expect((await client.get(`/calls/${call.id}`)).body.data.end).toMatchObject({ code: 'max_duration' });
      expect(script.active.get('drips-forever')).toBe(0);
    });

    it('do not affect the score of the counted calls', async () => {
      const { client, agentId } = await scripted('greets');
      const run = await executeRun(client, agentId, { repeat: 2 });
      expect(run.score).toBe(100);
      await client.patch(`/agents/${agentId}`, { assistantId: 'refuses' });
      expect((await executeRun(client, agentId)).counts).toMatchObject({ error: 1, failed: 0 });
      const { body } = await client.get(`/agents/${agentId}/metrics`);
      expect(body.data).toMatchObject({ score: 100, calls: { passed: 2, failed: 0, error: 1 } });
    });
  });

  it('sends the key of the agent, and a changed key from the next call on', async () => {
    const { client, agentId } = await scripted('greets');
    const from = script.requests.length;
    await executeRun(client, agentId);
    expect(script.requests.slice(from).map(({ authorization }) => authorization)).toEqual(['Bearer provider-key-1']);
  });

  it('ends a call as error if the database rejects its result, after the usual attempts', async () => {
    const { client, agentId } = await scripted('greets');
    const executor = app.nest.get(CallExecutor);
    const original = executor.execute.bind(executor);
    const spy = jest
      .spyOn(executor, 'execute')
      .mockImplementation(async (...values) => ({ ...(await original(...values)), reason: 'No text: \u0000' }));
    try {
      const run = await executeRun(client, agentId);
      expect(run).toMatchObject({ status: 'FAILED', counts: { error: 1, pending: 0 } });
      const [call] = (await client.get(`/runs/${run.id}/calls`)).body.data;
      expect(call.reason).toBe('Internal error of the tester: its result cannot be stored.');
      expect(spy).toHaveBeenCalledTimes(3);
    } finally {
      spy.mockRestore();
    }
  });
});

describe('planted faults', () => {
  let agent: ReferenceAgentServer;
  let app: TestApp;
  beforeAll(async () => {
    agent = await startReferenceAgent({ port: 0 });
    app = await createTestApp({ env: callEnv(`${agent.url}/agents/{assistantId}/v1/chat/completions`) });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const FOUND: readonly [FaultName, EvaluationKey][] = [
    ['wrong-fact', 'house-facts'],
    ['wrong-tool-argument', 'books-a-table'],
    ['skips-confirmation', 'books-a-table'],
    ['never-ends', 'says-goodbye'],
    ['leaks-prompt', 'keeps-its-prompt'],
  ];

  it.each(FOUND)('%s is found by %s for the right reason', async (fault, key) => {
    const { client, agentId } = await prepareAgent(app, [key], { assistantId: `booking:${fault}` });
    const run = await executeRun(client, agentId, { minimumScore: 100 });
    expect(run).toMatchObject({ status: 'FAILED', counts: { passed: 0, failed: 1 } });
    const [{ id, reason }] = (await client.get(`/runs/${run.id}/calls`)).body.data;
    const { checks } = (await client.get(`/calls/${id}`)).body.data;
    const missed = checks.filter(({ met }: any) => !met).map(({ name }: any) => name);
    const expected = expectationOf(fault, key);
    expect(missed.sort()).toEqual('fails' in expected ? [...expected.fails].sort() : []);
    expect(missed.some((name: string) => reason.includes(name))).toBe(true);
    // The agent without a fault passes.
    await client.patch(`/agents/${agentId}`, { assistantId: 'booking' });
    expect(await executeRun(client, agentId, { minimumScore: 100 })).toMatchObject({ status: 'COMPLETED', score: 100 });
  });
});
