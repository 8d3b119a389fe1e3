/**
 * Calls with sound of a minute each on the virtual clock, one after the other, with recording and an agent that answers by level.
 * Usage: node --import @swc-node/register/esm-register libs/simulation/voice/testing/voice-speed.ts [calls]
 */
import { callOf, collected, hesitating, planOf, say, talker } from './virtual-calls.js';

const LIMIT_SECONDS = 60;
const calls = Number(process.argv[2] ?? 1_000);
const script = [
  ...Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? say(2_000) : hesitating(800, 600, 600))),
  { type: 'end' as const, reason: 'done' },
];

let minutes = 0;
const startedAt = performance.now();
for (let seed = 1; seed <= calls; seed++) {
  const facts = await callOf(planOf(script, { seed }), talker({ greetingMs: 2_000, answerMs: 4_000 }), {
    recording: collected().sink,
  });
  minutes += facts.end.atMs / 60_000;
}
const seconds = (performance.now() - startedAt) / 1_000;
process.stdout.write(
  `${calls} calls, ${minutes.toFixed(0)} minutes of sound: ${seconds.toFixed(1)} s, ` +
    `${((1_000 * seconds) / minutes).toFixed(0)} s for 1,000 calls of a minute (limit ${LIMIT_SECONDS})\n`,
);
