import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { readMessages, type ServerMessage } from '../../libs/simulation/testing/elevenlabs.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';

const PROGRAM = path.resolve(__dirname, '../elevenlabs-agent/browser.mjs');
const isInstalled = existsSync(path.resolve(PROGRAM, '../node_modules/@elevenlabs/client'));
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';
if (!isInstalled && !mustRun) {
  console.warn(
    'Skipped: the browser client of ElevenLabs, because it is not installed (cd test/elevenlabs-agent && npm ci --ignore-scripts)',
  );
}
/** About ten messages each. */
const LISTS = shareOf(200);

type Seen = readonly [type: string, ...values: unknown[]];

/** What the browser client makes of lists of messages. */
async function seenByBrowser(lists: readonly (readonly ServerMessage[])[]): Promise<Seen[][]> {
  const child = promisify(execFile)(process.execPath, [PROGRAM], { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 });
  child.child.stdin!.end(JSON.stringify(lists));
  const { stdout } = await child;
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Seen[]);
}

const sample = (base64: unknown): number => Buffer.from(String(base64), 'base64').readInt16LE();
const json = (parameters: unknown): string =>
  typeof parameters === 'string' ? parameters : JSON.stringify(parameters ?? {});

/** The same of both: what is heard, said, understood, called, answered and reported. */
const byBrowser = (seen: readonly Seen[]) => {
  const of = (name: string) => seen.filter(([type]) => type === name).map(([, value]) => value);
  return {
    audio: of('audio').map(sample),
    drops: of('drop').length,
    ...{ agent: of('ai'), caller: of('user') },
    tools: seen.filter(([type]) => type === 'tool').map(([, name, parameters]) => [name, json(parameters)]),
    pongs: seen.filter(([type]) => type === 'sent').map(([, , id]) => id),
    errors: of('error').map((text) => String(text).replace('Server error: ', '')),
  };
};
function byService(messages: readonly ServerMessage[]) {
  const { findings: _, notes: _notes, ...read } = readMessages(messages);
  const errors = readMessages(messages).findings.filter(([code]) => code === 'error_event');
  return {
    ...read,
    errors: errors.map(([, detail]) => detail.replace(/^The platform said: (\d+ )?|( \(\d+ times\))$/g, '')),
  };
}

const words = fc.stringMatching(/^[A-Za-z]{1,8}( [a-z]{1,8}){0,5}\.$/);
const piece = fc.integer({ min: 1, max: 30_000 }).map((value) => {
  const bytes = Buffer.alloc(64);
  bytes.writeInt16LE(value);
  return bytes.toString('base64');
});
const parameters = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue());

/** Dialects of a message, without the number of audio. */
const single: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  { weight: 4, arbitrary: piece.map((audio_base_64) => ({ type: 'audio', audio_event: { audio_base_64 } })) },
  words.map((agent_response) => ({ type: 'agent_response', agent_response_event: { agent_response, event_id: 1 } })),
  words.map((user_transcript) => ({ type: 'user_transcript', user_transcription_event: { user_transcript } })),
  fc.integer({ min: 1, max: 99 }).map((event_id) => ({ type: 'ping', ping_event: { event_id, ping_ms: null } })),
  fc
    .tuple(
      words,
      fc.option(
        fc.oneof(
          parameters,
          parameters.map((one) => JSON.stringify(one)),
        ),
        { nil: undefined },
      ),
    )
    .map(([tool_name, given]) => ({ type: 'client_tool_call', client_tool_call: { tool_name, parameters: given } })),
  fc
    .tuple(words, fc.constantFrom('message', 'reason'), fc.constantFrom({}, { code: 1011 }, { code: '1008' }))
    .map(([said, name, code]) => ({ type: 'error', error_event: { ...code, [name]: said } })),
  fc.constantFrom<Record<string, unknown>>(
    { type: 'vad_score', vad_score_event: { vad_score: 0.5 } },
    { type: 'a_later_version' },
    { type: 'interruption' },
  ),
);

/**
 * A conversation: pieces of audio are numbered upwards, some of those after an interruption are late, a new answer may have the
 * number of the interruption, and words come before the interruption only with audio.
 */
