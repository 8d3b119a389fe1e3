import { CallFailure, type CallLedger } from '../../libs/simulation/index.js';
import { DialLimitsRepository } from '../../src/modules/capacity/dial-limits.repository.js';
import { DialLimitsService, type DiallingCall } from '../../src/modules/capacity/dial-limits.service.js';
import { prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

describe('the limits of calls to telephone numbers', () => {
  let database: TestDatabase;
  let app: TestApp;
  let other: TestApp;
  let limits: DialLimitsService;

  beforeAll(async () => {
    database = await createTestDatabase();
    const env = { ROLE: 'api', SIP_CALLS_PER_DAY: '10', SIP_MINUTES_PER_DAY: '5', SIP_CALLS_PER_SECOND: '20' };
    app = await createTestApp({ env, databaseUrl: database.url });
    other = await createTestApp({ env, databaseUrl: database.url });
    limits = app.nest.get(DialLimitsService);
  });
  afterAll(async () => {
    await Promise.all([app.close(), other.close()]);
    await database.drop();
  });

  const workspace = async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const { body } = await client.get(`/agents/${agentId}`);
    return body.data.workspaceId as string;
  };
  const usage = async (workspaceId: string) => {
    const [row] = await sql<any>(database.url, 'SELECT calls, seconds FROM dial_usage WHERE workspace_id = $1', [
      workspaceId,
    ]);
    return row;
  };
  /** A ledger that counts what was dialled. */
  const ledgerOf = () => {
    const placed: number[] = [];
    const ledger: CallLedger = {
      placed: () => Promise.resolve(void placed.push(performance.now())),
      identified: () => Promise.resolve(),
      paid: () => Promise.resolve(),
    };
    return { placed, ledger };
  };
  const begin = async (service: DialLimitsService, { trunk, ...call }: DiallingCall & { readonly trunk?: string }) => {
    const { ledger, placed } = ledgerOf();
    await service.turn(trunk === undefined ? {} : { trunk });
    const limited = service.limit(ledger, call);
    await limited.ledger!.placed({});
    return { ...limited, placed };
  };

  it('let at most SIP_CALLS_PER_DAY calls of a workspace begin on a day, in all processes', async () => {
    const [workspaceId, another] = [await workspace(), await workspace()];
    const services = [limits, other.nest.get(DialLimitsService)];
    const call = { workspaceId, number: '+390612345678', seconds: 10 };
    const begun = await Promise.allSettled(Array.from({ length: 24 }, (_, index) => begin(services[index % 2]!, call)));
    const refused = begun.flatMap((one) => (one.status === 'rejected' ? [one.reason as CallFailure] : []));
    expect(refused).toHaveLength(14);
    for (const { failure } of refused) {
      expect(failure).toMatchObject({ code: 'dial_limit', fault: 'infrastructure', retryable: false });
    }
    await expect(usage(workspaceId)).resolves.toEqual({ calls: 10, seconds: 100 });
    await expect(begin(limits, { ...call, workspaceId: another })).resolves.toBeDefined();
  });

  it('count a call as its longest until it hangs up, and once', async () => {
    const workspaceId = await workspace();
    const call = { workspaceId, number: '+390612345678', seconds: 200 };
    const { ledger, hungUp } = await begin(limits, call);
    await ledger!.placed({ answered: true });
    await expect(begin(limits, call)).rejects.toMatchObject({ failure: { code: 'dial_limit' } });
    await expect(usage(workspaceId)).resolves.toEqual({ calls: 1, seconds: 200 });
    hungUp();
    hungUp();
    await until('the rest is given back', async () => (await usage(workspaceId)).seconds < 5);
    await expect(usage(workspaceId)).resolves.toMatchObject({ calls: 1 });
    await expect(begin(limits, call)).resolves.toBeDefined();
  });

  it('begin again on the next day in UTC', async () => {
    const workspaceId = await workspace();
    const call = { workspaceId, number: '+390612345678', seconds: 300 };
    await begin(limits, call);
    await sql(database.url, 'UPDATE dial_usage SET day = day - 1, calls = 10 WHERE workspace_id = $1', [workspaceId]);
    await expect(begin(limits, call)).resolves.toBeDefined();
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await app.nest.get(DialLimitsRepository).giveBack(workspaceId, yesterday, 300);
    await expect(usage(workspaceId)).resolves.toEqual({ calls: 1, seconds: 300 });
  });

  it('refuse a plan with more calls or minutes than are left', async () => {
    const workspaceId = await workspace();
    const { hungUp } = await begin(limits, { workspaceId, number: '+390612345678', seconds: 60 });
    await expect(limits.requireRoom(workspaceId, { calls: 9, seconds: 240 })).resolves.toBeUndefined();
    await expect(limits.requireRoom(workspaceId, { calls: 10, seconds: 10 })).rejects.toMatchObject({
      code: 'CONFLICT',
      message:
        'A workspace may have 10 calls to telephone numbers on a day in UTC (SIP_CALLS_PER_DAY): 1 are used today, and the run has up to 10',
    });
    await expect(limits.requireRoom(workspaceId, { calls: 1, seconds: 241 })).rejects.toMatchObject({
      message: expect.stringContaining('(SIP_MINUTES_PER_DAY): 1 are used today, and the run has up to 5'),
    });
    hungUp();
  });

  it('begin calls of a trunk one after another, in all processes', async () => {
    const [workspaceId, another] = [await workspace(), await workspace()];
    const call = { number: '+390612345678', seconds: 1, trunk: 'sip:trunk.example:5060;transport=tcp acme' };
    const services = [limits, other.nest.get(DialLimitsService)];
    const startedAt = performance.now();
    const begun = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((n) =>
        begin(services[n % 2]!, { ...call, workspaceId: n % 3 === 0 ? workspaceId : another }),
      ),
    );
    const last = Math.max(...begun.map(({ placed }) => placed[0]!));
    // Twenty of them in a second, on two clocks that may drift a little.
    expect(last - startedAt).toBeGreaterThan(5 * 50 - 10);
  });

  it('end the wait for a turn with the call that is cancelled, and refuse a turn that is too far away', async () => {
    const trunk = 'sip:slow.example';
    await sql(database.url, `INSERT INTO trunk_pace VALUES ($1, now() + interval '1 hour')`, [trunk]);
    await expect(limits.turn({ trunk }, undefined, 5_000)).resolves.toBe(false);
    const [{ wait }] = await sql<any>(database.url, 'SELECT next_at - now() AS wait FROM trunk_pace WHERE trunk = $1', [
      trunk,
    ]);
    expect(wait.minutes).toBe(59);
    const cancelled = new AbortController();
    const waits = limits.turn({ trunk }, cancelled.signal);
    cancelled.abort();
    await expect(waits).rejects.toThrow();
  });

  it('do not count calls to names', async () => {
    const workspaceId = await workspace();
    await begin(limits, { workspaceId, seconds: 1_000 });
    await expect(usage(workspaceId)).resolves.toBeUndefined();
  });
});
