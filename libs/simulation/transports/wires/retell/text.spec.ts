import fc from 'fast-check';
import { type DefinitionInput, normalise } from '../../../../evaluation-definition/index.js';
import { OutboundClient } from '../../../../outbound-http/index.js';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { executeCall } from '../../../call/call.js';
import { testConnection } from '../../../connection-test/test-connection.js';
import type { AgentCall } from '../../modules/endpoint.js';
import { retellText } from './index.js';
import type { CompletionAnswer } from '../../../../../test/simulators/retell/messages.js';
import { RetellServer, type RetellServerOptions } from '../../../../../test/simulators/retell/server.js';

const KEY = 'key_1234567890abcdef';
const ASKS = { script: [{ say: 'When are you open?' }, { end: 'Done' }] } as const satisfies DefinitionInput;
const says = (...texts: string[]): CompletionAnswer => ({
  messages: texts.map((content, index) => ({ role: 'agent', content, message_id: `m${index}` })),
});

describe('a conversation in text with an agent of Retell', () => {
  const doubles: RetellServer[] = [];
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop();
  });

  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });

  async function serve(options: RetellServerOptions = {}) {
    const answer = () => says('From noon to ten.');
    const double = await RetellServer.start({ apiKey: KEY, agentId: 'agent_01', answer, ...options });
    doubles.push(double);
    return double;
  }

  const endpointOf = (double: RetellServer, more: object = {}) => ({
    ...{ protocol: 'retell-text', url: double.url, headers: {}, firstSpeaker: null, apiKey: KEY, options: {} },
    ...more,
  });
  const callOf = (more: Partial<AgentCall> = {}): AgentCall => ({
    ...{ client, assistantId: 'agent_01', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1', ...more },
  });

  async function call(
    server: RetellServerOptions = {},
    definition: DefinitionInput = ASKS,
    { endpoint = {}, ...more }: Partial<AgentCall> & { endpoint?: object } = {},
  ) {
    const double = await serve(server);
    const normal = normalise(definition);
    const result = await executeCall({
      definition: normal,
      scenario: { scenarioText: 'You have a question.' },
      personality: { name: 'Caller' },
      transport: retellText.transport(
        endpointOf(double, endpoint),
        callOf({ toolResults: normal.toolResults, ...more }),
      ),
      patienceMs: 300,
    });
    return { ...result, double };
  }

  const spoken = ({ timeline }: Awaited<ReturnType<typeof call>>) =>
    timeline.flatMap((entry) => (entry.type === 'speech' ? [`${entry.speaker}: ${entry.text}`] : []));

  it('sends the whole conversation with the key to the agent, and hears its answer', async () => {
    const called = await call();
    expect(called.outcome).toBe('passed');
    expect(spoken(called)).toEqual(['caller: When are you open?', 'agent: From noon to ten.']);
    const [concurrency, completion] = called.double.requests;
    expect(concurrency).toMatchObject({ method: 'GET', url: '/get-concurrency' });
    expect(completion).toMatchObject({
      ...{ method: 'POST', url: '/agent-playground-completion/agent_01' },
      headers: { authorization: `Bearer ${KEY}`, 'x-call-id': 'c-1' },
    });
    expect(called.double.completions).toEqual([
      { messages: [{ role: 'user', content: 'When are you open?' }], dynamic_variables: {}, tool_mocks: [] },
    ]);
    expect(called.exchange).toMatchObject({ protocol: 'retell-text', requests: [{ status: 200 }] });
  });

  it('reads arguments as an object, content as a list, and the role assistant', async () => {
    const invocation = { role: 'tool_call_invocation', tool_call_id: 't1', name: 'book', arguments: { people: 4 } };
    const said = { role: 'assistant', content: [{ type: 'text', text: 'From noon ' }, 'to ten.'] };
    const called = await call({ answer: () => ({ messages: [invocation, said] as never }) });
    expect(called.timeline.find(({ type }) => type === 'tool_call')).toMatchObject({ arguments: { people: 4 } });
    expect(spoken(called)).toEqual(['caller: When are you open?', 'agent: From noon to ten.']);
  });

  it('takes no unreadable arguments for none, and passes over roles that it does not know', async () => {
    const invocation = (id: string, args: unknown) => ({
      ...{ role: 'tool_call_invocation', tool_call_id: id, name: 'book', arguments: args },
    });
    const others = ['node_transition', 'injected', 'dtmf', 'transfer_target'].map((role) => ({ role, content: 'x' }));
    const messages = [
      invocation('t1', 4),
      invocation('t2', ['x']),
      invocation('t3', ''),
      ...others,
      says('Yes.').messages[0],
    ];
    const called = await call({ answer: () => ({ messages }) as never });
    const calls = called.timeline.flatMap((entry) => (entry.type === 'tool_call' ? [entry.arguments] : []));
    expect(calls).toEqual([null, null, {}]);
    expect(spoken(called).slice(1)).toEqual(['agent: Yes.']);
  });

  it('reads answers in generated dialects as they were meant', async () => {
    const words = fc.stringMatching(/^[A-Z][a-z]{1,8}( [a-z]{1,8}){0,3}\.$/);
    const args = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,6}$/),
      fc.constantFrom<unknown>(1, 'x', true, null, [1], { a: 1 }),
    );
    const blank = fc.constantFrom({}, { words: [] }, { metadata: null, time_sec: '1' });
    const said = fc
      .tuple(words, fc.constantFrom('agent', 'assistant'), fc.integer({ min: 0, max: 2 }), blank)
      .map(([text, role, form, more]) => {
        const content = [
          text,
          [text],
          [
            { type: 'text', text: text.slice(0, 2) },
            { type: 'text', text: text.slice(2) },
          ],
        ][form];
        return { sent: { ...more, role, content }, meant: text };
      });
    const called = fc.tuple(words, args, fc.boolean(), blank).map(([name, given, asText, more]) => ({
      sent: { ...more, arguments: asText ? JSON.stringify(given) : given, name, role: 'tool_call_invocation' },
      meant: [name, given] as unknown,
    }));
    const other = fc.constantFrom<object>(
      { role: 'node_transition' },
      { role: 'tool_call_result', content: null },
      { role: 'agent', content: null },
    );
    const message = fc.oneof(
      said,
      called,
      other.map((sent) => ({ sent, meant: undefined })),
    );
    const turns = Array.from({ length: Math.ceil(shareOf(2_000) / 90) }, (_, seed) =>
      fc.sample(message, { numRuns: 90, seed }),
    );
    for (let first = 0; first < turns.length; first += 4) {
      const some = turns.slice(first, first + 4);
      const answer = (_: unknown, turn: number) => ({ messages: some[turn - 1]!.map(({ sent }) => sent) }) as never;
      const { timeline } = await call(
        { answer },
        { script: [...some.map((_, n) => ({ say: `Turn ${n}.` })), { end: 'Done' }] },
      );
      const found = timeline.flatMap((entry): unknown[] => {
        if (entry.type === 'tool_call') return [[entry.name, entry.arguments]];
        return entry.type === 'speech' && entry.speaker === 'agent' ? [entry.text] : [];
      });
      expect(found).toEqual(some.flat().flatMap(({ meant }) => (meant === undefined ? [] : [meant])));
    }
  }, 60_000);

  it('carries messages, state, node, component and variables from turn to turn', async () => {
    const state = { current_state: 'booking', current_node_id: 'node-2', component_id: 'component-1' };
    const transition = { role: 'node_transition', new_node_id: 'node-2', transition_type: 'normal' };
    const answer = (_: unknown, turn: number): CompletionAnswer =>
      turn === 1
        ? { messages: [...says('For how many?').messages, transition], ...state, dynamic_variables: { people: '4' } }
        : says('Done.');
    const definition = { script: [{ say: 'A table.' }, { say: 'For four.' }, { end: 'Done' }] };
    const { double } = await call({ answer }, definition, { variables: { name: 'Rossi', vip: true, people: 2 } });
    expect(double.completions[0]!.dynamic_variables).toEqual({ name: 'Rossi', vip: 'true', people: '2' });
    expect(double.completions[1]).toEqual({
      messages: [
        { role: 'user', content: 'A table.' },
        { role: 'agent', content: 'For how many?', message_id: 'm0' },
        transition,
        { role: 'user', content: 'For four.' },
      ],
      dynamic_variables: { name: 'Rossi', vip: 'true', people: '4' },
      tool_mocks: [],
      ...state,
    });
    // The free lines are asked for once.
    expect(double.requests.filter(({ url }) => url === '/get-concurrency')).toHaveLength(1);
  });

  it('gives the results of the evaluation as mocks, one to one, and reports the calls of tools', async () => {
    const toolResults = [
      { tool: 'find_table', arguments: { people: 4 }, result: { table: 7 } },
      { tool: 'transfer', result: false },
      { tool: 'note', result: 'ok' },
    ];
    const invocation = {
      role: 'tool_call_invocation',
      tool_call_id: 't1',
      name: 'find_table',
      arguments: '{"people":4}',
    };
    const broken = { role: 'tool_call_invocation', tool_call_id: 't2', name: 'note', arguments: 'no JSON' };
    const result = { role: 'tool_call_result', tool_call_id: 't1', content: '{"table":7}', successful: true };
    const answer = () => ({
      messages: [...says('One moment.').messages, invocation, result, broken, ...says('7.').messages],
    });
    const called = await call({ answer }, { ...ASKS, toolResults });
    expect(called.double.completions[0]!.tool_mocks).toEqual([
      {
        tool_name: 'find_table',
        input_match_rule: { type: 'partial_match', args: { people: 4 } },
        output: '{"table":7}',
      },
      { tool_name: 'transfer', input_match_rule: { type: 'any' }, output: 'false', result: false },
      { tool_name: 'note', input_match_rule: { type: 'any' }, output: 'ok' },
    ]);
    expect(called.timeline.filter(({ type }) => type === 'tool_call')).toMatchObject([
      { name: 'find_table', arguments: { people: 4 }, result: '{"table":7}' },
      { name: 'note', arguments: null, rawArguments: 'no JSON' },
    ]);
    expect(spoken(called).slice(1)).toEqual(['agent: One moment.', 'agent: 7.']);
  });

  it('ends as error when a tool with mocks, of which none fits, was run for real', async () => {
    const toolResults = [{ tool: 'find_table', arguments: { people: 4 }, error: 'Out of order' }];
    const named = { role: 'tool_call_invocation', tool_call_id: 't1', name: 'find_table', arguments: '{"people":5}' };
    const answer = () => ({ messages: [named, ...says('Table 7.').messages] });
    const called = await call({ answer }, { ...ASKS, toolResults });
    expect(called.double.completions[0]!.tool_mocks).toMatchObject([{ output: '{"error":"Out of order"}' }]);
    expect(called).toMatchObject({ outcome: 'error', failure: { code: 'tool_result_missing' } });
  });

  it('sends the history of the evaluation before the words of the caller', async () => {
    const history = [
      { caller: 'Hello.' },
      { agent: 'Good evening.' },
      { tool: 'find_table', arguments: { people: 4 }, result: { table: 7 } },
    ];
    const called = await call({}, { ...ASKS, history });
    const id = { tool_call_id: 'call_before_2' };
    expect(called.double.completions[0]!.messages).toEqual([
      { role: 'user', content: 'Hello.' },
      { role: 'agent', content: 'Good evening.' },
      { role: 'tool_call_invocation', ...id, name: 'find_table', arguments: '{"people":4}' },
      { role: 'tool_call_result', ...id, content: '{"table":7}' },
      { role: 'user', content: 'When are you open?' },
    ]);
  });

  it('ends when the agent has ended the call, after its last words', async () => {
    const answer = () => ({ ...says('Goodbye.'), call_ended: true });
    const called = await call({ answer }, { script: [{ say: 'Bye.' }, { say: 'Still there?' }, { end: 'Done' }] });
    expect(called.end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
    expect(spoken(called)).toEqual(['caller: Bye.', 'agent: Goodbye.']);
  });

  it('lets the agent speak first if it is asked to, and asks for a version', async () => {
    const called = await call({}, ASKS, { endpoint: { firstSpeaker: 'agent' }, assistantVersion: '12' });
    expect(called.double.completions[0]!.messages).toEqual([]);
    expect(called.double.requests[1]!.url).toBe('/agent-playground-completion/agent_01?version=12');
  });

  it('ignores messages of unknown kinds, and an account that does not say what is in use', async () => {
    const called = await call({ fault: 'unknown-role', concurrency: 'missing' });
    expect([called.outcome, ...spoken(called).slice(1)]).toEqual(['passed', 'agent: From noon to ten.']);
  });

  it('measures from the request to the answer', async () => {
    const ms = (await call({ fault: 'slow' })).measures.latency.p50!;
    expect(ms).toBeGreaterThanOrEqual(290);
    expect(ms).toBeLessThan(2_000);
  });

  it('keeps no more variables of the agent than a request can have', async () => {
    const answer = (_body: unknown, turn: number) => ({
      ...says('And you?'),
      dynamic_variables: { [`of turn ${turn}`]: 'x'.repeat(300_000) },
    });
    const script = [{ say: 'One?' }, { say: 'Two?' }, { say: 'Three?' }, { end: 'Done' }];
    const { failure, double } = await call({ answer }, { script });
    expect(failure).toMatchObject({ code: 'answer_too_large', retryable: false });
    expect(double.completions).toHaveLength(2);
  });

  it.each<[string, RetellServerOptions, string, RegExp]>([
    ['a wrong key', { apiKey: 'another' }, 'platform_refused', /check the apiKey.*Invalid API Key/],
    ['an unknown agent', { agentId: 'another' }, 'platform_refused', /check the assistantId.*Cannot find/],
    [
      'no credit',
      { refusal: { status: 402, message: 'Trial has ended' } },
      'platform_refused',
      /credit.*Trial has ended/,
    ],
    [
      'too many requests',
      { refusal: { status: 429, message: 'Throttled' } },
      'rate_limited',
      /raise the limit.*Throttled/,
    ],
    ['no free line', { concurrency: { current: 20, limit: 20 } }, 'platform_busy', /20 of the 20 calls at once/],
    ['an overload of the platform', { refusal: { status: 503, message: 'Down' } }, 'http_status', /HTTP 503.*Down/],
    ['an error of the platform', { refusal: { status: 500, message: 'Oops' } }, 'http_status', /HTTP 500.*Oops/],
    ['an answer without JSON', { fault: 'no-json' }, 'bad_response', /not a JSON object/],
    ['an answer without messages', { fault: 'no-list' }, 'bad_response', /no list of messages/],
    ['an answer that is too large', { fault: 'too-large' }, 'answer_too_large', /too large/],
    ['an answer that is cut off', { fault: 'cut' }, 'stream_cut', /cut off/],
    ['an answer that repeats the key', { fault: 'echo-key' }, 'platform_refused', /HTTP 400/],
  ])('is an error with the words of the platform and a cure at %s', async (_what, options, code, words) => {
    const { outcome, failure } = await call(options);
    expect({ outcome, code: failure?.code, fault: failure?.fault }).toEqual({
      ...{ outcome: 'error', code, fault: 'infrastructure' },
    });
    expect(failure!.message).toMatch(words);
    expect(failure!.message).not.toContain('1234567890');
  });

  it('sends no key to the vendor without TLS', async () => {
    const double = await serve();
    const transport = retellText.transport(endpointOf(double, { url: 'http://api.retellai.com' }), callOf());
    const base = { scenario: { scenarioText: '' }, personality: { name: 'Caller' }, patienceMs: 300 };
    const { failure } = await executeCall({ ...base, definition: normalise(ASKS), transport });
    expect(failure!.message).toContain('over TLS only');
    expect(double.requests).toEqual([]);
  });

  it('is tested step by step, with advice on failed steps of Retell', async () => {
    const test = async (options: RetellServerOptions) => {
      const { ok, steps } = await testConnection(endpointOf(await serve(options)), callOf(), 10_000);
      return { ok, steps, summary: steps.map(({ step, status }) => `${step} ${status}`) };
    };
    const passed = await test({});
    // The second request, after that for the free lines, is not where the time begins.
    expect(passed.steps.filter(({ ms }) => (ms ?? 0) < 0)).toEqual([]);
    expect(passed).toMatchObject({
      ok: true,
      summary: ['resolved passed', 'connected passed', 'secured skipped', 'accepted passed', 'answered passed'],
    });
    const refused = await test({ apiKey: 'another' });
    expect(refused.steps.find(({ status }) => status === 'failed')).toMatchObject({
      ...{ step: 'accepted', cure: 'Check the apiKey of the agent, and what it may do.' },
    });
  });
});

