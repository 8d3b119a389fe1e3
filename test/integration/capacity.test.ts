import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { ErasedAgentsService } from '../../src/modules/agents/erased-agents.service.js';
import { ConnectionService } from '../../src/modules/agents/connection/connection.service.js';
import { AttemptRecorder } from '../../src/modules/execution/attempt-recorder.js';
import { CallConnections } from '../../src/modules/execution/call-connections.js';
import { ExecutionRepository } from '../../src/modules/execution/execution.repository.js';
import { CapacityRepository } from '../../src/modules/capacity/capacity.repository.js';
import { CapacityService, credentialOf } from '../../src/modules/capacity/capacity.service.js';
import { addPaidPlatform } from '../../libs/simulation/testing/paid-platform/register.js';
import { failure, unstartedCall } from '../../libs/simulation/index.js';
import { endOpenRuns } from '../support/open-runs.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** No process executes jobs here. */
describe('the capacity of a platform', () => {
  let database: TestDatabase;
  let app: TestApp;
  let undo: () => void;
  let execution: ExecutionRepository;
  let capacity: CapacityRepository;
  /** A platform that never answers. */
  let silent: Server;

  beforeAll(async () => {
    undo = addPaidPlatform();
    database = await createTestDatabase();
    silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const env = { ...callEnv(`http://127.0.0.1:${port}`), AGENT_PROVIDER_1_PROTOCOL: 'paid-text', ROLE: 'api' };
    app = await createTestApp({ env, databaseUrl: database.url });
    execution = app.nest.get(ExecutionRepository);
    capacity = app.nest.get(CapacityRepository);
  });
  afterEach(() => endOpenRuns(database.url));
  afterAll(async () => {
    await app.close();
    await database.drop();
    silent.close();
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
  const start = async (calls: number) => {
    const { client, agentId } = await prepareEvaluations(app);
    const response = await client.post(`/agents/${agentId}/runs`, { repeat: calls, concurrency: 50 });
    expect(response).toMatchObject({ status: 201 });
    return { client, agentId, runId: response.body.data.id as string };
  };
  const claim = async (agentId: string, count: number, of: Rule | undefined) => {
    if (of) await capacity.store(agentId, of.protocol, of.credential, of.limit);
    return execution.claim([{ medium: 'text', count, kept: 0, holders: [] }]);
  };
  const waitingOf = (runId: string) =>
    query('SELECT id FROM calls WHERE run_id = $1 AND capacity_wait_since IS NOT NULL', [runId]);

  /** Only one process executes calls, for this long. */
  const workerSince = async (minutes: number) => {
    await query('TRUNCATE queue_workers');
    await query(
      `INSERT INTO queue_workers VALUES (gen_random_uuid(), '{}', 'elsewhere', 1, now() - $1 * interval '1 minute', now())`,
      [minutes],
    );
  };

  const failedOf = async (claimId: string): Promise<number> => {
    const [row] = await query('SELECT end_failures AS failures FROM platform_calls WHERE claim_id = $1', [claimId]);
    return row.failures;
  };

  it('is taken in the transaction that claims, never more than there is', async () => {
    const { agentId, runId } = await start(10);
    const of = rule(3);
    const claims = (await Promise.all(Array.from({ length: 8 }, () => claim(agentId, 1, of)))).flat();
    expect(claims).toHaveLength(3);
    expect(claims).toEqual(Array(3).fill(expect.objectContaining({ credential: of.credential, bills: true })));
    expect(await query('SELECT state FROM platform_calls WHERE run_id = $1', [runId])).toEqual(
      Array(3).fill({ state: 'reserved' }),
    );
    expect((await waitingOf(runId)).length).toBeGreaterThan(0);
  });

  it('is for calls to the platform only', async () => {
    const { agentId } = await start(4);
    await capacity.forget(agentId, 'paid-text');
    expect(await claim(agentId, 4, { ...rule(1), protocol: 'paid-voice' })).toEqual(
      Array(4).fill(expect.objectContaining({ credential: null })),
    );
  });

  it('counts the time in which a call waits, and ends it as an error after 15 minutes without capacity', async () => {
    const other = await start(1);
    const of = rule(1);
    const [held] = await claim(other.agentId, 1, of);
    const { agentId, runId, client } = await start(2);
    expect(await claim(agentId, 1, of)).toEqual([]);
    const set = (minutes: number) =>
      query(
        `UPDATE calls SET capacity_wait_since = now() - $2 * interval '1 minute' WHERE run_id = $1 AND capacity_wait_since IS NOT NULL`,
        [runId, minutes],
      );
    await workerSince(20);
    await set(14);
    await execution.endHopeless();
    const [waiting] = await waitingOf(runId);
    expect((await client.get(`/calls/${waiting.id}`)).body.data).toMatchObject({
      status: 'QUEUED',
      platform: { id: null, paidSeconds: 0, isEstimated: false },
    });
    await set(16);
    await execution.endHopeless();
    const call = (await client.get(`/calls/${waiting.id}`)).body.data;
    expect(call).toMatchObject({
      status: 'ENDED',
      outcome: 'error',
      reason: 'The platform had no line free for the call within 15 minutes.',
      attempts: [{ failureCode: 'platform_busy', callId: null }],
      retries: 0,
    });
    expect(call.platform.waitedForLineMs).toBeGreaterThanOrEqual(16 * 60_000);
    await capacity.release(held!.claimId);
    const [next] = await claim(agentId, 1, of);
    expect(next).toMatchObject({ agentId, credential: of.credential });
  });

  it('is waited for while a process executes calls: a pause of the service counts for no call', async () => {
    const other = await start(1);
    const of = rule(1);
    const [held] = await claim(other.agentId, 1, of);
    const { agentId, runId } = await start(1);
    expect(await claim(agentId, 1, of)).toEqual([]);
    await query(`UPDATE calls SET capacity_wait_since = now() - interval '2 days' WHERE run_id = $1`, [runId]);
    const statusAfter = async () => {
      await execution.endHopeless();
      return (await query('SELECT status FROM calls WHERE run_id = $1', [runId]))[0].status;
    };
    await query('TRUNCATE queue_workers');
    expect(await statusAfter()).toBe('QUEUED');
    await workerSince(14);
    expect(await statusAfter()).toBe('QUEUED');
    await workerSince(16);
    expect(await statusAfter()).toBe('ENDED');
    await capacity.release(held!.claimId);
  });

  it('never ends a call that waits while the platform carries calls of its own agent', async () => {
    const { agentId, runId } = await start(2);
    const of = rule(1);
    const [held] = await claim(agentId, 1, of);
    await capacity.dial(held!.claimId);
    expect(await capacity.placed(held!.claimId, 'sealed', 'id-1')).toBe(true);
    expect(await claim(agentId, 1, of)).toEqual([]);
    await query(
      `UPDATE calls SET capacity_wait_since = now() - interval '1 hour' WHERE run_id = $1 AND status = 'QUEUED'`,
      [runId],
    );
    await workerSince(70);
    await execution.endHopeless();
    expect(await query(`SELECT status FROM calls WHERE run_id = $1 ORDER BY position`, [runId])).toEqual([
      { status: 'RUNNING' },
      { status: 'QUEUED' },
    ]);
  });

  it('is not given to a call while its platform may carry an earlier attempt', async () => {
    const { agentId } = await start(1);
    const of = rule(5);
    const [first] = await claim(agentId, 1, of);
    await capacity.dial(first!.claimId);
    await query(`UPDATE calls SET lease_until = now() - interval '1 s' WHERE id = $1`, [first!.id]);
    await execution.sweep();
    expect(await claim(agentId, 1, of)).toEqual([]);
    await capacity.release(first!.claimId);
    const [again] = await claim(agentId, 1, of);
    expect(again).toMatchObject({ id: first!.id });
    expect(await query('SELECT attempt FROM platform_calls WHERE call_id = $1 ORDER BY attempt', [first!.id])).toEqual([
      { attempt: 1 },
      { attempt: 2 },
    ]);
  });

  it('is given back an hour after three failures to end a call, which ends as an error', async () => {
    const { agentId, client } = await start(1);
    const of = rule(1);
    const [first] = await claim(agentId, 1, of);
    await capacity.dial(first!.claimId);
    for (const failures of [1, 2, 3]) expect(await capacity.endFailed(first!.claimId)).toBe(failures);
    expect(await capacity.countNotEnded()).toBe(1);
    await query(`UPDATE calls SET lease_until = now() - interval '1 s' WHERE id = $1`, [first!.id]);
    await execution.sweep();
    await execution.endHopeless();
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

  it('is freed before the agent is erased: a platform ends a call for its key', async () => {
    const { agentId, runId } = await start(1);
    const [held] = await claim(agentId, 1, rule(1));
    await capacity.dial(held!.claimId);
    await query(`UPDATE agents SET erased_at = now() - interval '1 hour' WHERE id = $1`, [agentId]);
    const agents = app.nest.get(ErasedAgentsService);
    expect(await agents.lockNext()).toBeUndefined();
    await query('DELETE FROM calls WHERE run_id = $1', [runId]);
    await capacity.forgetOver();
    expect(await agents.lockNext()).toBeUndefined();
    await capacity.release(held!.claimId);
    expect(await agents.lockNext()).toBe(agentId);
    await query('UPDATE agents SET erased_at = NULL WHERE id = $1', [agentId]);
  });

  it('comes with how many attempts were paid, and their seconds', async () => {
    const { agentId, client, runId } = await start(1);
    const of = rule(1);
    const [first] = await claim(agentId, 1, of);
    expect(await capacity.dial(first!.claimId)).toEqual({ paidAttempts: 0, maxPaidAttempts: 2 });
    expect(await capacity.dial(first!.claimId)).toBeUndefined();
    await capacity.placed(first!.claimId, 'sealed', 'id-1');
    expect(await execution.history(first!.id)).toMatchObject({ isPaidUp: false });
    await query(`UPDATE platform_calls SET placed_at = now() - interval '30 s' WHERE claim_id = $1`, [first!.claimId]);
    // A later handle, as that of the end of a call over SIP, does not begin what is paid again.
    await capacity.placed(first!.claimId, 'sealed again', 'id-1');
    await capacity.release(first!.claimId);
    await execution.release(first!, new Date().toISOString());
    const [second] = await claim(agentId, 1, of);
    expect(await capacity.dial(second!.claimId)).toMatchObject({ paidAttempts: 1 });
    await capacity.placed(second!.claimId, 'sealed', 'id-2');
    expect(await execution.history(first!.id)).toMatchObject({ isPaidUp: true });
    await capacity.release(second!.claimId);
    await capacity.paid(second!.claimId, 12.5);
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

  it('is freed for each workspace in turn, and without waiting for the platform', async () => {
    const many = await start(30);
    const of = rule(50);
    const claims = await claim(many.agentId, 30, of);
    const few = await start(1);
    const [last] = await claim(few.agentId, 1, of);
    await query(
      `UPDATE platform_calls SET state = 'dialling', lease_until = now() - interval '1 minute' WHERE credential = $1`,
      [of.credential],
    );
    // The last one by any order.
    const other = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
    await query(`UPDATE platform_calls SET claim_id = $2, lease_until = now() - interval '1 s' WHERE claim_id = $1`, [
      last!.claimId,
      other,
    ]);
    expect(claims).toHaveLength(30);
    const begun = performance.now();
    await app.nest.get(CapacityService).sweep((agentId) => app.nest.get(ConnectionService).endpoint(agentId));
    expect(performance.now() - begun).toBeLessThan(5_000);
    const isTaken = `SELECT count(*)::int AS count FROM platform_calls WHERE lease_until > now() AND claim_id = ANY ($1)`;
    expect(await query(isTaken, [[other]])).toEqual([{ count: 1 }]);
    expect(await query(isTaken, [claims.map(({ claimId }) => claimId)])).toEqual([{ count: 19 }]);
    while (silent.listening && (await failedOf(other)) === 0) silent.closeAllConnections();
  });

  it.each([
    ['is not what a call waits for that was not dialled: its connection has changed', 'none', []],
    ['is what a call waits for that its platform has refused', 'paid-text', [{ id: expect.any(String) }]],
  ])('%s', async (_, transport, waiting) => {
    const { agentId, runId } = await start(1);
    const [call] = await claim(agentId, 1, rule(1));
    const recorder = new AttemptRecorder(execution, app.nest.get(CallConnections));
    await recorder.ended(call!, unstartedCall(transport, failure('platform_busy')), new Date().toISOString());
    expect(await query('SELECT status FROM calls WHERE run_id = $1', [runId])).toEqual([{ status: 'QUEUED' }]);
    expect(await waitingOf(runId)).toEqual(waiting);
    await capacity.release(call!.claimId);
  });

  it('is corrected when a connection has changed, and the call is not dialled with that of another credential', async () => {
    const { agentId } = await start(3);
    const connections = app.nest.get(ConnectionService);
    const endpoint = (await connections.endpoint(agentId, 'paid-text'))!;
    const stored = () =>
      query('SELECT credential, capacity FROM agent_capacity WHERE agent_id = $1 AND protocol = $2', [
        agentId,
        'paid-text',
      ]);
    const [known] = await stored();
    expect(known).toEqual({ credential: credentialOf(endpoint), capacity: 5 });
    const service = app.nest.get(CapacityService);
    const [call] = await claim(agentId, 1, rule(3));
    expect(await service.correct(call!, endpoint)).toBe(true);
    expect(await stored()).toEqual([known]);
    await capacity.release(call!.claimId);
    // Only the number differs, and more calls are allowed: the call goes on.
    const [next] = await claim(agentId, 1, rule(3, known.credential));
    expect(await service.correct(next!, endpoint)).toBe(false);
    expect(await stored()).toEqual([known]);
    await capacity.release(next!.claimId);
    // Fewer calls are allowed: there may be too many already.
    const [last] = await claim(agentId, 1, rule(8, known.credential));
    expect(await service.correct(last!, endpoint)).toBe(true);
    expect(await stored()).toEqual([known]);
  });

  it('knows its calls by their ids in the records and by their numbers, give or take a minute, also when their run is gone', async () => {
    const { agentId } = await start(2);
    const service = app.nest.get(CapacityService);
    const endpoint = (await app.nest.get(ConnectionService).endpoint(agentId, 'paid-text'))!;
    const [called, calling] = await claim(agentId, 2, rule(2));
    const byTrunk = { ...endpoint, line: { caller: '+390612345678' } };
    await (await service.dial(called!, byTrunk))!.placed({}, 'own_1');
    await query(`UPDATE platform_calls SET number = '+4930100001' WHERE claim_id = $1`, [calling!.claimId]);
    await (await service.dial(calling!, endpoint))!.identified('own_2');
    const isOwn = (number: string, seconds: number, lasts = 30) => {
      const startedAt = Date.now() + seconds * 1_000;
      return service.isOwnCaller(number, { startedAt, endedAt: startedAt + lasts * 1_000 });
    };
    expect(await isOwn('+4930100001', -10)).toBe(false);
    await service['ledgerOf'](calling!.claimId, endpoint).placed({}, 'own_2');
    await Promise.all([capacity.release(called!.claimId), capacity.release(calling!.claimId)]);
    await query('DELETE FROM platform_calls');
    const known = await service.own(credentialOf(endpoint), ['own_1', 'own_2', 'other']);
    expect([...known]).toEqual(['own_1', 'own_2']);
    expect(await service.own(credentialOf({ ...endpoint, apiKey: 'another' }), ['own_1'])).toEqual(new Set());
    for (const number of ['+39 06 12345678', '00390612345678', 'sip:+390612345678@trunk.example:5061', '+4930100001']) {
      expect([number, await isOwn(number, -10), await isOwn(number, -120), await isOwn(number, -80)]).toEqual([
        ...[number, true, false, true],
      ]);
      expect(await isOwn(number, 90)).toBe(false);
    }
    for (const number of ['+390612345679', '0612345678', 'anonymous', '', 'sip:@@', '%00']) {
      expect([number, await isOwn(number, -10)]).toEqual([number, false]);
    }
    expect(JSON.stringify(await query('SELECT key FROM own_calls'))).not.toMatch(/own_|another/);
  });
});
