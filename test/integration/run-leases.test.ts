import { AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Attempt, unstartedCall, type CallResult, failure, type Medium } from '../../libs/simulation/index.js';
import { type ClaimedCall, endedCall, ExecutionRepository } from '../../src/modules/execution/execution.repository.js';
import { attemptResultJson } from '../../src/modules/execution/attempt-result.js';
import { RunFinisher } from '../../src/modules/run-ends/run-finisher.service.js';
import { Database } from '../../src/platform/database/database.js';
import { TIMESTAMP, UUID } from '../support/expect.js';
import type { HttpClient } from '../support/http.js';
import { endOpenRuns } from '../support/open-runs.js';
import { callEnv, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const PASSED: CallResult = {
  ...unstartedCall('none', failure('internal')),
  outcome: 'passed',
  score: 100,
  reason: 'The only requirement was met.',
  failure: null,
};
const ATTEMPT: Attempt = {
  outcome: 'passed',
  failureCode: null,
  reason: 'The only requirement was met.',
  startedAt: '2026-11-21T06:37:42.758Z',
  endedAt: '2026-11-21T06:37:43.758Z',
};

const INTERRUPTED = {
  outcome: 'error',
  failureCode: 'interrupted',
  callId: expect.stringMatching(UUID),
  startedAt: expect.stringMatching(TIMESTAMP),
  endedAt: expect.stringMatching(TIMESTAMP),
};
const DIED = { ...INTERRUPTED, reason: 'The process that executed the attempt died.' };

/** Tests the state of calls in the database step by step: no process executes jobs here. */
describe('leases of calls', () => {
  let app: TestApp;
  let repository: ExecutionRepository;
  let finisher: RunFinisher;

  beforeAll(async () => {
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), ROLE: 'api' } });
    repository = app.nest.get(ExecutionRepository);
    finisher = app.nest.get(RunFinisher);
  });
  afterEach(() => endOpenRuns(app.databaseUrl));
  afterAll(() => app.close());

  const query = (text: string) => sql<any>(app.databaseUrl, text);
  const started = async (body: object = {}) => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = (await client.post(`/agents/${agentId}/runs`, body)).body.data;
    return { client, agentId, runId: id as string };
  };
  const claim = async (medium: Medium = 'text'): Promise<ClaimedCall | undefined> =>
    (await repository.claim([{ medium, count: 1, kept: 0, holders: [] }]))[0];
  const claimed = async (): Promise<ClaimedCall> => {
    const call = await claim();
    if (!call) throw new Error('There is no call to claim');
    return call;
  };
  const end = async (call: ClaimedCall) => (await repository.end([endedCall(call, PASSED, [12], ATTEMPT)]))[0];
  const expire = (runId: string) =>
    query(`UPDATE calls SET lease_until = now() - interval '1 ms' WHERE run_id = '${runId}' AND status = 'RUNNING'`);
  const callsOf = (runId: string) => query(`SELECT * FROM calls WHERE run_id = '${runId}' ORDER BY position`);
  const resultsOf = (runId: string) =>
    query(`SELECT r.* FROM call_results r JOIN calls c ON c.id = r.call_id WHERE c.run_id = '${runId}'`);
  const earlierOf = (runId: string) =>
    query(`SELECT a.number, a.result FROM call_attempts a JOIN calls c ON c.id = a.call_id
            WHERE c.run_id = '${runId}' ORDER BY a.number`);
  const runOf = async (client: HttpClient, runId: string) => (await client.get(`/runs/${runId}`)).body.data;

  it('gives each call to one of many concurrent claims, up to the concurrency of the run', async () => {
    const { runId } = await started({ repeat: 10, concurrency: 3 });
    const calls = await Promise.all(Array.from({ length: 12 }, () => claim()));
    const taken = calls.filter((call) => call !== undefined);
    expect(new Set(taken.map(({ id }) => id)).size).toBe(3);
    expect(taken).toHaveLength(3);
    expect((await callsOf(runId)).filter(({ status }) => status === 'RUNNING')).toHaveLength(3);
    await end(taken[0]!);
    expect(await claim()).toBeDefined();
    expect(await claim()).toBeUndefined();
  });

  it('claims and ends calls in batches for several slots, and reports once that a run is over', async () => {
    const { client, agentId, runId } = await started({ repeat: 2, concurrency: 1 });
    const claims = (count = 4) => repository.claim([{ medium: 'text', count, kept: 0, holders: [] }]);
    const first = await claims();
    expect(first.map((call) => call.runId)).toEqual([runId]);
    // A second run allows more concurrent calls than the first, whose other call must keep waiting.
    const wide = (await client.post(`/agents/${agentId}/runs`, { repeat: 5, concurrency: 3 })).body.data.id;
    const second = await claims();
    expect(second.map((call) => call.runId)).toEqual([wide, wide]);
    expect(await repository.areOver([runId, wide, runId])).toEqual([false, false, false]);
    expect(new Set([...first, ...second].map(({ claimId }) => claimId)).size).toBe(3);

    const ended = (call: ClaimedCall, latency = 12) => endedCall(call, PASSED, [latency], ATTEMPT);
    const calls = [first[0]!, second[0]!];
    const stale = { ...second[1]!, claimId: calls[0]!.claimId };
    // A lost claim, after whose loss the same process has claimed the call again.
    const lost = { ...calls[0]!, claimId: randomUUID() };
    const batch = [ended(lost, 99), ended(calls[1]!), ended(stale), ended(calls[0]!, 34), ended(lost, 99)];
    expect(await repository.end(batch)).toEqual([false, true, false, true, false]);
    const [one] = await callsOf(runId);
    expect(one).toMatchObject({
      id: calls[0]!.id,
      status: 'ENDED',
      latencies: [34],
      attempts: [ATTEMPT],
      claim_id: null,
    });
    expect(await resultsOf(runId)).toMatchObject([{ call_id: calls[0]!.id, result: { outcome: 'passed' } }]);
    expect((await callsOf(wide)).map(({ status }) => status).sort()).toEqual([
      'ENDED',
      'QUEUED',
      'QUEUED',
      'QUEUED',
      'RUNNING',
    ]);

    await client.post(`/runs/${wide}/cancel`, {});
    const last = await claims();
    expect(last.map((call) => call.runId)).toEqual([runId]);
    await repository.end([ended(last[0]!)]);
    expect(await claims()).toEqual([]);
    expect(await repository.areOver([runId, runId, runId])).toEqual([true, false, false]);
  });

  it('claims calls of the medium of the slot, and counts those of both media', async () => {
    const checks = [{ type: 'max_turns', turns: 9 }];
    const { client, agentId } = await prepareEvaluations(app, [shortEvaluation({ checks })]);
    const start = async (body: object) =>
      expect(await client.post(`/agents/${agentId}/runs`, body)).toMatchObject({ status: 201 });
    await start({ repeat: 2, concurrency: 1 });
    const connection = { protocol: 'twilio-media-streams', url: 'ws://127.0.0.1:9/twilio' };
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    await start({ concurrency: 1 });
    const voice = await claim('voice');
    expect(voice).toMatchObject({ protocol: 'twilio-media-streams', medium: 'voice' });
    expect(await claim()).toBeUndefined();
    await end(voice!);
    expect(await claim()).toMatchObject({ protocol: 'chat-completions', medium: 'text' });
  });

  it('keeps a renewed claim, and revokes one whose lease has expired', async () => {
    const { client, runId } = await started();
    const first = await claimed();
    await expire(runId);
    expect(await repository.renew([first])).toEqual(new Set([first.claimId]));
    await repository.sweep();
    expect(await callsOf(runId)).toMatchObject([{ status: 'RUNNING', lease_expirations: 0, claim_id: first.claimId }]);
    await expire(runId);
    await repository.sweep();
    expect(await callsOf(runId)).toMatchObject([
      { status: 'QUEUED', lease_expirations: 1, claim_id: null, lease_until: null },
    ]);
    expect(await repository.renew([first])).toEqual(new Set());
    expect((await runOf(client, runId)).status).toBe('RUNNING');
  });

  it('rejects all writes of a worker that lost its claim, and the call ends once', async () => {
    const { client, runId } = await started();
    const dead = await claimed();
    await expire(runId);
    await repository.sweep();
    const before = await callsOf(runId);
    expect(await end(dead)).toBe(false);
    await repository.retry(dead, ATTEMPT, '{}', 60_000);
    await repository.release(dead, ATTEMPT.startedAt);
    expect(await callsOf(runId)).toEqual(before);

    const living = await claimed();
    const running = await callsOf(runId);
    expect(await end(dead)).toBe(false);
    await repository.retry(dead, ATTEMPT, '{}', 60_000);
    await repository.release(dead, ATTEMPT.startedAt);
    expect(await callsOf(runId)).toEqual(running);
    expect(await resultsOf(runId)).toEqual([]);
    expect(await earlierOf(runId)).toEqual([]);

    expect(await end(living)).toBe(true);
    const ended = await callsOf(runId);
    expect(ended).toMatchObject([
      { status: 'ENDED', outcome: 'passed', lease_expirations: 1, attempts: [DIED, ATTEMPT] },
    ]);
    for (const late of [dead, living]) expect(await end(late)).toBe(false);
    expect(await callsOf(runId)).toEqual(ended);
    expect(await resultsOf(runId)).toHaveLength(1);
    await finisher.finish(runId);
    expect(await runOf(client, runId)).toMatchObject({ status: 'COMPLETED', score: 100, counts: { passed: 1 } });
  });

  it('ends a call as an error after its process has died five times', async () => {
    const { client, runId } = await started();
    for (let expirations = 1; expirations <= 5; expirations++) {
      await claimed();
      await expire(runId);
      await repository.sweep();
      expect(await callsOf(runId)).toMatchObject([
        { status: expirations < 5 ? 'QUEUED' : 'ENDED', lease_expirations: expirations },
      ]);
    }
    expect(await claim()).toBeUndefined();
    const [call] = (await client.get(`/runs/${runId}/calls`)).body.data;
    expect(call).toMatchObject({
      outcome: 'error',
      score: null,
      reason: 'The process that executed the call died 5 times.',
      attempts: Array(5).fill(DIED),
    });
    expect(await repository.findOver()).toContain(runId);
    await finisher.finish(runId);
    expect(await runOf(client, runId)).toMatchObject({
      status: 'FAILED',
      reasons: ['No call could be counted: 1 ended as error.'],
    });
    // The call is shown like any other one.
    expect((await client.get(`/calls/${call.id}`)).body.data).toMatchObject({ timeline: [], measures: null });
    for (const form of ['junit', 'report']) expect((await client.get(`/runs/${runId}/${form}`)).status).toBe(200);
  });

  it('keeps the result of each attempt, and records interrupted attempts without counting them as retries', async () => {
    const { runId } = await started();
    const due = () => query(`UPDATE calls SET due_at = now() WHERE run_id = '${runId}'`);
    const failed: Attempt = { ...ATTEMPT, outcome: 'error', failureCode: 'timeout', reason: 'No answer.' };
    await repository.release(await claimed(), ATTEMPT.startedAt, attemptResultJson(PASSED));
    await repository.retry(await claimed(), failed, attemptResultJson(PASSED), 1_000);
    await due();
    await claimed();
    await expire(runId);
    await repository.sweep();
    const last = await claimed();
    expect(await repository.attempts(last.id)).toEqual([
      { ...INTERRUPTED, startedAt: ATTEMPT.startedAt, reason: 'The process that executed the attempt was shut down.' },
      failed,
      DIED,
    ]);
    await end(last);
    const [call] = await callsOf(runId);
    expect(call).toMatchObject({ status: 'ENDED', outcome: 'passed', retries: 1, lease_expirations: 1 });
    expect(call.attempts).toHaveLength(4);
    // The number is the position among all attempts.
    expect(await earlierOf(runId)).toEqual([
      { number: 1, result: PASSED },
      { number: 2, result: PASSED },
    ]);
    expect(await resultsOf(runId)).toHaveLength(1);
  });

  it('the sweep counts the calls that wait for slots, up to the concurrency', async () => {
    const { runId } = await started({ repeat: 6, concurrency: 4 });
    await claimed();
    // The calls have not waited long enough.
    expect(await repository.sweep()).toEqual([]);
    await query(`UPDATE calls SET due_at = now() - interval '3 s' WHERE run_id = '${runId}'`);
    expect(await repository.sweep()).toEqual([{ protocol: 'chat-completions', calls: 3 }]);
  });

  it('ends a run once, and only after all its calls have ended', async () => {
    const { client, runId } = await started({ repeat: 2 });
    await client.post('/workspace/webhooks', { url: 'https://example.com/hook', events: ['run.completed'] });
    const events = () => query(`SELECT body FROM webhook_events WHERE body::text LIKE '%${runId}%'`);
    await end(await claimed());
    await finisher.finish(runId);
    expect((await runOf(client, runId)).status).toBe('RUNNING');
    expect(await repository.findOver()).not.toContain(runId);
    await end(await claimed());
    expect(await repository.findOver()).toContain(runId);
    await Promise.all(Array.from({ length: 5 }, () => finisher.finish(runId)));
    expect((await runOf(client, runId)).status).toBe('COMPLETED');
    expect(await repository.findOver()).not.toContain(runId);
    expect(await events()).toHaveLength(1);
  });

  it('cancels a run without a deadlock while one of its calls is claimed', async () => {
    const { client, runId } = await started({ repeat: 2 });
    const database = app.nest.get(Database);
    const real = database.query.bind(database);
    // Outside the transaction of the request.
    const claimElsewhere = AsyncResource.bind(() => claim());
    let concurrentClaim: Promise<ClaimedCall | undefined> | undefined;
    const spy = jest.spyOn(database, 'query').mockImplementation(async (text, values) => {
      const rows = await real(text, values);
      if (text.includes(`UPDATE runs r SET status = 'CANCELLED'`)) {
        concurrentClaim = claimElsewhere();
        // Until it waits for a lock of the cancellation.
        await Promise.race([
          concurrentClaim,
          until('the claim waits', async () => {
            const waiting = await query(
              `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
            );
            return waiting.length > 0;
          }),
        ]);
      }
      return rows;
    });
    try {
      expect((await client.post(`/runs/${runId}/cancel`)).status).toBe(200);
    } finally {
      spy.mockRestore();
    }
    expect(await concurrentClaim).toBeUndefined();
    expect((await callsOf(runId)).map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED']);
  });
});
