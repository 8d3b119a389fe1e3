import type { Act } from '../../../../../test/simulators/elevenlabs/double/agent.js';
import { says } from '../../../../../test/simulators/elevenlabs/double/agent.js';
import {
  alignmentOf,
  type Format,
  server,
  type ServerMessage,
  tone,
} from '../../../../../test/simulators/elevenlabs/double/messages.js';
import elevenlabsEntry from './wire.js';
import { BARGES_IN, codesOf, execute, spoken, WAITS } from './testing/scripted-call.js';

const GREETING = 'Good evening, this is Bella Vista, how can I help you tonight?';
const begin = (...more: Act[]): Act[] => [{ send: [server.metadata()] }, ...more];
/** An answer of 4 s whose pieces have the numbers 1 to 40. */
const long = says(1, GREETING, 4_000);

describe('a conversation with an agent of ElevenLabs', () => {
  it('begins with variables and the mark of the call, and alters nothing of the agent', async () => {
    const variables = { name: 'Rossi', guests: 4, isRegular: true };
    const { agent, outcome, measures } = await execute({ onStart: begin({ send: long }) }, WAITS, { variables });
    expect(outcome).toBe('passed');
    const { atMs: _, ...first } = agent.received[0]!;
    expect(first).toEqual({
      type: 'conversation_initiation_client_data',
      dynamic_variables: variables,
      user_id: 'vat:c-1',
    });
    expect(Math.abs(agent.heardBytes - 32 * measures.durationMs)).toBeLessThanOrEqual(2 * 640);
  });

  it.each<[Format, Format, 'wide' | 'telephone', number]>([
    ['pcm_16000', 'pcm_24000', 'wide', 32],
    ['pcm_44100', 'pcm_8000', 'wide', 88.2],
    ['pcm_22050', 'pcm_48000', 'telephone', 44.1],
    ['ulaw_8000', 'ulaw_8000', 'telephone', 8],
  ])('takes and sends the formats of the metadata: %s to the agent, %s from it, on a %s line', async (...formats) => {
    const [toAgent, fromAgent, line, bytesPerMs] = formats;
    const onStart = [
      { send: [server.metadata({ toAgent, fromAgent }), ...says(1, 'Good evening.', 2_000, fromAgent)] },
    ];
    const result = await execute({ formats: { toAgent, fromAgent }, onStart }, WAITS, { line });
    const { agent, voice, measures } = result;
    const heardMs = voice!.lanes.agent[0]!.endMs - voice!.lanes.agent[0]!.startMs;
    expect(Math.abs(heardMs - 2_000)).toBeLessThanOrEqual(40);
    expect(Math.abs(agent.heardBytes / bytesPerMs - measures.durationMs)).toBeLessThanOrEqual(40);
    expect(codesOf(result)).toEqual([]);
  });

  it('does not begin with a format that it does not know, and says which', async () => {
    const onStart = [{ send: [server.metadata({ toAgent: 'pcm_16000', fromAgent: 'mp3_44100' as Format })] }];
    const { outcome, failure } = await execute({ onStart });
    expect({ outcome, code: failure?.code }).toEqual({ outcome: 'error', code: 'not_ready' });
    expect(failure?.message).toContain('audio format mp3_44100');
  });

  it('answers a ping at once with its number', async () => {
    const { agent } = await execute({ onStart: begin({ afterMs: 500, send: [server.ping(7)] }) });
    expect(agent.of('pong')).toMatchObject([{ event_id: 7, atMs: expect.any(Number) as number }]);
    expect(agent.of('pong')[0]!.atMs).toBeLessThanOrEqual(530);
  });

  it('drops what is left at an interruption, and what arrives later up to its number', async () => {
    const interrupted: Act = { afterMs: 1_500, send: [server.interruption(40)] };
    const late: Act = { afterMs: 1_600, send: [server.audio(39, tone(500)), server.audio(40, tone(500))] };
    const next: Act = { afterMs: 3_000, send: says(41, 'Of course.', 600) };
    const result = await execute({ onStart: begin({ send: long }, interrupted, late, next) }, BARGES_IN);
    const speech = spoken(result);
    expect(speech).toMatchObject([
      { text: expect.stringMatching(/^Good evening,/) as string, interrupted: true },
      { text: 'Of course.' },
    ]);
    expect(speech[0]!.text.length).toBeLessThan(GREETING.length / 2);
    const [first, second, ...more] = result.voice!.lanes.agent;
    expect(first!.endMs).toBeLessThanOrEqual(1_520);
    expect(second!.startMs).toBeGreaterThanOrEqual(2_980);
    expect(more).toEqual([]);
    // The official clients disagree about the one with the same number.
    expect(codesOf(result)).toEqual(['late_audio']);
  });

  it('plays audio of a later number that arrives right after an interruption', async () => {
    const acts = [{ send: long }, { afterMs: 1_500, send: [server.interruption(40), ...says(41, 'Yes?', 800)] }];
    const result = await execute({ onStart: begin(...acts) }, BARGES_IN);
    expect(result.voice!.lanes.agent.at(-1)!.endMs).toBeGreaterThan(2_200);
    expect(spoken(result).at(-1)!.text).toContain('Yes?');
  });

  it('finds an interruption for which the caller made no sound', async () => {
    const acts = [{ send: long }, { afterMs: 1_500, send: [server.interruption(40)] }];
    const result = await execute({ onStart: begin(...acts) });
    expect(result.voice!.wireFindings).toMatchObject([{ code: 'false_interruption', severity: 'error' }]);
  });

  it('sends what the evaluation has for a tool of the client, as text', async () => {
    const calls = [server.clientTool('t1', 'find_table', { people: 4 }), server.clientTool('t2', 'find_dish')];
    const definition = { ...WAITS, toolResults: [{ tool: 'find_table', result: 'Table 7' }] };
    const result = await execute({ onStart: begin({ afterMs: 300, send: calls }) }, definition);
    expect(result.agent.of('client_tool_result')).toMatchObject([
      { tool_call_id: 't1', result: 'Table 7', is_error: false },
      { tool_call_id: 't2', result: '{"status":"ok"}', is_error: false },
    ]);
    const found = result.timeline.filter(({ type }) => type === 'tool_call');
    expect(found).toMatchObject([
      { name: 'find_table', arguments: { people: 4 }, result: 'Table 7' },
      { name: 'find_dish' },
    ]);
  });

  it('sends errors of tools as such, late results late, and nothing for a tool that never answers', async () => {
    const calls = ['down', 'slow', 'dead'].map((name, n) => server.clientTool(`t${n}`, name));
    const toolResults = [
      { tool: 'down', error: 'Out of order' },
      { tool: 'slow', result: 'Table 7', delayMs: 400 },
      { tool: 'dead', noAnswer: true as const },
    ];
    const result = await execute({ onStart: begin({ afterMs: 300, send: calls }) }, { ...WAITS, toolResults });
    const sent = result.agent.of('client_tool_result');
    expect(sent).toMatchObject([
      { tool_call_id: 't0', result: 'Out of order', is_error: true },
      { tool_call_id: 't1', result: 'Table 7', is_error: false },
    ]);
    expect(sent[1]!.atMs - sent[0]!.atMs).toBe(400);
  });

  it('ends as error when no result fits the call of a tool', async () => {
    const send = [server.clientTool('t1', 'find_table', { people: 5 })];
    const toolResults = [{ tool: 'find_table', arguments: { people: 4 }, result: 'Table 7' }];
    const result = await execute({ onStart: begin({ afterMs: 300, send }) }, { ...WAITS, toolResults });
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'tool_result_missing', retryable: false } });
    expect(result.reason).toContain('find_table({"people":5}) fits none of the 1 toolResults of find_table');
    expect(result.agent.of('client_tool_result')).toEqual([]);
  });

  it.each([
    [[server.toolRequest('t1', 'search'), server.toolResponse('t1', 'search')]],
    [[server.toolResponse('t1', 'search')]],
    [[server.fullToolResponse('t1', 'search', '{}')]],
  ])('sees a tool that the platform runs once, and answers nothing: %#', async (send) => {
    const result = await execute({ onStart: begin({ afterMs: 300, send }) });
    const found = result.timeline.filter(({ type }) => type === 'tool_call');
    expect(found).toMatchObject([{ name: 'search', arguments: null }]);
    expect(found[0]).not.toHaveProperty('result');
    expect(result.agent.of('client_tool_result')).toEqual([]);
  });

  it('hangs up when the goodbye was played, if the agent calls end_call', async () => {
    const goodbye = [...says(1, 'Goodbye.', 900), server.toolResponse('t1', 'end_call')];
    const result = await execute({ onStart: begin({ send: goodbye }) });
    expect(result.end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
    expect(Math.abs(result.measures.durationMs - 920)).toBeLessThanOrEqual(30);
  });

  it('shows what the platform believes was heard, and finds it if it contradicts the audio', async () => {
    const call = (corrected: string) => {
      const send = [server.interruption(40), server.correction(GREETING, corrected)];
      return execute({ onStart: begin({ send: long }, { afterMs: 1_500, send }) }, BARGES_IN);
    };
    const right = await call('Good evening, this is...');
    expect(right.timeline.filter(({ type }) => type === 'platform')).toMatchObject([
      { event: 'note', detail: 'The platform believes that the caller heard "Good evening, this is..."' },
    ]);
    expect(codesOf(right)).toEqual([]);
    expect(codesOf(await call(GREETING.repeat(3)))).toEqual(['heard_otherwise']);
  });

  it('has what the platform understood of the caller beside its line', async () => {
    const onTurn = [[{ send: [server.heard('Sorry, one moment'), ...says(41, 'Yes?', 500)] }]];
    const result = await execute(
      { onStart: begin({ send: says(1, 'Hello.', 600) }), onTurn },
      {
        script: [{ say: 'Sorry, one moment.' }, { end: 'Done' }],
      },
    );
    const [line] = result.timeline.filter((entry) => entry.type === 'speech' && entry.speaker === 'caller');
    expect(line).toMatchObject({ alternative: { source: 'wire', text: 'Sorry, one moment' } });
  });

  it('ignores a message that it does not know, and makes a finding of a malformed one', async () => {
    const odd = [
      '{"type":"agent_typing"}',
      '{"type":"audio","audio_event":{}}',
      '{"type":"audio',
      '{"type":"constructor"}',
    ];
    const result = await execute({ onStart: begin({ send: [...odd, server.vadScore(0.5), ...long] }) });
    expect(codesOf(result)).toEqual(['invalid_message']);
    expect(result.voice!.wireFindings[0]!.detail).toContain('(2 times)');
    expect(spoken(result)).toHaveLength(1);
  });

  it('logs length and hash of ElevenLabs audio instead of the audio', async () => {
    const { wire } = await execute({ onStart: begin({ send: long }) });
    expect(wire.some((line) => line.includes('user_audio_chunk') && line.includes('sha256'))).toBe(true);
    expect(wire.some((line) => line.includes('audio_base_64') && line.includes('sha256'))).toBe(true);
    expect(Math.max(...wire.map(({ length }) => length))).toBeLessThan(1_000);
  });
});

