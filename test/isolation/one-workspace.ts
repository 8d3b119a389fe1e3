import { availableParallelism } from 'node:os';
import type { Processes } from './processes.js';
import { AGENT_MS, endOf, MEMORY_MB, prepareVoiceVictim, print, SLOW_MS, startRun } from './subjects.js';

const RUNS = 6;
const CALLS = 50;

/** As many calls at once of one workspace, in one thread or in as many as there are processors. @returns those repeated */
async function repeated(processes: Processes, threads: number): Promise<number> {
  const agent = await processes.startAgent(AGENT_MS, SLOW_MS);
  // One workspace gets half of them, and nine tenths of the slots.
  const env = { CALL_THREADS: String(2 * threads - 1), VOICE_CONCURRENCY: '334' };
  await processes.startService(agent.text, MEMORY_MB, env);
  const subject = await prepareVoiceVictim(await processes.createWorkspace('Only'), agent.voice);
  // Prepares the agent's voice and the caller's lines, and loads what both use.
  await endOf(subject, await startRun(subject, 2, 2));
  const ids = await Promise.all(Array.from({ length: RUNS }, () => startRun(subject, CALLS, CALLS)));
  const calls = (await Promise.all(ids.map((id) => endOf(subject, id)))).flat();
  const again = calls.filter((call) => call.attempts.length > 1).length;
  print(`${threads} threads: ${again} of ${calls.length} calls were repeated`);
  return again;
}

/** 300 calls of one healthy workspace. @returns whether threads do not make more of them be repeated than one thread does */
export async function besideThemselves(open: () => Promise<Processes>): Promise<boolean> {
  const counts: number[] = [];
  for (const threads of [1, availableParallelism()]) {
    const processes = await open();
    try {
      counts.push(await repeated(processes, threads));
    } finally {
      await processes.stop();
    }
  }
  return counts[1]! <= counts[0]!;
}
