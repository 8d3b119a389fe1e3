import { mediaThreads } from '../../libs/simulation/index.js';
import { crash, useFaultyThreads } from '../../libs/simulation/testing/faulty-threads.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { LogLines } from '../support/log-lines.js';
import { callEnv, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { startVoiceAgent, type VoiceAgentServer } from '../support/voice-agent.js';

type MediaThread = (typeof mediaThreads.threads)[number];

const SPOKEN = shortEvaluation({
  script: [{ waitSeconds: 1 }, { end: 'Heard the greeting' }],
  checks: [{ name: 'Leaves it to the caller to hang up', type: 'ends_by', by: 'caller' }],
});

const carried = () => mediaThreads.threads.reduce((sum, { size }) => sum + size, 0);
const crashAll = () => mediaThreads.threads.forEach(crash);

describe('a thread of voice calls that dies', () => {
  useFaultyThreads();
  const log = new LogLines();
  let agent: VoiceAgentServer;
  let app: TestApp;

  beforeAll(async () => {
    agent = await startVoiceAgent({ lines: [] });
    app = await createTestApp({ env: callEnv(`${agent.url}/v1/chat/completions`), log });
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await agent?.close();
  });

  /** 50 is the level error. */
  const deathLines = () => log.lines.filter(({ msg }) => /^The thread of the calls .* ended/.test(msg as string));
  const deaths = async () =>
    Number(/^voice_calls_thread_deaths_total (\d+)$/m.exec(await app.nest.get(Metrics).registry.metrics())?.[1]);

  it('is logged and counted once; its calls are repeated, at last in threads of their own, without a retry', async () => {
    const { client, agentId } = await prepareEvaluations(app, [SPOKEN]);
    const connection = { protocol: 'twilio-media-streams', url: `${agent.url}/voice` };
    expect((await client.put(`/agents/${agentId}/connection`, connection)).status).toBe(200);
    const runId = (await client.post(`/agents/${agentId}/runs`, { repeat: 2, concurrency: 2 })).body.data.id as string;
    const calls = async (): Promise<any[]> => (await client.get(`/runs/${runId}/calls`)).body.data;
    const ids = (await calls()).map(({ id }) => id as string);
    /** How many calls have lost at least this many threads. */
    const spoilt = async (times: number) => (await calls()).filter(({ attempts }) => attempts.length >= times).length;

    await until('both calls are in the thread', () => carried() === 2, 60_000);
    crashAll();
    await until('the line is logged', () => deathLines().length > 0);
    expect(deathLines()).toHaveLength(1);
    expect(deathLines()[0]).toMatchObject({ level: 50 });
    for (const id of ids) expect(deathLines()[0]!['msg']).toContain(id);
    expect(await deaths()).toBe(1);

    // The pauses differ at random, so the calls may be in the thread one after the other.
    await until(
      'both calls have lost two threads',
      async () => {
        if (carried() > 0 && (await spoilt(1)) === 2) crashAll();
        return (await spoilt(2)) === 2;
      },
      60_000,
    );

    let shared = 0;
    await until(
      'both calls have ended',
      async () => {
        shared = Math.max(shared, carried());
        return (await calls()).every(({ status }) => status === 'ENDED');
      },
      90_000,
    );
    expect(shared).toBe(0);
    for (const call of await calls()) {
      expect(call).toMatchObject({ outcome: 'passed', retries: 0 });
      expect(call.attempts.map(({ failureCode }: any) => failureCode)).toEqual(['thread_ended', 'thread_ended', null]);
    }
    expect((await client.get(`/runs/${runId}?wait=10`)).body.data).toMatchObject({
      counts: { passed: 2 },
      retriedCalls: 0,
    });
  }, 240_000);

  it('ends a call as an error of the service whose third thread died, too', async () => {
    const { client, agentId } = await prepareEvaluations(app, [SPOKEN]);
    const connection = { protocol: 'twilio-media-streams', url: `${agent.url}/voice` };
    expect((await client.put(`/agents/${agentId}/connection`, connection)).status).toBe(200);
    const [lines, counted] = [deathLines().length, await deaths()];
    /** Every thread, also the one of its own that the call gets, dies when it has the call. */
    const threads = Object.getPrototypeOf(mediaThreads.threads[0]) as MediaThread;
    const begin = threads.call;
    const dying = jest.spyOn(threads, 'call').mockImplementation(function (this: MediaThread, ...task) {
      const facts = begin.apply(this, task);
      crash(this);
      return facts;
    });
    try {
      const { id } = (await client.post(`/agents/${agentId}/runs`, {})).body.data;
      expect((await client.get(`/runs/${id}?wait=60`)).body.data).toMatchObject({
        status: 'FAILED',
        exitCode: 2,
        counts: { error: 1 },
        retriedCalls: 0,
      });
      const [listed] = (await client.get(`/runs/${id}/calls`)).body.data;
      const call = (await client.get(`/calls/${listed.id}`)).body.data;
      expect(call).toMatchObject({ outcome: 'error', score: null, retries: 0, failure: { code: 'internal' } });
      expect(call.reason).toContain('the thread that carried the call ended in three attempts');
      const codes = call.attempts.map(({ failureCode }: any) => failureCode);
      expect(codes).toEqual(['thread_ended', 'thread_ended', 'internal']);
      expect(dying).toHaveBeenCalledTimes(3);
      expect(deathLines().length - lines).toBe(3);
      expect((await deaths()) - counted).toBe(3);
    } finally {
      dying.mockRestore();
    }
  }, 120_000);
});