describe('the words of an agent of ElevenLabs', () => {
  /** Pieces of 100 ms, each with its share of the characters. */
  const aligned = (text: string, ms: number, first = 1): ServerMessage[] => {
    const { chars, char_start_times_ms: starts, char_durations_ms: durations } = alignmentOf(text, ms);
    return Array.from({ length: ms / 100 }, (_, n) => {
      const own = starts.flatMap((at, index) => (Math.min(Math.floor(at / 100), ms / 100 - 1) === n ? [index] : []));
      return server.audio(first + n, tone(100), {
        chars: own.map((index) => chars[index]!),
        char_start_times_ms: own.map((index) => starts[index]! - n * 100),
        char_durations_ms: own.map((index) => durations[index]!),
      });
    });
  };

  it.each([
    ['before it', [server.response(GREETING), ...aligned(GREETING, 4_000)]],
    ['after its first audio', aligned(GREETING, 4_000).toSpliced(1, 0, server.response(GREETING))],
    ['never', aligned(GREETING, 4_000)],
  ])('have the times of the alignment, where the text comes %s', async (_when, send) => {
    const result = await execute({ onStart: begin({ send }) });
    expect(spoken(result)).toMatchObject([{ text: GREETING, words: 'known' }]);
    expect(result.voice!.wordsFrom).toMatchObject({ times: 'word' });
    const words = result.voice!.words.filter(({ speaker }) => speaker === 'agent');
    const expected = 4_000 * (GREETING.indexOf('Bella') / GREETING.length);
    expect(Math.abs(words.find(({ text }) => text === 'Bella')!.startMs - expected)).toBeLessThanOrEqual(40);
  });

  it('are those of the text, if a part of the audio has no alignment', async () => {
    const send = [...aligned(GREETING, 3_000), server.audio(31, tone(1_000)), server.response(GREETING)];
    const result = await execute({ onStart: begin({ send }) });
    expect(spoken(result)).toMatchObject([{ text: GREETING, words: 'known' }]);
    expect(result.voice!.wordsFrom).toMatchObject({ times: 'estimated' });
  });

  it('are heard up to the place that was played, if they came before most of their audio', async () => {
    const text = `${GREETING} We have a table by the window, one by the door, and one in the garden behind the house.`;
    // 2 s of an answer that takes ten.
    const send = [server.audio(1, tone(1_000)), server.response(text), server.audio(2, tone(1_000))];
    const acts = [{ send }, { afterMs: 1_500, send: [server.interruption(2)] }];
    const [cut] = spoken(await execute({ onStart: begin(...acts) }, BARGES_IN));
    expect(cut!.text).not.toContain('window');
    expect(cut!.text).toContain('Good evening,');
  });

  it('are all heard, if the agent hangs up when it has said them', async () => {
    const goodbye = says(1, 'Thank you for calling. Goodbye.', 2_000);
    const later: Act = { afterMs: 500, send: [server.audio(21, tone(300)), server.toolResponse('t1', 'end_call')] };
    const result = await execute({ onStart: begin({ send: goodbye }, later) });
    expect(spoken(result).at(-1)).not.toHaveProperty('uncertain');
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ])('belong to the turn whose audio they come %s, and not to one with the same number', async (_when, at) => {
    const turn = (first: number, text: string) =>
      [server.audio(first, tone(900))].toSpliced(at, 0, server.response(text, 99));
    const acts = [{ send: turn(1, 'Good evening.') }, { afterMs: 2_500, send: turn(2, 'Are you there?') }];
    const result = await execute({ onStart: begin(...acts) });
    expect(spoken(result)).toMatchObject([{ text: 'Good evening.' }, { text: 'Are you there?' }]);
  });

  it('are unknown for a turn without any, and those of the next turn do not slip to it', async () => {
    const second: Act = { afterMs: 4_000, send: [server.response('Are you there?'), server.audio(2, tone(900))] };
    const result = await execute({ onStart: begin({ send: [server.audio(1, tone(900))] }, second) });
    expect(spoken(result)).toMatchObject([{ text: '', words: 'unknown' }, { text: 'Are you there?' }]);
  });

  it('are missed if they are switched off, and so is audio', async () => {
    const patient = { script: [{ waitSeconds: 14 }, { end: 'Done' }] } as const;
    const wordless = await execute({ onStart: begin({ send: [server.audio(1, tone(900))] }) }, patient);
    expect(wordless.voice!.wireFindings).toMatchObject([{ code: 'no_words', severity: 'warning' }]);
    const soundless = await execute({ onStart: begin({ send: [server.response('Hello')] }) });
    expect(soundless.voice!.wireFindings).toMatchObject([{ code: 'no_audio', severity: 'warning' }]);
  });
});

