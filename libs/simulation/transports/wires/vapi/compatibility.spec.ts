import fc from 'fast-check';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { readMessage } from './messages.js';
import { type Act, audio, says } from '../../../../../test/simulators/vapi/scripted.js';
import { client, type ClientMessage, progress } from '../../../../../test/simulators/vapi/messages.js';
import { codesOf, execute, type Executed, spoken } from './testing/scripted-call.js';
import { AgentWords } from './words.js';

const textsOf = (result: Executed) => spoken(result).map(({ text }) => text.trim());
const callsOf = ({ timeline }: Executed) =>
  timeline.flatMap((entry) => (entry.type === 'tool_call' ? [[entry.name, entry.arguments]] : []));
const args = { people: 4 };
const json = JSON.stringify(args);
const schema = { type: 'object', properties: { people: { type: 'integer' } } };

describe('tool calls of Vapi', () => {
  const tools = (body: object): ClientMessage => ({ type: 'tool-calls', ...body });
  const named = { name: 'book', arguments: json };
  const described = { type: 'function', function: { name: 'book', description: 'Books.', parameters: schema } };

  it.each<[string, ClientMessage]>([
    ['typings of @vapi-ai/server-sdk', client.tools('c1', 'book', args)],
    [
      'VapiAI/docs server-url/events.mdx, both lists',
      tools({
        toolCallList: [{ id: 'c1', name: 'book', parameters: args }],
        toolWithToolCallList: [{ type: 'function', name: 'book', toolCall: { id: 'c1', parameters: args } }],
      }),
    ],
    [
      'VapiAI/docs server-url/events.mdx, the second list alone, with the name beside the call',
      tools({ toolWithToolCallList: [{ type: 'function', name: 'book', toolCall: { id: 'c1', parameters: args } }] }),
    ],
    ['name and arguments without function', tools({ toolCallList: [{ id: 'c1', ...named }] })],
    [
      'farmerscreed/serviceai-mvp, arguments as an object',
      tools({ toolCallList: [{ id: 'c1', function: { name: 'book', arguments: args } }] }),
    ],
    [
      'typings, the second list alone, with the description of the tool',
      tools({
        toolCallList: [],
        toolWithToolCallList: [{ ...described, toolCall: { id: 'c1', type: 'function', function: named } }],
      }),
    ],
    ['public handlers, toolCalls', tools({ toolCalls: [{ id: 'c1', type: 'function', function: named }] })],
    ['public handlers, function-call', { type: 'function-call', functionCall: { name: 'book', parameters: args } }],
    [
      'mem0ai/mem0, a wrapper named tool',
      tools({ toolWithToolCallList: [{ tool: { name: 'book' }, toolCall: { id: 'c1', arguments: args } }] }),
    ],
    ['toolCallId in place of id', tools({ toolCallList: [{ toolCallId: 'c1', function: named }] })],
    [
      'no id',
      tools({ toolCallList: [{ function: named }], toolWithToolCallList: [{ toolCall: { function: named } }] }),
    ],
    [
      'one list whose calls have no names',
      tools({
        toolCallList: [{ id: 'c1' }],
        toolWithToolCallList: [{ name: 'book', toolCall: { id: 'c1', parameters: args } }],
      }),
    ],
    [
      'model-output alone, for an assistant without tool-calls',
      { type: 'model-output', output: [{ id: 'c1', type: 'function', function: named }] },
    ],
    [
      'model-output as a message',
      { type: 'model-output', output: { role: 'assistant', tool_calls: [{ id: 'c1', function: named }] } },
    ],
    [
      'conversation-update alone',
      {
        type: 'conversation-update',
        messagesOpenAIFormatted: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', tool_calls: [{ id: 'c1', function: named }] },
        ],
      },
    ],
    [
      'conversation-update in the form of Vapi',
      { type: 'conversation-update', messages: [{ role: 'tool_calls', toolCalls: [{ id: 'c1', function: named }] }] },
    ],
  ])('are read as in %s', async (_source, message) => {
    const result = await execute({ onStart: [{ send: [message, ...says('t1', 'Good evening.', 1_000)] }] });
    expect(callsOf(result)).toEqual([['book', args]]);
    expect(codesOf(result)).toEqual([]);
  });

  it('count once in however many messages they come, also where one has no id', async () => {
    const call = { id: 'c1', type: 'function', function: named };
    const older = { type: 'function-call', functionCall: { name: 'book', parameters: args } };
    const all = [
      client.tools('c1', 'book', args),
      { type: 'model-output', output: [call] },
      { type: 'conversation-update', messagesOpenAIFormatted: [{ role: 'assistant', tool_calls: [call] }] },
    ];
    for (const send of [
      [...all, older],
      [older, ...all],
    ])
      expect(callsOf(await execute({ onStart: [{ send }] }))).toEqual([['book', args]]);
  });

  it('count each with its own id, though they are the same', async () => {
    const send = [client.tools('c1', 'book', args), client.tools('c2', 'book', args)];
    expect(callsOf(await execute({ onStart: [{ send }] }))).toHaveLength(2);
  });

  // A stream of a model names a call in its first part and has the arguments in later ones.
  it('do not count by a part of their arguments', async () => {
    const parts = ['', '{', '"people":4}'].map((part, n) => ({
      type: 'model-output',
      output: [
        { index: 0, ...(n === 0 && { id: 'c1' }), function: { ...(n === 0 && { name: 'book' }), arguments: part } },
      ],
    }));
    expect(callsOf(await execute({ onStart: [{ send: [...parts, client.tools('c1', 'book', args)] }] }))).toEqual([
      ['book', args],
    ]);
  });

  it('have the arguments {} where the message has none, and not the description of the tool', async () => {
    const send = [
      tools({ toolWithToolCallList: [{ ...described, toolCall: { id: 'c1', function: { name: 'book' } } }] }),
    ];
    expect(callsOf(await execute({ onStart: [{ send }] }))).toEqual([['book', {}]]);
  });

  it('are an error finding if one has no name anywhere: a call is lost', async () => {
    const result = await execute({
      onStart: [{ send: [tools({ toolCallList: [{ id: 'c1' }, { id: 'c2', function: named }] })] }],
    });
    expect(codesOf(result)).toEqual(['invalid_message']);
  });

  const id = fc.option(fc.stringMatching(/^\w{1,12}$/), { nil: undefined });
  const call = fc.record({
    id,
    name: fc.stringMatching(/^[a-z_]{1,12}$/),
    args: fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue()),
  });
  const dialect = fc.record({
    list: fc.constantFrom('toolCallList', 'toolWithToolCallList', 'toolCalls', 'both'),
    inFunction: fc.boolean(),
    asText: fc.boolean(),
    argumentsName: fc.constantFrom('arguments', 'parameters'),
    idName: fc.constantFrom('id', 'toolCallId'),
    wrapper: fc.constantFrom('toolCall', 'nameOutside', 'tool'),
    blank: fc.constantFrom(
      {},
      { parameters: null, arguments: null, id: null },
      { timestamp: 1, call: {}, type: 'function' },
    ),
    isReversed: fc.boolean(),
  });
  type Dialect = typeof dialect extends fc.Arbitrary<infer T> ? T : never;
  type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

  const ordered = (object: object, { isReversed }: Dialect) =>
    Object.fromEntries(isReversed ? Object.entries(object).reverse() : Object.entries(object));
  function written(calls: readonly Call[], how: Dialect): string {
    const plain = ({ id, name, args }: Call, hasName = true) => {
      const what = { ...(hasName && { name }), [how.argumentsName]: how.asText ? JSON.stringify(args) : args };
      return ordered(
        {
          ...how.blank,
          ...(id !== undefined && { [how.idName]: id }),
          ...(how.inFunction ? { function: what } : what),
        },
        how,
      );
    };
    const wrapped = (one: Call) => {
      const hasName = how.wrapper === 'toolCall';
      const outside = how.wrapper === 'tool' ? { tool: { name: one.name } } : { name: one.name };
      return ordered(
        {
          ...(hasName ? { function: { name: one.name, parameters: schema } } : outside),
          toolCall: plain(one, hasName),
        },
        how,
      );
    };
    const names = how.list === 'both' ? ['toolCallList', 'toolWithToolCallList'] : [how.list];
    const lists = names.map((name) => [
      name,
      calls.map(name === 'toolWithToolCallList' ? wrapped : (one) => plain(one)),
    ]);
    return JSON.stringify(ordered({ type: 'tool-calls', ...Object.fromEntries(lists) }, how));
  }

  it('are read in generated dialects as they were meant', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 4 }), dialect, (calls, how) => {
        const read = readMessage(written(calls, how));
        const found = read.type === 'tools' ? read.calls : [];
        const meant = calls.map(({ id, name, args }) => ({ id, name, json: JSON.stringify(args) }));
        expect(found.map((one) => ({ ...one }))).toEqual(how.list === 'both' ? [...meant, ...meant] : meant);
      }),
      { numRuns: shareOf(2_000) },
    );
  });
});

