import { audio, says, type Act } from '../../../../../test/simulators/vapi/scripted.js';
import { alignment, client, type ClientMessage, progress } from '../../../../../test/simulators/vapi/messages.js';
import { BARGES_IN, codesOf, execute, type Executed, spoken, WAITS } from './testing/scripted-call.js';

const GREETING = 'Good evening, this is Bella Vista, how can I help you tonight?';
const textsOf = (result: Executed) => spoken(result).map(({ text }) => text.trim());

describe('a call of Vapi', () => {
  it.each([
    ['wide', 'pcm_s16le', 32],
    ['telephone', 'mulaw', 8],
  ] as const)('has binary audio in both directions, on a %s line', async (line, format, bytesPerMs) => {
    const onStart = [{ send: says('t1', GREETING, 4_000, format) }];
    const result = await execute({ format, onStart }, WAITS, { line });
    const { agent, voice, measures } = result;
    const [first] = voice!.lanes.agent;
    expect(Math.abs(first!.endMs - first!.startMs - 4_000)).toBeLessThanOrEqual(40);
    expect(Math.abs(agent.heardBytes / bytesPerMs - measures.durationMs)).toBeLessThanOrEqual(40);
    expect(textsOf(result)).toEqual([GREETING]);
    expect(codesOf(result)).toEqual([]);
  });

  it('is ended by a message when the caller hangs up, and by no other one', async () => {
    const { agent, outcome } = await execute({ onStart: [{ send: says('t1', GREETING, 4_000) }] });
    expect(outcome).toBe('passed');
    expect(agent.received).toMatchObject([{ type: 'end-call' }]);
  });

  it('sees the tools that the platform runs, once each, and answers none', async () => {
    const tools = [client.tools('c1', 'find_table', { people: 4 }), client.tools('c1', 'find_table', { people: 4 })];
    const { agent, timeline } = await execute({ onStart: [{ send: [...tools, ...says('t1', GREETING, 4_000)] }] });
    const calls = timeline.filter(({ type }) => type === 'tool_call');
    expect(calls).toHaveLength(1);
    expect(calls).toMatchObject([{ name: 'find_table', arguments: { people: 4 } }]);
    expect(calls[0]).not.toHaveProperty('result');
    expect(agent.received.map(({ type }) => type)).toEqual(['end-call']);
  });

  it('reports what the platform understood of the caller', async () => {
    const onTurn = [[{ send: [client.transcript('user', 'Ben are you open?'), ...says('t1', 'At noon.', 700)] }]];
    const definition = { script: [{ say: 'When are you open?' }, { waitSeconds: 2 }, { end: 'Done' }] };
    const { timeline } = await execute({ onTurn }, definition);
    expect(JSON.stringify(timeline)).toContain('Ben are you open?');
  });

  it('reads tools whose arguments are an object', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'find_table', arguments: { people: 4 } } };
    const { timeline } = await execute({ onStart: [{ send: [{ type: 'tool-calls', toolCallList: [call] }] }] });
    expect(timeline.find(({ type }) => type === 'tool_call')).toMatchObject({ arguments: { people: 4 } });
  });
});