describe('the end of a conversation by the platform', () => {
  const closing = (code: number, reason = '', send: ServerMessage[] = []): Act[] => [
    { afterMs: 800, send, close: { code, reason } },
  ];
  const error = (...values: Parameters<typeof server.error>) => server.error(...values);

  it.each([
    ['at code 1000', closing(1000)],
    ['without a code', closing(1005)],
  ])('is a hang-up of the agent %s', async (_what, acts) => {
    const { end } = await execute({ onStart: begin({ send: says(1, 'Bye.', 400) }, ...acts) });
    expect(end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
  });

  it.each<[string, Act[], string, RegExp]>([
    ['no override', closing(1008, "Override for field 'x' is not allowed"), 'override_refused', /security settings/],
    [
      'missing variable',
      closing(1008, 'Missing required dynamic variables: name'),
      'platform_refused',
      /option variables/,
    ],
    ['no credit', closing(1008, 'This request exceeds your quota limit.'), 'platform_refused', /credit and the plan/],
    ['too many calls', closing(1008, 'Too many concurrent calls'), 'rate_limited', /calls at once/],
    ['policy', closing(1008, 'Policy'), 'platform_refused', /code 1008.*"Policy"/],
    [
      'another code',
      closing(3000, 'The AI agent you are trying to reach does not exist.'),
      'platform_refused',
      /assistantId/,
    ],
    ['its own error', closing(1011, 'Internal error'), 'agent_error', /Internal error/],
    [
      'an error message, then a close',
      closing(1000, '', [error(1011, 'llm_timeout', 'The language model took too long')]),
      'agent_error',
      /The language model took too long/,
    ],
    [
      'its maximum duration',
      [{ afterMs: 800, send: [error(1008, 'max_duration_exceeded', 'Max duration reached')] }],
      'platform_refused',
      /Max duration reached/,
    ],
    ['a broken connection', closing(1006), 'connection_lost', /1006/],
  ])('is an error with its own words and a cure: %s', async (_what, acts, code, words) => {
    const { outcome, failure } = await execute({ onStart: begin(...acts) });
    expect({ outcome, code: failure?.code, fault: failure?.fault }).toEqual({
      ...{ outcome: 'error', code, fault: 'infrastructure' },
    });
    expect(failure!.message).toMatch(words);
  });

  it('before it is ready is an error, too', async () => {
    const onStart = [{ send: [error(1008, 'override_error', 'No.')], close: { code: 1008, reason: 'No.' } }];
    const { failure } = await execute({ onStart });
    expect(failure).toMatchObject({ code: 'override_refused' });
  });

  it('does not follow from an error after which the conversation goes on', async () => {
    const acts = [{ send: [error(1011, 'mcp_tool_error', 'A tool failed'), ...long] }];
    const result = await execute({ onStart: begin(...acts) });
    expect(result.outcome).toBe('passed');
    expect(codesOf(result)).toEqual(['error_event']);
    expect(result.voice!.wireFindings[0]!.detail).toBe('The platform said: 1011 mcp_tool_error: A tool failed');
  });
});

describe('a caller who thinks', () => {
  const sentBy = (sendsActivity: boolean): string[] => {
    const sent: string[] = [];
    const logged: unknown[] = [];
    const side = {
      send: (data: string | Uint8Array) => void sent.push(String(data)),
      log: (_now: number, _direction: string, message: unknown) => void logged.push(message),
      isLogged: true,
    };
    const wire = elevenlabsEntry({ initiation: {}, sendsActivity, signature: [], secrets: [] })(side as never);
    for (const [now, on] of [
      [0, true],
      [1_000, true],
      [1_400, false],
    ] as const) {
      wire.callerThinking(now, on);
    }
    expect(logged).toEqual(sent);
    return sent;
  };

  it('is shown to the agent once a second, and in the wire log, unless the option says no', () => {
    expect(sentBy(true)).toEqual(['{"type":"user_activity"}', '{"type":"user_activity"}']);
    expect(sentBy(false)).toEqual([]);
  });
});
