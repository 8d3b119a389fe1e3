import { PaidPlatform, type PaidPlatformOptions } from '../simulators/paid-platform/server.js';
import { usePaidPlatform } from '../../libs/simulation/testing/paid-platform/register.js';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { streamText, TestServers } from '../simulators/servers.js';
import type { HttpClient } from '../support/http.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

usePaidPlatform();

describe('calls on a platform that bills', () => {
  const platforms: PaidPlatform[] = [];
  const apps: TestApp[] = [];
  const servers = new TestServers();
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    for (const platform of platforms.splice(0)) await platform.stop();
    await servers.close();
  });

  const prepare = async (options: PaidPlatformOptions = {}, env: NodeJS.ProcessEnv = {}) => {
    const platform = await PaidPlatform.start(options);
    platforms.push(platform);
    const app = await createTestApp({
      env: {
        ...callEnv(platform.url),
        AGENT_PROVIDER_1_PROTOCOL: 'paid-voice',
        AGENT_PROVIDER_1_TEXT_PROTOCOL: 'paid-text',
        ...env,
      },
    });
    apps.push(app);
    return { platform, app };
  };
  const callsOf = async (client: HttpClient, runId: string): Promise<any[]> => {
    const list = (await client.get(`/runs/${runId}/calls?limit=100`)).body.data as { id: string }[];
    return Promise.all(list.map(async ({ id }) => (await client.get(`/calls/${id}`)).body.data));
  };

  it('are ended at the platform, and the run says what was paid', async () => {
    const { platform, app } = await prepare();
    const { client, agentId } = await prepareEvaluations(app);
    const plan = (await client.post(`/agents/${agentId}/runs`, { medium: 'text', repeat: 3, dryRun: true })).body.data;
    expect(plan).toMatchObject({ maxPaidAttempts: 2, maxPaidSeconds: 3 * 2 * 600 });
    const run = await executeRun(client, agentId, { medium: 'text', repeat: 3 });
    expect(run).toMatchObject({ status: 'COMPLETED', maxPaidAttempts: 2, paidSeconds: expect.any(Number) });
    expect(platform.open.size).toBe(0);
    expect(platform.opened).toHaveLength(3);
    for (const { platform: paid, attempts } of await callsOf(client, run.id)) {
      expect(attempts).toHaveLength(1);
      expect(platform.opened).toContainEqual(expect.objectContaining({ id: paid.id, attempt: attempts[0].callId }));
      expect(paid).toMatchObject({ isEstimated: true, paidSeconds: expect.any(Number), waitedForLineMs: 0 });
    }
  });

  it('give the platform the variables of the connection and, above them, those of the run, and the version', async () => {
    const { platform, app } = await prepare();
    const { client, agentId } = await prepareEvaluations(app);
    await client.put(`/agents/${agentId}/connection`, { url: platform.url });
    const options = JSON.stringify({ variables: { shop: 'Roma', name: 'nobody' } });
    const set = `UPDATE agent_connections SET protocol = 'paid-text', options = $2 WHERE agent_id = $1`;
    await sql(app.databaseUrl, set, [agentId, options]);
    const body = { agentVariables: { name: 'Rossi', people: 4, isRegular: true }, assistantVersion: 'branch-7' };
    const run = await executeRun(client, agentId, body);
    expect(run).toMatchObject({ status: 'COMPLETED', ...body });
    expect(platform.opened).toMatchObject([
      { variables: { shop: 'Roma', ...body.agentVariables }, version: 'branch-7' },
    ]);
    expect((await callsOf(client, run.id))[0]).toMatchObject(body);
    const again = (await client.post(`/runs/${run.id}/rerun`)).body.data;
    expect(again).toMatchObject(body);
    expect(await client.get(`/runs/${again.id}?wait=60`)).toMatchObject({ body: { data: { status: 'COMPLETED' } } });
  });

  it('wait while the platform has no line for them, without an attempt or a retry', async () => {
    const { platform, app } = await prepare({ faults: { refusals: [429, 429] } });
    const { client, agentId } = await prepareEvaluations(app);
    const run = await executeRun(client, agentId, { medium: 'text' });
    expect(run).toMatchObject({ status: 'COMPLETED', retriedCalls: 0 });
    const [call] = await callsOf(client, run.id);
    expect(call).toMatchObject({ outcome: 'passed', retries: 0, attempts: [{ outcome: 'passed' }] });
    expect(call.platform.waitedForLineMs).toBeGreaterThanOrEqual(2_000);
    expect(platform.refused).toHaveLength(2);
    expect(await sql(app.databaseUrl, `SELECT 1 FROM platform_calls WHERE state <> 'ended'`)).toEqual([]);
  });

  it.each([
    [1, 'error'],
    [2, 'failed'],
  ])('are tried %i times at most if they are answered and break off', async (maxPaidAttempts, outcome) => {
    const { platform, app } = await prepare();
    const evaluation = shortEvaluation({ script: [{ say: 'Hello' }, { say: 'Again' }] });
    const { client, agentId } = await prepareEvaluations(app, [evaluation]);
    const spoken = new Map<string, number>();
    platform.isCut = (attempt) => {
      const turn = (spoken.get(attempt) ?? 0) + 1;
      spoken.set(attempt, turn);
      return turn > 1;
    };
    const run = await executeRun(client, agentId, { medium: 'text', maxPaidAttempts });
    const [call] = await callsOf(client, run.id);
    expect(call.attempts).toHaveLength(maxPaidAttempts);
    expect(call).toMatchObject({ outcome });
    expect(platform.opened).toHaveLength(maxPaidAttempts);
    expect(platform.open.size).toBe(0);
  });

  it('are looked for when the answer of the platform is lost', async () => {
    const { platform, app } = await prepare({ faults: { isAnswerLost: true } });
    const { client, agentId } = await prepareEvaluations(app);
    const run = await executeRun(client, agentId, { medium: 'text' });
    const [call] = await callsOf(client, run.id);
    expect(call).toMatchObject({ outcome: 'error' });
    expect(platform.opened.length).toBeGreaterThan(0);
    expect(platform.open.size).toBe(0);
  });

  it('are not dialled again before the platform has ended them', async () => {
    const { platform, app } = await prepare({ faults: { endings: [503, 503] } });
    const { client, agentId } = await prepareEvaluations(app);
    const run = await executeRun(client, agentId, { medium: 'text' });
    expect(run).toMatchObject({ status: 'COMPLETED' });
    await until('the sweep has ended the call', () => platform.open.size === 0, 40_000);
    expect(platform.endRequests).toHaveLength(3);
  });

  it('are ended after their run was deleted, and nothing of them is left', async () => {
    const { platform, app } = await prepare({ faults: { endings: [503, 503] } });
    app.nest.get(RetentionRepository).pruneDelayMs = 0;
    const { client, agentId } = await prepareEvaluations(app);
    const run = await executeRun(client, agentId, { medium: 'text', repeat: 2 });
    expect(platform.endRequests.length).toBeLessThan(4);
    expect(await client.delete(`/runs/${run.id}`)).toMatchObject({ status: 200 });
    const isEmpty = async (table: string) => (await sql(app.databaseUrl, `SELECT FROM ${table}`)).length === 0;
    await until('the calls of the run are deleted', () => isEmpty('calls'));
    expect(platform.open.size).toBe(2);
    await until('the sweep has ended the calls', () => platform.open.size === 0, 40_000);
    await until('a sweep has deleted what is known of them', () => isEmpty('platform_calls'), 20_000);
  });

  it('end at the platform when their run is cancelled', async () => {
    const { platform, app } = await prepare({ answerMs: 60_000 });
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = (await client.post(`/agents/${agentId}/runs`, { medium: 'text', repeat: 3 })).body.data;
    await until('three calls are open', () => platform.open.size === 3);
    expect(await client.post(`/runs/${id}/cancel`)).toMatchObject({ status: 200 });
    await until('none is open', () => platform.open.size === 0);
  });

  it('are at most as many at once as their credential may have, and hold no slot while they wait', async () => {
    const fast = await servers.http((response) => streamText(response, 'Welcome!'));
    const settings = { AGENT_PROVIDER_1_CONCURRENCY: '3', WORKER_CONCURRENCY: '10' };
    const { platform, app } = await prepare({}, { ...settings, AGENT_PROVIDER_2_URL: `${fast}/v1/chat/completions` });
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    platform.onEvent = (event) => (event === 'spoken' ? answered : undefined);
    const keys = ['key-of-the-first', 'key-of-the-second'];
    const paid = await Promise.all(keys.map((apiKey) => prepareEvaluations(app, undefined, { apiKey })));
    const free = await prepareEvaluations(app, undefined, { provider: 'AGENT_PROVIDER_2' });
    const body = { medium: 'text', repeat: 40, concurrency: 20 };
    const runs = paid.map(({ client, agentId }) => executeRun(client, agentId, body));
    await until('all lines are taken', () => platform.open.size === 6);
    const others = await executeRun(free.client, free.agentId, { repeat: 20, concurrency: 20 });
    expect(others).toMatchObject({ status: 'COMPLETED', counts: { passed: 20 } });
    // Still 74 calls wait, and none of them has a slot.
    expect(platform.opened).toHaveLength(6);
    expect(await sql(app.databaseUrl, `SELECT count(*)::int AS n FROM calls WHERE status = 'RUNNING'`)).toEqual([
      { n: 6 },
    ]);
    answer();
    for (const run of await Promise.all(runs)) {
      expect(run).toMatchObject({ status: 'COMPLETED', counts: { passed: 40 }, retriedCalls: 0 });
    }
    expect(Object.fromEntries(platform.most)).toEqual(Object.fromEntries(keys.map((key) => [`Bearer ${key}`, 3])));
    expect(platform.open.size).toBe(0);
    expect(platform.opened).toHaveLength(80);
  });

  it('take turns where two workspaces share a credential', async () => {
    const { platform, app } = await prepare({ answerMs: 50 }, { AGENT_PROVIDER_1_CONCURRENCY: '2' });
    const apiKey = 'key-that-both-have';
    const [first, second] = await Promise.all([1, 2].map(() => prepareEvaluations(app, undefined, { apiKey })));
    const run = ({ client, agentId }: typeof first & {}, repeat: number) =>
      executeRun(client, agentId, { medium: 'text', repeat, concurrency: 20 });
    const long = run(first!, 40);
    await until('the first has the lines', () => platform.open.size === 2);
    expect(await run(second!, 5)).toMatchObject({ counts: { passed: 5 } });
    // The second one had a line for itself: the first one has made about as many calls.
    expect(platform.opened.length).toBeLessThan(30);
    expect(await long).toMatchObject({ counts: { passed: 40 } });
    expect(Object.fromEntries(platform.most)).toEqual({ [`Bearer ${apiKey}`]: 2 });
  });
});
