/**
 * Calls with sound on the virtual clock: the reference agent on the telephone in its evaluations, with recording, measures
 * and checks. One thread for each core makes one call after the other. Every tenth call is repeated by another thread and
 * must have an identical recording and verdict.
 * Usage: npm run bench:voice [-- CALLS]
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { isMainThread, type MessagePort, parentPort, Worker } from 'node:worker_threads';
import { VOICE_EVALUATION_KEYS } from '../../libs/reference-agent/index.js';
import {
  evaluationOf,
  LINES,
  type VoiceCell,
  VoiceCalls,
  voiceOfCell,
} from '../../libs/reference-agent/testing/voice.js';

const LIMIT_SECONDS = 60;
const REPEATED = 10;

/** @param ms duration @param hash of recording and result */
interface Replay {
  readonly ms: number;
  readonly hash: string;
}

const cellOf = (index: number): VoiceCell => ({
  fault: undefined,
  key: VOICE_EVALUATION_KEYS[index % VOICE_EVALUATION_KEYS.length]!,
  line: LINES[0],
  seed: 1 + Math.floor(index / VOICE_EVALUATION_KEYS.length),
});

async function replay(voiceCalls: VoiceCalls, cell: VoiceCell): Promise<Replay> {
  const hash = createHash('sha256');
  const recording = {
    audio: (stereo: Uint8Array) => void hash.update(stereo),
    wire: (lines: readonly string[]) => void hash.update(lines.join('\n')),
  };
  const { timeline, outcome, checks, voice, measures } = await voiceCalls.call(evaluationOf(cell), voiceOfCell(cell), {
    recording,
  });
  hash.update(JSON.stringify({ timeline, outcome, checks, voice: voice?.voice, findings: voice?.wireFindings }));
  return { ms: measures.durationMs, hash: hash.digest('hex') };
}

/** In a thread: reports that it is ready, then answers each list of indexes with its replays. */
async function serve(port: MessagePort): Promise<never> {
  const voiceCalls = new VoiceCalls();
  await voiceCalls.prepare();
  // Synthesises the callers' lines, which are cached afterwards.
  for (let index = 0; index < VOICE_EVALUATION_KEYS.length * 5; index++) await replay(voiceCalls, cellOf(index));
  port.postMessage('ready');
  for (;;) {
    const [indexes] = (await once(port, 'message')) as [readonly number[]];
    const replays: Replay[] = [];
    for (const index of indexes) replays.push(await replay(voiceCalls, cellOf(index)));
    port.postMessage(replays);
  }
}

async function measure(calls: number): Promise<boolean> {
  const threads = Array.from({ length: availableParallelism() }, () => new Worker(new URL(import.meta.url)));
  await Promise.all(threads.map((thread) => once(thread, 'message')));
  const indexes = Array.from({ length: calls }, (_, index) => index);

  /** @param offset of the thread that makes a call */
  const replayAll = async (wanted: readonly number[], offset: number): Promise<Map<number, Replay>> => {
    const parts = threads.map(async (thread, number): Promise<[number, Replay][]> => {
      const part = wanted.filter((index) => (index + offset) % threads.length === number);
      thread.postMessage(part);
      const [replays] = (await once(thread, 'message')) as [Replay[]];
      return part.map((index, position) => [index, replays[position]!]);
    });
    return new Map((await Promise.all(parts)).flat());
  };

  const startedAt = performance.now();
  const replays = await replayAll(indexes, 0);
  const seconds = (performance.now() - startedAt) / 1_000;
  const minutes = [...replays.values()].reduce((sum, { ms }) => sum + ms, 0) / 60_000;
  const perThousand = (1_000 * seconds) / minutes;

  const repeated = await replayAll(
    indexes.filter((index) => index % REPEATED === 0),
    1,
  );
  const different = [...repeated].filter(([index, { hash }]) => replays.get(index)?.hash !== hash).length;
  await Promise.all(threads.map((thread) => thread.terminate()));

  const met = (isMet: boolean): string => (isMet ? 'met' : 'MISSED');
  process.stdout.write(
    `${calls} calls, ${minutes.toFixed(0)} minutes of sound, ${threads.length} threads: ${seconds.toFixed(1)} s\n` +
      `1,000 calls of a minute: ${perThousand.toFixed(0)} s (limit ${LIMIT_SECONDS}): ${met(perThousand <= LIMIT_SECONDS)}\n` +
      `${repeated.size} calls repeated, ${different} with another recording or result: ${met(different === 0)}\n`,
  );
  return perThousand <= LIMIT_SECONDS && different === 0;
}

if (isMainThread) process.exitCode = (await measure(Number(process.argv[2] ?? 1_000))) ? 0 : 1;
else await serve(parentPort!);