describe('the assistants of an account of Retell', () => {
  const { signal } = new AbortController();

  it('are the voice agents with name, language and prompt, counted over all pages', async () => {
    const agents = [
      { id: 'agent/1?', name: 'Bella Vista', language: 'it-IT', prompt: 'You take bookings.' },
      ...Array.from({ length: 120 }, (_, index) => ({ id: `agent_${index}`, name: `Agent ${index}` })),
    ];
    const double = await RetellServer.start({ apiKey: KEY, agents });
    const account = { client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }), url: double.url, apiKey: KEY };
    const { items, total } = await retellText.assistants!(account, { offset: 0, limit: 2 }, signal);
    const nothing = { phoneNumber: null, phoneNumberId: null };
    expect(items).toEqual([
      { assistantId: 'agent/1?', name: 'Bella Vista', language: 'it-IT', prompt: 'You take bookings.', ...nothing },
      { assistantId: 'agent_0', name: 'Agent 0', language: null, prompt: null, ...nothing },
    ]);
    expect(total).toBe(121);
    expect(JSON.parse(double.requests[0]!.body)).toEqual({
      filter_criteria: { channel: { type: 'string', op: 'eq', value: 'voice' } },
    });
    const refused = retellText.assistants!(
      { ...account, apiKey: 'key_wrong_0987654321' },
      { offset: 0, limit: 2 },
      signal,
    );
    const { failure } = (await refused.catch((error: { failure: { message: string } }) => error)) as {
      failure: { message: string };
    };
    expect(failure.message).toMatch(/HTTP 401, check the apiKey .*Invalid API Key/);
    expect(failure.message).not.toContain('key_wrong');
    await double.stop();
  });
});