describe('the words of an agent of Vapi', () => {
  const FIRST = 'Good evening, how can I help?';
  const greet = (...send: Act['send'] & object): Act => ({ send: [...send, ...audio(2_000)] });

  it('are those of the model, in turns, where the assistant sends nothing better', async () => {
    const second: Act = { afterMs: 3_500, send: says('t2', 'Are you still there, sir?', 1_800) };
    const result = await execute({ onStart: [{ send: says('t1', FIRST, 2_000) }, second] });
    expect(textsOf(result)).toEqual([FIRST, 'Are you still there, sir?']);
  });

  it.each([
    ['at once', [client.spoken(FIRST)]],
    ['as a text that grows', [client.spoken('Good evening,'), client.spoken(FIRST)]],
    ['word by word', [client.spoken(FIRST, 0, progress(2, 6)), client.spoken(FIRST, 0, progress(6, 6))]],
    ['with times', [client.spoken(FIRST, 0, alignment(FIRST, 2_000))]],
  ] as const)('are those that were played, %s, before those of the model', async (_how, messages) => {
    const model = [client.model('Never said at all.', 't1')];
    const result = await execute({ onStart: [greet(messages[0], ...model, ...messages.slice(1))] });
    expect(textsOf(result)).toEqual([FIRST]);
  });

  it('have the times of the platform where it says them', async () => {
    const result = await execute({ onStart: [greet(client.spoken(FIRST, 0, alignment(FIRST, 2_000)))] });
    expect(result.voice!.wordsFrom).toMatchObject({ source: 'wire', times: 'word' });
    const [good, evening] = result.voice!.words;
    expect(evening!.startMs - good!.startMs).toBeCloseTo((5 * 2_000) / FIRST.length, -2);
  });

  it('are those of the transcript where the model generated none, such as the first message', async () => {
    const transcript = { afterMs: 2_100, send: [client.transcript('assistant', FIRST)] };
    const second: Act = { afterMs: 4_500, send: says('t2', 'Hello?', 700) };
    const heard = { afterMs: 5_300, send: [client.transcript('assistant', 'Yellow.')] };
    const result = await execute({ onStart: [{ send: audio(2_000) }, transcript, second, heard] });
    expect(textsOf(result)).toEqual([FIRST, 'Hello?']);
  });

  it('are complete when the platform has understood the last of them, also if the call ends at once', async () => {
    const ends = { afterMs: 2_050, send: [client.ended('assistant-ended-call')], close: { code: 1000 } };
    const heard = { afterMs: 2_020, send: [client.transcript('assistant', 'how can i help')] };
    const script = [{ send: says('t1', FIRST, 2_000) }, ends];
    const run = (onStart: Act[]) => execute({ onStart, isPaced: true });
    const [unsure, sure] = [await run(script), await run([...script, heard])];
    const uncertain = ({ voice }: Executed) => voice!.words.filter((word) => word.uncertain).map(({ text }) => text);
    expect(uncertain(unsure)).toContain('help?');
    expect(uncertain(sure)).toEqual([]);
  });

  it('are the same if the platform sends its audio as it is heard, with silence in between', async () => {
    const onTurn = [[{ send: [client.speech('user', 'stopped'), ...says('t2', 'From noon to ten.', 1_500)] }]];
    const script = { onStart: [{ send: says('t1', FIRST, 2_000) }], onTurn };
    const definition = { script: [{ say: 'When are you open?' }, { waitSeconds: 3 }, { end: 'Done' }] };
    const [sent, paced] = [await execute(script, definition), await execute({ ...script, isPaced: true }, definition)];
    expect(textsOf(sent)).toEqual([FIRST, 'From noon to ten.']);
    expect(textsOf(paced)).toEqual(textsOf(sent));
    const [expected, found] = [sent, paced].map(({ voice }) => voice!.lanes.agent.map(({ startMs }) => startMs));
    expect(found).toHaveLength(2);
    for (const [index, startMs] of found!.entries()) expect(Math.abs(startMs - expected![index]!)).toBeLessThan(60);
  });

  it('belong to one turn across a pause inside it, also where the caller makes a sound', async () => {
    const long = 'Our tables on the terrace are free from noon, and those inside from six in the evening on.';
    const rest: Act = { afterMs: 4_500, send: audio(3_500) };
    const result = await execute(
      { onStart: [{ send: says('t1', long, 2_500) }, rest] },
      {
        script: [{ waitSeconds: 10 }, { end: 'Done' }],
      },
    );
    expect(textsOf(result).join(' ')).toBe(long);
  });

  it('are not known if the platform reports none, which is a finding', async () => {
    const onStart = [{ send: says('t1', GREETING, 2_000) }];
    const waits = { script: [{ waitSeconds: 13 }, { end: 'Done' }] };
    const result = await execute({ onStart, clientMessages: ['assistant.started'] }, waits);
    expect(codesOf(result)).toEqual(['no_words']);
    expect(textsOf(result)).toEqual([expect.not.stringContaining('evening')]);
  });
});

