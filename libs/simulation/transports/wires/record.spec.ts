import { client } from '../../testing/vapi.js';
import { Conversation } from './record.js';
import { ATTEMPT, booked, carried, close, failureOf, type Name, NOON, open } from './testing/kept-records.js';

afterEach(close);

describe('a record', () => {
  it('with 10,000 calls of a tool whose results have no ids is read in linear time', () => {
    const conversation = new Conversation({ startedAt: 0, endedAt: 1_000 });
    const numbers = Array.from({ length: 10_000 }, (_, index) => index);
    const before = process.cpuUsage();
    for (const index of numbers) conversation.called('note', '{}', 0, `id_${index}`);
    for (const index of numbers) conversation.returned(undefined, `result ${index}`, 'note');
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
    expect(conversation.toolCalls.map(({ result }) => result)).toEqual(numbers.map((index) => `result ${index}`));
  });

  const said = async (name: Name, fields: object) => {
    const { get } = await open(name, booked(0, { fields: fields as Record<string, unknown> }));
    return (await get('call_0'))!.said?.map(({ speaker, text, startMs, endMs }) => [speaker, text, startMs, endMs]);
  };
  const vapi = (messages: unknown, more: object = {}) => said('vapi', { artifact: { messages }, ...more });

  it.each<[string, Name, object]>([
    // https://docs.vapi.ai/assistants/call-recording: with artifacts switched off, or before they are there.
    ['no artifact', 'vapi', { artifact: undefined }],
    ['null for messages', 'vapi', { artifact: { messages: null } }],
    // data_storage_setting `basic_attributes_only` of retell-sdk 5.66.1: neither words nor tools are kept.
    ['no words in it', 'retell', { transcript_object: undefined, transcript_with_tool_calls: null }],
    ['null for its transcript', 'elevenlabs', { transcript: null }],
  ])('with %s (%s) does not say that nothing was said', async (_what, name, fields) => {
    const { get } = await open(name, booked(0, { fields: fields as Record<string, unknown> }));
    expect(await get('call_0')).toMatchObject({ said: null, toolCalls: null });
  });

  it('of Vapi has its words above the artifact, where older ones have them (VapiAI/server-sdk-typescript, Call.messages)', async () => {
    const messages = [{ role: 'assistant', content: 'Hello.', secondsFromStart: 1.2 }];
    expect(await said('vapi', { artifact: {}, messages })).toEqual([['agent', 'Hello.', 1_200, 1_200]]);
  });

  it('of Vapi is read whichever of its times it has, and keeps them within the call (times of the messages in VapiAI/server-sdk-typescript)', async () => {
    const messages = [
      { role: 'system', message: 'You are an assistant.', time: NOON, secondsFromStart: 0 },
      { role: 'bot', message: 'First.', time: NOON - 5_000, endTime: NOON + 1_000, secondsFromStart: -5 },
      { role: 'user', message: 'Second.', time: NOON + 2_000, endTime: NOON + 3_000 },
      // Durations are milliseconds, whatever the typings say.
      { role: 'bot', message: 'Third.', secondsFromStart: 4, duration: 1_040 },
      { role: 'user', message: 'No time.' },
      { role: 'bot', message: 'Late.', secondsFromStart: 1e9, duration: -7 },
      { role: 'user', message: 'Between.', secondsFromStart: 3.5 },
      { role: 'bot', message: null, secondsFromStart: 5 },
      { role: 'bot', message: ' \n', secondsFromStart: 5 },
      { role: 'telepathy', message: 'Secret.' },
      null,
      7,
    ];
    expect(await vapi(messages)).toEqual([
      ['agent', 'First.', 0, 1_000],
      ['caller', 'Second.', 2_000, 3_000],
      ['caller', 'Between.', 3_500, 3_500],
      ['agent', 'Third.', 4_000, 5_040],
      ['caller', 'No time.', 5_040, 5_040],
      ['agent', 'Late.', 41_000, 41_000],
    ]);
  });

  it('of Retell has words without times, and ones of a person after a transfer (retell-sdk 5.66.1, Utterance)', async () => {
    const transcript_with_tool_calls = [
      { role: 'agent', content: 'Hello.', words: [{ word: 'Hello.', start: 0.7, end: 1.3 }] },
      { role: 'user', content: 'Hi.', words: [] },
      {
        role: 'user',
        content: 'A person, please.',
        words: [{ word: 'A' }, { word: 'person', start: 2.1 }, { end: 3 }],
      },
      { role: 'node_transition', former_node_id: 'a', new_node_id: 'b' },
      { role: 'transfer_target', content: 'This is Anna.', words: [{ word: 'This', start: 8, end: 9 }] },
      { role: 'dtmf', digit: '1' },
      { role: 'sms', content: 'Code 1234', time_sec: 9 },
    ];
    expect(await said('retell', { transcript_with_tool_calls })).toEqual([
      ['agent', 'Hello.', 700, 1_300],
      ['caller', 'Hi.', 1_300, 1_300],
      ['caller', 'A person, please.', 2_100, 3_000],
    ]);
  });

  it('of Retell has words in transcript_object alone, so that its tools are not known (docs.retellai.com/api-references/get-call)', async () => {
    const { get } = await open('retell', booked(0, { fields: { transcript_with_tool_calls: undefined } }));
    const call = await get('call_0');
    expect([call!.said!.length, call!.toolCalls]).toEqual([3, null]);
  });

  it('of ElevenLabs has null for lists and words (post_call_transcription of elevenlabs-docs)', async () => {
    const nothing = { tool_calls: null, tool_results: null, feedback: null, conversation_turn_metrics: null };
    const transcript = [
      { role: 'agent', message: 'Hello! How can I help you?', ...nothing, time_in_call_secs: 0 },
      { role: 'user', message: null, ...nothing, time_in_call_secs: 2 },
      { role: 'user', message: 'My order.', ...nothing, time_in_call_secs: -3 },
    ];
    expect(await said('elevenlabs', { transcript })).toEqual([
      ['agent', 'Hello! How can I help you?', 0, 0],
      ['caller', 'My order.', 0, 0],
    ]);
  });

  it('has what cannot be stored in a form that can', async () => {
    const { get } = await open(
      'vapi',
      booked(0, {
        reason: 'a\0b',
        lines: [{ speaker: 'agent', text: 'a\0b\ud800', startMs: 0, endMs: 1 }],
        tools: [{ id: 't', name: 'n\0', arguments: { 'k\0': '\ud800', __proto__: null }, result: '\0', startMs: 1 }],
      }),
    );
    const call = (await get('call_0'))!;
    expect(JSON.stringify(call)).not.toMatch(/\\u0000|\\ud800/);
    expect([call.said![0]!.text, call.toolCalls![0]!.name]).toEqual(['a\uFFFDb\uFFFD', 'n\uFFFD']);
  });

  it.each<[string, object]>([
    ['arguments that are an object', { function: { name: 'book', arguments: { people: 4 } } }],
    ['arguments that are JSON as text', { function: { name: 'book', arguments: '{"people":4}' } }],
    ['the name beside the function', { name: 'book', function: { arguments: '{"people":4}' } }],
  ])('of Vapi has a tool once if its message comes twice, with %s', async (_what, call) => {
    const message = { role: 'tool_calls', toolCalls: [{ id: 't1', type: 'function', ...call }], secondsFromStart: 2 };
    const result = { role: 'tool_call_result', toolCallId: 't1', result: { ok: true } };
    const { get } = await open('vapi', booked(0, { fields: { artifact: { messages: [message, message, result] } } }));
    expect((await get('call_0'))!.toolCalls).toEqual([
      { name: 'book', arguments: { people: 4 }, result: '{"ok":true}', startMs: 2_000 },
    ]);
  });

  it.each<[string, Name, object]>([
    ['words that are not a text', 'vapi', { artifact: { messages: [{ role: 'bot', message: { text: 'Hi' } }] } }],
    ['messages that are not a list', 'vapi', { artifact: { messages: 'AI: Hello' } }],
    ['a tool without a name', 'vapi', { artifact: { messages: [{ role: 'tool_calls', toolCalls: [{ id: 't' }] }] } }],
    ['an end before its start', 'vapi', { endedAt: '2020-01-01T00:00:00Z' }],
    ['an end that is not a date', 'vapi', { endedAt: 'soon' }],
    ['an id that is not one', 'vapi', { id: { $ne: 1 } }],
    ['a tool without a name', 'retell', { transcript_with_tool_calls: [{ role: 'tool_call_invocation' }] }],
    ['a start in the distant future', 'retell', { start_timestamp: 9e15, end_timestamp: 9e15 + 1 }],
    ['words that are not a list', 'retell', { transcript_with_tool_calls: { 0: 'a' } }],
    ['an end without a time', 'elevenlabs', { metadata: { start_time_unix_secs: 1_764_000_000 } }],
    [
      'a negative duration',
      'elevenlabs',
      { metadata: { start_time_unix_secs: 1_764_000_000, call_duration_secs: -1 } },
    ],
    ['words that are not a list', 'elevenlabs', { transcript: 'Hello' }],
  ])('with %s (%s) is an error that says so, and never a call without words', async (_what, name, fields) => {
    const { get } = await open(name, booked(0, { fields: fields as Record<string, unknown> }));
    expect(await failureOf(get('call_0'))).toMatchObject({
      ...{ code: 'bad_response', message: expect.stringContaining('record of the call cannot be read') },
    });
  });

  it.each<[string, Name, object]>([
    ['its name', 'vapi', { name: `vat:${ATTEMPT}` }],
    ['its metadata', 'vapi', { metadata: { 'X-Vat-Call': ATTEMPT } }],
    ['a variable of a header', 'vapi', { assistantOverrides: { variableValues: { 'x-vat-call': ATTEMPT } } }],
    ['its metadata', 'retell', { metadata: { vat_call: ATTEMPT } }],
    // docs.retellai.com/build/telephony/sip-headers: the `X-` of a header is left out.
    ['a header', 'retell', { custom_sip_headers: { 'vat-call': ATTEMPT } }],
    ['its user', 'elevenlabs', { user_id: `vat:${ATTEMPT}` }],
    [
      'a variable of a header',
      'elevenlabs',
      {
        conversation_initiation_client_data: { dynamic_variables: { sip_x_vat_call: ATTEMPT } },
      },
    ],
  ])('has the mark of a call of this service in %s (%s)', async (_what, name, fields) => {
    const { get } = await open(name, booked(0, { fields: fields as Record<string, unknown> }));
    expect((await get('call_0'))!.attemptId).toBe(ATTEMPT);
  });

  it('has no mark that is not the id of an attempt', async () => {
    const { get } = await open('retell', booked(0, { fields: { metadata: { 'x-vat-call': 'all' }, name: 'vat:1' } }));
    expect((await get('call_0'))!.attemptId).toBeNull();
  });

  it('of Vapi says that there is never a recording where it is switched off, or older than the account keeps (VapiAI/docs#1163)', async () => {
    const { get, read, kept } = await open(
      'vapi',
      booked(0, { fields: { artifactPlan: { recordingEnabled: false } } }),
    );
    expect((await get('call_0'))!.recording).toBe('none');
    kept.faults.refusals = [{ status: 400, body: '{"message":"Recording is beyond the retention of your plan"}' }];
    expect((await read()).outcome).toBe('none');
  });

  it('of Retell prefers the recording without personal data, and has none where only attributes are kept', async () => {
    const scrubbed_recording_multi_channel_url = 'https://169.254.169.254/scrubbed.wav';
    const fields = { scrubbed_recording_multi_channel_url };
    const { read } = await open('retell', booked(0, { sound: Buffer.from('RIFF'), fields }));
    expect(await failureOf(read())).toMatchObject({ code: 'address_refused' });
    await close();
    const kept = await open('retell', booked(0, { fields: { data_storage_setting: 'basic_attributes_only' } }));
    expect([(await kept.get('call_0'))!.recording, (await kept.read()).outcome]).toEqual(['none', 'none']);
  });

  it('of a call that the double of Vapi has carried has what was said and called on it, and its mark', async () => {
    const acts = [client.speech('assistant', 'started'), client.tools('c1', 'find_table', { people: 4 })];
    const words = [client.transcript('assistant', 'Table 7 is yours.'), client.transcript('user', 'Thank you.')];
    const id = await carried(
      { onStart: [{ send: [...acts, ...words] }, { afterMs: 100, close: { code: 1_000 } }] },
      ATTEMPT,
    );
    const { get } = await open('vapi');
    expect(await get(id)).toMatchObject({
      ...{ attemptId: ATTEMPT, endedReason: 'assistant-ended-call' },
      said: [
        { speaker: 'agent', text: 'Table 7 is yours.' },
        { speaker: 'caller', text: 'Thank you.' },
      ],
      toolCalls: [{ name: 'find_table', arguments: { people: 4 } }],
    });
  });
});
