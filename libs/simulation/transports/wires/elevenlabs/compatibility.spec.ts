import fc from 'fast-check';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { readMessage } from './messages.js';
import { type Act, says } from '../../../../../test/simulators/elevenlabs/double/agent.js';
import { server, type ServerMessage, tone } from '../../../../../test/simulators/elevenlabs/double/messages.js';
import { BARGES_IN, codesOf, execute, type Executed, spoken } from './testing/scripted-call.js';

const GREETING = 'Good evening, this is Bella Vista, how can I help you tonight?';
const long = says(1, GREETING, 4_000);
const begin = (...more: Act[]): Act[] => [{ send: [server.metadata()] }, ...more];
const callsOf = ({ timeline }: Executed) =>
  timeline.flatMap((entry) => (entry.type === 'tool_call' ? [[entry.name, entry.arguments]] : []));

describe('audio of ElevenLabs with the number of an interruption', () => {
  /** An answer of 3 s whose pieces all have one number. */
  const reply = (id: number) => [
    server.response('For six people, of course.', id),
    ...Array.from({ length: 30 }, () => server.audio(id, tone(100))),
  ];
  const interrupted = (id: number): Act => ({ afterMs: 1_500, send: [server.interruption(id)] });
  /** What is heard from 100 ms after the interruption on. */
  const lateMs = ({ voice }: Executed) => voice!.lanes.agent.at(-1)!.endMs - 1_600;

  it.each<[string, number, Act[]]>([
    ['which no audio had before', 41, [{ afterMs: 1_600, send: reply(41) }]],
    ['which the answer had that was interrupted', 40, [{ afterMs: 1_600, send: reply(40) }]],
    ['without words, a second later', 40, [{ afterMs: 2_600, send: reply(40).slice(1) }]],
    ['where all audio has one number', 1, [{ afterMs: 1_600, send: reply(1) }]],
  ])(
    'is heard if it is of a new answer, with a warning: %s (elevenlabs/elevenlabs-python#829, #839)',
    async (_what, id, acts) => {
      const first =
        id === 1 ? [server.response(GREETING), ...Array.from({ length: 40 }, () => server.audio(1, tone(100)))] : long;
      const result = await execute({ onStart: begin({ send: first }, interrupted(id), ...acts) }, BARGES_IN);
      expect(lateMs(result)).toBeGreaterThan(2_900);
      expect(result.voice!.wireFindings).toMatchObject([{ code: 'late_audio', severity: 'warning' }]);
    },
  );

  it('is dropped if it is of the answer that was interrupted, with a warning', async () => {
    const late: Act = { afterMs: 1_600, send: [server.audio(40, tone(500)), server.audio(40, tone(500))] };
    const result = await execute({ onStart: begin({ send: long }, interrupted(40), late) }, BARGES_IN);
    expect(lateMs(result)).toBeLessThan(0);
    expect(codesOf(result)).toEqual(['late_audio']);
  });

  it('does not matter where the interruption has no number: what plays is cut, and later audio is heard (MemberJunction/MJ)', async () => {
    for (const message of [{ type: 'interruption' }, { type: 'interruption', interruption_event: {} }]) {
      const acts: Act[] = [
        { afterMs: 1_500, send: [message] },
        { afterMs: 1_600, send: reply(40) },
      ];
      const result = await execute({ onStart: begin({ send: long }, ...acts) }, BARGES_IN);
      expect(lateMs(result)).toBeGreaterThan(2_900);
      expect(lateMs(result)).toBeLessThan(3_100);
      expect(codesOf(result)).toEqual(['incomplete_message']);
    }
  });
});

describe('an interruption of ElevenLabs before the agent was heard', () => {
  // Found by the browser client as a witness: the caller speaks first.
  it('leaves the words of the answer that follows', async () => {
    const acts: Act[] = [
      { send: [server.interruption(0)] },
      { afterMs: 500, send: [long[1]!, long[0]!, ...long.slice(2)] },
    ];
    expect(spoken(await execute({ onStart: begin(...acts) }))).toMatchObject([{ text: GREETING, words: 'known' }]);
  });
});