describe('turns of Vapi', () => {
  // 98 characters in 6 s: an ordinary voice has 15 to 17 characters a second.
  const FIRST = 'A table for four is free at eight, and a deposit of no more than twenty euros is needed for it.';
  const SENTENCES = [
    'A table for four is free at eight, and a deposit of',
    'no more than twenty euros is needed for it.',
  ] as const;
  const SECOND = 'From noon to ten, and on Sunday from six.';
  const ASKS = { script: [{ say: 'And when are you open?' }, { waitSeconds: 5 }, { end: 'Done' }] } as const;
  const WAITS = { script: [{ waitSeconds: 10 }, { end: 'Done' }] } as const;
  const first = (...more: Act[]): Act[] => [{ send: audio(6_000) }, ...more];
  const heard = (text: string, afterMs: number): Act => ({ afterMs, send: [client.transcript('assistant', text)] });
  const second: Act[] = [{ send: audio(3_000) }, heard(SECOND, 3_000)];

  it.each<[string, Act[]]>([
    ['when it ends', first(heard(FIRST, 6_000))],
    ['after it', first(heard(FIRST, 6_300))],
    ['sentence by sentence', first(heard(SENTENCES[0], 3_200), heard(SENTENCES[1], 6_100))],
    ['sentence by sentence, the last of them late', first(heard(SENTENCES[0], 3_200), heard(SENTENCES[1], 6_900))],
  ])(
    'end where the caller speaks, where the words of a turn are transcribed %s (yagudaev/voiceclaw#8)',
    async (_when, onStart) => {
      const result = await execute({ onStart, onTurn: [second] }, ASKS);
      expect(textsOf(result)).toEqual([FIRST, SECOND]);
    },
  );

  it('have their own words, though a transcript is late (livekit/agents#6504, livekit/agents#6616)', async () => {
    const late = [{ send: audio(3_000) }, heard(FIRST, 400), heard(SECOND, 3_000)];
    expect(textsOf(await execute({ onStart: first(), onTurn: [late] }, ASKS))).toEqual([FIRST, SECOND]);
    const isHalfLate = [{ send: audio(3_000) }, heard(SENTENCES[1], 100), heard(SECOND, 3_000)];
    expect(textsOf(await execute({ onStart: first(heard(SENTENCES[0], 3_200)), onTurn: [isHalfLate] }, ASKS))).toEqual([
      FIRST,
      SECOND,
    ]);
  });

  it('have the words of a sentence that are transcribed when its sound begins', async () => {
    const early = [{ send: [...audio(3_000)] }, heard(SECOND, 700)];
    expect(textsOf(await execute({ onStart: first(heard(FIRST, 6_000)), onTurn: [early] }, ASKS))).toEqual([
      FIRST,
      SECOND,
    ]);
  });

  it('are separate where the platform speaks by itself after the caller, so that the model generates nothing', async () => {
    const onStart = [{ send: says('t1', FIRST, 6_000) }];
    expect(textsOf(await execute({ onStart, onTurn: [second] }, ASKS))).toEqual([FIRST, SECOND]);
  });

  it('continue after a pause where their text is reported, as far as it is played, with the same number', async () => {
    const onStart: Act[] = [
      { send: [...audio(3_200), client.spoken(FIRST, 0, progress(0, 21))] },
      { afterMs: 3_000, send: [client.spoken(FIRST, 0, progress(12, 21))] },
      { afterMs: 5_600, send: audio(2_800) },
      { afterMs: 8_200, send: [client.spoken(FIRST, 0, progress(21, 21))] },
    ];
    expect(textsOf(await execute({ onStart }, WAITS)).join(' ')).toBe(FIRST);
  });

  it('have the words that are transcribed while word progress says 0 of 0 (VapiAI/docs#1028)', async () => {
    const zero = (text: string, turn: number) => client.spoken(text, turn, progress(0, 0));
    const onStart = [{ send: [...audio(6_000), zero(FIRST, 0)] }, heard(FIRST, 6_000)];
    const then: Act[] = [{ send: audio(3_000) }, { afterMs: 2_900, send: [zero(SECOND, 1)] }, heard(SECOND, 3_000)];
    const result = await execute({ onStart, onTurn: [then] }, ASKS);
    expect(textsOf(result)).toEqual([FIRST, SECOND]);
    expect(spoken(result).map(({ words }) => words)).toEqual(['known', 'known']);
  });

  it('have words that are played from the word progress that follows 0 of 0, whose total may grow', async () => {
    const send = [
      ...audio(2_000),
      client.spoken('Good', 0, progress(0, 0)),
      client.spoken('Good evening', 0, progress(1, 2)),
    ];
    const rest = { afterMs: 1_900, send: [client.spoken('Good evening, how are you?', 0, progress(5, 5))] };
    expect(textsOf(await execute({ onStart: [{ send }, rest] }))).toEqual(['Good evening, how are you?']);
  });

  it('begin after an interruption, without a closing event (VapiAI/docs#1030)', async () => {
    const cut: Act = { afterMs: 1_600, send: [client.interrupted('t1')] };
    const forced: Act = { afterMs: 3_400, send: [client.spoken('Of course.', 1), ...audio(800)] };
    const start = { send: [client.spoken(FIRST, 0, progress(0, 21)), ...audio(6_000)] };
    const spokenSoFar: Act = { afterMs: 1_500, send: [client.spoken(FIRST, 0, progress(4, 21))] };
    const definition = {
      script: [{ say: 'Sorry, one moment.', bargeIn: { afterMs: 1_000 } }, { waitSeconds: 3 }, { end: 'Done' }],
    } as const;
    const result = await execute({ onStart: [start, spokenSoFar, cut, forced], isPaced: true }, definition);
    expect(textsOf(result)).toEqual(['A table for four', 'Of course.']);
  });

  it('have the final transcript of a message that is named transcript[transcriptType="final"], without transcriptType', async () => {
    const message = { type: 'transcript[transcriptType="final"]', role: 'assistant', transcript: FIRST };
    const result = await execute({ onStart: [...first(), { afterMs: 6_000, send: [message] }] }, WAITS);
    expect([textsOf(result), codesOf(result)]).toEqual([[FIRST], []]);
  });

  const SAMPLES = new Int16Array(320).fill(2_000);
  const SILENCE = new Int16Array(320);

  /** The items of the agent's sounds, where the platform says of the caller what `report` does in the pause. */
  function itemsOf(pauseMs: number, caller: Int16Array, report: (words: AgentWords, now: number) => void): number[] {
    const words = new AgentWords({ said: () => undefined, playedMs: () => 0 }, 16_000);
    const items: number[] = [];
    words.callerSpoke(0);
    for (let now = 0; now < 2_000; now += 20) items.push(words.audio(now, SAMPLES) ?? 0);
    for (let now = 2_000; now < 2_000 + pauseMs; now += 20) {
      words.caller(now, caller);
      words.audio(now, SILENCE);
      if (now === 2_200) report(words, now);
    }
    items.push(words.audio(2_000 + pauseMs, SAMPLES) ?? 0);
    return [...new Set(items)];
  }

  it('do not end in a pause without the caller (langwatch/scenario#747, livekit/agents-js#312)', () => {
    expect(itemsOf(1_500, SILENCE, () => undefined)).toEqual([1]);
    expect(itemsOf(2_100, SILENCE, () => undefined)).toEqual([1, 2]);
  });

  it('end with speech of the caller that the platform reports, and not with noise behind a caller who is silent', () => {
    expect(itemsOf(600, SAMPLES, (words, now) => words.callerSpoke(now))).toEqual([1, 2]);
    expect(itemsOf(600, SAMPLES, () => undefined)).toEqual([1]);
    expect(itemsOf(400, SAMPLES, (words, now) => words.callerSpoke(now))).toEqual([1]);
  });
});

