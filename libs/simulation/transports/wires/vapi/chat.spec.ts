import { type DefinitionInput, normalise } from '../../../../evaluation-definition/index.js';
import { OutboundClient } from '../../../../outbound-http/index.js';
import { executeCall } from '../../../call/call.js';
import { testConnection } from '../../../connection-test/test-connection.js';
import { vapiChat } from './index.js';
import { calls, result, says } from '../../../../../test/simulators/vapi/chats.js';
import type { ChatScript } from '../../../../../test/simulators/vapi/scripted.js';
import { VapiServer, type VapiServerOptions } from '../../../../../test/simulators/vapi/server.js';

const KEY = '4f6a1b2c-1234-4c56-9abc-def012345678';
const ASKS = {
  script: [{ say: 'When are you open?' }, { say: 'And on Sunday?' }, { end: 'Done' }],
} as const satisfies DefinitionInput;

describe('a chat with an assistant of Vapi', () => {
  const doubles: VapiServer[] = [];
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop();
  });

  const callOf = () => ({
    client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
    ...{
      assistantId: 'assistant_01',
      phoneNumber: '',
      workspaceId: 'w-1',
      callId: '0b7f8a52-77d1-4a0e-8b5e-1f8d0a6c9e21',
    },
    variables: { name: 'Rossi' },
  });

  async function serve(options: VapiServerOptions) {
    const double = await VapiServer.start({ apiKey: KEY, assistantId: 'assistant_01', ...options });
    doubles.push(double);
    const endpoint = {
      protocol: 'vapi-chat',
      url: double.url,
      headers: {},
      firstSpeaker: null,
      options: {},
      apiKey: KEY,
    };
    return { double, endpoint };
  }

  async function call(options: VapiServerOptions, definition: DefinitionInput = ASKS) {
    const { double, endpoint } = await serve(options);
    const done = await executeCall({
      definition: normalise(definition),
      scenario: { scenarioText: 'You have a question.' },
      personality: { name: 'Caller' },
      transport: vapiChat.transport(endpoint, callOf()),
      patienceMs: 300,
    });
    return { ...done, double };
  }

  type Called = Awaited<ReturnType<typeof call>>;
  const spoken = ({ timeline }: Called) =>
    timeline.flatMap((entry) => (entry.type === 'speech' ? [`${entry.speaker}: ${entry.text}`] : []));
  const answering: ChatScript = [[says('From noon to ten.')], [says('Closed.'), says('Sorry!')]];

  it('names the chat before in each turn, with the variables and the mark of the attempt', async () => {
    const called = await call({ chat: answering });
    expect(called.outcome).toBe('passed');
    expect(spoken(called)).toEqual([
      ...['caller: When are you open?', 'agent: From noon to ten.', 'caller: And on Sunday?'],
      ...['agent: Closed.', 'agent: Sorry!'],
    ]);
    const common = {
      ...{ assistantId: 'assistant_01', name: `vat:${callOf().callId}` },
      assistantOverrides: { variableValues: { name: 'Rossi' } },
    };
    const [first, second] = called.double.requests.map(({ body }) => body);
    expect(first).toEqual({ ...common, input: 'When are you open?' });
    expect(second).toEqual({
      ...{ ...common, input: 'And on Sunday?' },
      previousChatId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
    });
  });

  it('sees the tools that the platform runs, whose results are not its words', async () => {
    const chat: ChatScript = [
      [calls('c1', 'find_table', { people: 4 }), result('c1', '{"table":7}'), says('Table 7 is free.')],
    ];
    const called = await call({ chat }, { script: [{ say: 'A table?' }, { end: 'Done' }] });
    expect(called.timeline.filter(({ type }) => type === 'tool_call')).toMatchObject([
      { name: 'find_table', arguments: { people: 4 } },
    ]);
    expect(spoken(called)).toEqual(['caller: A table?', 'agent: Table 7 is free.']);
  });

  it('reads content as a list of parts, and tool calls in the shapes of the documentation', async () => {
    const shapes = [
      { id: 'c1', name: 'book', parameters: { people: 4 } },
      { id: 'c2', function: { name: 'book', arguments: { people: 4 } } },
    ];
    const turn = { role: 'assistant', tool_calls: shapes, content: [{ type: 'text', text: 'One ' }, 'moment.'] };
    const called = await call({ chat: [[turn as never]] }, { script: [{ say: 'A table?' }, { end: 'Done' }] });
    const book = { name: 'book', arguments: { people: 4 } };
    expect(called.timeline.filter(({ type }) => type === 'tool_call')).toMatchObject([book, book]);
    expect(spoken(called)).toEqual(['caller: A table?', 'agent: One moment.']);
  });

  it('ends when the assistant calls the tool with which it hangs up', async () => {
    const called = await call({ chat: [[says('Bye.'), calls('c1', 'endCall', { reason: 'All said' })]] });
    expect(called.end).toMatchObject({ by: 'agent', code: 'agent_hung_up', reason: 'All said' });
    expect(spoken(called).at(-1)).toBe('agent: Bye.');
  });

  it('goes on without words of the assistant', async () => {
    const called = await call({ chat: [[{ role: 'assistant', content: '' }], [says('Hello?')]] });
    expect(called.failure).toBeNull();
    expect(spoken(called)).toContain('agent: Hello?');
  });

  it.each([
    ['an output that is not a list', { status: 201, body: '{"id":"c","output":{}}' }],
    ['no id', { status: 201, body: '{"output":[]}' }],
    ['what is not JSON', { status: 200, body: 'Hello' }],
  ])('is an error of the platform with %s', async (_what, refusal) => {
    const { outcome, failure } = await call({ refusal });
    expect({ outcome, code: failure?.code }).toEqual({ outcome: 'error', code: 'bad_response' });
  });

  it.each([
    ['messages', Array.from({ length: 101 }, () => says('And more.'))],
    ['tool calls', Array.from({ length: 101 }, (_, n) => calls(`c${n}`, 'search', {}))],
  ])('takes no more than a hundred %s in one turn', async (_what, turn) => {
    const { failure, timeline } = await call({ chat: [turn] });
    expect(failure).toMatchObject({ code: 'answer_too_large', retryable: false });
    expect(timeline.length).toBeLessThan(10);
  });

  it('takes no more words in one turn than other agents of text may say', async () => {
    const { failure, timeline } = await call({ chat: [Array.from({ length: 100 }, () => says('many '.repeat(600)))] });
    expect(failure).toMatchObject({
      code: 'answer_too_large',
      message: "The agent's response is too large: its text",
    });
    expect(timeline.filter(({ type }) => type === 'speech').length).toBeLessThan(90);
  });

  it('takes no more structure in the arguments of tools than the main thread can take, though they are JSON in a string', async () => {
    const many = Array.from({ length: 20_000 }, () => ({}));
    const chat = [1, 2, 3].map((n) => [calls(`c${n}`, 'search', { many }), says('And more.')]);
    const { failure, timeline } = await call({ chat }, { script: [{ say: 'A' }, { say: 'B' }, { say: 'C' }] });
    expect(failure).toMatchObject({ code: 'answer_too_large', retryable: false });
    expect(failure!.message).toContain(
      'its tool calls have 120,008 structural characters or more, where 100,000 are allowed',
    );
    expect(timeline.filter(({ type }) => type === 'tool_call')).toHaveLength(1);
  });

  it('is tested step by step, with advice on failed steps of Vapi', async () => {
    const test = async (options: VapiServerOptions) => {
      const { endpoint } = await serve(options);
      return testConnection(endpoint, callOf(), 10_000);
    };
    const { ok, steps } = await test({ chat: answering });
    expect({ ok, steps: steps.map(({ step, status }) => `${step} ${status}`) }).toEqual({
      ok: true,
      steps: ['resolved passed', 'connected passed', 'secured skipped', 'accepted passed', 'answered passed'],
    });
    const refused = await test({ apiKey: 'another' });
    expect(refused.steps.find(({ status }) => status === 'failed')).toMatchObject({
      step: 'accepted',
      cure: expect.stringContaining('Check the apiKey') as string,
    });
  });
});
