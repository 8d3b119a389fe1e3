/**
 * Voice calls on the virtual clock: the reference agent on the telephone in its evaluations, with recording, measures
 * and checks. One thread for each core makes one call after the other.
 *
 * - Speed: every tenth call is repeated by another thread and must have an identical recording, wire log and decision.
 * - `--write` stores the hashes of the calls of replay-cells.ts, `--check` compares them. The default is replay.json.
 *
 * Usage: npm run bench:voice [-- CALLS | --write [FILE] | --check [FILE] [--every N]]
 */
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { VOICE_EVALUATION_KEYS } from '../simulators/agent/index.js';
import { healthyCells } from './replay-cells.js';
import { startReplayThreads } from './replay-threads.js';
import { compareReplay, writeReplay } from './stored-replay.js';

const CALLS = 1_000;
const LIMIT_SECONDS = 60;
const REPEATED = 10;

async function measureSpeed(calls: number): Promise<boolean> {
  const threads = await startReplayThreads();
  await threads.warmUp(healthyCells(VOICE_EVALUATION_KEYS.length * 5));
  const cells = healthyCells(calls);

  const startedAt = performance.now();
  const replays = await threads.runAll('Voice calls', cells);
  const seconds = (performance.now() - startedAt) / 1_000;
  const minutes = replays.reduce((sum, { ms }) => sum + ms, 0) / 60_000;
  const perThousand = (1_000 * seconds) / minutes;

  const isRepeated = (_: unknown, index: number) => index % REPEATED === 0;
  const first = replays.filter(isRepeated);
  const otherThread = (index: number) => index * REPEATED + 1;
  const repeated = await threads.runAll('Repeated', cells.filter(isRepeated), otherThread);
  const different = repeated.filter((replay, index) => !isDeepStrictEqual(replay, first[index])).length;
  await threads.close();

  const isFastEnough = perThousand <= LIMIT_SECONDS;
  const met = (isMet: boolean): string => (isMet ? 'met' : 'MISSED');
  process.stdout.write(
    `${calls} calls, ${minutes.toFixed(0)} minutes of audio, ${threads.size} threads: ${seconds.toFixed(1)} s\n` +
      `1,000 calls of a minute: ${perThousand.toFixed(0)} s (limit ${LIMIT_SECONDS}): ${met(isFastEnough)}\n` +
      `${repeated.length} calls repeated, ${different} with another recording or result: ${met(different === 0)}\n`,
  );
  return isFastEnough && different === 0;
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { write: { type: 'boolean' }, check: { type: 'boolean' }, every: { type: 'string', default: '1' } },
  });
  const [argument] = positionals;
  const every = Number(values.every);
  if (!Number.isInteger(every) || every < 1) throw new Error('--every must be a whole number of at least 1');
  if (values.write) {
    await writeReplay(argument);
    return true;
  }
  return values.check ? compareReplay(every, argument) : measureSpeed(Number(argument ?? CALLS));
}

process.exitCode = (await main()) ? 0 : 1;
