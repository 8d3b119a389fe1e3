import type { DefinitionInput } from '../../../../evaluation-definition/index.js';
import {
  bot,
  bytes,
  frame,
  numeric,
  type Rtvi,
  says,
  tone,
  toneFrames,
} from '../../../../../test/simulators/pipecat/messages.js';
import { type Act, speech } from '../../../../../test/simulators/pipecat/scripted.js';
import { BARGES_IN, codesOf, execute, type Executed, spoken, WAITS } from './testing/scripted-call.js';

type Sent = NonNullable<Act['send']>;
const WELCOME = 'Good evening, Bella Vista.';
const ready = (...send: Sent): Act[] => [{ send: [says.ready(), ...send] }];
const textsOf = (result: Executed) => spoken(result).map(({ text }) => text);
const findingsOf = ({ voice }: Executed) => voice!.wireFindings.map(({ code, detail }) => `${code}: ${detail}`);
const callsOf = ({ timeline }: Executed) => timeline.filter((entry) => entry.type === 'tool_call');
const twice = (messages: Sent): Sent =>
  messages.flatMap((one): Sent[number][] => (one instanceof Uint8Array ? [one] : [one, one]));

describe('the beginning of a call', () => {
  it('is when the bot is ready: a cold start counts in no latency', async () => {
    const onClientReady = [{ afterMs: 7_000, send: [says.ready(), ...speech(WELCOME, 1_500)] }];
    const result = await execute({ onClientReady }, { script: [{ say: 'Hello.' }, { end: 'Done' }] });
    expect(result.agent.received[0]).toMatchObject({
      ...{ label: 'rtvi-ai', type: 'client-ready', id: expect.any(String) as string, atMs: 0 },
      data: { version: '2.1.0', about: { library: 'voice-agent-testing' } },
    });
    expect(spoken(result)[0]).toMatchObject({ text: WELCOME });
    expect(spoken(result)[0]!.start).toBeLessThan(500);
    expect(codesOf(result)).toEqual([]);
    expect([...result.agent.rates]).toEqual([16_000]);
    expect(result.agent.of('disconnect-bot')).toHaveLength(1);
  });

  it('is the first audio of a bot that greets before it says that it is ready', async () => {
    const onClientReady = [{ afterMs: 500, send: [...speech(WELCOME, 1_500), says.ready()] }];
    const result = await execute({ onClientReady });
    expect([textsOf(result), codesOf(result)]).toEqual([[WELCOME], []]);
  });

  it('waits 10 s for RTVI that a serializer leaves out (pipecat-ai/pipecat-examples#201), which is said once', async () => {
    const result = await execute({ onClientReady: [], onStart: [{ afterMs: 11_000, send: toneFrames(1_000) }] });
    expect(findingsOf(result)).toEqual(['no_rtvi: No RTVI message came within 10 s of the connection']);
    expect(spoken(result)).toMatchObject([{ text: '' }]);
    expect(result.agent.received.map(({ type }) => type)).toEqual(['client-ready']);
  });

  it('without RTVI is the connection, and nothing but audio is sent', async () => {
    const result = await execute({ onStart: [{ send: toneFrames(1_000) }] }, WAITS, { speaksRtvi: false });
    expect([codesOf(result), result.agent.received]).toEqual([[], []]);
    expect(result.agent.heardBytes).toBeGreaterThan(150_000);
  });

  it('that comes later than 10 s is an error of no agent: the caller was made to wait by a cold start', async () => {
    const result = await execute(
      { onClientReady: [{ afterMs: 14_000, send: [says.ready(), ...speech(WELCOME, 1_600)] }] },
      {
        script: [{ waitSeconds: 20 }, { end: 'Done' }],
      },
    );
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'not_ready', fault: 'infrastructure' } });
    expect(result.failure!.message).toContain('bot-ready came 14 s after the connection');
  });
});

