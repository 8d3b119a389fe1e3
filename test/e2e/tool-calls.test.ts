import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendCompletion, TestServers } from '../simulators/servers.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const BOOKS = { name: 'Books', type: 'calls_tool', tool: 'book_table', arguments: { guests: 2 }, times: { max: 1 } };
const EVALUATION = {
  name: 'Books a table',
  scenarioText: 'You book a table for two.',
  script: [{ say: 'A table for two, please.' }, { end: 'Booked' }],
  checks: [BOOKS],
};
const ARGUMENTS = { guests: 2, time: '19:00' };

describe('tool calls that the backend of an agent reports', () => {
  const servers = new TestServers();
  let app: TestApp;
  let url: string;
  /** What the agent does before it answers. */
  type Act = (callId: string, response: ServerResponse) => Promise<unknown>;
  let act: Act;
  /** Of agents that are called at the same time, by their path. */
  const acts = new Map<string, Act>();

  beforeAll(async () => {
    const answer = async (response: ServerResponse, _body: unknown, { headers, url: path }: IncomingMessage) => {
      await (acts.get(path!) ?? act)(headers['x-call-id'] as string, response);
      if (!response.writableEnded) sendCompletion(response, 'Your table is booked.');
    };
    url = await servers.http((...request) => void answer(...request));
    app = await createTestApp({ env: callEnv(url) });
  });
  afterAll(async () => {
    await app.close();
    await servers.close();
  });

  async function prepare({ reported = true, checks = [BOOKS] as object[] } = {}) {
    const subject = await prepareEvaluations(app, [{ ...EVALUATION, checks }]);
    const { client, agentId } = subject;
    const options = reported ? { toolCalls: 'reported' } : {};
    expect(await client.put(`/agents/${agentId}/connection`, { url: `${url}/${agentId}`, options })).toMatchObject({
      status: 200,
    });
    const report = (body: object) => client.post<any>('/tool-calls', { name: 'book_table', ...body });
    const run = async (own?: Act) => {
      if (own) acts.set(`/${agentId}`, own);
      const { id } = await executeRun(client, agentId, { minimumScore: 0 });
      const [{ id: callId }] = (await client.get(`/runs/${id}/calls`)).body.data;
      return { runId: id as string, call: (await client.get<any>(`/calls/${callId}`)).body.data };
    };
    return { ...subject, report, run };
  }
  const toolsOf = ({ timeline }: any) => timeline.filter(({ type }: any) => type === 'tool_call');

  it('decide checks on tools: what was reported was called, and what was not was not called', async () => {
    const { report, run } = await prepare();
    act = (callId) => report({ callId, arguments: ARGUMENTS, result: { booked: true } });
    const { call } = await run();
    expect(call).toMatchObject({ outcome: 'passed', measures: { toolCalls: 1 } });
    expect(toolsOf(call)).toMatchObject([
      { name: 'book_table', arguments: ARGUMENTS, result: { booked: true }, turn: 1 },
    ]);
    const answer = call.timeline.findIndex(({ speaker }: any) => speaker === 'agent');
    expect(call.timeline[answer - 1]).toMatchObject({ type: 'tool_call' });
    act = () => Promise.resolve();
    const faulty = await run();
    expect(faulty.call).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('The agent never called book_table'),
      measures: { toolCalls: 0 },
    });
  });

  it('are accepted for a short time after the hang-up, at the end of the call', async () => {
    const { report, run } = await prepare();
    let late: Promise<{ status: number }> | undefined;
    act = async (callId) => {
      // A backend that reports in the background, and fails at first.
      late = new Promise((resolve) => setTimeout(resolve, 1_000)).then(() => report({ callId, arguments: ARGUMENTS }));
    };
    const { call } = await run();
    expect(await late).toMatchObject({ status: 202 });
    expect(call).toMatchObject({ outcome: 'passed' });
    expect(call.timeline.at(-1)).toMatchObject({ type: 'end' });
    expect(toolsOf(call)[0].start).toBe(call.timeline.at(-1).start);
  });

  it.each([
    ['an object', ARGUMENTS],
    // tridz-dev/huf#676
    ['a text, as models return them', JSON.stringify(ARGUMENTS)],
    ['a text in a text, from a backend that writes JSON twice', JSON.stringify(JSON.stringify(ARGUMENTS))],
  ])('may have arguments as %s', async (_, given) => {
    const { report, run } = await prepare();
    act = (callId) => report({ callId, arguments: given });
    expect((await run()).call).toMatchObject({ outcome: 'passed' });
  });

  it.each([
    // langchain-ai/langchain#34242
    ['null', null, {}],
    // sigoden/aichat#1217
    ['an empty text', '', {}],
    ['nothing', undefined, {}],
    ['a broken text', '{"guests":', null],
    ['a list in a text', '[2]', null],
    ['U+0000 in a text', '{"guests":"\\u0000 2"}', { guests: '\uFFFD 2' }],
  ])('may have %s as arguments', async (_, given, shown) => {
    const { report, run } = await prepare({ checks: [{ ...BOOKS, arguments: undefined }] });
    let answer: any;
    act = async (callId) => (answer = await report({ callId, arguments: given }));
    const { call } = await run();
    expect(answer).toMatchObject({ status: 202 });
    expect(toolsOf(call)).toMatchObject([{ arguments: shown }]);
    if (shown === null) expect(toolsOf(call)).toMatchObject([{ rawArguments: given }]);
  });

  it('can be repeated by their id, while the same id with other arguments is another tool call', async () => {
    const { report, run } = await prepare({ checks: [{ ...BOOKS, arguments: undefined, times: { min: 2, max: 2 } }] });
    const answers: any[] = [];
    act = async (callId) => {
      const first = { callId, id: 'call_0', arguments: { guests: 2, time: '19:00' } };
      // The second one is a retry, the third adds the result, with its arguments in another order.
      answers.push(await report(first), await report(first));
      answers.push(await report({ ...first, arguments: { time: '19:00', guests: 2 }, result: { booked: true } }));
      // A model that numbers its calls from 0 in every answer: QwenLM/qwen-code#9436
      answers.push(await report({ ...first, arguments: { guests: 4 } }));
    };
    const { call } = await run();
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect(call).toMatchObject({ outcome: 'passed' });
    expect(toolsOf(call)).toMatchObject([
      { arguments: { guests: 2 }, result: { booked: true } },
      { arguments: { guests: 4 } },
    ]);
  });

  it('count at their time, unless that is before the call or in the future: clocks differ (deliveroo/routemaster#88)', async () => {
    const { report, run } = await prepare();
    act = async (callId) => {
      const before = new Date();
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const at of [new Date(Date.now() + 3_600_000), new Date(Date.now() - 3_600_000), before]) {
        expect(await report({ callId, arguments: ARGUMENTS, at })).toMatchObject({ status: 202 });
      }
    };
    const { call } = await run();
    const [first, ...others] = toolsOf(call);
    expect(first).toMatchObject({ turn: 1 });
    for (const other of others) expect(other.start - first.start).toBeGreaterThan(200);
  });

  it.each([
    // MatthewFlamm/pynws#92
    ['at', { at: '2026-11-29T23:00:00.123456' }, 'at must be a date and time with a time zone'],
    ['at', { at: 1_795_993_660_497 }, 'at must be'],
    ['name', { name: '' }, 'name must not be empty'],
    ['name', { name: 'a\u0000' }, 'name must not contain the character U+0000'],
    ['arguments', { arguments: ['a'] }, 'arguments must be an object, or a text with JSON'],
    ['arguments', { arguments: { a: 'x'.repeat(16_384) } }, 'arguments must have at most 16384 characters of JSON'],
    ['arguments.a', { arguments: { a: '\uD800' } }, 'arguments.a must not contain an unpaired surrogate'],
    ['result', { result: 'x'.repeat(16_384) }, 'result must have at most 16384 characters of JSON'],
    ['id', { id: 'x'.repeat(256) }, 'id must have at most 255 characters'],
  ])('are refused with an unusable %s', async (field, body, message) => {
    const { client } = await prepareEvaluations(app);
    const report = { callId: '7c9e4b1a-2d56-4f83-b0a7-e3d8f6519c24', name: 'book_table', ...body };
    const response = await client.post<any>('/tool-calls', report);
    expect(response).toMatchObject({ status: 400, body: { issues: [{ field }] } });
    expect(response.body.issues[0].message).toContain(message);
  });

  it('are refused for a call that is unknown, of another workspace, without the option, or over', async () => {
    const other = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    const { report, run } = await prepare();
    const answers: any[] = [];
    let ended = '';
    act = async (callId) => {
      ended = callId;
      answers.push(await other.post('/tool-calls', { callId, name: 'book_table' }));
      answers.push(await report({ callId: 'CA1' }), await report({ callId: '7c9e4b1a-2d56-4f83-b0a7-e3d8f6519c24' }));
    };
    const { call } = await run();
    const { report: reportUnasked, run: runUnasked } = await prepare({ reported: false });
    act = async (callId) => answers.push(await reportUnasked({ callId }));
    await runUnasked();
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(answers[3].body.issues[0]).toMatchObject({
      field: 'callId',
      message: expect.stringContaining('toolCalls: reported'),
    });
    expect(call.attempts.at(-1).callId).toBe(ended);
    expect(await report({ callId: ended })).toMatchObject({ status: 409 });
    expect(await sql(app.databaseUrl, 'SELECT id FROM reporting_attempts WHERE reports IS NOT NULL', [])).toEqual([]);
  });

  it('leave open what was not called if more were reported than are accepted', async () => {
    const { report, run } = await prepare({
      checks: [{ name: 'No cancelling', type: 'never_calls_tool', tool: 'cancel' }],
    });
    const statuses: number[] = [];
    act = async (callId) => {
      for (let number = 0; number < 201; number++) statuses.push((await report({ callId, name: 'look_up' })).status);
    };
    const { call } = await run();
    expect(statuses).toEqual([...Array<number>(200).fill(202), 409]);
    expect(call).toMatchObject({
      outcome: 'error',
      failure: { code: 'check_undecided' },
      measures: { toolCalls: null },
      checks: [{ met: null, detail: expect.stringContaining('200 were reported') }],
    });
  });

  it.each([
    // MatthewFlamm/pynws#92
    ['a time without a zone', { at: '2026-11-29T23:00:00.123456' }, 'at must be a date and time'],
    // langchain-ai/langchain#36043
    ['a list as arguments', { arguments: ['2'] }, 'arguments must be an object'],
    ['a field that is unknown', { tool: 'book_table' }, 'tool is not a known field'],
  ])('leave open what was not called if one was refused: %s', async (_, body, message) => {
    const { report, run } = await prepare();
    act = (callId) => report({ callId, ...body });
    const { call } = await run();
    expect(call).toMatchObject({
      outcome: 'error',
      failure: { code: 'check_undecided' },
      measures: { toolCalls: null },
      checks: [{ met: null, detail: expect.stringContaining(`a report was refused (${message}`) }],
    });
    // What was reported all the same is decided.
    act = async (callId) => {
      await report({ callId, ...body });
      for (let booking = 0; booking < 2; booking++) await report({ callId, arguments: ARGUMENTS });
    };
    expect((await run()).call).toMatchObject({ outcome: 'failed' });
  });

  it.each([
    // a Python backend with str() of a dict: langchain-ai/langchain#34242
    ['that is not JSON', "{'callId': 'x'}", 400],
    ['without a call', JSON.stringify({ name: 'book_table' }), 400],
    ['that is too large', JSON.stringify({ name: 'x'.repeat(2 * 1024 * 1024) }), 413],
  ])('leave open what was not called if one was refused %s: it may be of any call', async (_, body, status) => {
    const { client, run } = await prepare();
    act = async () => {
      expect(await client.post('/tool-calls', body)).toMatchObject({ status });
    };
    expect((await run()).call).toMatchObject({ outcome: 'error', failure: { code: 'check_undecided' } });
  });

  it('leave open what was not called if one was refused for a callId that is not known: it may be of any call', async () => {
    const callIds = ['undefined', ' 7c9e4b1a-2d56-4f83-b0a7-e3d8f6519c24 ', '7c9e4b1a-2d56-4f83-b0a7-e3d8f6519c24'];
    const found = callIds.map(async (callId) => {
      const { report, run } = await prepare();
      return (await run(async () => expect(await report({ callId })).toMatchObject({ status: 404 }))).call;
    });
    for (const call of await Promise.all(found)) {
      expect(call).toMatchObject({ outcome: 'error', failure: { code: 'check_undecided' } });
      expect(call.checks[0].detail).toContain('callId is that of no call');
    }
  });

  it('leave open what was not called if the role of the key does not suffice', async () => {
    const { client, run, ...subject } = await prepare();
    const viewer = client.as((await createKey(app, subject, 'VIEWER')).value);
    const { call } = await run(async (callId) => {
      const refused = await viewer.post('/tool-calls', { callId, name: 'book_table', arguments: ARGUMENTS });
      expect(refused).toMatchObject({ status: 403 });
    });
    expect(call).toMatchObject({ outcome: 'error', failure: { code: 'check_undecided' } });
  });

  it('change nothing if they are refused for another call: one at Twilio, one that has ended, or one with a wrong key', async () => {
    const { client, report, run } = await prepare();
    const { call: ended } = await run(() => Promise.resolve());
    const { call } = await run(async () => {
      // A person calls the same agent.
      expect(await report({ callId: 'CA00112233445506778899aabbccddeeff' })).toMatchObject({ status: 404 });
      expect(await report({ callId: ended.attempts.at(-1).callId })).toMatchObject({ status: 409 });
      // webhookdb/webhookdb#896: whose call it is cannot be known.
      const unknown = await client.as('wrong').post('/tool-calls', { callId: 'x', name: 'book_table' });
      expect(unknown).toMatchObject({ status: 401 });
    });
    expect(call).toMatchObject({ outcome: 'failed', measures: { toolCalls: 0 } });
  });

  // 1ay1/agentty#9, QwenLM/qwen-code#8382: a gateway gives each call of a tool the same id, in every turn.
  it('with the id, name and arguments of another one and another time or result are refused: one call or two is not known', async () => {
    const others = [() => ({ at: new Date() }), () => ({ result: { reference: 'QX8' } })];
    const found = others.map(async (other) => {
      const { report, run } = await prepare();
      const statuses: number[] = [];
      const { call } = await run(async (callId) => {
        const first = {
          callId,
          id: 'book_table:0',
          arguments: ARGUMENTS,
          result: { reference: 'QX7' },
          at: new Date(),
        };
        await new Promise((resolve) => setTimeout(resolve, 1_100));
        for (const body of [first, first, { ...first, ...other() }]) statuses.push((await report(body)).status);
      });
      return { statuses, call };
    });
    for (const { statuses, call } of await Promise.all(found)) {
      expect(statuses).toEqual([202, 202, 409]);
      expect(call).toMatchObject({ failure: { code: 'check_undecided' }, checks: [{ met: null }] });
      expect(call.checks[0].detail).toContain('give each tool call an id of its own');
    }
  });

  it('are not refused that are still in progress with the same Idempotency-Key', async () => {
    const { client, run } = await prepare();
    const statuses: number[] = [];
    const { call } = await run(async (callId) => {
      const body = { callId, id: 'call_1', name: 'book_table', arguments: ARGUMENTS };
      const send = () => client.send<any>('POST', '/tool-calls', body, { 'Idempotency-Key': callId });
      statuses.push(...(await Promise.all([send(), send(), send()])).map(({ status }) => status));
    });
    expect(statuses).toContain(202);
    expect(call).toMatchObject({ outcome: 'passed', measures: { toolCalls: 1 } });
  });

  it('of another workspace that are refused change nothing', async () => {
    const other = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    const { run } = await prepare();
    act = async (callId) => {
      expect(await other.post('/tool-calls', { callId, name: '' })).toMatchObject({ status: 400 });
    };
    expect((await run()).call).toMatchObject({ outcome: 'failed', measures: { toolCalls: 0 } });
  });

  it('of one attempt at a call do not count for another', async () => {
    const { report, run } = await prepare();
    const ids: string[] = [];
    act = async (callId, response) => {
      ids.push(callId);
      if (ids.length > 1) return;
      await report({ callId, arguments: ARGUMENTS });
      response.writeHead(503).end();
    };
    const { call } = await run();
    expect(new Set(ids).size).toBeGreaterThan(1);
    expect(call).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('never called book_table') });
    expect(toolsOf(call)).toEqual([]);
    expect(await report({ callId: ids[0] })).toMatchObject({ status: 409 });
  });

  it('are deleted with their run', async () => {
    const { client, report, run } = await prepare();
    act = (callId) => report({ callId, arguments: ARGUMENTS, result: 'Zanzibar' });
    const { runId, call } = await run();
    expect(JSON.stringify(call)).toContain('Zanzibar');
    const attempts = 'SELECT 1 FROM reporting_attempts a JOIN calls c ON c.id = a.call_id WHERE c.run_id = $1';
    expect(await sql(app.databaseUrl, attempts, [runId])).toHaveLength(1);
    expect(await client.delete(`/runs/${runId}`)).toMatchObject({ status: 200 });
    await sql(app.databaseUrl, 'DELETE FROM calls WHERE run_id = $1', [runId]);
    expect(await sql(app.databaseUrl, attempts, [runId])).toEqual([]);
  });
});
