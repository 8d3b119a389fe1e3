import { BARGES_IN, codesOf, execute, GREETING, spoken, WAITS } from './testing/calls.js';
import {
  type Act,
  ends,
  type RealtimeScript,
  says,
  speaks,
  speechStarted,
} from '../../../../../test/simulators/openai-realtime/double/agent.js';
import { tone } from '../../../../../test/simulators/openai-realtime/double/events.js';

type Fields = Readonly<Record<string, unknown>>;

const PLACE = { event_id: 'e', response_id: 'resp_1', output_index: 0 };
const item = (more: Fields = {}): Fields => ({
  ...{ id: 'fc_1', object: 'realtime.item', type: 'function_call', status: 'completed' },
  ...{ call_id: 'c1', name: 'book_table', arguments: '{"people":4}', ...more },
});
const created = (id = 'resp_1'): string => JSON.stringify({ type: 'response.created', response: { id } });
const added = (more: Fields = { status: 'in_progress', arguments: '' }): string =>
  JSON.stringify({ type: 'response.output_item.added', ...PLACE, item: item(more) });
const itemDone = (more: Fields = {}, place: Fields = PLACE): string =>
  JSON.stringify({ type: 'response.output_item.done', ...place, item: item(more) });
const conversationItem = (type: string, more: Fields = {}): string =>
  JSON.stringify({ type, event_id: 'e', previous_item_id: null, item: item(more) });
const argumentsDone = (more: Fields = {}): string =>
  JSON.stringify({
    type: 'response.function_call_arguments.done',
    ...PLACE,
    ...{ item_id: 'fc_1', call_id: 'c1', name: 'book_table', arguments: '{"people":4}', ...more },
  });
const done = (output: unknown, more: Fields = {}): string =>
  JSON.stringify({ type: 'response.done', response: { id: 'resp_1', status: 'completed', output, ...more } });

const DEFINITION = { ...WAITS, toolResults: [{ tool: 'book_table', result: { table: 7 } }] };
const ANSWER = { send: says(2, 'It is booked.', 700) };

async function play(greeting: readonly (string | Act)[], more: Partial<RealtimeScript> = {}) {
  const acts = greeting.map((one) => (typeof one === 'string' ? { send: [one] } : one));
  const result = await execute({ onCreate: [acts, [ANSWER]], ...more }, DEFINITION);
  const tools = result.timeline.filter((entry) => entry.type === 'tool_call');
  const sent = result.agent.received.filter(({ atMs, type }) => atMs > 0 && type !== 'session.update').slice(1);
  return {
    result,
    sent,
    calls: tools.map(({ name, arguments: args }) => [name, args]),
    creates: result.agent.of('response.create'),
  };
}
const BOOKED = [['book_table', { people: 4 }]];

