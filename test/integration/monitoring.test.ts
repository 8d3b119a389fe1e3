import { randomUUID } from 'node:crypto';
import type { ProductionCall, ProductionCalls } from '../../libs/simulation/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { AgentsService } from '../../src/modules/agents/agents.service.js';
import { ConnectionService } from '../../src/modules/agents/connection/connection.service.js';
import { CapacityRepository } from '../../src/modules/capacity/capacity.repository.js';
import { CapacityService, credentialOf } from '../../src/modules/capacity/capacity.service.js';
import { CallFetcher, isSampled } from '../../src/modules/monitoring/call-fetcher.service.js';
import { MonitoringRepository } from '../../src/modules/monitoring/monitoring.repository.js';
import { MonitoringService } from '../../src/modules/monitoring/monitoring.service.js';
import { SoundFetcher } from '../../src/modules/monitoring/sound-fetcher.service.js';
import { RecordingUploadsService } from '../../src/modules/recordings/recording-uploads.service.js';
import { WebhooksService } from '../../src/modules/webhooks/webhooks.service.js';
import type { Caller } from '../../src/platform/access/caller.js';
import { Clock } from '../../src/platform/clock.js';
import { SETTINGS } from '../../src/platform/config/settings.module.js';
import type { Settings } from '../../src/platform/config/settings.js';
import { Database } from '../../src/platform/database/database.js';
import { DomainError } from '../../src/platform/errors/domain-error.js';
import { Queue } from '../../src/platform/queue/queue.js';
import type { KeptCall } from '../simulators/records/kept-calls.js';
import { HttpClient } from '../support/http.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const KEY = 'key_of_the_test_1234567890';
const AGENT = 'assistant_1';

/** Takes what it is given, and fails when a test says so. */
class Judging implements ProductionCalls {
  readonly begin = () => Promise.resolve();
  readonly end = () => Promise.resolve();
  readonly taken: ProductionCall[] = [];
  failure: Error | undefined;

  take(_agent: { readonly id: string }, call: ProductionCall) {
    if (this.failure) return Promise.reject(this.failure);
    const isKnown = this.taken.some(({ id }) => id === call.id);
    if (!isKnown) this.taken.push(call);
    return Promise.resolve(isKnown ? ('known' as const) : ('judged' as const));
  }

  get ids(): string[] {
    return this.taken.map(({ id }) => id).sort();
  }
}