describe('errors of ElevenLabs', () => {
  it.each<[string, object, string]>([
    [
      '@elevenlabs/types',
      { error_event: { code: 1011, error_type: 'llm_timeout', message: 'Too slow' } },
      '1011 llm_timeout: Too slow',
    ],
    ['without a code', { error_event: { message: 'Too slow' } }, 'Too slow'],
    ['with a code as text', { error_event: { code: '1011', message: 'Too slow' } }, '1011 Too slow'],
    ['with a reason alone', { error_event: { reason: 'Too slow' } }, 'Too slow'],
    ['with debug_message alone', { error_event: { code: 1011, debug_message: 'Too slow' } }, '1011 Too slow'],
    ['flat', { message: 'Too slow' }, 'Too slow'],
    ['flat, with a code', { code: 1011, message: 'Too slow' }, '1011 Too slow'],
    ['as an object named error', { error: { code: 'quota', message: 'Too slow' } }, 'Too slow'],
    ['as text', { error: 'Too slow' }, 'Too slow'],
    ['as detail', { detail: { status: 'x', message: 'Too slow' } }, 'Too slow'],
    ['as detail in text', { detail: 'Too slow' }, 'Too slow'],
    ['without words', { error_event: { code: 1011 } }, '1011'],
  ])('are shown with their words: %s', async (_what, body, shown) => {
    const result = await execute({ onStart: begin({ send: [{ type: 'error', ...body }, ...long] }) });
    expect(result.voice!.wireFindings).toMatchObject([
      { code: 'error_event', severity: 'warning', detail: `The platform said: ${shown}` },
    ]);
    expect(result.outcome).toBe('passed');
  });

  it.each<[string, object]>([
    ['without a code', { error_event: { message: 'Too slow' } }],
    ['flat', { message: 'Too slow' }],
    ['as text', { error: 'Too slow' }],
  ])('end the call with their words if the connection is closed: %s (marcuseden/rj)', async (_what, body) => {
    const end: Act = { afterMs: 800, send: [{ type: 'error', ...body }], close: { code: 1011 } };
    const { outcome, failure } = await execute({ onStart: begin(end) });
    expect({ outcome, code: failure?.code, fault: failure?.fault }).toEqual({
      outcome: 'error',
      code: 'agent_error',
      fault: 'infrastructure',
    });
    expect(failure!.message).toContain('Too slow');
  });

  it('that name the maximum duration are an end by the platform, in each of these shapes (elevenlabs-docs#519)', async () => {
    for (const body of [
      { error_event: { error_type: 'max_duration_exceeded' } },
      { message: 'Conversation has exceeded maximum duration' },
    ]) {
      const { failure } = await execute({
        onStart: begin({ afterMs: 800, send: [{ type: 'error', ...body }], close: { code: 1011 } }),
      });
      expect(failure).toMatchObject({ code: 'platform_refused', fault: 'infrastructure' });
    }
  });
});

describe('client tools of ElevenLabs', () => {
  it.each<[string, object, object | null]>([
    ['an object', { parameters: { people: 4 } }, { people: 4 }],
    ['text', { parameters: '{"people":4}' }, { people: 4 }],
    ['none, for a tool without parameters (elevenlabs-docs#577)', {}, {}],
    ['null', { parameters: null }, {}],
    ['empty text', { parameters: '' }, {}],
    ['text that is not JSON', { parameters: 'four' }, null],
  ])('have parameters that are %s', async (_what, body, expected) => {
    const call = { type: 'client_tool_call', client_tool_call: { tool_name: 'book', tool_call_id: 't1', ...body } };
    const result = await execute({ onStart: begin({ send: [call, call, ...long] }) });
    expect(callsOf(result)).toEqual([['book', expected]]);
    expect(result.agent.of('client_tool_result')).toHaveLength(1);
  });
});

