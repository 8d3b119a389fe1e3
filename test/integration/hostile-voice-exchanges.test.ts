import { encodeMulaw, tone } from '../../libs/audio/index.js';
import { normalise } from '../../libs/evaluation-definition/index.js';
import { type CallResult, executeCall, virtualCalls, type VirtualCallOptions } from '../../libs/simulation/index.js';
import * as elevenlabs from '../../libs/simulation/testing/elevenlabs.js';
import * as pipecat from '../../libs/simulation/testing/pipecat.js';
import * as vapi from '../../libs/simulation/testing/vapi.js';
import * as wires from '../../libs/simulation/testing/wires.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { bot, says, toneFrames } from '../simulators/pipecat/messages.js';
import { fieldsOf, shownField, withField } from '../support/hostile/fields.js';
import { HOSTILE_VALUES, unstorable } from '../support/hostile/values.js';

const WORDS = 'Welcome, a table for four?';
const ARGUMENTS = { people: 4, guest: { name: 'Rossi', notes: ['window', null, true] } };
const LISTENS = { script: [{ waitSeconds: 1 }, { end: 'Done' }] } as const;
const SIDS = { accountSid: `AC${'0'.repeat(32)}`, callSid: `CA${'1'.repeat(32)}`, streamSid: `MZ${'2'.repeat(32)}` };
const SOUND = { pcm: tone([440], { rate: 8_000, ms: 300, dbfs: -20 }), speechStart: 0, speechEnd: 2_400, words: [] };

const listening = (options: VirtualCallOptions): Promise<CallResult> =>
  executeCall({
    definition: normalise(LISTENS),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls(options),
    voice: { sounds: { synthesise: async () => SOUND, soundOf: async () => SOUND }, voice: 'any' },
  });
const asJson = (message: unknown) => (message instanceof Uint8Array ? message : JSON.stringify(message));

