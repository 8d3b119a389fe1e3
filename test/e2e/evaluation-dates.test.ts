import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CORE_SCHEMA, load } from 'js-yaml';
import { sendCompletion, TestServers } from '../simulators/servers.js';
import { startScriptedAgent, type ScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { HttpClient } from '../support/http.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const GUIDE = readFileSync(path.resolve(__dirname, '../../docs/guides/variables.md'), 'utf8');
const example = GUIDE.slice(GUIDE.indexOf('## Dates')).match(/```yaml\n([^]*?)```/)![1]!;
const EVALUATION = {
  name: 'Books a table for Friday',
  scenarioText: 'You want a table for four on {{friday}}.',
  ...(load(example, { schema: CORE_SCHEMA }) as object),
};
const DAY_MS = 86_400_000;

/** The date that a caller says, such as "December 4th", as it is meant today or in the next months. */
function dateIn(said: string): string | undefined {
  const [, month, day] = /day, (\w+) (\d+)(?:st|nd|rd|th)\b/.exec(said) ?? [];
  const year = new Date().getUTCFullYear();
  return [year, year + 1]
    .map((each) => new Date(`${month} ${day}, ${each} UTC`))
    .find((date) => date.getTime() > Date.now() - 30 * DAY_MS)
    ?.toISOString()
    .slice(0, 10);
}

/** Books the date that it hears; the faulty one books the day after it, and confirms what it heard. */
function startBookingAgent(): Promise<ScriptedAgent> {
  return startScriptedAgent(({ said, model, response }): string | undefined => {
    const date = dateIn(said);
    if (date === undefined) return 'Goodbye.';
    const day = model === 'faulty' ? new Date(Date.parse(date) + DAY_MS).toISOString().slice(0, 10) : date;
    const called = { name: 'book_table', arguments: JSON.stringify({ date: day, people: 4 }) };
    const spoken = new Date(date).toLocaleDateString('en-GB', {
      timeZone: 'UTC',
      weekday: 'long',
      day: 'numeric',
      month: 'long',
    });
    const content = `Your table is booked for ${spoken}.`;
    const message = { role: 'assistant', content, tool_calls: [{ id: 'call_1', type: 'function', function: called }] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    return undefined;
  });
}

describe('evaluations with dates', () => {
  const servers = new TestServers();
  let asked: string[] = [];
  let agent: ScriptedAgent;
  let app: TestApp;

  beforeAll(async () => {
    const model = await servers.http((response, { messages }) => {
      asked.push(JSON.parse(/^Statement: (.*)$/m.exec(messages[1].content)![1]!) as string);
      sendCompletion(
        response,
        JSON.stringify({ reasoning: 'So it is.', quote: 'Your table is booked for', met: true }),
      );
    });
    agent = await startBookingAgent();
    app = await createTestApp({ env: { ...callEnv(agent.url), LLM_BASE_URL: `${model}/v1`, LLM_MODEL: 'stub' } });
  });
  beforeEach(() => (asked = []));
  afterAll(async () => {
    await app.close();
    await agent.close();
    await servers.close();
  });

  const callsOf = async (client: HttpClient, runId: string): Promise<any[]> => {
    const listed: { id: string }[] = (await client.get(`/runs/${runId}/calls`)).body.data;
    return Promise.all(listed.map(async ({ id }) => (await client.get(`/calls/${id}`)).body.data));
  };

  it.each([
    ['that books the next Friday', 'healthy', 'passed', []],
    ['that books another day', 'faulty', 'failed', ['Books the next Friday']],
  ])('give an agent %s the right verdict: the example of the guide', async (_what, assistantId, outcome, missed) => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [EVALUATION], { assistantId });
    const before = Date.now();
    const run = await executeRun(client, agentId, { repeat: 2 });
    for (const call of await callsOf(client, run.id)) {
      expect(call.reason).toEqual(expect.any(String));
      expect([call.outcome, call.checks.flatMap((check: any) => (check.met ? [] : check.name))]).toEqual([
        outcome,
        missed,
      ]);
      // The case is that of the formula, and the words are those of the day.
      expect(call.caseKey).toBe(evaluationIds[0]);
      expect(call.evaluation.dates).toEqual({ at: expect.any(String), timezone: 'Europe/Berlin', language: 'en-US' });
      expect(call.timeline[0].text).toMatch(/^Hello, a table for four on Friday, \w+ \d+(st|nd|rd|th), please\.$/);
      const at = Date.parse(call.evaluation.dates.at);
      expect(at >= before && at <= Date.now()).toBe(true);
    }
  });

  it('keep the dates of the run when its calls are judged again, and have those of the day in a rerun', async () => {
    const criteria = [{ text: 'The agent books {{today | iso}}.' }];
    const { client, agentId } = await prepareEvaluations(app, [{ ...EVALUATION, criteria }]);
    const run = await executeRun(client, agentId);
    const [first] = await callsOf(client, run.id);
    expect([first.outcome, first.reason]).toEqual(['passed', 'All 3 requirements were met.']);
    // The run took place on a Monday.
    await sql(
      app.databaseUrl,
      `UPDATE run_evaluations SET snapshot = jsonb_set(snapshot, '{dates,at}', '"2026-03-02T12:00:00.000Z"') WHERE run_id = $1`,
      [run.id],
    );
    asked = [];
    const again = await client.post(`/runs/${run.id}/rejudge`);
    expect(again).toMatchObject({ status: 201 });
    await client.get(`/runs/${again.body.data.id}?wait=60`);
    expect(new Set(asked)).toEqual(new Set(['The agent books 2026-03-02.']));
    const [judged] = await callsOf(client, again.body.data.id);
    expect(judged.evaluation.dates.at).toBe('2026-03-02T12:00:00.000Z');

    asked = [];
    const rerun = await client.post(`/runs/${run.id}/rerun`, undefined);
    await client.get(`/runs/${rerun.body.data.id}?wait=60`);
    const [called] = await callsOf(client, rerun.body.data.id);
    expect(Date.now() - Date.parse(called.evaluation.dates.at)).toBeLessThan(DAY_MS);
    expect(asked).not.toContain('The agent books 2026-03-02.');
  });

  it('name the time zone and the dates in the plan, and only where there are dates', async () => {
    const plain = {
      name: 'Plain',
      scenarioText: 'You ask.',
      script: [{ say: 'Hello' }],
      checks: [{ type: 'says', text: 'x' }],
    };
    const { client, agentId } = await prepareEvaluations(app, [
      {
        ...EVALUATION,
        timezone: null,
        language: 'de-AT',
        script: [{ say: 'On {{day}}' }],
        variables: [{ day: '{{friday}}' }],
      },
      plain,
    ]);
    const { body } = await client.post(`/agents/${agentId}/runs`, { dryRun: true });
    const [dated, other] = body.data.evaluations.map(({ explanation }: any) => explanation.join('\n'));
    expect(dated).toMatch(
      /Dates are those of Europe\/Vienna when the run starts; now friday is Freitag, \d+\. \S+ \(\d{4}-\d\d-\d\d\)\./,
    );
    expect(other).not.toContain('Dates');
    expect(body.data.evaluations[0].cases[0].variables).toEqual({ day: '{{friday}}' });
  });

  it('move through files of every format, and files without a time zone are as they were', async () => {
    const { client, agentId } = await prepareEvaluations(app, [{ ...EVALUATION, key: 'dated' }]);
    for (const format of ['json', 'yaml', 'csv']) {
      const { body } = await client.get<any>(`/agents/${agentId}/evaluations/export?format=${format}`);
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      expect(text).toContain('Europe/Berlin');
      expect(text).toContain('{{friday}}');
    }
    const { client: other, agentId: plain } = await prepareEvaluations(app, [{ ...EVALUATION, timezone: null }]);
    for (const format of ['json', 'yaml', 'csv']) {
      const { body } = await other.get<any>(`/agents/${plain}/evaluations/export?format=${format}`);
      expect(typeof body === 'string' ? body : JSON.stringify(body)).not.toContain('timezone');
    }
  });

  it('refuse an unknown time zone and a name that is nearly a date, also after a change', async () => {
    const { client, evaluationIds } = await prepareEvaluations(app, [EVALUATION]);
    const change = (body: object) => client.patch(`/evaluations/${evaluationIds[0]}`, body);
    expect(await change({ timezone: 'Europe/Berlinn' })).toMatchObject({
      status: 400,
      body: {
        issues: [{ message: 'timezone must be an IANA time zone, for example Europe/Berlin', field: 'timezone' }],
      },
    });
    expect(await change({ script: [{ say: 'On {{Friday}}' }] })).toMatchObject({
      status: 400,
      body: { issues: [{ message: expect.stringContaining('script[0].say uses the unknown variable "Friday"') }] },
    });
    expect(await change({ timezone: 'Asia/Tokyo', script: [{ say: 'On {{saturday}}' }] })).toMatchObject({
      status: 200,
      body: { data: { timezone: 'Asia/Tokyo' } },
    });
    expect(await change({ timezone: null })).toMatchObject({ status: 200, body: { data: { timezone: null } } });
  });
});
