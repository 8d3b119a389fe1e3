// Are ten thousand evaluations of one agent listed as fast as ten? Run after `npm run build`: node bench/evaluation-lists.mjs
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROGRAM } from './harness/subjects.mjs';

const PORT = process.env.BENCH_PORT ?? '3199';
const SIZES = [10, 10_000];
const CONNECTIONS = 16;
const ROUNDS = 5;
const ROUND_MS = 2_000;
/** Largest import. */
const BATCH = 5_000;

const url = `http://127.0.0.1:${PORT}`;
const key = `bench-${randomBytes(16).toString('hex')}`;
const directory = await mkdtemp(path.join(tmpdir(), 'bench-evaluations-'));
const service = spawn(process.execPath, [PROGRAM], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    ...process.env,
    PORT,
    DATA_DIR: directory,
    BOOTSTRAP_API_KEY: key,
    PLAN_FREE_REQUESTS_PER_MINUTE: '100000000',
    LOG_LEVEL: 'error',
  },
});

async function send(method, route, body) {
  const response = await fetch(url + route, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function agentWith(count, personalityId) {
  const agent = await send('POST', '/agents', { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: 'k' });
  for (let start = 0; start < count; start += BATCH) {
    const items = Array.from({ length: Math.min(BATCH, count - start) }, (_, i) => ({
      key: `e${start + i}`,
      name: `Evaluation ${start + i}`,
      scenarioText: 'You want a table for four on Friday at 19:30 under the name Rossi.',
      personalityId,
      checks: [{ type: 'says', text: 'booked' }],
    }));
    await send('POST', `/agents/${agent.data.id}/evaluations/import`, items);
  }
  return agent.data.id;
}

/** Lists per second, first pages of ten, which both agents fill. */
async function listsPerSecond(agentId) {
  const end = performance.now() + ROUND_MS;
  let count = 0;
  const client = async () => {
    while (performance.now() < end) {
      await send('GET', `/agents/${agentId}/evaluations?limit=10`);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  return count / (ROUND_MS / 1000);
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

try {
  for (;;) {
    if (
      await fetch(`${url}/readyz`).then(
        (r) => r.ok,
        () => false,
      )
    )
      break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const personality = await send('POST', '/personalities', { name: 'Bench' });
  const agents = [];
  for (const size of SIZES) agents.push(await agentWith(size, personality.data.id));
  const rates = SIZES.map(() => []);
  // Turn by turn, so that what else the machine does hits both alike; the first turn warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, agentId] of agents.entries()) {
      const rate = await listsPerSecond(agentId);
      if (round > 0) rates[index].push(rate);
    }
  }
  const medians = rates.map(median);
  SIZES.forEach((size, index) => process.stdout.write(`${size} evaluations: ${Math.round(medians[index])} lists/s\n`));
  process.stdout.write(`ratio: ${(medians[1] / medians[0]).toFixed(2)}\n`);
} finally {
  service.kill('SIGTERM');
  await once(service, 'exit');
  await rm(directory, { recursive: true, force: true });
}