describe('a function call of a response', () => {
  it.each([
    ['all of its events', [added(), argumentsDone(), itemDone(), done([item()])]],
    ['output_item.done and response.done alone (huggingface/speech-to-speech#416)', [itemDone(), done([item()])]],
    ['response.done alone (the guide of OpenAI)', [done([item()])]],
    ['arguments.done alone, output null (huggingface/speech-to-speech#445)', [argumentsDone(), done(null)]],
    ['conversation.item.done alone (nithiink/yapcode#21)', [conversationItem('conversation.item.done')]],
    [
      'arguments.done without a name (openai/openai-dotnet#424)',
      [added(), argumentsDone({ name: undefined }), done([])],
    ],
    [
      'arguments.done without a name, which the item has (openai/openai-openapi#487)',
      [argumentsDone({ name: '' }), itemDone(), done([])],
    ],
    ['output_item.done twice (livekit/agents#7230)', [itemDone(), itemDone(), done([item()])]],
    [
      'two ids of its item, and empty arguments at first (NousResearch/hermes-agent#94707)',
      [added({ arguments: '{}' }), itemDone({ id: 'fc_1_done' }), done([item({ id: 'fc_1_done' })])],
    ],
    [
      'an item that is incomplete at first, and complete later (livekit/agents#7230)',
      [
        argumentsDone({ arguments: '{"peo' }),
        itemDone({ status: 'incomplete', arguments: '{"peo' }),
        itemDone(),
        done([]),
      ],
    ],
    ['no status', [itemDone({ status: undefined }), done([])]],
    ['a status of null', [itemDone({ status: null }), done([])]],
    ['no ids but the call’s', [itemDone({ id: undefined }, {}), done([])]],
    [
      'empty ids (anomalyco/opencode#45330)',
      [itemDone({ id: '' }, { response_id: '' }), done([null, item({ id: '' })])],
    ],
    ['arguments as an object', [itemDone({ arguments: { people: 4 } }), done([])]],
  ])('counts once with %s', async (_name, messages) => {
    const { result, calls: found, creates, sent } = await play([created(), ...messages]);
    expect(found).toEqual(BOOKED);
    expect(sent).toMatchObject([
      { type: 'conversation.item.create', item: { call_id: 'c1', output: '{"table":7}' } },
      { type: 'response.create' },
    ]);
    expect(creates).toHaveLength(2);
    expect(spoken(result)).toMatchObject([{ text: 'It is booked.' }]);
    expect(codesOf(result)).toEqual([]);
  });

  it.each([
    [
      'its item',
      [
        itemDone({ status: 'incomplete', arguments: '{"peo' }),
        done([item({ status: 'incomplete' })], { status: 'cancelled' }),
      ],
    ],
    [
      'its item, after its arguments',
      [argumentsDone({ arguments: '{"peo' }), itemDone({ status: 'incomplete' }), done([])],
    ],
    ['all but its beginning', [added(), done([])]],
    ['its response', [argumentsDone({ arguments: '{"peo' }), done([], { status: 'cancelled' })]],
  ])('is none if %s is incomplete', async (_name, messages) => {
    const { calls: found, creates } = await play([speechStarted(), created(), ...messages]);
    expect(found).toEqual([]);
    expect(creates).toHaveLength(1);
  });

  // NousResearch/hermes-agent#111443: a server counts its calls from 0 in each turn
  it('is another one with the same call_id in a later response', async () => {
    const again = [created('resp_2'), itemDone({}, { response_id: 'resp_2' }), ends(2)];
    const { calls: found } = await play([created(), itemDone(), done([item()])], {
      onCreate: [[{ send: [created(), itemDone(), done([item()])] }], [{ send: again }], [ANSWER]],
    });
    expect(found).toEqual([...BOOKED, ...BOOKED]);
  });

  // MemberJunction/MJ#4397, mastra-ai/mastra#16941
  it('shares one response.create with the other calls of its response', async () => {
    const second = { id: 'fc_2', call_id: 'c2', name: 'send_sms' };
    const { calls: found, sent } = await play([
      created(),
      itemDone(),
      itemDone(second),
      { afterMs: 400, send: [done([])] },
    ]);
    expect(found.map(([name]) => name)).toEqual(['book_table', 'send_sms']);
    expect(sent.map(({ type }) => type)).toEqual([
      'conversation.item.create',
      'conversation.item.create',
      'response.create',
    ]);
    // The results are sent when their items are done.
    expect(sent[2]!.atMs - sent[1]!.atMs).toBeGreaterThan(300);
  });
});