/** The messages of a healthy call, and a call on virtual time in which an agent sends them. */
const WIRES = {
  vapi: {
    messages: [
      ...[vapi.client.started(), vapi.client.speech('assistant', 'started'), vapi.client.transcript('user', 'Hello')],
      ...[vapi.client.model('Welcome', 't1'), vapi.client.spoken(WORDS, 1, vapi.alignment(WORDS, 900))],
      ...[vapi.client.spoken(WORDS, 1, vapi.progress(3, 5)), vapi.client.tools('c1', 'find', ARGUMENTS)],
      ...[vapi.client.voiceInput(WORDS), vapi.client.interrupted('t1'), ...vapi.audio(900)],
    ].map(asJson),
    call: (send: (string | Uint8Array)[]): Promise<CallResult> => vapi.execute({ onStart: [{ send }] }, LISTENS),
  },
  elevenlabs: {
    messages: [
      ...[elevenlabs.server.metadata(), elevenlabs.server.ping(1), elevenlabs.server.heard('Hello')],
      elevenlabs.server.audio(1, elevenlabs.tone(900, 'pcm_16000'), elevenlabs.alignmentOf(WORDS, 900)),
      ...[elevenlabs.server.response(WORDS, 1), elevenlabs.server.correction(WORDS, 'Welcome', 1)],
      ...[elevenlabs.server.clientTool('c1', 'find', ARGUMENTS), elevenlabs.server.part('delta', WORDS)],
    ].map(asJson),
    call: (send: (string | Uint8Array)[]): Promise<CallResult> =>
      elevenlabs.execute({ onStart: [{ send: send.map(String) }] }, LISTENS),
  },
  'openai-realtime': {
    messages: [
      wires.updated({ instructions: 'Be kind', audio: { input: { format: { type: 'audio/pcmu' } } } }),
      wires.speechStarted(),
      ...wires.says(1, WORDS, 900, 900).slice(0, -1),
      wires.event({
        ...{ type: 'response.output_item.added', response_id: 'resp_1', output_index: 1 },
        item: { id: 'item_c1', type: 'function_call', name: 'find', arguments: '' },
      }),
      wires.calls(1, 'c1', 'find', JSON.stringify(ARGUMENTS)),
      wires.event({
        type: 'response.done',
        response: {
          id: 'resp_1',
          status: 'completed',
          output: [{ id: 'item_1', type: 'message', role: 'assistant', content: [] }],
        },
      }),
      wires.event({
        ...{ type: 'conversation.item.input_audio_transcription.completed', item_id: 'item_0', content_index: 0 },
        ...{ transcript: 'Hello', usage: { type: 'duration', seconds: 1 } },
      }),
      wires.event({
        type: 'rate_limits.updated',
        rate_limits: [{ name: 'tokens', limit: 9, remaining: 0, reset_seconds: 1 }],
      }),
      wires.event({
        type: 'error',
        error: { type: 'invalid_request_error', code: 'later', message: 'Not now', param: 'audio', event_id: 'e1' },
      }),
    ],
    call: (send: (string | Uint8Array)[]): Promise<CallResult> =>
      listening({
        wire: wires.realtimeWire({ session: { type: 'realtime' }, flat: {}, greets: true, secrets: [] }),
        agent: (socket) =>
          new wires.ScriptedRealtime(socket, {
            onUpdate: [{ send: send.slice(0, 1) }],
            onCreate: [[{ send: send.slice(1) }]],
          }),
      }),
  },
  pipecat: {
    messages: [
      ...[says.ready(), says.started(), says.output(WORDS, 1, 'Welcome,'), says.heard('Hello'), says.callerStarted()],
      ...[says.call('c1', 'find', ARGUMENTS), says.callStopped('c1', { id: 7 }), says.metrics(), says.refused('no')],
      ...toneFrames(900),
    ].map(asJson),
    call: (send: (string | Uint8Array)[]): Promise<CallResult> => {
      const frames = send.map((one) => (typeof one === 'string' ? bot.message(one) : one));
      return pipecat.execute({ onClientReady: [{ send: frames }] }, LISTENS);
    },
  },
  'twilio-media-streams': {
    messages: [
      { event: 'clear', streamSid: SIDS.streamSid },
      {
        event: 'media',
        streamSid: SIDS.streamSid,
        media: { payload: Buffer.alloc(8_000, Buffer.from(encodeMulaw(SOUND.pcm))).toString('base64') },
      },
      { event: 'mark', streamSid: SIDS.streamSid, mark: { name: 'said' } },
      { event: 'later', streamSid: SIDS.streamSid, later: { text: WORDS, list: [1, null, true] } },
    ].map(asJson),
    call: (send: (string | Uint8Array)[]): Promise<CallResult> =>
      listening({
        wire: wires.twilioWire({ ...SIDS, customParameters: {}, secrets: [] }),
        agent: (socket) => ({
          onMessage: (_now, data) => {
            if ((JSON.parse(String(data)) as { event: string }).event === 'start')
              send.forEach((one) => socket.send(one));
          },
          tick: () => undefined,
        }),
      }),
  },
};

/** The result alone: the double keeps what it was sent, too. */
const resultOf = ({ outcome, failure, reason, timeline, end, checks, measures, voice }: CallResult) => ({
  ...{ outcome, failure, reason, timeline, end, checks, measures, voice },
});

const verdictOf = ({ outcome, failure, end }: CallResult) => JSON.stringify([outcome, failure?.code, end.code]);

describe.each(Object.entries(WIRES))('a voice call over %s', (_name, { messages, call }) => {
  it('with one hostile field is stored and judged like a voice call with a harmless value', async () => {
    const healthy = await call(messages);
    expect([healthy.outcome, unstorable(resultOf(healthy))]).toEqual(['passed', []]);
    expect(healthy.timeline.map(({ type }) => type)).toContain('speech');
    const cases = messages.flatMap((message, index) =>
      fieldsOf(typeof message === 'string' ? message : '').flatMap((field) =>
        HOSTILE_VALUES.map((value) => ({ message: String(message), index, field, value })),
      ),
    );
    expect(cases.length).toBeGreaterThan(200);
    const harmless = new Map<string, string>();
    const wrong: string[] = [];
    for (const { message, index, field, value } of sample(cases)) {
      const [what, hostile, other] = value;
      const called = (json: string) => call(messages.with(index, withField(message, field, json)!));
      const key = `${index} ${shownField(field)} ${other}`;
      if (!harmless.has(key)) harmless.set(key, verdictOf(await called(other)));
      const result = await called(hostile);
      const [verdict, expected, bad] = [verdictOf(result), harmless.get(key)!, unstorable(resultOf(result))];
      if (verdict !== expected || bad.length > 0)
        wrong.push(JSON.stringify([shownField(field), what, verdict, expected, bad]));
    }
    expect(wrong).toEqual([]);
  }, 600_000);
});
