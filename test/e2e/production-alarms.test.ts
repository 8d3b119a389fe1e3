import { LooksService } from '../../src/modules/alarms/looks.service.js';
import { RunFinisher } from '../../src/modules/run-ends/run-finisher.service.js';
import { Database } from '../../src/platform/database/database.js';
import { insertCaseResult } from '../factories/rows.js';
import { bad, BOOKS, good, takeCall } from '../support/production-calls.js';
import { prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import type { TestApp } from '../support/test-app.js';
import { watchingApp } from '../support/watched-schedule.js';

const DAY_MS = 24 * 3_600_000;
const TODAY = Math.floor(Date.now() / DAY_MS);
const dateOf = (day: number) => new Date((TODAY + day) * DAY_MS).toISOString().slice(0, 10);
const CALLS = [1, 2, 3, 4, 5];

let app: TestApp;
beforeAll(async () => void (app = await watchingApp()), 120_000);
afterAll(() => app?.close());

/** An agent with production calls, and a schedule's results beside them. Days are counted from today. */
async function prepare() {
  const { client, agentId, workspaceId } = await prepareEvaluations(app, [BOOKS]);
  await client.post('/workspace/webhooks', {
    url: 'https://example.com/hook',
    events: ['agent.degraded', 'agent.recovered', 'tester.unavailable'],
  });
  const { manager } = app.nest.get(Database);
  const look = () => app.nest.get(LooksService).look(agentId);
  const take = async (day: number, call: typeof good) => {
    const endedAt = (TODAY + day) * DAY_MS + 3_600_000;
    const times = { startedAt: endedAt - 60_000, endedAt };
    for (const n of CALLS) await takeCall(app, { id: agentId, workspaceId }, call(`${day}-${n}-${call.name}`, times));
  };
  return {
    ...{ client, agentId, look, take },
    /** Takes five calls on each of these days, ends the days, and looks at them. */
    days: async (from: number, to: number, call: typeof good) => {
      for (let day = from; day <= to; day++) await take(day, call);
      const runs = await sql<{ id: string }>(
        app.databaseUrl,
        `UPDATE runs SET open_until = now() - interval '1 minute' WHERE agent_id = $1 AND ended_at IS NULL RETURNING id`,
        [agentId],
      );
      for (const { id } of runs) await app.nest.get(RunFinisher).finish(id);
      await look();
    },
    /** Writes what an ended day would have. */
    result: (day: number, values: object) =>
      insertCaseResult(manager, { workspaceId }, agentId, {
        ...{ scheduleId: agentId, caseKey: 'case', endedAt: new Date((TODAY + day) * DAY_MS - 1), ...values },
      }),
    alarms: async () => (await client.get(`/agents/${agentId}/alarms`)).body.data,
    looks: () => sql<any>(app.databaseUrl, 'SELECT * FROM looks WHERE agent_id = $1 ORDER BY ended_at', [agentId]),
    page: async () => String((await client.get(`/agents/${agentId}/page`)).body),
    events: async () =>
      (
        await sql<any>(app.databaseUrl, 'SELECT body FROM webhook_events WHERE agent_id = $1 ORDER BY created_at, id', [
          agentId,
        ])
      ).map(({ body }) => JSON.parse(body)),
  };
}

describe('alarms of production calls', () => {
  it('are raised on the second bad day, say that they are of no schedule, and recover', async () => {
    const { days, alarms, looks, events, page } = await prepare();
    await days(-36, -12, good);
    expect((await looks()).map(({ ended_at, run_ids }) => [ended_at.toISOString(), run_ids.length])).toEqual(
      Array.from({ length: 25 }, (_, at) => [`${dateOf(at - 36)}T23:59:59.999Z`, 1]),
    );
    await days(-11, -11, bad);
    expect(await alarms()).toEqual([]);
    await days(-10, -10, bad);
    const [alarm, ...others] = await alarms();
    expect(others).toEqual([]);
    expect(alarm).toMatchObject({
      ...{ status: 'open', scheduleId: null, scheduleName: 'Production', measure: 'passed', caseKey: null, looks: 2 },
      ...{ since: `${dateOf(-11)}T23:59:59.999Z`, now: { counted: 10, share: 0 }, before: { counted: 125, share: 1 } },
      worstCases: [{ name: 'Books the table' }],
    });
    expect(await events()).toMatchObject([
      { type: 'agent.degraded', data: { scheduleId: null, scheduleName: 'Production', isReminder: false } },
    ]);
    expect(await page()).toContain('Open alarm');
    expect(await page()).toMatch(/Production<\/bdi>: a fall to .* days, in 9 of 10 cases/);
    await days(-9, -4, good);
    expect(await alarms()).toMatchObject([{ id: alarm.id, status: 'recovered' }]);
    expect((await events()).at(-1)).toMatchObject({
      type: 'agent.recovered',
      data: { scheduleId: null, endedBy: 'recovered' },
    });
  }, 240_000);

  it('have a look a day, once, also of a day that was fetched late or got a call after its end', async () => {
    const { days, look, looks, take } = await prepare();
    await days(-3, -2, good);
    await take(-3, bad);
    await look();
    await days(-6, -6, good);
    await look();
    expect((await looks()).map(({ ended_at }) => ended_at.toISOString().slice(0, 10))).toEqual([
      ...[dateOf(-6), dateOf(-3), dateOf(-2)],
    ]);
  });

  it('are apart from the schedules of the agent', async () => {
    const { result, look, looks, alarms, client, agentId } = await prepare();
    for (let day = -30; day < 0; day++) {
      await result(day, { scheduleId: null, passed: 0, failed: 20 });
      await result(day, { passed: 20, failed: 0 });
    }
    await look();
    expect(await looks()).toHaveLength(30);
    expect(await alarms()).toEqual([]);
    const { data } = (await client.get<any>(`/agents/${agentId}/cases/case/history?limit=100`)).body;
    expect(data.map(({ outcomes }: any) => outcomes.failed)).toEqual(Array(30).fill(20));
  });

  it('do not blame the tester for calls on which nothing was decided, but for those that it could not judge', async () => {
    const { result, look, events } = await prepare();
    await result(-3, { passed: 5, failed: 0, invalid: 20 });
    await look();
    expect(await events()).toEqual([]);
    await result(-2, { passed: 5, failed: 0, error: 20 });
    await look();
    expect(await events()).toMatchObject([
      { type: 'tester.unavailable', data: { scheduleId: null, scheduleName: 'Production', calls: 25, notJudged: 20 } },
    ]);
  });
});