describe('messages of Vapi by which nothing is lost', () => {
  const GREETING = 'Good evening.';

  it.each<[string, ClientMessage | string, string]>([
    ['turnId as a number', { type: 'model-output', output: ' And more.', turnId: 7 }, 'turnId'],
    ['text that is not JSON', 'ping', 'JSON'],
    ['empty text', '', 'JSON'],
    ['no type', { turn: 1 } as never, 'type'],
    ['a transcript without transcriptType', { type: 'transcript', role: 'user', transcript: 'Hi' }, 'transcriptType'],
    [
      'a transcript of the caller without its words',
      { type: 'transcript', role: 'user', transcriptType: 'final' },
      'transcript',
    ],
  ])('are a warning that names what is missing: %s', async (_what, message, field) => {
    const result = await execute({ onStart: [{ send: [message, ...says('t1', GREETING, 1_000)] }] });
    expect(result.voice!.wireFindings).toMatchObject([
      { code: 'incomplete_message', severity: 'warning', detail: expect.stringContaining(field) as string },
    ]);
    expect(textsOf(result).join(' ')).toContain(GREETING);
  });

  it.each<[string, ClientMessage | string]>([
    ['words that are played without text', { type: 'assistant.speechStarted', turn: 0 }],
    ['words of the agent that are missing', { type: 'transcript', role: 'assistant', transcriptType: 'final' }],
    ['broken JSON', '{"type":"tool-calls"'],
    ['tool calls without a list', { type: 'tool-calls' }],
  ])('differ from those by which words or calls are lost, which are errors: %s', async (_what, message) => {
    const result = await execute({ onStart: [{ send: [message, ...says('t1', GREETING, 1_000)] }] });
    expect(result.voice!.wireFindings).toMatchObject([{ code: 'invalid_message', severity: 'error' }]);
  });

  it.each<[string, ClientMessage | string]>([
    ['hang', { type: 'hang' }],
    ['a status without status', { type: 'status-update' }],
    ['metadata', { type: 'metadata', metadata: 'x' }],
    ['language-change-detected', { type: 'language-change-detected', language: 'fr' }],
    ['session.created', { type: 'session.created' }],
    [
      'turnId null, with the call and a timestamp',
      { type: 'model-output', output: '', turnId: null, call: { id: 'x' }, timestamp: 1 },
    ],
    ['speech-update without turn', { type: 'speech-update', status: 'stopped', role: 'assistant' }],
    ['an end without a reason as text', { type: 'status-update', status: 'in-progress', endedReason: 5 }],
  ])('are passed over without a finding: %s', async (_what, message) => {
    const result = await execute({ onStart: [{ send: [message, ...says('t1', GREETING, 1_000)] }] });
    expect([codesOf(result), textsOf(result), result.outcome]).toEqual([[], [GREETING], 'passed']);
  });
});
