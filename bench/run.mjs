// `npm run bench [-- --quick]`, described in docs/performance.md.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AGENT_CONCURRENCY, measureCalls } from './calls.mjs';
import { createWorkspaces, openDatabase, seed, SIZES } from './database.mjs';
import { compare, median, send } from './load.mjs';
import { EXPRESS, peakMemory, root, SERVICE, start, stop, stopAll } from './processes.mjs';
import { report, summary, targets } from './report.mjs';

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values;
const PLAN = quick
  ? { rounds: 3, seconds: 1, warmSeconds: 2, starts: 2, instantCalls: 500, waitingCalls: 1_500 }
  : { rounds: 7, seconds: 3, warmSeconds: 6, starts: 5, instantCalls: 2_000, waitingCalls: 5_000 };
const CALLS_AT_ONCE = 500;
const TURN_MS = 500;
const TURNS = 6;
const PAGE_SIZE = 25;
const DEEP_PAGE_REPEATS = 5;

const begin = performance.now();
const directory = await mkdtemp(path.join(tmpdir(), 'bench-'));
const opening = openDatabase(directory);
let cleaning;
const cleanUp = () =>
  (cleaning ??= (async () => {
    await stopAll();
    await opening.then(({ server }) => server.close());
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  })());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void cleanUp().finally(() => process.exit(130)));

/** The current step, on one line of a terminal. */
function progress(step) {
  const line = `${Math.round((performance.now() - begin) / 1000)} s: ${step}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
  else process.stderr.write(`${line}\n`);
}

const roundsOf = (name) => (round) => progress(`${name}, round ${round} of ${PLAN.rounds}`);

/** The requests that are compared with the baseline. */
function jobs({ thousand, written }) {
  const agent = {
    provider: 'AGENT_PROVIDER_1',
    assistantId: 'assistant-1',
    apiKey: 'provider-key-1',
    name: 'Bella Vista reservations',
    phoneNumber: '+15550100',
  };
  const patch = (id, i) => ({
    method: 'PATCH',
    path: `/agents/${id}`,
    body: JSON.stringify({ name: `Bella Vista ${i}`, callMonitoring: i % 2 === 0 }),
  });
  const { apiKey } = thousand;
  return {
    get: { apiKey, requests: thousand.ids.map((id) => ({ method: 'GET', path: `/agents/${id}` })) },
    list: { apiKey, requests: [{ method: 'GET', path: '/agents' }] },
    create: { apiKey: written.apiKey, requests: [{ method: 'POST', path: '/agents', body: JSON.stringify(agent) }] },
    patch: { apiKey: written.apiKey, requests: written.ids.map(patch) },
  };
}

/** Both servers must return the same agents. */
async function checkBaseline(servers, { thousand, million }) {
  const routes = thousand.ids.slice(0, 6).map((id) => [thousand.apiKey, `/agents/${id}`]);
  routes.push([thousand.apiKey, '/agents?page=2&limit=100'], [million.apiKey, '/agents?page=1000']);
  for (const [apiKey, route] of routes) {
    const [ours, theirs] = await Promise.all(servers.map(({ url }) => send(url, apiKey, 'GET', route)));
    assert.deepEqual(ours, theirs, route);
  }
}

/** @returns the page with the largest median response time, one request at a time */
async function slowestDeepPage({ url }, { million }) {
  const last = SIZES.million / PAGE_SIZE;
  let slowest = { page: 0, ms: 0 };
  for (const page of [1_000, last / 4, last / 2, (3 * last) / 4, last]) {
    const times = [];
    for (let i = 0; i < DEEP_PAGE_REPEATS; i++) {
      const sent = performance.now();
      await send(url, million.apiKey, 'GET', `/agents?page=${page}`);
      times.push(performance.now() - sent);
    }
    if (median(times) > slowest.ms) slowest = { page, ms: median(times) };
  }
  return slowest;
}

/** Median start time on an embedded database that an earlier start created, in ms. */
async function startTime() {
  const times = [];
  for (let i = 0; i <= PLAN.starts; i++) {
    progress(i === 0 ? 'first start' : `start ${i} of ${PLAN.starts}`);
    const server = await start(SERVICE, { DATA_DIR: path.join(directory, 'embedded'), LOG_LEVEL: 'warn' });
    if (i > 0) times.push(server.startMs);
    await stop(server);
  }
  return median(times);
}

async function main() {
  const { env } = await opening;
  const startMs = await startTime();
  const workspaces = await createWorkspaces(env);
  const postgres = await seed(env, workspaces, progress);

  const service = await start(SERVICE, env);
  const express = await start(EXPRESS, env);
  await checkBaseline([service, express], workspaces);
  const rates = {};
  for (const [name, job] of Object.entries(jobs(workspaces))) {
    rates[name] = await compare({ ...job, url: service.url }, { ...job, url: express.url }, PLAN, roundsOf(name));
  }
  await stop(express);
  const firstPage = ({ apiKey }) => ({ url: service.url, apiKey, requests: [{ method: 'GET', path: '/agents' }] });
  const { million, thousand } = workspaces;
  const pages = await compare(firstPage(million), firstPage(thousand), PLAN, roundsOf('first pages'));
  progress('deep pages');
  const deep = await slowestDeepPage(service, workspaces);
  const memory = { requests: peakMemory(service) };
  await stop(service);

  const { apiKey } = workspaces.written;
  const measure = (name, options) => measureCalls(env, apiKey, options, (step) => progress(`${name}: ${step}`));
  const instant = await measure('instant agent', { agents: 1, delayMs: 0, concurrency: 100, calls: PLAN.instantCalls });
  const waiting = await measure(`${CALLS_AT_ONCE} calls at once`, {
    agents: CALLS_AT_ONCE / AGENT_CONCURRENCY,
    delayMs: TURN_MS,
    concurrency: CALLS_AT_ONCE,
    calls: PLAN.waitingCalls,
  });
  memory.calls = waiting.memory;
  const ideal = (1000 * CALLS_AT_ONCE) / (TURNS * TURN_MS);
  const calls = { instant, waiting, ideal, concurrency: CALLS_AT_ONCE };

  const rows = targets({ rates, pages, deep, startMs, memory, calls });
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, PostgreSQL ${postgres}`;
  const seconds = (performance.now() - begin) / 1000;
  await mkdir(path.join(root, 'bench/results'), { recursive: true });
  await writeFile(path.join(root, 'bench/results/latest.md'), report(rows, { plan: PLAN, machine, seconds }));
  progress('done, written to bench/results/latest.md\n');
  process.stdout.write(`${summary(rows)}\n`);
}

try {
  await main();
} catch (error) {
  // Stopping the processes makes the current step fail; only other errors are reported.
  if (!cleaning) process.stderr.write(`\n${error.stack}\n`);
  process.exitCode = 1;
}
await cleanUp();
