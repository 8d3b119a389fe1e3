import { type CallResult } from '../../libs/simulation/index.js';
import * as elevenlabs from '../../libs/simulation/testing/elevenlabs.js';
import * as vapi from '../../libs/simulation/testing/vapi.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { fieldsOf, shownField, withField } from '../support/hostile/fields.js';
import { HOSTILE_VALUES, unstorable } from '../support/hostile/values.js';

const WORDS = 'Welcome, a table for four?';
const ARGUMENTS = { people: 4, guest: { name: 'Rossi', notes: ['window', null, true] } };
const LISTENS = { script: [{ waitSeconds: 1 }, { end: 'Done' }] } as const;
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
};

/** The result alone: the double keeps what it was sent, too. */
const resultOf = ({ outcome, failure, reason, timeline, end, checks, measures, voice }: CallResult) => ({
  ...{ outcome, failure, reason, timeline, end, checks, measures, voice },
});

const verdictOf = ({ outcome, failure, end }: CallResult) => JSON.stringify([outcome, failure?.code, end.code]);

describe.each(Object.entries(WIRES))('a voice call over %s', (_name, { messages, call }) => {
  it('of which one field is hostile can be stored, and has the verdict of one with a harmless value there', async () => {
    expect(unstorable(resultOf(await call(messages)))).toEqual([]);
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
