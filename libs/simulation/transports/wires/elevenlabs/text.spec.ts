import { type DefinitionInput, normalise } from '../../../../evaluation-definition/index.js';
import { OutboundClient } from '../../../../outbound-http/index.js';
import { executeCall } from '../../../call/call.js';
import { testConnection } from '../../../connection-test/test-connection.js';
import type { FirstSpeaker } from '../../modules/endpoint.js';
import { elevenlabsText } from './index.js';
import type { ElevenLabsOptions } from './options.js';
import type { Act } from '../../../../../test/simulators/elevenlabs/double/agent.js';
import { server, tone } from '../../../../../test/simulators/elevenlabs/double/messages.js';
import {
  ElevenLabsServer,
  type ElevenLabsServerOptions,
} from '../../../../../test/simulators/elevenlabs/double/server.js';

const KEY = 'sk_1234567890abcdef';
const GREETING = 'Good evening, this is Bella Vista.';
const ASKS = { script: [{ say: 'When are you open?' }, { end: 'Done' }] } as const satisfies DefinitionInput;
const answer = (text: string): Act => ({ send: [server.response(text)] });

describe('a conversation in text with an agent of ElevenLabs', () => {
  const doubles: ElevenLabsServer[] = [];
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop();
  });

  const callOf = () => ({
    client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
    ...{ assistantId: 'agent_01', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
  });

  async function serve(options: ElevenLabsServerOptions = {}) {
    const double = await ElevenLabsServer.start({ apiKey: KEY, agentId: 'agent_01', ...options });
    doubles.push(double);
    return double;
  }

  const endpointOf = (double: ElevenLabsServer, options: ElevenLabsOptions, firstSpeaker: FirstSpeaker | null) => ({
    ...{ protocol: 'elevenlabs-text', url: double.url, headers: {}, firstSpeaker, apiKey: KEY },
    options: { ...options },
  });

  async function call(
    server: ElevenLabsServerOptions,
    definition: DefinitionInput = ASKS,
    options: ElevenLabsOptions = {},
    firstSpeaker: FirstSpeaker | null = null,
  ) {
    const double = await serve(server);
    const result = await executeCall({
      definition: normalise(definition),
      scenario: { scenarioText: 'You have a question.' },
      personality: { name: 'Caller' },
      transport: elevenlabsText.transport(endpointOf(double, options, firstSpeaker), callOf()),
      patienceMs: 300,
    });
    return { ...result, double, agent: double.agents[0] };
  }

  type Called = Awaited<ReturnType<typeof call>>;
  const spoken = ({ timeline }: Called) =>
    timeline.flatMap((entry) => (entry.type === 'speech' ? [`${entry.speaker}: ${entry.text}`] : []));
  const script = (onStart: Act[], onTurn: Act[][] = [[answer('From noon to ten.')]]) => ({
    script: { onStart, onTurn },
  });
  const greets = script([{ send: [server.metadata(), server.response(GREETING)] }]);
  const CONVERSATION = [`agent: ${GREETING}`, 'caller: When are you open?', 'agent: From noon to ten.'];

  it('asks for text only, and for nothing else that alters the agent, before the first message', async () => {
    const called = await call(greets, ASKS, { variables: { name: 'Rossi' } });
    expect(called.outcome).toBe('passed');
    expect(spoken(called)).toEqual(CONVERSATION);
    const [begun, ...rest] = called.agent!.received;
    const { atMs: _, ...first } = begun!;
    expect(first).toEqual({
      type: 'conversation_initiation_client_data',
      conversation_config_override: { conversation: { text_only: true } },
      ...{ dynamic_variables: { name: 'Rossi' }, user_id: 'vat:c-1' },
    });
    expect(rest).toMatchObject([{ type: 'user_message', text: 'When are you open?' }]);
    expect(called.agent!.heardBytes).toBe(0);
    // The end of the call closes the socket, which is the call.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(called.double.closes).toEqual([1000]);
    expect(called.double.openCalls).toBe(0);
  });

  it('overrides nothing if the agent itself is text only', async () => {
    const { agent } = await call(greets, ASKS, { textOnly: 'agent' });
    expect(agent!.received[0]).not.toHaveProperty('conversation_config_override');
  });

  it.each([
    ['before the metadata', [{ send: [server.response(GREETING), server.metadata()] }]],
    ['in the same part as the metadata', [{ send: [server.metadata(), server.response(GREETING)] }]],
    ['later', [{ send: [server.metadata()] }, { afterMs: 300, send: [server.response(GREETING)] }]],
    [
      'in parts',
      [
        { send: [server.metadata(), server.part('start'), server.part('delta', 'Good evening, ')] },
        {
          afterMs: 200,
          send: [server.part('delta', 'this is Bella Vista.'), server.part('stop'), server.response(GREETING)],
        },
      ],
    ],
    [
      'as a whole and then in parts',
      [
        { send: [server.metadata(), server.response(GREETING), server.part('start'), server.part('delta', GREETING)] },
        { afterMs: 50, send: [server.part('stop')] },
      ],
    ],
    [
      'in parts alone',
      [{ send: [server.metadata(), server.part('start'), server.part('delta', GREETING), server.part('stop')] }],
    ],
  ])('hears the greeting once that comes %s', async (_when, onStart: Act[]) => {
    expect(spoken(await call(script(onStart)))).toEqual(CONVERSATION);
  });

  it('loses nothing that arrives between turns', async () => {
    const more: Act = { afterMs: 900, send: [server.response('We also have a garden.')] };
    const onTurn = [[answer('From noon to ten.'), more], [answer('Goodbye.')]];
    const definition = {
      script: [{ say: 'When are you open?' }, { waitSeconds: 1 }, { say: 'Bye.' }, { end: 'Done' }],
    };
    const called = await call(script([{ send: [server.metadata(), server.response(GREETING)] }], onTurn), definition);
    expect(spoken(called)).toEqual([
      ...CONVERSATION,
      'agent: We also have a garden.',
      'caller: Bye.',
      'agent: Goodbye.',
    ]);
  });

  it('lets the caller speak first, and measures from its message', async () => {
    const slow = script(
      [{ send: [server.metadata()] }],
      [[{ afterMs: 300, send: [server.response('From noon to ten.')] }]],
    );
    const called = await call(slow, ASKS, {}, 'caller');
    expect(spoken(called)).toEqual(CONVERSATION.slice(1));
    const ms = called.measures.latency.p50!;
    expect(ms).toBeGreaterThanOrEqual(290);
    expect(ms).toBeLessThan(900);
  });

  it('takes no more structure in the arguments of tools than the main thread can take', async () => {
    const many = Array.from({ length: 20_000 }, () => ({}));
    const tools = [1, 2, 3].map((n) => server.clientTool(`t${n}`, 'search', { many }));
    const called = await call(script([{ send: [server.metadata(), ...tools] }]));
    expect(called.failure).toMatchObject({ code: 'answer_too_large', retryable: false });
    expect(called.failure!.message).toContain('its tool calls have 120,008 structural characters or more');
  });

  it('answers tools of the client, sees those of the platform, and waits for the words after them', async () => {
    const tools = [server.clientTool('t1', 'find_table', { people: 4 }), server.toolRequest('t2', 'search')];
    const onTurn = [[{ send: [server.response('One moment.'), ...tools] }]];
    const onToolResult = [{ afterMs: 700, send: [server.toolResponse('t2', 'search'), server.response('Table 7.')] }];
    const definition = { ...ASKS, toolResults: [{ tool: 'find_table', result: { table: 7 } }] };
    const called = await call({ script: { onStart: greets.script.onStart, onTurn, onToolResult } }, definition);
    expect(called.agent!.of('client_tool_result')).toMatchObject([
      { tool_call_id: 't1', result: '{"table":7}', is_error: false },
    ]);
    const found = called.timeline.filter(({ type }) => type === 'tool_call');
    expect(found).toMatchObject([
      { name: 'find_table', arguments: { people: 4 }, result: { table: 7 } },
      { name: 'search', arguments: null },
    ]);
    expect(spoken(called).slice(2)).toEqual(['agent: One moment.', 'agent: Table 7.']);
  });

  it('sends errors of tools as such, late results late, and nothing for a tool that never answers', async () => {
    const tools = ['down', 'slow', 'dead'].map((name, n) => server.clientTool(`t${n}`, name));
    const onTurn = [
      [{ send: [server.response('One moment.'), ...tools] }, { afterMs: 900, send: [server.response('No.')] }],
    ];
    const toolResults = [
      { tool: 'down', error: 'Out of order' },
      { tool: 'slow', results: [{ table: 7 }], delayMs: 300 },
      { tool: 'dead', noAnswer: true as const },
    ];
    const called = await call({ script: { onStart: greets.script.onStart, onTurn } }, { ...ASKS, toolResults });
    expect(called.agent!.of('client_tool_result')).toMatchObject([
      { tool_call_id: 't0', result: 'Out of order', is_error: true },
      { tool_call_id: 't1', result: '{"table":7}', is_error: false },
    ]);
    expect(spoken(called).slice(2)).toEqual(['agent: One moment.', 'agent: No.']);
  });

  it('ends as error when no result fits the call of a tool', async () => {
    const onTurn = [[{ send: [server.clientTool('t1', 'find_table', { people: 5 })] }]];
    const toolResults = [{ tool: 'find_table', arguments: { people: 4 }, result: 'Table 7' }];
    const called = await call({ script: { onStart: greets.script.onStart, onTurn } }, { ...ASKS, toolResults });
    expect(called).toMatchObject({ outcome: 'error', failure: { code: 'tool_result_missing' } });
    expect(called.timeline.filter(({ type }) => type === 'tool_call')).toMatchObject([{ arguments: { people: 5 } }]);
  });

  it.each([
    ['by the tool for it', [{ send: [server.response('Bye.'), server.toolResponse('t1', 'end_call')] }]],
    ['by closing the connection', [{ send: [server.response('Bye.')], close: { code: 1000 } }]],
  ])('ends when the agent hangs up %s', async (_how, acts: Act[]) => {
    const called = await call(script([{ send: [server.metadata(), server.response(GREETING)] }], [acts]));
    expect(called.end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
    expect(spoken(called).at(-1)).toBe('agent: Bye.');
  });

  it.each<[string, ElevenLabsServerOptions, string, RegExp]>([
    ['a refused override', { overrides: 'refused' }, 'override_refused', /security settings.*not allowed by config/],
    [
      'audio in place of text',
      script([{ send: [server.metadata(), server.audio(1, tone(100))] }]),
      'override_refused',
      /answers with audio/,
    ],
    ['a missing variable', { required: ['name'] }, 'platform_refused', /option variables.*: name/],
    ['a wrong key', { apiKey: 'another' }, 'platform_refused', /check the apiKey.*Invalid API key/],
    ['an unknown agent', { agentId: 'another' }, 'platform_refused', /check the assistantId.*does not exist/],
    ['too many calls', { maxCalls: 0 }, 'rate_limited', /Too many concurrent calls/],
    [
      'a close before it is ready',
      script([{ send: [], close: { code: 1000, reason: 'No.' } }]),
      'not_ready',
      /code 1000.*No\./,
    ],
    ['an expired address', { validMs: -1 }, 'platform_refused', /HTTP 403, .*check the clock/],
    [
      'an error of the platform',
      script([{ send: [server.metadata()], close: { code: 1011, reason: 'Internal error' } }]),
      'agent_error',
      /Internal error/,
    ],
    [
      'an error message',
      script([{ send: [server.metadata(), server.error(1008, 'max_duration_exceeded', 'Too long')] }]),
      'platform_refused',
      /Too long/,
    ],
    [
      'another path',
      { signedUrl: 'wss://127.0.0.1:1/v1/convai/conversation?conversation_signature=1234567890' },
      'connection_failed',
      /ECONNREFUSED/,
    ],
  ])('is an error with the words of the platform and a cure at %s', async (_what, options, code, words) => {
    const { outcome, failure } = await call(options);
    expect({ outcome, code: failure?.code, fault: failure?.fault }).toEqual({
      ...{ outcome: 'error', code, fault: 'infrastructure' },
    });
    expect(failure!.message).toMatch(words);
    expect(failure!.message).not.toContain('1234567890');
  });

  it.each([
    ['words in parts', Array.from({ length: 300 }, () => server.part('delta', 'many '.repeat(200)))],
    ['a very long answer', [server.response('long '.repeat(60_000))]],
    ['answers', Array.from({ length: 101 }, () => server.response('And more.'))],
    ['tool calls', Array.from({ length: 101 }, (_, n) => server.clientTool(`t${n}`, 'search', {}))],
  ])('ends with a failure of the agent that sends %s without end', async (_what, send) => {
    const called = await call(script([{ send: [server.metadata(), ...send] }]));
    expect(called.failure).toMatchObject({ code: 'answer_too_large', retryable: false });
    expect(called.timeline.length).toBeLessThan(110);
  });

  it('stores the id of a conversation once, however often the platform says it', async () => {
    const metadata = Array.from({ length: 50 }, () => server.metadata());
    const double = await serve(script([{ send: [...metadata, server.response(GREETING)] }]));
    const identified = jest.fn(async () => undefined);
    const ledger = { placed: async () => undefined, paid: async () => undefined, identified };
    const { failure } = await executeCall({
      ...{ definition: normalise(ASKS), scenario: { scenarioText: 'You have a question.' } },
      ...{ personality: { name: 'Caller' }, patienceMs: 300 },
      transport: elevenlabsText.transport(endpointOf(double, {}, null), { ...callOf(), ledger }),
    });
    expect(failure).toBeNull();
    expect(identified).toHaveBeenCalledTimes(1);
  });

  it('does not take audio for text if the agent is said to be text only', async () => {
    const called = await call(script([{ send: [server.metadata(), server.audio(1, tone(100))] }]), ASKS, {
      textOnly: 'agent',
    });
    expect(called.failure!.message).toContain('set the option textOnly to override');
  });

  it('is tested step by step, with advice on failed steps of ElevenLabs', async () => {
    const test = async (options: ElevenLabsServerOptions) => {
      const double = await serve(options);
      const { ok, steps } = await testConnection(endpointOf(double, {}, null), callOf(), 10_000);
      return { ok, steps, summary: steps.map(({ step, status }) => `${step} ${status}`) };
    };
    expect(await test(greets)).toMatchObject({
      ok: true,
      summary: ['resolved passed', 'connected passed', 'secured skipped', 'accepted passed', 'answered passed'],
    });
    const refused = await test({ apiKey: 'another' });
    expect(refused).toMatchObject({ ok: false });
    expect(refused.steps.find(({ status }) => status === 'failed')).toMatchObject({
      step: 'accepted',
      cure: 'Check the apiKey of the agent, and what it may do.',
    });
    const overridden = await test({ overrides: 'refused' });
    expect(overridden.steps.find(({ status }) => status === 'failed')).toMatchObject({
      step: 'answered',
      cure: expect.stringContaining('"Text only"') as string,
    });
  });
});
