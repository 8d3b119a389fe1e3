import { randomUUID } from 'node:crypto';
import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { ConnectionService } from '../../src/modules/agents/connection/connection.service.js';
import { CapacityService, credentialOf } from '../../src/modules/capacity/capacity.service.js';
import { CallFetcher } from '../../src/modules/monitoring/call-fetcher.service.js';
import { ProductionDays } from '../../src/modules/production-days/production-days.service.js';
import type { KeptCall } from '../simulators/records/kept-calls.js';
import { HttpClient } from '../support/http.js';
import { fetcherOf } from '../support/production-calls.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { wavOf } from '../support/wav-call.js';

const KEY = 'key_of_the_test_1234567890';
/** Of 10: all of them with ALL_CASES. */
const SCALE = process.env['ALL_CASES'] === 'true' ? 10 : 1;
const NUMBER = '390612345678';

/** Calls of real callers in the records of a platform, up to their rows. */
describe('production calls in the records of a platform', () => {
  let database: TestDatabase;
  let app: TestApp;
  let vapi: VapiServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    vapi = await VapiServer.start({ apiKey: KEY });
    const env = { ROLE: 'api', OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', AGENT_PROVIDER_4_PROTOCOL: 'vapi' };
    app = await createTestApp({ env: { ...env, AGENT_PROVIDER_4_URL: vapi.url }, databaseUrl: database.url });
  }, 120_000);
  beforeEach(async () => {
    await sql(database.url, 'UPDATE agents SET call_monitoring = false');
    vapi.kept.all.clear();
    for (const fault of Object.keys(vapi.kept.faults)) delete vapi.kept.faults[fault as keyof typeof vapi.kept.faults];
  });
  afterAll(async () => {
    await app?.close();
    await vapi?.stop();
    await database?.drop();
  });

  async function prepare(values: object = {}) {
    const owner = await app.createWorkspace();
    const client = new HttpClient(app.url, owner.apiKey);
    const agent = { provider: 'AGENT_PROVIDER_4', assistantId: 'assistant_1', apiKey: KEY, callMonitoring: true };
    const created = await client.post('/agents', { workspaceId: owner.workspaceId, ...agent, ...values });
    const agentId: string = created.body.data.id;
    const monitoring = async () => (await client.get(`/agents/${agentId}/monitoring`)).body.data;
    const judged = async () =>
      (
        await sql(database.url, 'SELECT external_id AS id FROM call_imports WHERE agent_id = $1 ORDER BY 1', [agentId])
      ).map(({ id }) => id as string);
    return { owner, client, agentId, monitoring, judged };
  }

  const words: KeptCall['lines'] = [
    { speaker: 'agent', text: 'Good evening.', startMs: 1_000, endMs: 3_000 },
    { speaker: 'caller', text: 'A table for four, please.', startMs: 4_000, endMs: 6_000 },
  ];
  const call = (id: string, more: Partial<KeptCall> = {}): KeptCall => ({
    ...{
      id,
      agent: 'assistant_1',
      startedAt: Date.now() - 41_000,
      endedAt: Date.now() - 1_000,
      lines: words,
      sound: null,
    },
    ...more,
  });
  /** @param withinMs before now */
  const named = (
    name: string,
    count: number,
    more: (index: number) => Partial<KeptCall> = () => ({}),
    withinMs = 480_000,
  ) =>
    Array.from({ length: count }, (_, index) => {
      const endedAt = Date.now() - 1_000 - Math.floor((withinMs * index) / count);
      return call(`${name}_${String(index).padStart(4, '0')}`, {
        startedAt: endedAt - 40_000,
        endedAt,
        ...more(index),
      });
    });

  /** From a step on nothing is read or written any more: before it, or after it took effect. */
  function dyingAt(last: number, hasEffect: boolean): <T extends object>(target: T) => T {
    let steps = 0;
    return (target) =>
      new Proxy(target, {
        get: (object, name) => {
          const found = Reflect.get(object, name) as unknown;
          if (typeof found !== 'function' || name === 'claim' || name === 'followAgents') return found;
          return async (...values: unknown[]) => {
            if (++steps > last) throw new Error('the process is dead');
            const result: unknown = await Reflect.apply(found, object, values);
            if (steps === last && hasEffect) throw new Error('the process is dead');
            return result;
          };
        },
      });
  }
  async function fetch(fetcher = fetcherOf(app)) {
    await sql(database.url, 'UPDATE agent_monitoring SET due_at = now(), lease_until = NULL');
    await sql(database.url, 'UPDATE fetched_calls SET due_at = now() WHERE due_at IS NOT NULL');
    await fetcher.begin();
    await fetcher.settled();
  }

  it('are without the calls of this service, which are known by id, mark and number of the caller', async () => {
    const { agentId, monitoring, judged } = await prepare();
    const capacity = app.nest.get(CapacityService, { strict: false });
    const endpoint = (await app.nest.get(ConnectionService, { strict: false }).endpoint(agentId))!;
    const real = named('real', 90 * SCALE);
    const own = named(
      'own',
      10 * SCALE,
      (index) => [{}, { attempt: randomUUID() }, { callerNumber: `+${NUMBER}` }][index % 3]!,
      30_000,
    );
    for (const { id } of own.filter((_, index) => index % 3 === 0)) {
      await capacity['ledgerOf'](randomUUID(), endpoint).identified(id);
    }
    await sql(
      database.url,
      `INSERT INTO own_calls (key, number, created_at, ended_at) VALUES ('test', '${NUMBER}', now() - interval '40 s', now())`,
    );
    const earlier = call('of_our_number_before', {
      ...{ callerNumber: `+${NUMBER}`, startedAt: Date.now() - 300_000, endedAt: Date.now() - 240_000 },
    });
    vapi.kept.keep(...real, ...own, earlier);
    await sql(database.url, `DELETE FROM agent_monitoring WHERE agent_id = '${agentId}'`);
    await fetch();
    for (let turn = 0; turn < 20 && (await monitoring()).today.judged < real.length + 1; turn++) await fetch();
    expect((await monitoring()).today).toMatchObject({ own: own.length, judged: real.length + 1 });
    expect(await judged()).toEqual([earlier.id, ...real.map(({ id }) => id)]);
    expect(JSON.stringify(await sql(database.url, 'SELECT key FROM own_calls'))).not.toContain(credentialOf(endpoint));
  }, 600_000);

  /** Each is one of these, in turn. */
  const ODD: readonly Record<string, unknown>[] = [
    { artifact: { messages: 'none' } },
    { startedAt: -5 },
    { startedAt: 'NaN' },
    { endedAt: '2999-01-01T00:00:00Z' },
    { endedAt: '-200000-01-01T00:00:00Z' },
    { artifact: { messages: [{ role: 'user', message: 7 }] } },
    { artifact: { messages: [{ role: 'tool_calls', toolCalls: [{ function: { arguments: '{}' } }] }] } },
    { id: { not: 'a text' } },
    { id: 'x'.repeat(300) },
    { artifact: { messages: Array(100_000).fill({ role: 'user', message: 'Good evening, Bella Vista, '.repeat(4) }) } },
  ];

  it('are judged beside records that cannot be read, each of which is a row with a reason', async () => {
    const { client, agentId, monitoring, judged } = await prepare();
    const good = named('good', 95 * SCALE);
    const odd = named('odd', 5 * SCALE, (index) => ({ fields: ODD[(index * (SCALE === 1 ? 2 : 1)) % ODD.length]! }));
    vapi.kept.keep(...good, ...odd);
    for (let reading = 0; reading < 4 + SCALE; reading++) await fetch();
    expect(await monitoring()).toMatchObject({ state: 'healthy' });
    expect(await judged()).toEqual(good.map(({ id }) => id));
    const rows = await sql(
      database.url,
      `SELECT platform_id AS id, outcome, issue FROM fetched_calls WHERE agent_id = $1 AND outcome <> 'judged' ORDER BY 1`,
      [agentId],
    );
    const inList = odd.filter(({ fields }) => fields?.['id'] === undefined);
    expect(rows.map(({ id }) => id)).toEqual(inList.map(({ id }) => id));
    for (const row of rows) expect(row).toMatchObject({ outcome: 'malformed', issue: expect.stringMatching(/\w{3}/) });
    expect((await client.get(`/agents/${agentId}/calls?origin=production&limit=100`)).status).toBe(200);
  }, 600_000);

  it('are fetched although more of them ended at one moment than the platform lists, which is a row with a reason', async () => {
    const { agentId, monitoring, judged } = await prepare();
    await sql(database.url, `DELETE FROM agent_monitoring WHERE agent_id = $1`, [agentId]);
    const endedAt = Date.now() - 240_000;
    vapi.kept.keep(...named('other', 10), ...named('same', 130, () => ({ startedAt: endedAt - 40_000, endedAt })));
    await fetch();
    const { state, today, issues } = await monitoring();
    expect([state, today.judged, today.malformed]).toEqual(['healthy', 110, 1]);
    const at = new Date(endedAt).toISOString();
    expect(issues).toMatchObject([
      { externalId: at, endedAt: at, message: expect.stringMatching(/^More calls ended/) },
    ]);
    expect((await judged()).filter((id) => id.startsWith('other'))).toHaveLength(10);
  }, 60_000);

  it('are judged exactly once although the process dies at any step, with pages of 100 and calls of up to 110 min', async () => {
    const { monitoring, judged } = await prepare();
    const calls = named('call', 120 * SCALE, (index) => {
      const endedAt = Date.now() - 1_000 - index * (480_000 / (120 * SCALE));
      return { endedAt, startedAt: endedAt - [1, 40, 600, 6_600][index % 4]! * 1_000 };
    });
    vapi.kept.keep(...calls);
    await sql(database.url, `UPDATE agent_monitoring SET fetched_until = now() - interval '10 min'`);
    for (let kill = 1; kill < 60 && (await monitoring()).today.judged < calls.length; kill++) {
      await fetch(fetcherOf(app, dyingAt(kill * 9, kill % 2 === 0)));
    }
    await fetch();
    expect(await monitoring()).toMatchObject({ state: 'healthy', message: null });
    expect(await judged()).toEqual(calls.map(({ id }) => id));
  }, 600_000);

  it('are measured exactly once although the process dies at any step, also while a recording arrives or is measured', async () => {
    const { client, agentId, monitoring, judged } = await prepare();
    const lines = [
      { speaker: 'agent', text: 'Good evening.', startMs: 500, endMs: 1_500 },
      { speaker: 'caller', text: 'A table for four, please.', startMs: 2_500, endMs: 4_000 },
      { speaker: 'agent', text: 'Done.', startMs: 5_200, endMs: 7_200 },
    ] as const;
    const calls = named('call', 6 * SCALE, () => ({ lines, sound: wavOf() }));
    vapi.kept.keep(...calls);
    await sql(database.url, `UPDATE agent_monitoring SET fetched_until = now() - interval '10 min'`);
    const done = async () => (await monitoring()).today.judged === calls.length;
    for (let kill = 1; kill < 80 && !(await done()); kill++)
      await fetch(fetcherOf(app, dyingAt(kill * 2, kill % 2 === 0)));
    await fetch();
    expect(await judged()).toEqual(calls.map(({ id }) => id));
    const found = (await client.get(`/agents/${agentId}/calls?origin=production&limit=100`)).body.data;
    expect(found.map(({ status, attempts, latencies }: any) => [status, attempts.length, latencies.length])).toEqual(
      calls.map(() => ['ENDED', 1, 1]),
    );
    expect(await monitoring()).toMatchObject({ state: 'healthy', today: { judged: calls.length, awaited: 0 } });
  }, 600_000);

  it.each([
    ['always has more', { isEndless: true }],
    ['is compressed to a thousandth', { isCompressed: true }],
    [
      'answers with redirects',
      { refusals: Array(40).fill({ status: 302, headers: { location: 'http://127.0.0.1:9/' } }) },
    ],
    ['answers with something else than JSON', { refusals: Array(40).fill({ status: 200, body: '<html>' }) }],
  ])(
    'of a list that %s delay no other agent',
    async (_, fault) => {
      const other = await VapiServer.start({ apiKey: KEY });
      const [bad, good] = [await prepare(), await prepare()];
      await good.client.put(`/agents/${good.agentId}/connection`, { protocol: 'vapi', url: other.url });
      vapi.kept.keep(...named('one', 3));
      other.kept.keep(...named('two', 3));
      Object.assign(vapi.kept.faults, fault);
      await fetch();
      expect(await good.judged()).toHaveLength(3);
      expect(await bad.monitoring()).toMatchObject({ state: 'unavailable', message: expect.stringMatching(/\w{3}/) });
      delete vapi.kept.faults.isEndless;
      delete vapi.kept.faults.isCompressed;
      vapi.kept.faults.refusals = [];
      await fetch();
      expect(await bad.judged()).toHaveLength(3);
      await other.stop();
    },
    120_000,
  );

  it('with the same id are calls of each agent that has them', async () => {
    const [one, other] = [await prepare(), await prepare()];
    vapi.kept.keep(...named('shared', 2));
    await fetch();
    await fetch();
    expect([await one.judged(), await other.judged()]).toEqual(Array(2).fill(['shared_0000', 'shared_0001']));
  });

  it('of an agent that is erased while they are fetched are not stored, and the others are', async () => {
    const [erased, other] = [await prepare(), await prepare({ assistantId: 'assistant_2' })];
    vapi.kept.keep(...named('gone', 3), ...named('stays', 3, () => ({ agent: 'assistant_2' })));
    const days = app.nest.get(ProductionDays, { strict: false });
    const erasing = <T extends object>(target: T): T =>
      (target as unknown) === days
        ? (new Proxy(days, {
            get: (object, name) =>
              name === 'take'
                ? async (agent: { id: string }, one: never) => {
                    if (agent.id === erased.agentId) {
                      const query = '?permanently=true';
                      expect((await erased.client.delete(`/agents/${erased.agentId}${query}`)).status).toBeLessThan(
                        300,
                      );
                    }
                    return days.take(agent as never, one);
                  }
                : (Reflect.get(object, name) as unknown),
          }) as unknown as T)
        : target;
    await fetch(fetcherOf(app, erasing));
    await fetch();
    expect(await other.judged()).toHaveLength(3);
    expect(await erased.judged()).toEqual([]);
  });

  it('are asked for at most four times a second with one key', async () => {
    await prepare();
    vapi.kept.keep(...named('call', 6));
    vapi.kept.askedAt.length = 0;
    await fetch(app.nest.get(CallFetcher, { strict: false }));
    const gaps = vapi.kept.askedAt.slice(1).map((at, index) => at - vapi.kept.askedAt[index]!);
    expect(gaps.length).toBeGreaterThanOrEqual(6);
    expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeGreaterThan(200);
  });
});
