import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { importCall, type ImportFields } from '../support/imported-calls.js';
import { createKey } from '../support/keys.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const TRANSCRIPT = [
  { speaker: 'agent', text: 'Good evening.', startMs: 500, endMs: 1_500 },
  { speaker: 'caller', text: 'A table for two at seven, please.', startMs: 2_400, endMs: 4_100 },
  { speaker: 'agent', text: 'Your table is booked.', startMs: 5_150, endMs: 7_300 },
];
const BOOKED = {
  name: 'book_table',
  arguments: { guests: 2, time: '19:00' },
  result: { booked: true },
  startMs: 4_500,
};
const CALLS = { type: 'calls_tool', tool: 'book_table', arguments: { guests: 2 } };
const evaluation = (key: string, checks: object[], more: object = {}) => ({
  ...{
    key,
    name: key,
    scenarioText: 'You want a table for two at seven.',
    script: [{ say: 'A table, please.' }],
    checks,
  },
  ...more,
});

describe('what is reported with an imported call', () => {
  const dataDir = path.join(tmpdir(), `vat-reported-${randomUUID()}`);
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), DATA_DIR: dataDir, RECORDINGS: 'off' } });
    const evaluations = [
      evaluation('books', [
        CALLS,
        { type: 'in_order', events: [CALLS, { speaker: 'agent', text: 'booked' }].map(event) },
      ]),
      evaluation('no-tool', [{ type: 'never_calls_tool', tool: 'cancel_table' }]),
      evaluation('agent-ends', [{ type: 'ends_by', by: 'agent' }]),
      evaluation('fast', [{ type: 'max_latency_ms', ms: 2_000 }]),
      evaluation('fast-and-polite', [
        { type: 'max_latency_ms', ms: 2_000 },
        { type: 'says', text: 'Good evening' },
      ]),
      evaluation('expects', [], { script: [{ say: 'A table, please.', expect: [{ type: 'says', text: 'booked' }] }] }),
      evaluation('bookings', [CALLS], { scope: 'both', appliesTo: { type: 'says', speaker: 'caller', text: 'table' } }),
      evaluation('cancellations', [CALLS], {
        ...{ scope: 'production', appliesTo: { type: 'calls_tool', tool: 'cancel_table' } },
      }),
      evaluation('repeats', [
        { name: 'Repeats it', type: 'says', pattern: '415-555-0142' },
        { name: 'Passes it on', type: 'calls_tool', tool: 'book_table', arguments: { phone: 4155550142 } },
      ]),
      evaluation('says-none', [{ type: 'no_personal_data', speaker: 'agent' }]),
      // What the tester would have returned is not what the tool returned.
      evaluation('own-results', [CALLS], { toolResults: [{ tool: 'book_table', result: { booked: false } }] }),
    ];
    subject = await prepareEvaluations(app, evaluations);
    for (const [index, { key }] of evaluations.entries()) ids[key] = subject.evaluationIds[index]!;
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const event = ({ type: _, ...one }: Record<string, unknown>) => one;
  const send = (key: string, fields: ImportFields = {}) =>
    importCall({ url: app.url, apiKey: subject.apiKey }, subject.agentId, {
      ...{ recording: null, channels: null, evaluationId: ids[key]!, transcript: TRANSCRIPT },
      ...fields,
    });
  const imported = async (key: string, fields: ImportFields = {}) => {
    const response = await send(key, fields);
    expect(response).toMatchObject({ status: 202 });
    const { id, runId } = response.body.data;
    const run = (await subject.client.get(`/runs/${runId}?wait=60`)).body.data;
    return { run, call: (await subject.client.get(`/calls/${id}`)).body.data };
  };

  it('decides checks on tool calls, their order and the end, without a recording', async () => {
    const { run, call } = await imported('books', {
      ...{ toolCalls: [BOOKED], endedReason: 'assistant-ended-call', externalId: 'vapi-1' },
      reported: { turnLatencies: [612, 580] },
    });
    expect(run).toMatchObject({ name: 'vapi-1', exitCode: 0 });
    expect(call).toMatchObject({
      ...{ outcome: 'passed', voice: null, recording: null, latencies: [] },
      imported: {
        ...{ origin: 'import', externalId: 'vapi-1', endedReason: 'assistant-ended-call' },
        reported: { turnLatencies: [612, 580] },
      },
      end: { by: 'agent', code: 'agent_hung_up', reason: 'assistant-ended-call' },
      checks: [{ met: true }, { met: true }],
      measures: { longestSilenceMs: null, timeToFirstWordMs: null, latency: { p50: null }, toolCalls: 1 },
      timeline: [
        { speaker: 'agent', text: 'Good evening.', turn: 0 },
        { speaker: 'caller', turn: 1 },
        { type: 'tool_call', name: 'book_table', result: { booked: true }, reported: 'given', turn: 1 },
        { speaker: 'agent', text: 'Your table is booked.', turn: 1 },
        { type: 'end', recorded: { by: 'transcript' } },
      ],
    });
    const rows = await sql<any>(app.databaseUrl, 'SELECT transcript, tool_calls FROM call_imports WHERE call_id = $1', [
      call.id,
    ]);
    expect(rows).toEqual([{ transcript: null, tool_calls: null }]);
  });

  it('says that a tool was not called only if the tool calls were reported', async () => {
    expect((await imported('no-tool', { toolCalls: [] })).call).toMatchObject({ outcome: 'passed' });
    expect((await imported('no-tool')).call).toMatchObject({
      ...{ outcome: 'error', failure: { code: 'check_undecided' } },
      checks: [{ met: null, detail: 'A transcript does not show tool calls' }],
    });
  });

  it.each([
    ['agent_hangup', true],
    ['assistant-said-end-call-phrase', true],
    ['user_hangup', false],
    ['Client disconnected: 1005', false],
    ['exceeded-max-duration', false],
    ['call_transfer', false],
    ['pipeline-error-openai-llm-failed', null],
    ['customer', false],
  ])('takes the reason %s for an end by the agent: %s', async (endedReason, met) => {
    expect((await imported('agent-ends', { endedReason })).call.checks).toMatchObject([{ met }]);
  });

  it('measures no times in a transcript, which are rough', async () => {
    const { call } = await imported('fast');
    expect(call).toMatchObject({
      ...{ outcome: 'error', latencies: [] },
      checks: [{ met: null, detail: 'A transcript does not show exact times' }],
    });
  });

  it('asks nothing of a production call that it cannot decide, and counts no call on which nothing was decided', async () => {
    const origin = 'production';
    expect((await imported('fast-and-polite', { origin })).call).toMatchObject({
      ...{ outcome: 'passed', checks: [{ met: null }, { met: true }], imported: { origin } },
    });
    expect((await imported('fast-and-polite')).call).toMatchObject({ outcome: 'error' });
    const { run, call } = await imported('fast', { origin });
    expect(call).toMatchObject({ outcome: 'invalid', score: null, attempts: [{ outcome: 'invalid' }], retries: 0 });
    expect(call.attempts).toHaveLength(1);
    expect(call.reason).toMatch(/^Nothing was decided on this production call\./);
    expect(run).toMatchObject({ counts: { invalid: 1 }, exitCode: 2 });
    // A real caller follows no script: none of its lines can have been expected.
    expect((await imported('expects', { origin })).call).toMatchObject({ outcome: 'invalid', checks: [{ met: null }] });
    expect((await imported('books', { origin })).call).toMatchObject({ outcome: 'invalid' });
    const failing = { toolCalls: [{ ...BOOKED, arguments: { guests: 3 } }], origin };
    expect((await imported('books', failing)).call).toMatchObject({ outcome: 'failed' });
  });

  it('keeps no personal data of a production call, and decides the checks on it by the words as they were said', async () => {
    const personal = ['415-555-0142', 'anna@example.com'];
    const words = `Call me at ${personal.join(' or ')}.`;
    const call = { ...BOOKED, arguments: { guests: 2, phone: 4155550142 }, result: { mail: personal[1] } };
    const transcript = [
      ...TRANSCRIPT,
      { speaker: 'agent', text: words, startMs: 8_000, endMs: 9_000 },
      { speaker: 'caller', text: 'Or at 47110', startMs: 9_100, endMs: 9_500 },
      { speaker: 'caller', text: '471199', startMs: 9_900, endMs: 10_500 },
    ];
    const fields = { transcript, origin: 'production', toolCalls: [call], endedReason: `ended by ${personal[0]}` };
    const { call: kept } = await imported('repeats', { ...fields, reported: { from: personal[0] } });
    expect(kept).toMatchObject({
      ...{
        outcome: 'passed',
        checks: [{ met: true }, { met: true }],
        imported: { reported: { from: '[phone number 1]' } },
      },
      end: { reason: expect.stringContaining('ended by [phone number 1]') },
    });
    expect(JSON.stringify(kept)).toContain('Call me at [phone number 1] or [e-mail address 1].');
    expect(JSON.stringify(kept)).toContain('Or at [phone number 2]');
    expect((await imported('says-none', fields)).call).toMatchObject({ outcome: 'failed' });
    for (const table of ['calls', 'call_results', 'call_imports', 'runs', 'idempotency_keys']) {
      const rows = await sql<any>(app.databaseUrl, `SELECT t::text AS row FROM ${table} t`);
      expect(rows.filter(({ row }) => /555-?0142|anna@example|at 47110|471199/.test(row))).toEqual([]);
    }
  });

  it('judges by no check of an evaluation that does not apply, or for which that is undecided', async () => {
    const fields = { origin: 'production', toolCalls: [] };
    const { run, call } = await imported('bookings', fields);
    expect(call).toMatchObject({ outcome: 'failed', evaluation: { appliesTo: { type: 'says', text: 'table' } } });
    expect(run).toMatchObject({ exitCode: 1 });
    const hours = [TRANSCRIPT[0]!, { ...TRANSCRIPT[1]!, text: 'Until when are you open?' }, TRANSCRIPT[2]!];
    const other = await imported('bookings', { ...fields, transcript: hours });
    expect(other.call).toMatchObject({ outcome: 'invalid', checks: [], invalidity: { code: 'not_applicable' } });
    expect(other.call.reason).toMatch(/^The evaluation does not apply to this call: /);
    // It is about a call of a real caller only.
    expect((await imported('bookings', { ...fields, origin: 'import' })).call).toMatchObject({ outcome: 'failed' });
    expect((await imported('cancellations', { origin: 'production' })).call).toMatchObject({
      ...{ outcome: 'invalid', invalidity: { code: 'not_applicable' } },
    });
  });

  it('leaves evaluations of production calls out of runs', async () => {
    const { client, agentId } = subject;
    const plan = (request: object) => client.post(`/agents/${agentId}/runs`, { ...request, dryRun: true });
    const names = (response: any) => response.body.data.evaluations.map(({ key }: any) => key);
    expect(names(await plan({}))).toEqual(Object.keys(ids).filter((key) => key !== 'cancellations'));
    expect(names(await plan({ evaluationKeys: ['bookings', 'cancellations'] }))).toEqual(['bookings']);
    expect(await plan({ evaluationKeys: ['cancellations'] })).toMatchObject({
      ...{ status: 409, body: { message: expect.stringContaining('have the scope production') } },
    });
  });

  it.each([
    [{ scope: 'both' }, /^appliesTo must be given with the scope both/],
    [{ scope: 'some' }, /^scope must be one of/],
    [{ scope: 'production', variables: [{ a: 1 }, { a: 2 }], name: '{{a}}' }, /^variables must have at most one row/],
    [{ appliesTo: { type: 'says' } }, /^appliesTo/],
    [{ appliesTo: { type: 'nothing' } }, /^appliesTo/],
    [{ appliesTo: { type: 'says', pattern: '(' } }, /^appliesTo.pattern/],
    [
      { appliesTo: { type: 'criterion', criterion: 'It is about a table.' } },
      /^appliesTo must not contain a criterion/,
    ],
    [
      { appliesTo: { type: 'not', check: { type: 'criterion', criterion: 'It is about a table.' } } },
      /^appliesTo must not contain a criterion/,
    ],
  ])('refuses an evaluation with %j', async (fields, message) => {
    const { client, agentId } = subject;
    const { body } = await client.get(`/agents/${agentId}/evaluations`);
    const { personalityId } = body.data[0];
    const given = { name: 'a', scenarioText: 'b {{a}}', personalityId, ...fields };
    const whole = { ...given, scenarioText: 'variables' in fields ? given.scenarioText : 'b' };
    const response = await client.post(`/agents/${agentId}/evaluations`, whole);
    expect(response).toMatchObject({ status: 400 });
    expect(response.body.issues.map((issue: any) => issue.message)).toContainEqual(expect.stringMatching(message));
  });

  it('keeps scope and condition in files of every format, and validates a change with what is stored', async () => {
    const { client, agentId } = subject;
    for (const format of ['json', 'yaml', 'csv']) {
      const file = await client.get(`/agents/${agentId}/evaluations/export?format=${format}`);
      const type = { json: 'application/json', yaml: 'application/yaml', csv: 'text/csv' }[format]!;
      const text = typeof file.body === 'string' ? file.body : JSON.stringify(file.body);
      const again = await client.post(`/agents/${agentId}/evaluations/import?dryRun=true`, text, {
        'Content-Type': type,
      });
      expect(again).toMatchObject({ status: 200 });
      expect(again.body.data.items.map(({ action, status }: any) => action ?? status)).toEqual(
        Object.keys(ids).map(() => 'unchanged'),
      );
    }
    expect(await client.patch(`/evaluations/${ids['bookings']}`, { appliesTo: null })).toMatchObject({ status: 400 });
    expect(await client.patch(`/evaluations/${ids['fast']}`, { scope: 'both' })).toMatchObject({ status: 400 });
  });

  it('does not hold the results of its tools against those of the evaluation', async () => {
    expect((await imported('own-results', { toolCalls: [BOOKED] })).call).toMatchObject({ outcome: 'passed' });
  });

  it('has everything in the hash of its content', async () => {
    const externalId = 'vapi-2';
    const first = await send('books', { externalId, toolCalls: [BOOKED], endedReason: 'agent', reported: { a: 1 } });
    expect(first).toMatchObject({ status: 202 });
    const same = { externalId, toolCalls: [BOOKED], endedReason: 'agent', reported: { a: 1 } };
    expect(await send('books', same)).toMatchObject({ status: 200, body: { data: { id: first.body.data.id } } });
    for (const other of [{ toolCalls: [] }, { endedReason: 'caller' }, { reported: {} }, { origin: 'production' }]) {
      expect(await send('books', { ...same, ...other })).toMatchObject({ status: 409 });
    }
  });

  it.each([
    [
      { transcript: TRANSCRIPT.slice(0, 1) },
      'recording must be given, as a part with a filename, or a transcript that has both sides',
    ],
    [{ channels: 'caller-agent' }, 'channels must only be given with a recording'],
    [{ toolCalls: '{' }, 'toolCalls must be valid JSON'],
    [{ toolCalls: {} }, 'toolCalls must be a JSON array'],
    [{ toolCalls: [7] }, 'toolCalls[0] must be an object'],
    [{ toolCalls: [{ ...BOOKED, id: 1 }] }, 'toolCalls[0] must have only name, arguments, result and startMs'],
    [{ toolCalls: [{ ...BOOKED, name: '' }] }, 'toolCalls[0].name must be a text that is not empty'],
    [
      { toolCalls: [{ ...BOOKED, arguments: [1] }] },
      'toolCalls[0].arguments must be an object, or a text with one as JSON',
    ],
    [{ toolCalls: [{ ...BOOKED, startMs: -1 }] }, 'toolCalls[0].startMs must be a number that is not less than 0'],
    [{ toolCalls: [{ ...BOOKED, startMs: 1e12 }] }, 'toolCalls[0].startMs must not be greater than 86400000'],
    [{ toolCalls: `[{"name":"a","startMs":1,"result":{"__proto__":1}}]` }, /^toolCalls\[0\]\.result/],
    [{ reported: [1] }, 'reported must be a JSON object'],
    [{ origin: 'elsewhere' }, /^origin must be one of/],
  ])('refuses %j', async (fields, message) => {
    const response = await send('books', fields);
    expect(response).toMatchObject({ status: 400 });
    expect(response.body.issues.map((issue: any) => issue.message)).toEqual(
      expect.arrayContaining([typeof message === 'string' ? message : expect.stringMatching(message)]),
    );
  });

  it.each([
    ['toolCalls', 1024 * 1024],
    ['reported', 64 * 1024],
  ])('refuses more %s than %d bytes', async (field, bytes) => {
    expect(await send('books', { [field]: 'x'.repeat(bytes + 1) })).toMatchObject({ status: 413 });
  });

  describe('in the list of the calls of its agent', () => {
    const list = (query: string) => subject.client.get(`/agents/${subject.agentId}/calls${query}`);
    const idsOf = async (query: string) => (await list(query)).body.data.map(({ externalId }: any) => externalId);

    it('is found by origin, outcome, begin and external id', async () => {
      const failing = {
        origin: 'production',
        externalId: 'listed-1',
        toolCalls: [],
        startedAt: '2026-11-25T10:00:00Z',
      };
      await imported('books', failing);
      await imported('books', { externalId: 'listed-2', toolCalls: [BOOKED] });
      expect((await list('?externalId=listed-1')).body).toMatchObject({
        meta: { total: 1 },
        data: [{ origin: 'production', outcome: 'failed', externalId: 'listed-1' }],
      });
      expect(await idsOf('?externalId=listed-2&origin=import&outcome=passed')).toEqual(['listed-2']);
      expect(await idsOf('?externalId=listed-2&origin=production')).toEqual([]);
      expect(await idsOf('?from=2026-11-25')).toEqual(['listed-1']);
      expect(await idsOf('?from=2026-11-26')).toEqual([]);
      expect(await idsOf('?origin=test')).toEqual([]);
      expect(await list('?origin=other')).toMatchObject({ status: 400 });
    });

    it('is deleted for good by its external id, with the runs that judged it again, by an ADMIN', async () => {
      const { run, call } = await imported('books', { externalId: 'gone', toolCalls: [BOOKED] });
      const path = `/agents/${subject.agentId}/calls?externalId=gone`;
      const editor = subject.client.as((await createKey(app, subject, 'EDITOR')).value);
      expect(await editor.delete(path)).toMatchObject({ status: 403 });
      expect(await subject.client.delete(path)).toMatchObject({
        status: 200,
        body: { message: 'Call deleted successfully' },
      });
      for (const gone of [`/runs/${run.id}`, `/calls/${call.id}`]) {
        expect(await subject.client.get(gone)).toMatchObject({ status: 404 });
      }
      expect(await idsOf('?externalId=gone')).toEqual([]);
      expect(await subject.client.delete(path)).toMatchObject({ status: 404 });
      expect(await subject.client.delete(`/agents/${subject.agentId}/calls`)).toMatchObject({ status: 400 });
    });
  });

  it('refuses a recording, but no transcript, while recordings are switched off', async () => {
    expect(await send('books', { recording: new Uint8Array(44), channels: 'caller-agent' })).toMatchObject({
      status: 409,
    });
  });
});