describe('messages of ElevenLabs by which nothing is lost', () => {
  const correction = (body: object) => ({ type: 'agent_response_correction', ...body });

  it.each<[string, ServerMessage | string, string]>([
    ['text that is not JSON', 'ping', 'JSON'],
    ['a space that keeps the connection alive', ' ', 'JSON'],
    ['empty text', '', 'JSON'],
    ['a message without type', '{"status":"ok"}', 'type'],
    [
      'a correction without the original',
      correction({ agent_response_correction_event: { corrected_agent_response: 'Good' } }),
      'original_agent_response',
    ],
    [
      'a correction in the older shape (elevenlabs-docs#1377)',
      correction({ correction_event: { corrected_response: 'Good' } }),
      'original_agent_response',
    ],
    ['a correction without text', correction({}), 'corrected_agent_response'],
    [
      'a transcript of the caller without text',
      { type: 'user_transcript', user_transcription_event: {} },
      'user_transcript',
    ],
    ['a ping without a number', { type: 'ping', ping_event: {} }, 'event_id'],
    ['a ping of a home-made server', { type: 'ping' }, 'event_id'],
  ])('are a warning that names what is missing: %s', async (_what, message, field) => {
    const result = await execute({ onStart: begin({ send: long }, { afterMs: 1_500, send: [message] }) });
    expect(result.voice!.wireFindings).toMatchObject([
      { code: 'incomplete_message', severity: 'warning', detail: expect.stringContaining(field) as string },
    ]);
    expect(spoken(result)).toMatchObject([{ text: GREETING }]);
  });

  it('have their effect all the same: a note, and an answer to a ping', async () => {
    const send = [correction({ correction_event: { corrected_response: 'Good evening, this' } }), { type: 'ping' }];
    const { timeline, agent } = await execute({ onStart: begin({ send: long }, { afterMs: 1_500, send }) });
    expect(JSON.stringify(timeline)).toContain('heard \\"Good evening, this\\"');
    expect(agent.of('pong')).toHaveLength(1);
  });

  it.each<[string, ServerMessage | string]>([
    ['audio without a number', { type: 'audio', audio_event: { audio_base_64: 'AAAA' } }],
    ['words of the agent that are missing', { type: 'agent_response', agent_response_event: {} }],
    ['a tool call without a name', { type: 'client_tool_call', client_tool_call: { tool_call_id: 't1' } }],
    ['broken JSON', '{"type":"audio","audio_event":'],
  ])('differ from those by which sound, words or calls are lost, which are errors: %s', async (_what, message) => {
    const result = await execute({ onStart: begin({ send: [...long, message] }) });
    expect(result.voice!.wireFindings).toMatchObject([{ code: 'invalid_message', severity: 'error' }]);
  });

  it.each<[string, object]>([
    [
      'internal_tentative_agent_response',
      { tentative_agent_response_internal_event: { tentative_agent_response: 'x' } },
    ],
    ['mcp_tool_call', { mcp_tool_call: { tool_call_id: 'm1', state: 'loading' } }],
    ['vad_score', {}],
    ['agent_chat_response_part', { text_response_part: { type: 'stop', event_id: 1 } }],
    ['a_later_version', { more: null }],
  ])('are passed over without a finding: %s', async (type, body) => {
    const result = await execute({ onStart: begin({ send: [{ type, ...body }, ...long] }) });
    expect([codesOf(result), spoken(result).length]).toEqual([[], 1]);
  });

  it('include formats that are null: the call begins with the default', async () => {
    const event = { conversation_id: null, agent_output_audio_format: null, user_input_audio_format: null };
    const metadata = { type: 'conversation_initiation_metadata', conversation_initiation_metadata_event: event };
    expect((await execute({ onStart: [{ send: [metadata, ...long] }] })).outcome).toBe('passed');
  });
});

describe('generated dialects of ElevenLabs', () => {
  const text = fc.string({ minLength: 1 });
  const number = fc.integer({ min: 0, max: 10_000 });
  const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue());
  const blank = fc.constantFrom({}, { extra: null }, { event: { id: 1 } });
  /** A message, and what it says. */
  const message = fc.oneof(
    fc.tuple(number, fc.boolean()).map(([id, asText]) => {
      const event = { event_id: asText ? String(id) : id, audio_base_64: 'AAAA', alignment: null };
      return [
        { type: 'audio', audio_event: event },
        { type: 'audio', eventId: id, base64: 'AAAA' },
      ] as const;
    }),
    text.map(
      (said) =>
        [
          { type: 'agent_response', agent_response_event: { agent_response: said } },
          { type: 'response', text: said },
        ] as const,
    ),
    fc.tuple(number, fc.boolean(), fc.boolean()).map(([id, asText, isPing]) => {
      const type = isPing ? 'ping' : 'interruption';
      return [
        { type, [`${type}_event`]: { event_id: asText ? String(id) : id, ping_ms: null } },
        { type, eventId: id },
      ] as const;
    }),
    fc.tuple(text, args, fc.boolean()).map(([name, parameters, asText]) => {
      const call = {
        tool_name: name,
        tool_call_id: 't1',
        parameters: asText ? JSON.stringify(parameters) : parameters,
      };
      return [
        { type: 'client_tool_call', client_tool_call: call },
        { type: 'tool_call', id: 't1', name, json: JSON.stringify(parameters) },
      ] as const;
    }),
    fc
      .tuple(
        text,
        fc.constantFrom('error_event', 'error', 'flat'),
        fc.constantFrom('message', 'reason', 'debug_message'),
        fc.constantFrom(1008, '1008'),
      )
      .map(([said, where, name, code]) => {
        const event = { code, [name]: said, error_type: null };
        return [
          { type: 'error', ...(where === 'flat' ? event : { [where]: event }) },
          { type: 'error', code: 1008, said },
        ] as const;
      }),
  );

  it('are read as they were meant', () => {
    fc.assert(
      fc.property(message, blank, fc.boolean(), ([sent, meant], more, isReversed) => {
        const fields = Object.entries({ ...more, ...sent });
        const read = readMessage(JSON.stringify(Object.fromEntries(isReversed ? fields.reverse() : fields)));
        expect(read).toEqual(meant);
      }),
      { numRuns: shareOf(2_000) },
    );
  });
});