describe('an interruption', () => {
  const long = 'Good evening, this is Bella Vista, the house with the terrace above the harbour and the lake.';

  it.each([false, true])('stops what was not played, and its words; paced: %s', async (isPaced) => {
    const interrupted: Act = { afterMs: 1_600, send: [client.interrupted('t1'), client.model(' and more', 't1')] };
    const next: Act = { afterMs: 3_400, send: says('t2', 'Of course.', 800) };
    const result = await execute(
      { onStart: [{ send: says('t1', long, 6_000) }, interrupted, next], isPaced },
      BARGES_IN,
    );
    const [first] = result.voice!.lanes.agent;
    expect(first!.endMs).toBeLessThan(1_750);
    expect(textsOf(result).at(-1)).toBe('Of course.');
    expect(textsOf(result)[0]).toMatch(/^Good evening/);
    expect(JSON.stringify(result.timeline)).not.toMatch(/the lake|and more/);
    expect(codesOf(result)).toEqual([]);
  });

  it('without a sound of the caller is a finding', async () => {
    const onStart = [{ send: says('t1', long, 5_000) }, { afterMs: 3_000, send: [client.interrupted('t1')] }];
    expect(codesOf(await execute({ onStart }))).toEqual(['false_interruption']);
  });
});

describe('the end of a call', () => {
  const greeted = (...more: Act[]): { onStart: Act[] } => ({
    onStart: [{ send: says('t1', GREETING, 2_000) }, ...more],
  });
  const ends = (reason: string): ClientMessage => client.ended(reason);

  it.each(['assistant-ended-call', 'assistant-said-end-call-phrase', 'silence-timed-out'])(
    'is the hang-up of the agent with %s, when the goodbye was played',
    async (reason) => {
      const { end, measures } = await execute(greeted({ afterMs: 500, send: [ends(reason)] }));
      expect(end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
      expect(end.reason).toContain(reason);
      expect(measures.durationMs).toBeGreaterThanOrEqual(1_990);
      expect(measures.durationMs).toBeLessThan(2_200);
    },
  );

  it.each([
    ['exceeded-max-duration', 'platform_refused', /raise maxDurationSeconds/],
    ['call.start.error-subscription-insufficient-credits', 'platform_refused', /check the credit/],
    ['call.start.error-subscription-concurrency-limit-reached', 'rate_limited', /limit of the organisation/],
    ['assistant-not-found', 'platform_refused', /check the assistantId/],
    ['call.in-progress.error-vapifault-transport-never-connected', 'not_ready', /awaited no longer/],
    ['pipeline-error-openai-llm-failed', 'agent_error', /pipeline-error-openai-llm-failed/],
  ])('is an error with the words of the platform: %s', async (reason, code, words) => {
    const { outcome, failure } = await execute(greeted({ afterMs: 2_500, send: [ends(reason)] }));
    expect({ outcome, code: failure?.code }).toEqual({ outcome: 'error', code });
    expect(failure!.message).toMatch(words);
    expect(failure!.message).toContain(reason);
  });

  it.each([
    [1000, 'agent_hung_up'],
    [1006, 'failure'],
  ])('follows from a close code without a reason: %d', async (code, expected) => {
    const { end } = await execute(greeted({ afterMs: 2_500, send: [], close: { code } }));
    expect(end.code).toBe(expected);
  });

  it('that was ended from here is not the hang-up of the agent', async () => {
    const { end } = await execute(greeted({ afterMs: 2_500, send: [ends('customer-ended-call')] }));
    expect(end).toMatchObject({ by: 'caller' });
  });
});

describe('other messages', () => {
  it('are ignored, and malformed ones are findings', async () => {
    const others = [client.started(), client.speech('assistant', 'stopped'), client.voiceInput('x'), client.hang()];
    const { voice } = await execute({ onStart: [{ send: [...others, ...says('t1', GREETING, 4_000)] }] });
    expect(voice!.wireFindings).toEqual([]);
    const bad = [
      '[]',
      '{"type":"tool-calls"',
      '{"type":"assistant.speechStarted"}',
      '{"type":"tool-calls","toolCallList":[1]}',
    ];
    const result = await execute({ onStart: [{ send: [...bad, ...says('t1', GREETING, 4_000)] }] });
    expect(result.voice!.wireFindings).toMatchObject([
      { code: 'invalid_message', detail: expect.stringContaining('4 times') as string },
    ]);
  });

  it('and their words are kept without the secrets of the addresses', async () => {
    const secret = '0c3f8a52-77d1-4a0e-8b5e-1f8d0a6c9e21';
    const said = [client.model(`It is ${secret} now. `, 't1'), client.transcript('user', secret), ...audio(4_000)];
    const { timeline, voice, wire } = await execute({ onStart: [{ send: said }] }, WAITS, {}, [secret]);
    expect(JSON.stringify([timeline, voice, wire])).not.toContain(secret);
  });
});
