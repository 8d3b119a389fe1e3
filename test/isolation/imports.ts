import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../libs/statistics/index.js';
import { Progress } from '../accuracy/progress.js';
import { MEDIA_TYPES } from '../support/evaluation-files.js';
import { IMPORT_ATTACKS } from '../support/import-attacks.js';
import type { Processes } from './processes.js';
import { AGENT_MS, LIMIT_MS, MEMORY_MB, prepareText, print, SLOW_MS, type Subject } from './subjects.js';

/** Imports in flight at once: five are admitted per workspace, the others get 429. */
const ATTACKERS = 8;
const MAX_P99_MS = 500;
const READ_PAUSE_MS = 25;

/** Sends hostile imports one after another until the signal aborts. @returns the number of answers by status */
async function attack({ client, agentId }: Subject, signal: AbortSignal): Promise<ReadonlyMap<number, number>> {
  const files = IMPORT_ATTACKS.map(({ format, encoding, body }) => ({ format, encoding, body: body() }));
  const statuses = new Map<number, number>();
  const one = async (start: number) => {
    for (let index = start; !signal.aborted; index++) {
      const { format, encoding, body } = files[index % files.length]!;
      const headers = { 'Content-Type': MEDIA_TYPES[format], ...(encoding && { 'Content-Encoding': encoding }) };
      const at = `/agents/${agentId}/evaluations/import`;
      // The service may close the connection of a body that it refuses to read.
      const status = await client.send('POST', at, body, headers).then(
        (response) => response.status,
        () => 0,
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 429) await sleep(50);
    }
  };
  await Promise.all(Array.from({ length: ATTACKERS }, (_, index) => one(index * 3)));
  return statuses;
}

/** Reads without pause until the signal aborts. @returns the durations in milliseconds, ascending */
async function read({ client, agentId }: Subject, signal: AbortSignal): Promise<number[]> {
  const durations: number[] = [];
  while (!signal.aborted) {
    const begun = performance.now();
    const { status } = await client.get(`/agents/${agentId}`);
    if (status !== 200) throw new Error(`GET: ${status}`);
    durations.push(performance.now() - begun);
    await sleep(READ_PAUSE_MS);
  }
  return durations.sort((a, b) => a - b);
}

/** Starts a run and waits for its end. @returns its counts by outcome */
async function run({ client, agentId }: Subject, calls: number): Promise<Record<string, number>> {
  const runs = Math.ceil(calls / 50);
  const counts: Record<string, number> = { passed: 0, failed: 0, invalid: 0, error: 0, retried: 0 };
  for (let number = 0; number < runs; number++) {
    const repeat = Math.min(50, calls - number * 50);
    const started = await client.post(`/agents/${agentId}/runs`, { repeat, concurrency: 5, name: randomUUID() });
    if (started.status !== 201) throw new Error(`POST run: ${JSON.stringify(started.body)}`);
    for (;;) {
      const { body } = await client.get(`/runs/${started.body.data.id}?wait=60`);
      if (body.data.endedAt === null) continue;
      for (const outcome of ['passed', 'failed', 'invalid', 'error']) counts[outcome]! += body.data.counts[outcome];
      counts['retried']! += body.data.retriedCalls;
      break;
    }
  }
  return counts;
}

/**
 * Verdicts and response times of one workspace while another one sends hostile imports without pause.
 * @returns whether every verdict is right, the other requests stay fast and each process stays within the memory limit
 */
export async function besideImports(processes: Processes, calls: number): Promise<boolean> {
  const agentUrl = await processes.startAgent(AGENT_MS, SLOW_MS);
  await processes.startService(agentUrl.text, MEMORY_MB);
  const attacker = await prepareText(await processes.createWorkspace('Attacker'), 'healthy');
  const victim = await processes.createWorkspace('Victim');
  const healthy = await prepareText(victim, 'healthy');
  const slow = await prepareText(victim, 'slow-answer');
  const over = new AbortController();
  const progress = new Progress('Runs', 2);
  const attacking = attack(attacker, over.signal);
  const reading = read(healthy, over.signal);
  // Awaited below; until then a failure must not end this process before it has stopped the others.
  reading.catch(() => undefined);
  const passes = await run(healthy, calls);
  progress.advance();
  const failures = await run(slow, Math.ceil(calls / 4));
  progress.advance();
  progress.end();
  over.abort();
  const [statuses, durations] = await Promise.all([attacking, reading]);
  const p99 = percentile(durations, 99) ?? Infinity;
  const shown = [...statuses].map(([status, count]) => `${count} × ${status || 'connection closed'}`).join(', ');
  print(`hostile imports: ${shown}`);
  print(`healthy agent, ${AGENT_MS} ms (limit ${LIMIT_MS} ms): ${JSON.stringify(passes)}`);
  print(`slow agent, ${AGENT_MS + SLOW_MS} ms: ${JSON.stringify(failures)}`);
  print(
    `${durations.length} GETs: p50 ${percentile(durations, 50)?.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (limit ${MAX_P99_MS})`,
  );
  const peakMb = processes.peakMemoryMb();
  print(`restarts of processes: ${processes.restarts}; largest resident memory: ${peakMb} MB (limit ${MEMORY_MB} MB)`);
  const isRight = passes['passed'] === calls && failures['failed'] === Math.ceil(calls / 4);
  return isRight && processes.restarts === 0 && p99 <= MAX_P99_MS && peakMb <= MEMORY_MB;
}
