/**
 * Isolation: verdicts and response times of one workspace while another one sends hostile imports without pause. Starts
 * the built service as `npm start` does, with a memory limit, and an agent that answers after 300 ms. Fails unless every
 * verdict is right, the other requests stay fast and each process stays within the memory limit.
 *
 * Usage: npm run isolation [-- CALLS]
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../libs/statistics/index.js';
import { Progress } from '../accuracy/progress.js';
import { MEDIA_TYPES } from '../support/evaluation-files.js';
import { HttpClient } from '../support/http.js';
import { IMPORT_ATTACKS } from '../support/import-attacks.js';
import { Processes } from './processes.js';

const CALLS = 200;
/** Imports in flight at once: five are admitted per workspace, the others get 429. */
const ATTACKERS = 8;
const AGENT_MS = 300;
/** Above the agent's latency by a margin for a busy machine; the slow agent is above it by the same margin. */
const LIMIT_MS = 500;
const SLOW_MS = 400;
const MAX_P99_MS = 500;
const READ_PAUSE_MS = 25;
/** Limit of each process, for its heap and for its resident memory (Linux only). */
const MEMORY_MB = 1024;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Subject {
  readonly client: HttpClient;
  readonly agentId: string;
}

/** A workspace with an agent and an evaluation of four turns with a latency limit. @param fault of the agent */
async function prepare(client: HttpClient, fault: string): Promise<Subject> {
  const created = async (at: string, body: object) => {
    const response = await client.post(at, body);
    if (response.status !== 201) throw new Error(`POST ${at}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body.data.id as string;
  };
  const agent = { provider: 'AGENT_PROVIDER_1', assistantId: `booking:${fault}`, apiKey: 'key', name: fault };
  const agentId = await created('/agents', agent);
  const personalityId = await created('/personalities', { name: 'Plain' });
  await created(`/agents/${agentId}/evaluations`, {
    name: 'Answers in time',
    scenarioText: 'You ask four questions.',
    personalityId,
    script: ['Until when are you open?', 'Where are you?', 'Can I park there?', 'Thank you, goodbye.'].map((say) => ({
      say,
    })),
    checks: [
      { name: 'Quick', type: 'max_latency_ms', ms: LIMIT_MS },
      { name: 'Address', type: 'says', text: 'Harbour Street' },
    ],
  });
  return { client, agentId };
}

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

async function main(): Promise<void> {
  const calls = Number(process.argv[2] ?? CALLS);
  const directory = await mkdtemp(path.join(tmpdir(), 'isolation-'));
  const processes = new Processes(directory);
  try {
    const agentUrl = await processes.startAgent(AGENT_MS, SLOW_MS);
    const serviceUrl = await processes.startService(agentUrl, MEMORY_MB);
    const workspace = async (name: string) => new HttpClient(serviceUrl, await processes.createWorkspace(name));
    const attacker = await prepare(await workspace('Attacker'), 'healthy');
    const victim = await workspace('Victim');
    const healthy = await prepare(victim, 'healthy');
    const slow = await prepare(victim, 'slow-answer');
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
    print(
      `restarts of processes: ${processes.restarts}; largest resident memory: ${peakMb} MB (limit ${MEMORY_MB} MB)`,
    );
    const isRight = passes['passed'] === calls && failures['failed'] === Math.ceil(calls / 4);
    const isWithinLimits = processes.restarts === 0 && p99 <= MAX_P99_MS && peakMb <= MEMORY_MB;
    process.exitCode = isRight && isWithinLimits ? 0 : 1;
    print(process.exitCode === 0 ? 'Every verdict is right.' : 'The limits do not hold.');
  } finally {
    await processes.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

await main();