const conversation = fc
  .array(fc.tuple(single, fc.boolean(), fc.integer({ min: 0, max: 2 })), { minLength: 4, maxLength: 16 })
  .map((all) => {
    let [id, cut, calls, isNew, isAhead] = [1, 0, 0, true, false];
    return all.map(([message, isReversed, step]): ServerMessage => {
      const found = structuredClone(message);
      const { audio_event: audio, client_tool_call: call } = found as Record<
        string,
        Record<string, unknown> | undefined
      >;
      if (found['type'] === 'agent_response') isNew = isAhead = true;
      if (found['type'] === 'interruption' && isAhead) found['type'] = 'a_later_version';
      if (found['type'] === 'interruption') {
        cut = id;
        isNew = false;
        found['interruption_event'] = { event_id: isReversed ? String(id) : id };
      }
      if (audio) {
        const isLate = step === 0 && cut > 1;
        isAhead &&= isLate;
        id += isNew ? step : Math.max(1, step);
        audio['event_id'] = isLate ? cut - 1 : id;
      }
      if (call) call['tool_call_id'] = `t${++calls}`;
      const fields = Object.entries({ extra: null, ...found });
      return Object.fromEntries(isReversed ? fields.reverse() : fields) as unknown as ServerMessage;
    });
  });

(isInstalled || mustRun ? describe : describe.skip)("ElevenLabs' browser client", () => {
  it('plays, drops, says, calls and reports the same of generated dialects', async () => {
    // The last piece of audio is that of which the words are that came before it.
    const last: ServerMessage = { type: 'audio', audio_event: { audio_base_64: 'AQA=', event_id: 1_000 } };
    const lists = fc.sample(conversation, { numRuns: LISTS, seed: 45 }).map((list) => [...list, last]);
    const seen = await seenByBrowser(lists);
    expect(seen).toHaveLength(LISTS);
    for (const [index, list] of lists.entries()) {
      const [ours, theirs] = [byService(list), byBrowser(seen[index]!)];
      expect({ index, list, ...ours, errors: ours.errors.slice(0, 1) }).toEqual({
        index,
        list,
        ...theirs,
        errors: theirs.errors.slice(0, 1),
      });
    }
  }, 90_000);

  const audio = (event_id: number, audio_base_64: string): ServerMessage => ({
    type: 'audio',
    audio_event: { event_id, audio_base_64 },
  });
  const interruption: ServerMessage = { type: 'interruption', interruption_event: { event_id: 5 } };

  it('plays a new answer that has the number of the interruption, as the service does', async () => {
    const list: ServerMessage[] = [audio(4, 'AQA='), interruption, audio(5, 'AgA='), audio(5, 'AwA=')];
    const [seen] = await seenByBrowser([list]);
    expect(byBrowser(seen!).audio).toEqual([1, 2, 3]);
    expect(byService(list).audio).toEqual([1, 2, 3]);
  });

  it.each<[string, ServerMessage[], object, object]>([
    [
      'plays what is left of an answer that was interrupted, which the Node and Python clients drop: a caller who interrupts does not want it',
      [audio(5, 'AQA='), interruption, audio(5, 'AgA=')],
      { audio: [1] },
      { audio: [1, 2] },
    ],
    [
      'says "Unknown error" of an error whose words are in the message itself: they are what its user needs',
      [{ type: 'error', message: 'Too slow' }],
      { errors: ['Too slow'] },
      { errors: ['Unknown error'] },
    ],
    [
      'says the words of an answer that was interrupted before its first sound: they were not heard',
      [{ type: 'agent_response', agent_response_event: { agent_response: 'Yes?' } }, interruption, audio(6, 'AQA=')],
      { agent: [] },
      { agent: ['Yes?'] },
    ],
    [
      'throws at a ping without a number: the answer keeps the conversation alive',
      [{ type: 'ping' }],
      { pongs: [undefined] },
      { pongs: [] },
    ],
  ])('differs: it %s', async (_what, list, ours, theirs) => {
    const [seen] = await seenByBrowser([list]);
    expect(byService(list)).toMatchObject(ours);
    expect(byBrowser(seen!)).toMatchObject(theirs);
  });
});
