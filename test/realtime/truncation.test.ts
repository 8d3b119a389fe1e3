import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import { VoiceCalls } from '../simulators/agent/testing/voice.js';
import { mediaThreads } from '../../libs/simulation/index.js';
import { ends, says, speechStarted } from '../../libs/simulation/testing/wires.js';
import { type Moment, SameMessages } from '../support/same-messages.js';

const FOLDER = path.resolve(__dirname, '../realtime-agent');
const AGREEMENT_MS = 80;
const WAITS: EvaluationInput = {
  key: 'listens',
  personalityId: 'any',
  name: 'Listens',
  scenarioText: 'You listen.',
  script: [{ waitSeconds: 6 }, { end: 'Enough was heard' }],
  checks: [{ type: 'max_turns', turns: 3 }],
};

const isInstalled = existsSync(path.join(FOLDER, 'node_modules/@openai/agents'));
const mustRun = process.env['REQUIRE_ALL_TESTS'] === 'true';

/** An answer of 4 s: before its audio, its audio in deltas of 100 ms, and its end. */
const [CREATED, WORDS, ...REST] = says(1, 'We are open from Tuesday to Sunday, from noon until ten.', 4_000);
const AUDIO = REST.slice(0, -2);
const FINISHED = REST.slice(-2);
const begins = (...messages: readonly string[]): Moment => ({ atMs: 0, messages: [CREATED!, WORDS!, ...messages] });
const interrupts = (atMs: number): Moment => ({ atMs, messages: [speechStarted(), ends(1, 'cancelled')] });
/** The rest of the item arrives all the same, as from a platform that has not stopped yet. */
const stray = (atMs: number): Moment => ({ atMs, messages: AUDIO.slice(-9) });

const SCHEDULES: readonly (readonly [string, readonly Moment[], number])[] = [
  ['sent at once', [begins(...AUDIO, ...FINISHED), interrupts(1_500), stray(1_700)], 1_500],
  ['sent at once and interrupted early', [begins(...AUDIO, ...FINISHED), interrupts(300), stray(350)], 300],
  [
    'sent as it is spoken',
    [
      begins(),
      ...AUDIO.slice(0, 26).map((delta, index) => ({ atMs: index * 100, messages: [delta] })),
      interrupts(2_450),
      stray(2_600),
    ],
    2_450,
  ],
  [
    'sent twice as fast as it is spoken',
    [
      begins(),
      ...AUDIO.map((delta, index) => ({ atMs: index * 50, messages: [delta] })),
      interrupts(1_225),
      stray(2_200),
    ],
    1_225,
  ],
];

(isInstalled || mustRun ? describe : describe.skip)(
  "truncation beside the client of OpenAI's Agents SDK, which gets the same messages",
  () => {
    const calls = new VoiceCalls();
    afterAll(async () => {
      await mediaThreads.close();
      await calls.close();
    });

    it.each(SCHEDULES)(
      'is within 80 ms, and nothing more of the item is heard: an answer that is %s',
      async (_how, moments, atMs) => {
        const server = await SameMessages.start(2, moments);
        const errors: string[] = [];
        const client: ChildProcess = spawn(
          process.execPath,
          [path.join(FOLDER, 'listener.mjs'), server.urlOf('theirs')],
          { stdio: ['ignore', 'pipe', 'inherit'] },
        );
        createInterface({ input: client.stdout! }).on('line', (line) => errors.push(line));
        try {
          const more = { protocol: 'openai-realtime' } as const;
          const { voice } = await calls.callOver(server.urlOf('ours'), WAITS, 'slt', undefined, more);
          expect(errors.filter((line) => line.includes('"error"'))).toEqual([]);
          expect(server.cuts.map((cut) => cut.client).sort()).toEqual(['ours', 'theirs']);
          const [ours, theirs] = ['ours', 'theirs'].map((name) => server.cuts.find((cut) => cut.client === name)!);
          expect(ours!.itemId).toBe(theirs!.itemId);
          expect(Math.abs(ours!.audioEndMs - theirs!.audioEndMs)).toBeLessThanOrEqual(AGREEMENT_MS);
          expect(ours!.audioEndMs).toBeGreaterThan(atMs / 2);
          const heard = voice!.lanes.agent.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
          expect(heard).toBeLessThanOrEqual(ours!.audioEndMs + AGREEMENT_MS);
        } finally {
          await server.close();
          const exited = once(client, 'exit');
          client.kill();
          await exited;
        }
      },
      60_000,
    );
  },
);
