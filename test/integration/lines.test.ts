import { ExecutionRepository } from '../../src/modules/runs/execution/execution.repository.js';
import { LinesRepository } from '../../src/modules/runs/lines/lines.repository.js';
import { addPaidPlatform } from '../../libs/simulation/testing/paid-platform/register.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** No process executes jobs here. */
describe('lines of a platform', () => {
  let database: TestDatabase;
  let app: TestApp;
  let undo: () => void;
  let execution: ExecutionRepository;
  let lines: LinesRepository;

  beforeAll(async () => {
    undo = addPaidPlatform();
    database = await createTestDatabase();
    const env = { ...callEnv('http://127.0.0.1:9'), AGENT_PROVIDER_1_PROTOCOL: 'paid-text', ROLE: 'api' };
    app = await createTestApp({ env, databaseUrl: database.url });
    execution = app.nest.get(ExecutionRepository);
    lines = app.nest.get(LinesRepository);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
    undo();
  });

  const query = (text: string, values: unknown[] = []) => sql<any>(database.url, text, values);
  let credentials = 0;
  const rule = (limit: number, credential = `credential-${credentials++}`) => ({
    protocol: 'paid-text',
    credential,
    limit,
  });
  type Rule = ReturnType<typeof rule>;
  const start = async (calls: number, prepared?: Awaited<ReturnType<typeof prepareEvaluations>>) => {
    const { client, agentId } = prepared ?? (await prepareEvaluations(app));
    const response = await client.post(`/agents/${agentId}/runs`, { repeat: calls, concurrency: 50 });
    expect(response).toMatchObject({ status: 201 });
    return { client, agentId, runId: response.body.data.id as string };
  };
  const claim = async (agentId: string, count: number, of: Rule | undefined) => {
    const slots = Array.from({ length: count }, () => ({ previousRun: undefined }));
    return (await execution.claim(agentId, 'text', slots, of)).flatMap(({ call }) => call ?? []);
  };
  const waitingOf = (runId: string) =>
    query('SELECT id FROM calls WHERE run_id = $1 AND line_wait_since IS NOT NULL', [runId]);

  it('are taken in the transaction that claims, never more than there are', async () => {
    const { agentId, runId } = await start(10);
    const of = rule(3);
    const claims = (await Promise.all(Array.from({ length: 8 }, () => claim(agentId, 1, of)))).flat();
    expect(claims).toHaveLength(3);
    expect(claims).toEqual(Array(3).fill(expect.objectContaining({ line: of.credential, bills: true })));
    expect(await query('SELECT state FROM platform_calls WHERE run_id = $1', [runId])).toEqual(
      Array(3).fill({ state: 'line' }),
    );
    expect((await waitingOf(runId)).length).toBeGreaterThan(0);
  });

  it('are for calls to the platform only', async () => {
    const { agentId } = await start(4);
    expect(await claim(agentId, 4, { ...rule(1), protocol: 'paid-voice' })).toEqual(
      Array(4).fill(expect.objectContaining({ line: null })),
    );
  });

  it('go to the agent that has the fewest, and wake it when they are free', async () => {
    const first = await start(5);
    const second = await start(5);
    const of = rule(3);
    const held = await claim(first.agentId, 5, of);
    expect(held).toHaveLength(3);
    expect(await claim(second.agentId, 5, of)).toEqual([]);
    expect(await lines.release(held[0]!.claimId)).toMatchObject({ agentId: second.agentId, medium: 'text' });
    expect(await claim(first.agentId, 5, of)).toEqual([]);
    const [one] = await claim(second.agentId, 5, of);
    expect(one).toMatchObject({ line: of.credential });
    expect(await lines.release(held[1]!.claimId)).toMatchObject({ agentId: first.agentId });
    // Each has one: the one that has waited longer.
    expect(await claim(second.agentId, 5, of)).toEqual([]);
    expect(await claim(first.agentId, 5, of)).toHaveLength(1);
  });

  it('go to the workspace that has the fewest, whatever its agents have', async () => {
    const prepared = await prepareEvaluations(app);
    const first = await start(5, prepared);
    const other = await start(5);
    const of = rule(2);
    const held = await claim(first.agentId, 2, of);
    expect(await claim(first.agentId, 1, of)).toEqual([]);
    expect(await claim(other.agentId, 1, of)).toEqual([]);
    expect(await lines.release(held[0]!.claimId)).toMatchObject({ agentId: other.agentId });
  });

  it('pass to others when an agent that waits is not heard of for 15 seconds', async () => {
    const first = await start(5);
    const second = await start(5);
    const of = rule(1);
    const [held] = await claim(first.agentId, 1, of);
    expect(await claim(second.agentId, 1, of)).toEqual([]);
    await query(`UPDATE line_waits SET seen_at = now() - interval '16 s' WHERE agent_id = $1`, [second.agentId]);
    expect(await lines.release(held!.claimId)).toBeUndefined();
    expect(await claim(first.agentId, 1, of)).toHaveLength(1);
  });

  it('count the time in which a call waits, and end it as an error after 15 minutes without a line', async () => {
    const { agentId, runId, client } = await start(2);
    const other = await start(1);
    const of = rule(1);
    const [held] = await claim(other.agentId, 1, of);
    expect(await claim(agentId, 1, of)).toEqual([]);
    const set = (minutes: number) =>
      query(
        `UPDATE calls SET line_wait_since = now() - $2 * interval '1 minute' WHERE run_id = $1 AND line_wait_since IS NOT NULL`,
        [runId, minutes],
      );
    await set(14);
    await lines.endHopeless();
    const [waiting] = await waitingOf(runId);
    expect((await client.get(`/calls/${waiting.id}`)).body.data).toMatchObject({
      status: 'QUEUED',
      platform: { id: null, paidSeconds: 0, isEstimated: false },
    });
    await set(16);
    await lines.endHopeless();
    const call = (await client.get(`/calls/${waiting.id}`)).body.data;
    expect(call).toMatchObject({
      status: 'ENDED',
      outcome: 'error',
      reason: 'The platform had no line free for the call within 15 minutes.',
      attempts: [{ failureCode: 'platform_busy', callId: null }],
      retries: 0,
    });
    expect(call.platform.waitedForLineMs).toBeGreaterThanOrEqual(16 * 60_000);
    expect(await lines.release(held!.claimId)).toMatchObject({ agentId });
    const [next] = await claim(agentId, 1, of);
    expect(next).toMatchObject({ line: of.credential });
  });

  it('never end a call whose own agent is on the line', async () => {
    const { agentId, runId } = await start(2);
    const of = rule(1);
    const [held] = await claim(agentId, 1, of);
    await lines.dial(held!.claimId);
    expect(await lines.placed(held!.claimId, 'sealed', 'id-1')).toBe(true);
    expect(await claim(agentId, 1, of)).toEqual([]);
    await query(
      `UPDATE calls SET line_wait_since = now() - interval '1 hour' WHERE run_id = $1 AND status = 'QUEUED'`,
      [runId],
    );
    await lines.endHopeless();
    expect(await query(`SELECT status FROM calls WHERE run_id = $1 ORDER BY position`, [runId])).toEqual([
      { status: 'RUNNING' },
      { status: 'QUEUED' },
    ]);
  });

  it('are not given to a call while its platform may carry an earlier attempt', async () => {
    const { agentId } = await start(1);
    const of = rule(5);
    const [first] = await claim(agentId, 1, of);
    await lines.dial(first!.claimId);
    await query(`UPDATE calls SET lease_until = now() - interval '1 s' WHERE id = $1`, [first!.id]);
    await execution.sweep();
    expect(await claim(agentId, 1, of)).toEqual([]);
    await lines.release(first!.claimId);
    const [again] = await claim(agentId, 1, of);
    expect(again).toMatchObject({ id: first!.id });
    expect(await query('SELECT attempt FROM platform_calls WHERE call_id = $1 ORDER BY attempt', [first!.id])).toEqual([
      { attempt: 1 },
      { attempt: 2 },
    ]);
  });

  it('are given back after three failures to end a call, which ends as an error, an hour later', async () => {
    const { agentId, client } = await start(1);
    const of = rule(1);
    const [first] = await claim(agentId, 1, of);
    await lines.dial(first!.claimId);
    for (const failures of [1, 2, 3]) expect(await lines.endFailed(first!.claimId)).toBe(failures);
    expect(await lines.unended()).toBe(1);
    await query(`UPDATE calls SET lease_until = now() - interval '1 s' WHERE id = $1`, [first!.id]);
    await execution.sweep();
    await lines.endHopeless();
    expect((await client.get(`/calls/${first!.id}`)).body.data).toMatchObject({
      status: 'ENDED',
      outcome: 'error',
      attempts: [{ failureCode: 'interrupted' }, { failureCode: 'platform_unended' }],
    });
    const next = await start(1);
    expect(await claim(next.agentId, 1, of)).toEqual([]);
    await query(`UPDATE platform_calls SET created_at = now() - interval '61 minutes' WHERE claim_id = $1`, [
      first!.claimId,
    ]);
    expect(await claim(next.agentId, 1, of)).toHaveLength(1);
  });

  it('know how many attempts were paid, and their seconds', async () => {
    const { agentId, client, runId } = await start(1);
    const of = rule(1);
    const [first] = await claim(agentId, 1, of);
    expect(await lines.dial(first!.claimId)).toEqual({ paidAttempts: 0, maxPaidAttempts: 2 });
    expect(await lines.dial(first!.claimId)).toBeUndefined();
    await lines.placed(first!.claimId, 'sealed', 'id-1');
    expect(await execution.history(first!.id)).toMatchObject({ isPaidUp: false });
    await query(`UPDATE platform_calls SET placed_at = now() - interval '30 s' WHERE claim_id = $1`, [first!.claimId]);
    await lines.release(first!.claimId);
    await execution.release(first!, new Date().toISOString());
    const [second] = await claim(agentId, 1, of);
    expect(await lines.dial(second!.claimId)).toMatchObject({ paidAttempts: 1 });
    await lines.placed(second!.claimId, 'sealed', 'id-2');
    expect(await execution.history(first!.id)).toMatchObject({ isPaidUp: true });
    await lines.release(second!.claimId);
    await lines.paid(second!.claimId, 12.5);
    const { platform } = (await client.get(`/calls/${first!.id}`)).body.data;
    expect(platform).toMatchObject({ id: 'id-2', isEstimated: true });
    expect(platform.paidSeconds).toBeGreaterThanOrEqual(42.5);
    expect(platform.paidSeconds).toBeLessThan(44);
    const run = (await client.get(`/runs/${runId}`)).body.data;
    expect(run).toMatchObject({ maxPaidAttempts: 2, paidSeconds: platform.paidSeconds });
    expect(await query(`SELECT handle FROM platform_calls WHERE call_id = $1`, [first!.id])).toEqual([
      { handle: null },
      { handle: null },
    ]);
  });

  it('are not used by processes of the version before, which get no calls that are billed', async () => {
    const { agentId } = await start(1);
    const before = `SELECT id FROM claim_calls($1, 'text', ARRAY[gen_random_uuid()], interval '20 s', '{}') WHERE claim_id IS NOT NULL`;
    expect(await query(before, [agentId])).toEqual([]);
  });
});
