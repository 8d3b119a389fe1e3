import { setTimeout as sleep } from 'node:timers/promises';
import { whileLocked } from '../support/conformance.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { startVoiceAgent, type VoiceAgentServer } from '../support/voice-agent.js';

/** Calls of about five seconds: the caller hears the greeting and hangs up. */
const SPOKEN = shortEvaluation({
  script: [{ waitSeconds: 1 }, { end: 'Heard the greeting' }],
  checks: [{ name: 'Leaves it to the caller to hang up', type: 'ends_by', by: 'caller' }],
});

describe('slots of voice calls', () => {
  let agent: VoiceAgentServer;
  let database: TestDatabase;
  let env: NodeJS.ProcessEnv;
  let app: TestApp;

  beforeAll(async () => {
    agent = await startVoiceAgent({ lines: [] });
    database = await createTestDatabase();
    env = {
      ...callEnv(`${agent.url}/v1/chat/completions`),
      WORKER_CONCURRENCY: '1',
      VOICE_CONCURRENCY: '1',
    };
    app = await createTestApp({ env, databaseUrl: database.url });
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await agent?.close();
    await database?.drop();
  });

  async function prepareSpoken(evaluation: object = SPOKEN, target = app) {
    const subject = await prepareEvaluations(target, [evaluation]);
    return { ...subject, connect: () => connect(subject) };
  }
  const connect = async ({ client, agentId }: Awaited<ReturnType<typeof prepareEvaluations>>) => {
    const body = { protocol: 'twilio-media-streams', url: `${agent.url}/voice` };
    expect((await client.put(`/agents/${agentId}/connection`, body)).status).toBe(200);
  };
  const start = async ({ client, agentId }: Awaited<ReturnType<typeof prepareSpoken>>, body: object = {}) => {
    const response = await client.post(`/agents/${agentId}/runs`, body);
    expect(response).toMatchObject({ status: 201 });
    return response.body.data.id as string;
  };
  const callsOf = async ({ client }: Awaited<ReturnType<typeof prepareSpoken>>, runId: string): Promise<any[]> =>
    (await client.get(`/runs/${runId}/calls`)).body.data;

  it('are not those of text calls, and are used one after the other', async () => {
    const spoken = [await prepareSpoken(), await prepareSpoken()];
    for (const subject of spoken) await subject.connect();
    const runs = await Promise.all(spoken.map((subject) => start(subject)));
    await until('a call has begun', async () => {
      const calls = await Promise.all(spoken.map((subject, n) => callsOf(subject, runs[n]!)));
      return calls.flat().some(({ status }) => status === 'RUNNING');
    });
    const text = await prepareEvaluations(app, [
      shortEvaluation({ checks: [{ name: 'Is short', type: 'max_turns', turns: 9 }] }),
    ]);
    const run = await executeRun(text.client, text.agentId);
    expect(run.status).toBe('COMPLETED');
    const open = await Promise.all(
      spoken.map(async (subject, n) => (await subject.client.get(`/runs/${runs[n]}`)).body.data.status),
    );
    expect(open).toContain('QUEUED');
    for (const [n, { client }] of spoken.entries()) {
      expect((await client.get(`/runs/${runs[n]}?wait=60`)).body.data.status).toBe('COMPLETED');
    }
    const calls = (await Promise.all(spoken.map((subject, n) => callsOf(subject, runs[n]!)))).flat();
    const [first, second] = calls.sort((a, b) => a.startedAt.localeCompare(b.startedAt));
    // The second one begins when the first one hangs up; its result is stored a moment later.
    expect(Date.parse(second.startedAt)).toBeGreaterThan(Date.parse(first.startedAt) + 3_000);
  }, 120_000);

  it('are free at the hang-up, before the result of the call is stored', async () => {
    const subjects = [await prepareSpoken(), await prepareSpoken()];
    for (const subject of subjects) await subject.connect();
    const runs: string[] = [];
    await whileLocked(database.url, 'call_results', async (blocked) => {
      for (const subject of subjects) runs.push(await start(subject));
      await blocked();
      await until('both calls are in progress', async () => {
        const calls = await Promise.all(subjects.map((subject, n) => callsOf(subject, runs[n]!)));
        return calls.flat().every(({ status }) => status === 'RUNNING');
      });
    });
    for (const [n, { client }] of subjects.entries()) {
      expect((await client.get(`/runs/${runs[n]}?wait=60`)).body.data.status).toBe('COMPLETED');
    }
  }, 120_000);

  it('leave a voice slot for other workspaces while one workspace has long calls', async () => {
    const shared = await createTestApp({ env: { ...env, VOICE_CONCURRENCY: '4' } });
    try {
      const long = await prepareSpoken(SPOKEN, shared);
      const other = await prepareSpoken(SPOKEN, shared);
      for (const subject of [long, other]) await subject.connect();
      const statuses = async (subject: typeof long, runId: string) =>
        (await callsOf(subject, runId)).map(({ status }) => status as string).sort();
      const runId = await start(long, { repeat: 6, concurrency: 20 });
      await until('the share is in use', async () => (await statuses(long, runId)).includes('RUNNING'));
      // Calls last longer: none of them has ended yet.
      await sleep(1_000);
      const inUse = ['QUEUED', 'QUEUED', 'QUEUED', 'RUNNING', 'RUNNING', 'RUNNING'];
      expect(await statuses(long, runId)).toEqual(inUse);
      const otherRun = await start(other);
      await until('the other workspace has a slot', async () => (await statuses(other, otherRun))[0] === 'RUNNING');
      expect(await statuses(long, runId)).toEqual(inUse);
      expect((await other.client.get(`/runs/${otherRun}?wait=60`)).body.data.status).toBe('COMPLETED');
      expect((await long.client.get(`/runs/${runId}?wait=60`)).body.data).toMatchObject({ counts: { passed: 6 } });
    } finally {
      await shared.close();
    }
  }, 120_000);
});