describe('audio of a bot', () => {
  const withAudio = (...send: Sent) => execute({ onClientReady: ready(...send) });

  it.each([8_000, 16_000, 22_050, 24_000, 44_100, 48_000])('has the length that it has at %i Hz', async (rate) => {
    const result = await withAudio(...toneFrames(2_000, rate));
    expect(codesOf(result)).toEqual([]);
    const { start, end } = spoken(result)[0]!;
    expect(Math.abs(end - start - 2_000)).toBeLessThan(60);
  });

  it('is the same however it is cut, 10 ms at a time or at once (pipecat-ai/pipecat#1499, #1531)', async () => {
    const pcm = tone(1_000, 16_000);
    const cut = (size: number) =>
      Array.from({ length: Math.ceil(pcm.length / size) }, (_, n) =>
        bot.audio(pcm.subarray(n * size, (n + 1) * size), 16_000),
      );
    const times = async (size: number) => spoken(await withAudio(...cut(size))).map(({ start, end }) => [start, end]);
    const whole = await times(pcm.length);
    expect([await times(320), await times(1_280), await times(640)]).toEqual([whole, whole, whole]);
  });

  it.each<[string, Sent, string]>([
    ['whose rate changes', [...toneFrames(500), ...toneFrames(500, 16_000)], 'sample_rate changes to 16000'],
    ['with two channels', [bot.audio(tone(1_000), 24_000, 2)], 'Audio has 2 channels'],
    ['without a number of channels', [frame('audio', bytes(3, tone(900)), numeric(4, 24_000))], 'Audio has 0 channels'],
    ['with half a sample', [bot.audio(tone(1_000).subarray(1))], 'Audio ends with half a sample'],
    [
      'with a WAV header before each part (bolna-ai/bolna#65)',
      [bot.audio(Buffer.concat([wav(), tone(1_000)]))],
      'Audio has a WAV header (add_wav_header)',
    ],
    [
      'beside a frame of a later version',
      [bytes(9, 'later'), ...toneFrames(900)],
      'A frame of 7 bytes has no known member',
    ],
  ])('%s is heard, with a warning', async (_what, send, detail) => {
    const result = await withAudio(...send);
    expect(findingsOf(result)).toEqual([`unusual_frame: ${detail}`]);
    expect(spoken(result)).toMatchObject([{ text: '' }]);
  });

  it.each([0, 7_999, 11_025, 2 ** 32 - 1])('at %i Hz is not played, and the agent broke the protocol', async (rate) => {
    const result = await withAudio(bot.audio(tone(1_000), rate));
    expect(findingsOf(result)).toEqual([`unusable_rate: Audio has the sample_rate ${rate}`]);
    expect(spoken(result)).toEqual([]);
  });
});

describe('words of a bot', () => {
  const after = (afterMs: number, ...send: Sent): Act => ({ afterMs, send });

  it('are those of bot-output once, however its progress is reported', async () => {
    const result = await execute({
      onClientReady: [
        ...ready(says.started(), says.output(WELCOME, 1), ...toneFrames(1_600)),
        after(400, says.output(WELCOME, 1, 'Good evening,')),
        after(800, says.stopped()),
        after(1_500, says.output(WELCOME, 1, WELCOME)),
      ],
    });
    expect(textsOf(result)).toEqual([WELCOME]);
  });

  it('are not said twice by a bot with two observers (voipbin/monorepo#400)', async () => {
    const send = twice(speech(WELCOME, 1_600));
    const calls = twice([says.call('c1', 'find', { a: 1 })]);
    const result = await execute({ onClientReady: ready(...send, ...calls) });
    expect([textsOf(result), callsOf(result).length]).toEqual([[WELCOME], 1]);
  });

  it('belong to the turn in which they are said', async () => {
    const onTurn = [[after(300, ...speech('Until eleven.', 1_000, 2))]];
    const script = { script: [{ say: 'Until when?' }, { waitSeconds: 3 }, { end: 'Done' }] } as const;
    const result = await execute({ onClientReady: ready(...speech(WELCOME, 1_600, 1)), onTurn }, script);
    expect(textsOf(result)).toEqual([WELCOME, 'Until eleven.']);
  });

  it('are those that were heard where the caller interrupts', async () => {
    const text = 'We are open from noon until eleven in the evening, and on Sundays until ten, except in August.';
    const result = await execute(
      { onClientReady: ready(...speech(text, 6_000)), onBargeIn: [{ send: [bot.interruption(), says.interrupted()] }] },
      BARGES_IN,
    );
    expect(spoken(result)[0]!.text).toMatch(/^We are open/);
    expect(spoken(result)[0]!.text.length).toBeLessThan(40);
    expect(result.voice!.voice.bargeIns).toMatchObject([{ yielded: true }]);
    expect(codesOf(result)).toEqual([]);
  });

  it('of RTVI 1 are those that were spoken, sentence by sentence or word by word', async () => {
    const sentence = [says.outputOf1('Never said.', false), says.outputOf1(WELCOME, true)];
    const whole = await execute({
      onClientReady: ready(says.started(), ...toneFrames(1_600), ...sentence, says.stopped()),
    });
    expect(textsOf(whole)).toEqual([WELCOME]);
    const words = WELCOME.split(' ').map((word, n) => after(n * 400, says.outputOf1(word, true, 'word')));
    const audio = ready(says.started(), ...toneFrames(1_600), says.outputOf1(WELCOME, false), says.stopped());
    expect(textsOf(await execute({ onClientReady: [...audio, ...words] }))).toEqual([WELCOME]);
  });

  it('are those of the model, each once, where no bot-output has them', async () => {
    const send = [...twice([says.transcription(WELCOME)]), says.started(), ...toneFrames(1_600), says.stopped()];
    const onTurn = [
      [after(300, says.transcription('Until eleven.'), says.started(), ...toneFrames(1_000), says.stopped())],
    ];
    const script = { script: [{ say: 'Until when?' }, { waitSeconds: 3 }, { end: 'Done' }] } as const;
    expect(textsOf(await execute({ onClientReady: ready(...send), onTurn }, script))).toEqual([
      WELCOME,
      'Until eleven.',
    ]);
    const both = await execute({ onClientReady: ready(says.transcription('Generated.'), ...speech(WELCOME, 1_600)) });
    expect(textsOf(both)).toEqual([WELCOME]);
  });

  it('are not known without a message that has them, and what is not spoken is none', async () => {
    const code: Rtvi = {
      label: 'rtvi-ai',
      type: 'bot-output',
      data: { text: 'x = 1', will_be_spoken: false, aggregated_by: 'code' },
    };
    const result = await execute({ onClientReady: ready(code, ...toneFrames(1_000), says.metrics()) });
    expect(spoken(result)).toMatchObject([{ text: '' }]);
  });

  it('of the caller are shown when they are final', async () => {
    const onTurn = [[after(100, says.heard('until', false), says.heard('Until when?'))]];
    const result = await execute({ onTurn }, { script: [{ say: 'Until when?' }, { waitSeconds: 1 }, { end: 'Done' }] });
    expect(JSON.stringify(result.timeline)).toContain('"alternative":{"source":"wire","text":"Until when?"}');
  });
});

