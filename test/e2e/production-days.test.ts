import { randomInt } from 'node:crypto';
import type { MonitoredAgent, ProductionCall } from '../../libs/simulation/index.js';
import { ProductionDays } from '../../src/modules/production-days/production-days.service.js';
import { RunPruner } from '../../src/modules/retention/run-pruner.js';
import { sendCompletion, TestServers } from '../simulators/servers.js';
import { expectError } from '../support/expect.js';
import type { ApiResponse } from '../support/http.js';
import { LogLines } from '../support/log-lines.js';
import { bad, BOOKS as books, good, productionCall as call, question, takeCall } from '../support/production-calls.js';
import { callEnv, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const DAY = new Date().toISOString().slice(0, 10);
const PERSONALITY = { scenarioText: 'You want a table.' };
const polite = {
  key: 'polite',
  name: 'Is polite',
  ...PERSONALITY,
  scope: 'production',
  criteria: [{ text: 'The agent is polite' }],
};
const test = { key: 'test', name: 'Only of tests', ...PERSONALITY, checks: [{ type: 'says', text: 'never said' }] };

describe('the days of production calls', () => {
  const servers = new TestServers();
  const log = new LogLines();
  let app: TestApp;
  let asked: string[] = [];

  beforeAll(async () => {
    const model = await servers.http((response, request) => {
      asked.push(JSON.stringify(request));
      const decided = JSON.stringify({ reasoning: 'So it is.', quote: 'Good evening', met: true });
      sendCompletion(response, decided);
    });
    const env = {
      ...callEnv('http://127.0.0.1:9/v1'),
      LLM_BASE_URL: `${model}/v1`,
      LLM_MODEL: 'stub',
      RECORDINGS: 'off',
    };
    app = await createTestApp({ env, log });
  }, 120_000);
  beforeEach(() => {
    asked = [];
  });
  afterAll(async () => {
    await app?.close();
    await servers.close();
  });

  async function prepare(evaluations: readonly object[] = [books, polite, test]) {
    const subject = await prepareEvaluations(app, evaluations);
    const { agentId, workspaceId, client } = subject;
    const agent: MonitoredAgent = { id: agentId, workspaceId };
    const runs = async (query = '?origin=production') =>
      (await client.get(`/agents/${agentId}/runs${query}`)).body.data;
    return {
      ...subject,
      take: (one: ProductionCall, judging?: MonitoredAgent['judging']) =>
        takeCall(app, { ...agent, ...(judging && { judging }) }, one),
      runs,
      run: async () => (await client.get(`/runs/${(await runs())[0].id}`)).body.data,
      calls: async (): Promise<any[]> =>
        (await client.get(`/agents/${agentId}/calls?origin=production&limit=100`)).body.data,
    };
  }
  const all = { judge: true, maxJudgedPerDay: 500, redact: ['card', 'iban', 'email', 'phone'] as const };

  it('keeps a call of each evaluation that is about it in one run of its day, once', async () => {
    const { take, runs, run, calls, client, agentId } = await prepare();
    expect([await take(good('a')), await take(good('a')), await take(bad('b'))]).toEqual(['judged', 'known', 'judged']);
    expect(await take(question('c'))).toBe('judged');
    expect(await runs('')).toEqual([]);
    expect(await runs()).toMatchObject([{ name: `Production, ${DAY}`, origin: 'production', status: 'RUNNING' }]);
    expect(await run()).toMatchObject({
      ...{ label: 'READ', day: DAY, totalCalls: 5, exitCode: null, minimumScore: null },
      ...{ counts: { passed: 1, failed: 1, invalid: 3 }, production: { notApplicable: 1, overLimit: 0, unjudged: 0 } },
    });
    const found = (await calls()).map(({ externalId, evaluationName, outcome }) => [
      externalId,
      evaluationName,
      outcome,
    ]);
    expect(found.sort()).toEqual([
      ['a', 'Books the table', 'passed'],
      ['a', 'Is polite', 'invalid'],
      ['b', 'Books the table', 'failed'],
      ['b', 'Is polite', 'invalid'],
      ['c', 'Is polite', 'invalid'],
    ]);
    const [failed] = (await client.get(`/agents/${agentId}/calls?outcome=failed`)).body.data;
    expect((await client.get(`/calls/${failed.id}`)).body.data).toMatchObject({
      ...{
        protocol: 'recording',
        imported: { origin: 'production', externalId: 'b', reported: { turn: [640, 1_900] } },
      },
      reason: expect.stringContaining('book_table'),
    });
    expect(asked).toEqual([]);
  });

  it('judges the criteria of as many calls as it may, with the redacted words, if that is switched on', async () => {
    const { take, run, calls } = await prepare([polite]);
    const judging = { ...all, maxJudgedPerDay: 2 };
    for (const id of ['a', 'b', 'c']) await take(call(id, ['Good evening.', 'I am at 415-555-0142.']), judging);
    expect((await calls()).map(({ externalId, outcome }) => [externalId, outcome]).sort()).toEqual([
      ['a', 'passed'],
      ['b', 'passed'],
      ['c', 'invalid'],
    ]);
    expect(await run()).toMatchObject({ production: { unjudged: 1 } });
    expect(asked.join()).toContain('[phone number 1]');
    expect(asked.join()).not.toContain('555');
    // What was not asked is not compared with what was.
    const { id } = await run();
    await sql(app.databaseUrl, 'UPDATE runs SET open_until = now() WHERE id = $1', [id]);
    await until('the run has ended', async () => (await run()).status === 'COMPLETED');
    const results = 'SELECT name, passed, invalid FROM case_results WHERE run_id = $1 ORDER BY name';
    expect(await sql(app.databaseUrl, results, [id])).toEqual([
      { name: 'Is polite', passed: 2, invalid: 0 },
      { name: 'Is polite (criteria not judged)', passed: 0, invalid: 1 },
    ]);
  });

  it('does not ask for a check with a criterion that is not judged', async () => {
    const criterion = { type: 'criterion', criterion: 'The agent is polite' };
    const either = { type: 'any_of', checks: [criterion, { type: 'says', text: 'never said' }] };
    const checks = [{ type: 'says', text: 'Good evening' }, either];
    const { take, calls } = await prepare([{ ...polite, criteria: [], checks }]);
    await take(question('a'));
    const [{ outcome, reason }] = await calls();
    expect([outcome, reason]).toEqual(['passed', expect.stringContaining('Not decided and not counted')]);
  });

  it('takes each evaluation as it was at the first call of the day, and counts calls beyond the most of a day', async () => {
    const { take, run, client, evaluationIds, agentId } = await prepare([books]);
    await take(bad('a'));
    await client.patch(`/evaluations/${evaluationIds[0]}`, { checks: [] });
    await client.post(`/agents/${agentId}/evaluations`, {
      ...polite,
      personalityId: (await client.get('/personalities')).body.data[0].id,
    });
    await take(bad('b'));
    expect(await run()).toMatchObject({ counts: { failed: 2 }, totalCalls: 2 });
    await sql(app.databaseUrl, 'UPDATE run_evaluations SET taken = 10000');
    expect(await take(bad('c'))).toBe('over_limit');
    expect(await run()).toMatchObject({ totalCalls: 2, production: { overLimit: 1 } });
  });

  it('judges by an evaluation of its own if there is none for production calls, and also if a personality was deleted', async () => {
    const { take, run, calls, client, personalityId, agentId, workspaceId } = await prepare([test]);
    for (let time = 0; time < 2; time++)
      await app.nest.get(ProductionDays, { strict: false }).begin({ id: agentId, workspaceId });
    const { data } = (await client.get(`/agents/${agentId}/evaluations`)).body;
    expect(data.map(({ key }: { key: string }) => key)).toEqual(['production', 'test']);
    await take(call('a', ['Good evening.', 'Hello.', 'Call 415-555-0142.']));
    expect((await calls()).map(({ evaluationName, outcome }) => [evaluationName, outcome])).toEqual([
      ['Real callers', 'passed'],
    ]);
    expect(await run()).toMatchObject({ counts: { passed: 1 } });
    await client.delete(`/personalities/${personalityId}`);
    const other = await prepare([books]);
    await other.client.delete(`/personalities/${other.personalityId}`);
    expect(await other.take(good('a'))).toBe('judged');
  });

  it.each(['day_calls', 'run_evaluations', 'calls', 'call_results', 'call_imports', 'runs'])(
    'stores nothing of a call if it breaks off at the table %s, and all of it the next time',
    async (table) => {
      const { take, run, agentId } = await prepare([books]);
      await take(good('first'));
      await sql(
        app.databaseUrl,
        `CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken off'; END $$`,
      );
      await sql(
        app.databaseUrl,
        `CREATE TRIGGER break_off BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION break_off()`,
      );
      await expect(take(bad('a'))).rejects.toThrow('broken off');
      await sql(app.databaseUrl, 'DROP FUNCTION break_off CASCADE');
      expect(await sql(app.databaseUrl, `SELECT FROM day_calls WHERE agent_id = $1`, [agentId])).toHaveLength(1);
      expect([await take(bad('a')), await take(bad('a'))]).toEqual(['judged', 'known']);
      expect(await run()).toMatchObject({ totalCalls: 2, counts: { passed: 1, failed: 1 } });
    },
  );

  it('ends after its day without gate and events, and a later call joins it', async () => {
    const { take, run, client, agentId, calls } = await prepare([books]);
    await client.post('/webhooks', { url: 'https://hooks.example.com/x' });
    await take(bad('a'));
    const { id } = await run();
    expectConflict(await client.post(`/runs/${id}/cancel`), 'it ends after its day');
    expectConflict(await client.delete(`/runs/${id}`), 'has not ended');
    await sql(app.databaseUrl, 'UPDATE runs SET open_until = now() WHERE id = $1', [id]);
    await until('the run has ended', async () => (await run()).status === 'COMPLETED');
    expect(await run()).toMatchObject({ exitCode: null, score: 50, counts: { failed: 1 }, reasons: [] });
    await take(good('b'));
    expect(await run()).toMatchObject({
      status: 'COMPLETED',
      score: 75,
      totalCalls: 2,
      counts: { passed: 1, failed: 1 },
    });
    expect((await client.get(`/agents/${agentId}/runs?origin=production&status=COMPLETED`)).body.data).toMatchObject([
      { outcomes: { passed: 1, failed: 1 } },
    ]);
    expect(await sql(app.databaseUrl, 'SELECT FROM webhook_events WHERE agent_id = $1', [agentId])).toEqual([]);
    expect(
      await sql(app.databaseUrl, 'SELECT schedule_id, passed, failed FROM case_results WHERE run_id = $1', [id]),
    ).toEqual([{ schedule_id: agentId, passed: 1, failed: 1 }]);
    expect((await client.get(`/agents/${agentId}/cases/books/history`)).status).toBe(404);
    const junit = String((await client.get(`/runs/${id}/junit`)).body);
    expect(junit.match(/<testcase/g)).toHaveLength(2);
    expect(junit).not.toContain('gate');
    expect((await client.get(`/agents/${agentId}/metrics`)).body.data).toMatchObject({ runs: { total: 0 } });
    expectConflict(await client.post(`/runs/${id}/rerun`), 'real callers');
    expectConflict(await client.post(`/agents/${agentId}/runs`, { notWorseThan: id }), 'production calls');
    await client.post(`/runs/${id}/rejudge`);
    expect(await calls()).toHaveLength(2);
  });

  it('keeps none of 200 planted numbers, cards and addresses, and decides the checks on them', async () => {
    const { take, calls } = await prepare([
      { ...polite, key: 'no-data', name: 'No data', checks: [{ type: 'no_personal_data', speaker: 'agent' }] },
      {
        ...{ key: 'reads-back', name: 'Reads back', ...PERSONALITY, scope: 'production' },
        checks: [
          {
            type: 'in_order',
            events: [
              { speaker: 'caller', pattern: '\\d|@' },
              { speaker: 'agent', pattern: 'So.*(\\d|@)' },
            ],
          },
        ],
      },
    ]);
    const planted: string[] = [];
    const plant = [
      () => `+1 415 ${randomInt(200, 999)} ${randomInt(1_000, 9_999)}`,
      () => withLuhn(`4${randomInt(10 ** 13, 10 ** 14)}`),
      () => `anna.${randomInt(10 ** 6)}@example.com`,
      () => `0${randomInt(10 ** 9, 10 ** 10)}`,
    ];
    for (let at = 0; at < 200; at += 4) {
      const values = plant.map((of) => of());
      planted.push(...values);
      const numbers = { phone: Number(values[3]), contact: { mail: values[2]!, [values[0]!]: true } };
      const words = ['Good evening.', `I am ${values.join(' or ')}, please.`, `So ${values.join(' and ')}.`];
      await take(
        call(`planted-${at}`, words, {
          toolCalls: [
            {
              name: 'note',
              arguments: numbers,
              result: JSON.stringify({ card: values[1], phone: Number(values[3]) }),
              startMs: 1_000,
            },
          ],
          endedReason: `call.ended by ${values[0]}`,
        }),
        all,
      );
    }
    const found = await calls();
    expect(
      found.filter(({ evaluationName }) => evaluationName === 'No data').every(({ outcome }) => outcome === 'failed'),
    ).toBe(true);
    expect(
      found
        .filter(({ evaluationName }) => evaluationName === 'Reads back')
        .every(({ outcome }) => outcome === 'passed'),
    ).toBe(true);
    expect(found).toHaveLength(100);
    expect(asked.length).toBeGreaterThan(0);
    const everywhere = [await wholeDatabase(app.databaseUrl), asked.join('\n'), JSON.stringify(log.lines)];
    const leaks = everywhere.flatMap((place) => {
      const plain = place.replaceAll(/[ -]/g, '');
      return planted.flatMap((value) => {
        const at = plain.indexOf(value.replaceAll(/[ -]/g, '').replace(/^(\+|0)/, ''));
        return at < 0 ? [] : [plain.slice(at - 80, at + 40)];
      });
    });
    expect(leaks).toEqual([]);
  });

  it('keeps no part of a number that was said in two lines, also where a check quotes it', async () => {
    const { take, calls } = await prepare([
      {
        ...{ key: 'quotes', name: 'Quotes', ...PERSONALITY, scope: 'production' },
        checks: [{ type: 'never_says', speaker: 'caller', pattern: '\\d{5}' }],
      },
    ]);
    const numbers = Array.from({ length: 20 }, () => [randomInt(47_000, 48_000), randomInt(10 ** 5, 10 ** 6)] as const);
    for (const [at, [area, rest]] of numbers.entries()) {
      const words = ['Good evening.', `My number is 0${area}`, 'Yes?', `${rest}.`, `So 0${area} ${rest}.`];
      await take(call(`across-${at}`, words, { endedReason: `ended by 0${area}` }), all);
    }
    expect(await calls()).toHaveLength(20);
    expect((await calls()).every(({ outcome }) => outcome === 'failed')).toBe(true);
    const everywhere = [await wholeDatabase(app.databaseUrl), asked.join('\n'), JSON.stringify(log.lines)].join('\n');
    expect(everywhere).toContain('My number is [phone number 1]');
    const leaks = numbers.filter(([area, rest]) => everywhere.includes(` 0${area}`) || everywhere.includes(`"${rest}`));
    expect(leaks).toEqual([]);
  });

  it('has its criteria judged in a derived run, from which a deleted call is deleted, too', async () => {
    const { take, run, runs, client, agentId } = await prepare([polite]);
    await take(call('a', ['Good evening.', 'Hello.', 'How can I help?']));
    await take(call('b', ['Good evening.', 'Hello.', 'How can I help?']));
    const { id } = await run();
    expectConflict(await client.post(`/runs/${id}/rejudge`), 'has not ended');
    await sql(app.databaseUrl, 'UPDATE runs SET open_until = now() WHERE id = $1', [id]);
    await until('the run has ended', async () => (await run()).status === 'COMPLETED');
    expectConflict(await client.post(`/runs/${id}/remeasure`), 'No call of the run has a recording');
    const derived = (await client.post(`/runs/${id}/rejudge`)).body.data.id;
    const ended = async () => (await client.get(`/runs/${derived}?wait=60`)).body.data;
    expect(await ended()).toMatchObject({ origin: 'production', day: null, counts: { passed: 2 }, totalCalls: 2 });
    expect((await runs()).map((one: { id: string }) => one.id)).toEqual([derived, id]);
    expect(await client.delete(`/agents/${agentId}/calls?externalId=a`)).toMatchObject({ status: 200 });
    expect(await ended()).toMatchObject({ counts: { passed: 1 }, totalCalls: 1 });
    expect(await client.delete(`/agents/${agentId}/calls?externalId=a`)).toMatchObject({ status: 404 });
  });

  it('does not delay the calls of another workspace', async () => {
    const { take } = await prepare([books, polite]);
    const other = await prepareEvaluations(app, [shortEvaluation()]);
    const words = Array.from({ length: 400 }, (_, index) => `This is sentence ${index} about a table.`);
    let judged = 0;
    let isOver = false;
    const waiting = (async () => {
      while (!isOver) await take(call(`waits-${judged++}`, words));
    })();
    const { body } = await other.client.post(`/agents/${other.agentId}/runs`, {});
    await until('a call of the other workspace has begun', async () => {
      const { startedAt } = (await other.client.get(`/runs/${body.data.id}`)).body.data;
      return startedAt !== null;
    });
    // One percent of 10,000.
    expect(judged).toBeLessThan(100);
    isOver = true;
    await waiting;
  });

  it('deletes a call for good by its id on the platform, and a day after PRODUCTION_RETENTION_DAYS', async () => {
    const { take, run, calls, client, agentId } = await prepare([books]);
    await take(bad('a'));
    await take(good('b'));
    expect(await client.delete(`/agents/${agentId}/calls?externalId=a`)).toMatchObject({ status: 200 });
    expect((await calls()).map(({ externalId }) => externalId)).toEqual(['b']);
    expect(await take(bad('a'))).toBe('known');
    const { id, ...rest } = await run();
    expect(rest).toMatchObject({ totalCalls: 1, counts: { passed: 1 } });
    expect((await client.get(`/runs/${id}/junit`)).status).toBe(200);
    await sql(
      app.databaseUrl,
      `UPDATE runs SET status = 'COMPLETED', ended_at = now() - interval '31 days' WHERE id = $1`,
      [id],
    );
    await app.nest.get(RunPruner, { strict: false })['prune']({ signal: new AbortController().signal });
    expect((await client.get(`/runs/${id}`)).status).toBe(404);
  });
});

const expectConflict = (response: ApiResponse<any>, text: string) => {
  expect(response.body.message).toContain(text);
  expectError(response, 409, 'CONFLICT', response.body.message);
};

/** A number with the check digit of cards. */
function withLuhn(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Every row of every table. */
async function wholeDatabase(url: string): Promise<string> {
  const tables = await sql(
    url,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const rows = await Promise.all(tables.map(({ name }) => sql(url, `SELECT t::text AS row FROM ${name} t`)));
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
}