describe('the monitoring of an agent', () => {
  let database: TestDatabase;
  let app: TestApp;
  let vapi: VapiServer;
  let judging: Judging;
  let fetcher: CallFetcher;
  let service: MonitoringService;
  let caller: Caller;
  let agentId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    vapi = await VapiServer.start({ apiKey: KEY });
    const env = { ROLE: 'api', OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', AGENT_PROVIDER_4_PROTOCOL: 'vapi' };
    app = await createTestApp({ env: { ...env, AGENT_PROVIDER_4_URL: vapi.url }, databaseUrl: database.url });
  });
  beforeEach(async () => {
    await sql(database.url, 'UPDATE agents SET call_monitoring = false');
    vapi.kept.all.clear();
    vapi.kept.askedAt.length = 0;
    for (const fault of Object.keys(vapi.kept.faults)) delete vapi.kept.faults[fault as keyof typeof vapi.kept.faults];
    judging = new Judging();
    ({ fetcher, service } = started());
    const { workspaceId, userId, apiKey } = await app.createWorkspace();
    caller = { workspaceId, userId, role: 'ADMIN' } as Caller;
    const body = { provider: 'AGENT_PROVIDER_4', assistantId: AGENT, apiKey: KEY, callMonitoring: true, name: 'Bella' };
    const { body: created } = await new HttpClient(app.url, apiKey).post('/agents', { workspaceId, ...body });
    agentId = (created.data as { id: string }).id;
  });
  afterAll(async () => {
    await app.close();
    await vapi.stop();
    await database.drop();
  });

  /** What a process has. */
  function started(production: ProductionCalls = judging) {
    const get = <T>(type: abstract new (...args: never[]) => T): T => app.nest.get(type, { strict: false });
    const [agents, connections, clock] = [get(AgentsService), get(ConnectionService), get(Clock)];
    const repository = new MonitoringRepository(get(Database));
    const settings = app.nest.get<Settings>(SETTINGS, { strict: false });
    const sounds = new SoundFetcher(repository, get(RecordingUploadsService), clock, production, settings);
    return {
      fetcher: new CallFetcher(
        ...([repository, agents, connections, get(CapacityService), get(WebhooksService)] as const),
        ...([get(OutboundClient), sounds, clock, production, new Queue(get(Database))] as const),
      ),
      service: new MonitoringService(get(Database), repository, agents, connections, clock),
    };
  }

  const call = (id: string, more: Partial<KeptCall> = {}): KeptCall => ({
    ...{ id, agent: AGENT, startedAt: Date.now() - 41_000, endedAt: Date.now() - 1_000, sound: null },
    lines: [
      { speaker: 'agent', text: 'Good evening.', startMs: 1_000, endMs: 3_000 },
      { speaker: 'caller', text: 'A table for four, please.', startMs: 4_000, endMs: 6_000 },
    ],
    ...more,
  });
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => call(`call_${index}`));
  /** Fetches once more, as if it were due. */
  async function fetch(by = fetcher) {
    await sql(database.url, 'UPDATE agent_monitoring SET due_at = now(), lease_until = NULL');
    await by.begin();
    await by.settled();
    return service.get(caller, agentId);
  }

  it('begins when it is switched on, takes each call once, and stops when it is switched off', async () => {
    vapi.kept.keep(call('before', { startedAt: Date.now() - 7_200_000, endedAt: Date.now() - 3_600_000 }));
    expect((await service.get(caller, agentId)).state).toBe('starting');
    vapi.kept.keep(...numbered(12));
    expect(await fetch()).toMatchObject({ state: 'healthy', message: null, today: { judged: 12 } });
    vapi.kept.keep(call('next'));
    await fetch();
    await fetch();
    expect(judging.ids).toEqual([...numbered(12).map(({ id }) => id), 'next'].sort());
    await sql(database.url, 'UPDATE agents SET call_monitoring = false');
    vapi.kept.keep(call('after'));
    expect(await fetch()).toMatchObject({ state: 'off', today: { judged: 13 } });
    expect(judging.ids).not.toContain('after');
  });

  it('leaves out calls of this service, by their ids and by their mark, and counts them', async () => {
    const endpoint = (await app.nest.get(ConnectionService, { strict: false }).endpoint(agentId))!;
    const capacity = app.nest.get(CapacityService, { strict: false });
    const ledger = capacity['ledgerOf'](randomUUID(), endpoint);
    await ledger.placed({ id: 'own_1' }, 'own_1').catch(() => undefined);
    await ledger.identified('own_2');
    vapi.kept.keep(call('own_1'), call('own_2'), call('own_3', { attempt: randomUUID() }), call('real'));
    expect((await fetch()).today).toMatchObject({ own: 3, judged: 1 });
    expect(judging.ids).toEqual(['real']);
    const [row] = await sql(database.url, 'SELECT key FROM own_calls LIMIT 1');
    expect(JSON.stringify(row)).not.toMatch(new RegExp(`own_|${credentialOf(endpoint)}`));
  });

  it('takes the same sample, whenever calls are fetched', async () => {
    await service.put(caller, agentId, { samplePercent: 40 });
    vapi.kept.keep(...numbered(30));
    const { today } = await fetch();
    const sample = numbered(30)
      .filter(({ id }) => isSampled(id, 40))
      .map(({ id }) => id);
    expect(judging.ids).toEqual(sample.sort());
    expect(today).toMatchObject({ judged: sample.length, sampledOut: 30 - sample.length });
    expect([isSampled('any', 0), isSampled('any', 100)]).toEqual([false, true]);
  });

  it('notes records that cannot be read, with the reason, reads them four times, and takes the others', async () => {
    const odd = Array.from({ length: 6 }, (_, n) =>
      call(`odd_${n}`, {
        endedAt: Date.now() - 5_000,
        fields: n === 0 ? { endedAt: 'soon' } : { artifact: { messages: 'none' } },
      }),
    );
    vapi.kept.keep(...odd, ...numbered(5), call('late', { fields: { artifact: undefined } }));
    expect((await fetch()).today).toMatchObject({ judged: 5, awaited: 7 });
    for (let reading = 0; reading < 3; reading++) {
      await sql(database.url, 'UPDATE fetched_calls SET due_at = now() WHERE due_at IS NOT NULL');
      await fetch();
    }
    expect((await service.get(caller, agentId)).today).toMatchObject({
      judged: 5,
      malformed: 6,
      noWords: 1,
      awaited: 0,
    });
    const rows = await sql(
      database.url,
      `SELECT issue FROM fetched_calls WHERE outcome = 'malformed' AND agent_id = '${agentId}'`,
    );
    expect(rows).toHaveLength(6);
    for (const { issue } of rows) expect(issue).toContain('record of the call cannot be read');
  });

  it('reads a record again whose words come late', async () => {
    vapi.kept.keep(call('late', { fields: { artifact: undefined } }));
    await fetch();
    vapi.kept.keep(call('late'));
    await sql(database.url, 'UPDATE fetched_calls SET due_at = now()');
    expect((await fetch()).today).toMatchObject({ judged: 1, awaited: 0 });
    expect(judging.taken[0]!.said).toHaveLength(2);
  });

  it('pauses with an event when the platform refuses the key, and resumes with a new key', async () => {
    await sql(database.url, `UPDATE agents SET webhook_url = 'https://hooks.example/a' WHERE id = '${agentId}'`);
    vapi.kept.keep(...numbered(2));
    vapi.kept.faults.refusals = [{ status: 401, body: '{"message":"Invalid Key"}' }];
    expect(await fetch()).toMatchObject({
      state: 'invalid_credential',
      message: expect.stringMatching(/^The platform refused to give the records of its calls: .*Invalid Key/),
    });
    const asked = vapi.kept.askedAt.length;
    expect(await fetch()).toMatchObject({
      state: 'invalid_credential',
      message: expect.stringContaining('Invalid Key'),
    });
    expect(vapi.kept.askedAt).toHaveLength(asked);
    const events = await sql(database.url, `SELECT body FROM webhook_events WHERE type = 'monitoring.paused'`);
    expect(events).toHaveLength(1);
    const provider = app.nest.get(AgentsService, { strict: false });
    await provider.update(caller, agentId, { apiKey: 'another_key_0987654321' });
    expect((await fetch()).state).toBe('invalid_credential');
    await provider.update(caller, agentId, { apiKey: KEY });
    expect(await fetch()).toMatchObject({ state: 'healthy', message: null, today: { judged: 2 } });
  });

  it('waits as long as the platform asks, and goes on where it was', async () => {
    vapi.kept.keep(...numbered(3));
    vapi.kept.faults.refusals = [{ status: 429, headers: { 'retry-after': '600' } }];
    expect(await fetch()).toMatchObject({
      state: 'rate_limited',
      message: expect.stringMatching(/^The platform .*429/),
    });
    const [row] = await sql(
      database.url,
      `SELECT extract(epoch FROM due_at - now()) AS s FROM agent_monitoring WHERE agent_id = '${agentId}'`,
    );
    expect(Number(row!['s'])).toBeGreaterThan(590);
    vapi.kept.faults.refusals = [{ status: 503, body: 'down' }];
    const down = await fetch();
    expect(down).toMatchObject({ state: 'unavailable', message: expect.stringContaining('503') });
    expect(down.message).not.toMatch(/agent/);
    expect(await fetch()).toMatchObject({ state: 'healthy', today: { judged: 3 } });
  });

  it('takes every call exactly once although it could not be judged before, and two processes fetch', async () => {
    vapi.kept.keep(...numbered(8));
    judging.failure = new Error('a bug');
    expect(await fetch()).toMatchObject({ state: 'healthy', today: { awaited: 8 } });
    judging.failure = undefined;
    await sql(database.url, 'UPDATE agent_monitoring SET due_at = now(), lease_until = NULL');
    await sql(database.url, 'UPDATE fetched_calls SET due_at = now() WHERE due_at IS NOT NULL');
    const other = started().fetcher;
    await Promise.all([fetcher.begin(), other.begin()]);
    await Promise.all([fetcher.settled(), other.settled()]);
    await fetch();
    expect(judging.ids).toEqual(numbered(8).map(({ id }) => id));
  });

  it('fetches calls of the past on request, at most 30 days', async () => {
    const day = 24 * 60 * 60_000;
    const past = call('past', { startedAt: Date.now() - 10 * day, endedAt: Date.now() - 10 * day + 60_000 });
    vapi.kept.keep(past);
    await fetch();
    expect(judging.ids).toEqual([]);
    await service.backfill(caller, agentId, { from: new Date(Date.now() - 11 * day).toISOString() });
    await fetch();
    expect(judging.ids).toEqual(['past']);
    const refused = (days: number) =>
      service.backfill(caller, agentId, { from: new Date(Date.now() - days * day).toISOString() });
    await expect(refused(31)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(refused(-1)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('does not take calls that ended more than 31 days ago, though their records were changed of late', async () => {
    const ended = (days: number) => {
      const endedAt = Date.now() - days * 24 * 60 * 60_000;
      const [from, to] = [new Date(endedAt - 40_000), new Date(endedAt)].map((at) => at.toISOString());
      return { fields: { startedAt: from, endedAt: to, updatedAt: new Date().toISOString() } };
    };
    vapi.kept.keep(call('old', ended(32)), call('younger', ended(30)));
    await fetch();
    expect(judging.ids).toEqual(['younger']);
  });

  it('names what refuses its calls, and goes on once it does not', async () => {
    vapi.kept.keep(call('call_1'));
    judging.failure = new DomainError('CONFLICT', 'The workspace has too many runs');
    const message = expect.stringContaining('too many runs');
    expect(await fetch()).toMatchObject({ state: 'unavailable', message });
    const leases = `SELECT lease_until FROM agent_monitoring WHERE agent_id = '${agentId}'`;
    expect(await sql(database.url, leases)).toEqual([{ lease_until: null }]);
    judging.failure = undefined;
    expect(await fetch()).toMatchObject({ state: 'healthy', message: null, today: { judged: 1 } });
  });

  it('is refused for a platform without records, with the door for calls', async () => {
    const provider = app.nest.get(AgentsService, { strict: false });
    const body = { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: KEY, workspaceId: caller.workspaceId };
    const { id } = await provider.create(caller, body as never);
    const connections = app.nest.get(ConnectionService, { strict: false });
    await connections.put(caller, id, { url: `${vapi.url}/v1`, protocol: 'chat-completions' });
    await expect(service.put(caller, id, { samplePercent: 10 })).rejects.toMatchObject({
      ...{ code: 'CONFLICT', message: expect.anything() },
    });
    await expect(
      service.put({ ...caller, workspaceId: randomUUID() }, agentId, { samplePercent: 1 }),
    ).rejects.toThrow();
  });

  it('forgets which calls are known after 40 days', async () => {
    vapi.kept.keep(...numbered(2));
    await fetch();
    await sql(
      database.url,
      `UPDATE fetched_calls SET fetched_at = now() - interval '41 days' WHERE platform_id = 'call_0' AND agent_id = '${agentId}'`,
    );
    await sql(database.url, `INSERT INTO own_calls (key, created_at) VALUES ('old', now() - interval '41 days')`);
    const database_ = app.nest.get(Database, { strict: false });
    expect(await new MonitoringRepository(database_).prune(40)).toBe(1);
    await app.nest.get(CapacityRepository, { strict: false }).forgetOver();
    expect(await sql(database.url, `SELECT key FROM own_calls WHERE key = 'old'`)).toEqual([]);
  });
});