describe('a response that is not done until it has the result', () => {
  // BerriAI/litellm#26590: Gemini behind LiteLLM
  it('is asked to go on 1.5 s later', async () => {
    const { result, sent } = await play([created(), argumentsDone(), itemDone()]);
    expect(sent.map(({ type }) => type)).toEqual(['conversation.item.create', 'response.create']);
    expect(Math.abs(sent[1]!.atMs - sent[0]!.atMs - 1_500)).toBeLessThanOrEqual(20);
    expect(spoken(result)).toMatchObject([{ text: 'It is booked.' }]);
  });

  it('is not asked if the agent goes on by itself', async () => {
    const { result, creates } = await play([created(), itemDone(), { afterMs: 600, ...ANSWER }]);
    expect(creates).toHaveLength(1);
    expect(spoken(result)).toMatchObject([{ text: 'It is booked.' }]);
  });

  it('is asked again when it is done, if it was active', async () => {
    const active = 'conversation_already_has_active_response';
    const refusal = JSON.stringify({
      type: 'error',
      error: { type: 'invalid_request_error', code: active, message: '' },
    });
    const { sent, result } = await play([], {
      onCreate: [
        [{ send: [created(), itemDone()] }, { afterMs: 2_500, send: [done([item()])] }],
        [{ send: [refusal] }],
        [ANSWER],
      ],
    });
    expect(sent.map(({ type }) => type)).toEqual(['conversation.item.create', 'response.create', 'response.create']);
    expect(spoken(result)).toMatchObject([{ text: 'It is booked.' }]);
    expect(codesOf(result)).toEqual([]);
  });

  it('counts arguments that are done as a call 1.5 s later', async () => {
    const { calls: found, sent } = await play([created(), argumentsDone()]);
    expect(found).toEqual(BOOKED);
    expect(sent.map(({ type }) => type)).toEqual(['conversation.item.create', 'response.create']);
  });

  it('hangs up if the call says so', async () => {
    const { result } = await play([created(), itemDone({ name: 'end_call', arguments: '{}' })]);
    expect(result.end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
  });
});

describe('the words of a response', () => {
  const words = (type: string, more: Fields, place: Fields = {}) =>
    JSON.stringify({ type: `response.output_audio_transcript.${type}`, ...PLACE, content_index: 0, ...place, ...more });
  const [start, , ...rest] = speaks(1, '', tone(1_500));
  const sound = rest.slice(0, -2);
  const message = (transcript?: string) => ({
    ...{ id: 'item_1', type: 'message', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_audio', transcript }],
  });
  const random = (id: string) => ({ item_id: id, response_id: '' });

  it.each([
    ['in its output alone', [...sound, done([message('Good evening.')])]],
    ['in its output under another id', [...sound, done([{ ...message('Good evening.'), id: 'other' }])]],
    [
      'in pieces with random ids, and in its output (BerriAI/litellm#29662)',
      [
        words('delta', { delta: 'Good ' }, random('q1')),
        words('delta', { delta: 'even' }, random('q2')),
        ...sound,
        done([message('Good evening.')]),
      ],
    ],
    [
      'in pieces with random ids alone (BerriAI/litellm#29662)',
      [
        words('delta', { delta: 'Good ' }, random('q1')),
        ...sound,
        words('delta', { delta: 'evening.' }, random('q2')),
        done([]),
      ],
    ],
    ['in pieces without an item', [words('delta', { delta: 'Good evening.' }, { item_id: null }), ...sound, done([])]],
    [
      'in pieces that are not summed up',
      [words('delta', { delta: 'Good evening.' }, { item_id: 'item_1' }), ...sound, done(null)],
    ],
    [
      'in pieces, and empty as a whole (openai/openai-agents-js#523)',
      [
        words('delta', { delta: 'Good evening.' }, { item_id: 'item_1' }),
        ...sound,
        words('done', { transcript: '' }, { item_id: 'item_1' }),
        done([]),
      ],
    ],
  ])('are known if they are %s', async (_name, messages) => {
    const { result } = await play([start!, ...messages]);
    expect(spoken(result)).toMatchObject([{ text: 'Good evening.', words: 'known' }]);
    expect(codesOf(result)).toEqual([]);
  });

  // livekit/agents#1994
  it('are unknown if they are empty although something was heard', async () => {
    const { result } = await play([
      start!,
      ...sound,
      words('done', { transcript: '' }, { item_id: 'item_1' }),
      done([message('')]),
    ]);
    expect(spoken(result)).toMatchObject([{ text: '', words: 'unknown' }]);
  });

  // pipecat-ai/pipecat#4465
  it('are those of all its items with audio, in order', async () => {
    const place = { item_id: 'item_9', response_id: 'resp_1' };
    const second = [
      words('delta', { delta: 'How are you?' }, place),
      ...sound.map((one) => one.replace('item_1', 'item_9')),
    ];
    const first = [words('delta', { delta: 'Good evening.' }, { item_id: 'item_1' }), ...sound];
    const { result } = await play([start!, ...first, ...second, done([])]);
    expect(spoken(result)).toMatchObject([{ text: 'Good evening. How are you?', words: 'known' }]);
  });

  it('are far too few for audio of another rate than the session says', async () => {
    const { result } = await play([{ send: says(1, 'You have a table.', 5_600) }]);
    expect(result.voice!.wireFindings).toMatchObject([{ code: 'few_words', severity: 'warning' }]);
    const { result: number } = await play([{ send: says(1, '020 7946', 5_600) }]);
    expect(codesOf(number)).toEqual([]);
    // Of kana and kanji fewer are said in the same time than of letters.
    const { result: japanese } = await play([{ send: says(1, 'ご予約は明日の午後七時で承りました。', 5_600) }]);
    expect(codesOf(japanese)).toEqual([]);
    // The words of an answer that was cut may lag behind its audio.
    const cut = [speechStarted(), ...says(1, 'You have a', 5_600).slice(0, -1), ends(1, 'cancelled')];
    expect(codesOf((await play([{ send: cut }])).result)).not.toContain('few_words');
  });

  // livekit/agents#1015, hkjarral/AVA-AI-Voice-Agent-for-Asterisk#73, openai/openai-realtime-api-beta#58
  it.each([
    [
      'in its events',
      [JSON.stringify({ type: 'response.output_text.done', ...PLACE, text: 'Good evening.' }), done([])],
    ],
    ['in its output', [done([{ ...message(), content: [{ type: 'output_text', text: 'Good evening.' }] }])]],
  ])('are named if they are text without audio: %s', async (_name, messages) => {
    const { result } = await play([created(), ...messages]);
    const detail = 'The agent answered in text: Good evening.';
    expect(result.voice!.wireFindings).toMatchObject([{ code: 'text_without_audio', severity: 'warning', detail }]);
    expect(spoken(result)).toEqual([]);
  });
});

describe('audio without item_id', () => {
  const unnamed = (messages: readonly string[]) =>
    messages.map((message) => message.replace(/"item_id":"item_1"/, '"item_id":null'));

  it('is played as part of its response, with a warning that quotes none of it', async () => {
    const { result } = await play([{ send: unnamed(says(1, 'Good evening.', 1_200)) }]);
    expect(spoken(result)).toMatchObject([{ text: 'Good evening.', words: 'known' }]);
    expect(result.voice!.wireFindings).toMatchObject([{ code: 'item_unnamed', severity: 'warning' }]);
  });

  it('is cut off by the caller, and no item of the platform is truncated', async () => {
    const late: Act = { afterMs: 1_500, send: [speechStarted(), ends(1, 'cancelled')] };
    const script = { onCreate: [[{ send: unnamed(says(1, GREETING, 4_000).slice(0, -1)) }, late]] };
    const result = await execute(script, BARGES_IN);
    expect(result.agent.of('conversation.item.truncate')).toEqual([]);
    expect(result.voice!.lanes.agent.at(-1)!.endMs).toBeLessThanOrEqual(1_520);
  });
});

describe('a message that is not understood', () => {
  it.each([
    ['limits that are null', '{"type":"rate_limits.updated","rate_limits":null}', 'message_ignored', 'warning'],
    ['text', 'ping', 'message_ignored', 'warning'],
    [
      'a transcript that is a number',
      '{"type":"response.audio_transcript.done","transcript":7}',
      'message_ignored',
      'warning',
    ],
    ['audio without bytes', '{"type":"response.output_audio.delta","item_id":"item_1"}', 'invalid_message', 'error'],
    ['a call without call_id', itemDone({ call_id: undefined }), 'invalid_message', 'error'],
  ])('is an error only if something is lost: %s', async (_name, message, code, severity) => {
    const { result } = await play([message]);
    expect(result.voice!.wireFindings).toMatchObject([{ code, severity }]);
  });

  it('is not one because it is binary (BerriAI/litellm#28848)', async () => {
    const send = says(1, 'Good evening.', 900).map((one) => Buffer.from(one));
    const { result } = await play([{ send }]);
    expect(spoken(result)).toMatchObject([{ text: 'Good evening.' }]);
    expect(codesOf(result)).toEqual([]);
  });
});

// openai/openai-agents-js#220 and #1127, langwatch/scenario#669, livekit/agents#2064, HybridAIOne#1503
describe('a response that is cancelled', () => {
  const race = [
    created(),
    done([], { status: 'cancelled', status_details: { type: 'cancelled', reason: 'turn_detected' } }),
  ];
  const during = async (acts: readonly Act[], definition = {}) =>
    codesOf(await execute({ onCreate: [acts] }, { ...WAITS, ...definition })).filter(
      (code) => code === 'response_cancelled',
    );
  const greeting = { send: says(2, 'Good evening.', 900) };
  const SPEAKS = {
    script: [{ say: 'I would like a table for six people on Friday.' }, { end: 'Done' }],
  };

  it('is not a finding if nothing of it was heard while the caller was speaking', async () => {
    expect(await during([greeting, { afterMs: 2_500, send: [speechStarted(), ...race] }], SPEAKS)).toEqual([]);
  });

  it('is one while the caller is silent, or if something of it was heard', async () => {
    expect(await during([{ afterMs: 4_000, send: race }])).toEqual(['response_cancelled']);
    const heard = [speechStarted(), ...says(1, 'One moment.', 900).slice(0, -1), race[1]!];
    expect(await during([greeting, { afterMs: 2_500, send: heard }], SPEAKS)).toContain('response_cancelled');
  });

  it('may be one of two at once, which is none', async () => {
    const both = [...says(1, 'One moment.', 900).slice(0, -1), ...says(2, 'It is booked.', 900), ends(1)];
    expect(await during([{ send: both }])).toEqual([]);
  });
});