describe('interruptions', () => {
  const long = (version: string) => [{ send: [says.ready(version), ...speech('A long story.', 6_000)] }];
  const bargeIn = (version: string, ...onBargeIn: Sent) =>
    execute({ onClientReady: long(version), onBargeIn: [{ send: onBargeIn }] }, BARGES_IN);

  it('that the bot does not report leave the caller with what is buffered', async () => {
    const result = await bargeIn('2.1.0', says.callerStarted());
    expect(codesOf(result)).toEqual(['no_clear_on_barge_in']);
    expect(result.voice!.voice.bargeIns).toMatchObject([{ yielded: false }]);
  });

  it('of a bot whose serializer has none are user-started-speaking (pipecat-ai/pipecat#4538)', async () => {
    const result = await bargeIn('1.2.0', says.callerStarted());
    expect(codesOf(result)).toEqual(['no_interruption_frame']);
    expect(result.voice!.voice.bargeIns).toMatchObject([{ yielded: true }]);
  });
});

describe('function calls', () => {
  const book = { tool: 'book', result: { id: 7 } };
  const definition = (...toolResults: NonNullable<DefinitionInput['toolResults']>): DefinitionInput => ({
    ...WAITS,
    toolResults,
  });
  const calling = (...send: Sent) => ({ onClientReady: ready(...toneFrames(500), says.callStarted('book'), ...send) });

  it('that the bot leaves to its client are answered from toolResults (pipecat-ai/pipecat-examples#241)', async () => {
    const result = await execute(calling(says.call('c1', 'book', { people: 4 })), definition(book));
    expect(result.agent.of('llm-function-call-result')).toMatchObject([
      { data: { function_name: 'book', tool_call_id: 'c1', arguments: { people: 4 }, result: { id: 7 } } },
    ]);
    expect(callsOf(result)).toMatchObject([{ name: 'book', arguments: { people: 4 }, result: { id: 7 } }]);
  });

  it.each<[unknown, unknown]>([
    ['booked', 'booked'],
    [[1, 2], '[1,2]'],
    [null, 'null'],
    [false, 'false'],
  ])('get the result %j as %j, since Pipecat takes an object or a text', async (result, sent) => {
    const { agent } = await execute(calling(says.call('c1', 'book', {})), definition({ tool: 'book', result }));
    expect(agent.of('llm-function-call-result')).toMatchObject([{ data: { result: sent } }]);
  });

  it('without toolResults are the own ones of the bot: they are seen, and no result is made up', async () => {
    const result = await execute(
      calling(says.call('c1', 'find', { a: 1 }), says.call('c2', 'book', {})),
      definition(book),
    );
    expect(callsOf(result)).toMatchObject([
      { name: 'find', arguments: { a: 1 } },
      { name: 'book', result: { id: 7 } },
    ]);
    expect(callsOf(result)[0]).not.toHaveProperty('result');
    expect(result.agent.of('llm-function-call-result')).toHaveLength(1);
  });

  it('have their arguments as args in older versions (pipecat-ai/pipecat#1772), and none at the level NAME', async () => {
    const old: Rtvi = {
      label: 'rtvi-ai',
      type: 'llm-function-call',
      data: { function_name: 'book', tool_call_id: 'c1', args: { a: 1 } },
    };
    const result = await execute(calling(old, says.call('c2', 'find')));
    expect(callsOf(result)).toMatchObject([
      { name: 'book', arguments: { a: 1 } },
      { name: 'find', arguments: null },
    ]);
  });

  it('without a name, the default of a bot, are an error where the connection says that they are shown', async () => {
    const hidden = calling(says.call('c1'));
    const shown = await execute(hidden);
    expect(shown).toMatchObject({ outcome: 'error', failure: { code: 'override_refused', fault: 'infrastructure' } });
    expect(shown.failure!.message).toContain('function_call_report_level');
    expect(await execute(hidden, WAITS, { showsTools: false })).toMatchObject({ outcome: 'passed' });
  });
});

