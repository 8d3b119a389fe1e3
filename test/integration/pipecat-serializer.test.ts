import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import fc from 'fast-check';
import { audioFrame, execute, messageFrame, readFrame } from '../../libs/simulation/testing/pipecat.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { bot, number, type Rtvi, says, tone } from '../simulators/pipecat/messages.js';
import { speech } from '../simulators/pipecat/scripted.js';

const PROGRAM = path.resolve(__dirname, '../pipecat-agent/judge.mjs');
const isInstalled = existsSync(path.resolve(PROGRAM, '../node_modules/@pipecat-ai/websocket-transport'));
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';
if (!isInstalled && !mustRun) {
  console.warn(
    'Skipped: the serializer of Pipecat, because it is not installed (npm ci --prefix test/pipecat-agent --legacy-peer-deps --ignore-scripts)',
  );
}

const FRAMES = shareOf(600);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

type Read = { readonly pcm?: string; readonly message?: unknown; readonly error?: string };

/** What the serializer of the vendor reads and writes. */
async function judged<Answer>(questions: readonly object[]): Promise<Answer[]> {
  const run = promisify(execFile)(process.execPath, [PROGRAM], { timeout: 60_000, maxBuffer: 256 * 1024 * 1024 });
  run.child.stdin!.end(JSON.stringify(questions));
  return JSON.parse((await run).stdout) as Answer[];
}
const readByVendor = (frames: readonly Uint8Array[]) => judged<Read>(frames.map((one) => ({ read: base64(one) })));

const sounds = fc.sample(
  fc.record({
    pcm: fc.uint8Array({ minLength: 2, maxLength: 2_000 }).map((bytes) => bytes.subarray(0, bytes.length & ~1)),
    rate: fc.constantFrom(8_000, 16_000, 22_050, 24_000, 44_100, 48_000),
  }),
  { numRuns: FRAMES, seed: 1 },
);
const messages = fc.sample(fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 3 })), {
  numRuns: FRAMES,
  seed: 1,
});
/** JSON has no other -0, and keeps no name that is a prototype's. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

(isInstalled || mustRun ? describe : describe.skip)("the serializer of Pipecat's own client", () => {
  it('writes the same bytes as this service, for every sound and message', async () => {
    const questions = [
      ...sounds.map(({ pcm, rate }) => ({ pcm: base64(pcm), rate })),
      ...messages.map((message) => ({ message })),
    ];
    const theirs = await judged<string>(questions.map((write) => ({ write })));
    const ours = [
      ...sounds.map(({ pcm, rate }) => audioFrame(pcm, rate)),
      ...messages.map((message) => messageFrame(JSON.stringify(message))),
    ];
    expect(theirs).toEqual(ours.map(base64));
  });

  it('reads every frame of the double as this service does, but for interruptions, which it does not know', async () => {
    const rtvi: (Rtvi | string)[] = [
      ...[says.ready(), says.output('Hello, you.', 1, 'Hello,'), says.outputOf1('Hello.', true), says.heard('Hi')],
      ...[says.call('c1', 'book', { people: 4 }), says.callStopped('c1', { id: 7 }), says.error('x'), says.metrics()],
    ];
    const frames = [
      ...sounds.map(({ pcm, rate }) => bot.audio(pcm, rate)),
      ...[...rtvi, ...messages.map((one) => JSON.stringify(one))].map((one) => bot.message(one)),
    ];
    const theirs = await readByVendor(frames);
    expect(theirs).toEqual(
      frames.map((one) => {
        const read = readFrame(one);
        if (read.type === 'audio') return { pcm: base64(read.bytes) };
        return read.type === 'message' ? { message: asJson(JSON.parse(read.json)) } : {};
      }),
    );
    const [interruption] = await readByVendor([bot.interruption()]);
    expect([interruption, readFrame(bot.interruption())]).toEqual([
      { error: 'Unknown frame kind' },
      { type: 'interruption' },
    ]);
  });

  it('reads every frame that a call sends', async () => {
    const sent: Uint8Array[] = [];
    const script = { onClientReady: [{ send: [says.ready(), ...speech('Hello.', 600), says.call('c1', 'book', {})] }] };
    const toolResults = [{ tool: 'book', result: { id: 7 } }];
    const caller = [{ press: '1' }, { waitSeconds: 3 }, { end: 'Done' }] as const;
    await execute(script, { script: caller, toolResults }, {}, (data) => void sent.push(data as Uint8Array));
    const read = await readByVendor(sent);
    expect(read.filter(({ error }) => error !== undefined)).toEqual([]);
    const types = read.flatMap(({ message }) => (message ? [(message as Rtvi).type] : []));
    expect(types).toEqual(['client-ready', 'llm-function-call-result', 'dtmf', 'disconnect-bot']);
    const pcm = read.flatMap((one) => (one.pcm === undefined ? [] : [Buffer.from(one.pcm, 'base64').length]));
    expect(pcm.length).toBeGreaterThan(100);
    // The first one lacks what the resampler holds back.
    expect(new Set(pcm.slice(1))).toEqual(new Set([640]));
  });

  it('reads a changed frame as this service does, unless one of them refuses it', async () => {
    const whole = [bot.audio(tone(20)), bot.message(says.ready()), bot.message(says.output('Hello.', 1))];
    const changed = fc.sample(
      fc
        .tuple(fc.constantFrom(...whole), fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 }))
        .map(([one, at, bytes]) => {
          const from = at % one.length;
          return Buffer.concat([one.subarray(0, from), bytes, one.subarray(from + bytes.length)]);
        }),
      { numRuns: 2 * FRAMES, seed: 2 },
    );
    const theirs = await readByVendor(changed);
    const differing = changed.filter((one, index) => {
      const read = readFrame(one);
      const { pcm, message } = theirs[index]!;
      // The vendor reads a field beyond the end of its member.
      if (read.type === 'invalid') return false;
      if (pcm !== undefined) return read.type !== 'audio' || pcm !== base64(read.bytes);
      return message !== undefined && !(read.type === 'message' && isDeepStrictEqual(JSON.parse(read.json), message));
    });
    expect(differing.map((one) => one.toString('hex').slice(0, 60))).toEqual([]);
  });

  it('refuses what is cut off, as this service does', async () => {
    const cut = [
      bot.audio(tone(20)).subarray(0, 40),
      Buffer.concat([Buffer.from([0x12]), number(9), Buffer.from('x')]),
    ];
    expect((await readByVendor(cut)).map(({ error }) => typeof error)).toEqual(['string', 'string']);
    expect(cut.map(readFrame)).toEqual([{ type: 'invalid' }, { type: 'invalid' }]);
  });
});
