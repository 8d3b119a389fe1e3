/**
 * Calls with sound on the virtual clock, one after the other: the reference agent on the telephone in its evaluations, with
 * recording, measures and checks. Every tenth call is repeated and must have an identical recording and verdict.
 * Usage: npm run bench:voice [-- CALLS]
 */
import { createHash } from 'node:crypto';
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
const calls = Number(process.argv[2] ?? 1_000);

const cellOf = (index: number): VoiceCell => ({
  fault: undefined,
  key: VOICE_EVALUATION_KEYS[index % VOICE_EVALUATION_KEYS.length]!,
  line: LINES[0],
  seed: 1 + Math.floor(index / VOICE_EVALUATION_KEYS.length),
});

const voiceCalls = new VoiceCalls();
await voiceCalls.prepare();

/** One call. @returns its duration and a hash of recording and result */
async function callOf(cell: VoiceCell): Promise<{ ms: number; hash: string }> {
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

// Synthesises the callers' lines, which are cached afterwards.
for (let index = 0; index < VOICE_EVALUATION_KEYS.length * 5; index++) await callOf(cellOf(index));

let totalMs = 0;
const hashes: string[] = [];
const startedAt = performance.now();
for (let index = 0; index < calls; index++) {
  const { ms, hash } = await callOf(cellOf(index));
  totalMs += ms;
  if (index % REPEATED === 0) hashes.push(hash);
}
const seconds = (performance.now() - startedAt) / 1_000;
const perThousand = (1_000 * seconds) / (totalMs / 60_000);

let different = 0;
for (const [index, hash] of hashes.entries()) {
  if ((await callOf(cellOf(index * REPEATED))).hash !== hash) different++;
}
await voiceCalls.close();

process.stdout.write(
  `${calls} calls, ${(totalMs / 60_000).toFixed(0)} minutes of sound: ${seconds.toFixed(1)} s\n` +
    `1,000 calls of a minute: ${perThousand.toFixed(0)} s (limit ${LIMIT_SECONDS}): ${perThousand <= LIMIT_SECONDS ? 'met' : 'MISSED'}\n` +
    `${hashes.length} calls repeated, ${different} with another recording or result: ${different === 0 ? 'met' : 'MISSED'}\n`,
);
process.exitCode = perThousand <= LIMIT_SECONDS && different === 0 ? 0 : 1;