describe('keys', () => {
  const script = { script: [{ press: '1#' }, { waitSeconds: 1 }, { end: 'Done' }] } as const;

  it('are pressed by dtmf', async () => {
    const { agent } = await execute({}, script);
    expect(agent.of('dtmf').map(({ data }) => data)).toEqual([{ buttons: ['1'] }, { buttons: ['#'] }]);
  });

  it.each(['2.0.0', '1.3.0', 'newest'])('end the call as an error with RTVI %s, which has none', async (version) => {
    const result = await execute({ onClientReady: [{ send: [says.ready(version)] }] }, script);
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'override_refused', fault: 'infrastructure' } });
  });
});

describe('the end of a call, and errors', () => {
  it('is the hang-up of the agent when the bot closes the connection', async () => {
    const result = await execute({
      onClientReady: [...ready(...speech(WELCOME, 1_600)), { afterMs: 3_000, close: { code: 1000 } }],
    });
    expect(result.end).toMatchObject({ by: 'agent', code: 'agent_hung_up' });
  });

  it('is an error of the agent that stops its pipeline, and a warning if it goes on', async () => {
    const result = await execute({
      onClientReady: ready(says.error('TTS lost'), says.refused('no'), ...toneFrames(500)),
    });
    expect(findingsOf(result)).toEqual(['error_event: The bot said: TTS lost (2 times)']);
    const fatal = await execute({ onClientReady: ready(says.error('Key revoked', true)) });
    expect(fatal.failure).toMatchObject({ code: 'agent_error', said: 'Key revoked' });
  });

  it.each<[string, Sent]>([
    ['text where bytes are due', ['{"type":"audio"}']],
    ['raw PCM (pipecat-ai/pipecat#1268)', [tone(20).subarray(2)]],
    ['a frame that is cut off', [bot.audio(tone(20)).subarray(0, 100)]],
    ['broken JSON', [bot.message('{"label":"rtvi-ai"')]],
    ['output without text', [{ label: 'rtvi-ai', type: 'bot-output', data: { will_be_spoken: true } }]],
    [
      'a call without an id',
      [{ label: 'rtvi-ai', type: 'llm-function-call-in-progress', data: { function_name: 'a' } }],
    ],
  ])('of the protocol by %s is a finding, and the call goes on', async (_what, send) => {
    const result = await execute({ onClientReady: ready(...send, ...speech(WELCOME, 1_600)) });
    expect([codesOf(result), textsOf(result)]).toEqual([['invalid_message'], [WELCOME]]);
  });

  it.each<[string, Sent]>([
    ['a message of the application', [{ hello: 1 } as never, bot.message('hello'), bot.message('7')]],
    ['a type of a later version', [{ label: 'rtvi-ai', type: 'ui-command', data: { command: 'toast' } }]],
    ['text and transcriptions', [bot.text('INTERRUPT'), bot.transcription('Hello')]],
  ])('are none: %s', async (_what, send) => {
    const result = await execute({ onClientReady: ready(...send, ...speech(WELCOME, 1_600)) });
    expect([codesOf(result), textsOf(result)]).toEqual([[], [WELCOME]]);
  });
});

/** As Python's `wave` writes it. */
function wav(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF');
  header.write('WAVEfmt ', 8);
  return header;
}
