// `npm run bench:storage [-- --calls N]`, described in docs/performance.md.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openDatabase } from './database.mjs';
import { importSource } from '../scripts/compiled-sources.mjs';
import { median, send } from './load.mjs';
import { root, SERVICE, start, stopAll } from './processes.mjs';
import { createOriginal, RUNS_PER_AGENT, Seeder } from './storage-seed.mjs';

const { calls: CALLS, rounds: ROUNDS } = Object.fromEntries(
  Object.entries(
    parseArgs({
      options: { calls: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '40' } },
    }).values,
  ).map(([name, value]) => [name, Number(value)]),
);
/** Runs of the largest size that are deleted together: a tenth of the calls. */
const LARGE_RUN = 10_000;
const MAX_RATIO = 2;
const MAX_SLOWDOWN = 1.5;
/** Requests at the same time while calls are deleted. */
const CLIENTS = 4;
const WINDOW_MS = 40_000;
/** Calls of a deleted run stay for a minute. */
const PRUNE_TIMEOUT_MS = 20 * 60_000;

const begin = performance.now();
const directory = await mkdtemp(path.join(tmpdir(), 'bench-storage-'));
const opening = openDatabase(directory);
let cleaning;
const cleanUp = () =>
  (cleaning ??= (async () => {
    await stopAll();
    await opening.then(({ server }) => server.close());
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  })());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void cleanUp().finally(() => process.exit(130)));

const progress = (step) => process.stderr.write(`${Math.round((performance.now() - begin) / 1000)} s: ${step}\n`);
const pick = (items) => items[Math.floor(Math.random() * items.length)];

/** A service on a database of its own with `agents` agents, each with 100 runs of about 100 calls. */
async function prepare(name, agents, agent) {
  const { server, env } = await opening;
  const admin = new pg.Client({ connectionString: env.DATABASE_URL });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const own = {
    ...env,
    DATABASE_URL: server.url(name),
    RUN_RETENTION_DAYS: '0',
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    AGENT_PROVIDER_1_URL: `${agent.url}/v1/chat/completions`,
  };
  const service = await start(SERVICE, own);
  const original = await createOriginal(service, own, agent.evaluations);
  const seeder = new Seeder(own.DATABASE_URL, original);
  await seeder.open();
  const agentIds = await seeder.copyAgents(agents);
  const runs = [];
  for (let n = RUNS_PER_AGENT; n > 0; n--) {
    runs.push(...(await seeder.copyRun(agentIds, n / RUNS_PER_AGENT)));
    if (n % 10 === 0) progress(`${name}: ${RUNS_PER_AGENT - n} of ${RUNS_PER_AGENT} runs of each agent inserted`);
  }
  return { service, apiKey: original.apiKey, seeder, agentIds, runs };
}

const request = ({ service, apiKey }, method, route) =>
  fetch(service.url + route, { method, headers: { authorization: `Bearer ${apiKey}` } });

/** @returns milliseconds until the whole response was read */
async function timed(subject, method, route) {
  const sentAt = performance.now();
  const response = await request(subject, method, route);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text}`);
  return performance.now() - sentAt;
}

/** The first call of a run. */
const callOf = async ({ service, apiKey }, runId) =>
  (await send(service.url, apiKey, 'GET', `/runs/${runId}/calls?limit=1`)).data[0].id;

const yearAgo = () => new Date(Date.now() - 365 * 24 * 3_600_000).toISOString();

/** The measured requests: each returns method and path for a subject. */
const REQUESTS = {
  'List the runs of an agent': (subject) => ['GET', `/agents/${pick(subject.agentIds)}/runs`],
  'Get a run': (subject) => ['GET', `/runs/${pick(subject.runs)}`],
  'List the calls of a run': (subject) => ['GET', `/runs/${pick(subject.runs)}/calls`],
  'Get a call': async (subject) => ['GET', `/calls/${await callOf(subject, pick(subject.runs))}`],
  'Metrics of an agent, 30 days': (subject) => ['GET', `/agents/${pick(subject.agentIds)}/metrics`],
  'Metrics of an agent, 365 days': (subject) => ['GET', `/agents/${pick(subject.agentIds)}/metrics?from=${yearAgo()}`],
  'Report of a run': (subject) => ['GET', `/runs/${pick(subject.runs)}/report`],
  'JUnit XML of a run': (subject) => ['GET', `/runs/${pick(subject.runs)}/junit`],
  'Delete a run': (subject) => [
    'DELETE',
    `/runs/${subject.runs.splice(subject.runs.indexOf(pick(subject.runs)), 1)[0]}`,
  ],
};

/** Times each request at both sizes in turn. */
async function compareSizes(small, large) {
  const rows = [];
  for (const [name, route] of Object.entries(REQUESTS)) {
    const times = { small: [], large: [] };
    for (let round = -3; round < ROUNDS; round++) {
      for (const [size, subject] of Object.entries({ small, large })) {
        const ms = await timed(subject, ...(await route(subject)));
        // The first rounds warm up caches and prepared statements.
        if (round >= 0) times[size].push(ms);
      }
    }
    const [a, b] = [median(times.small), median(times.large)];
    rows.push({ name, measured: `${a.toFixed(1)} → ${b.toFixed(1)} ms`, ratio: b / a, limit: MAX_RATIO });
    progress(`${name}: ${rows.at(-1).measured}, ${(b / a).toFixed(2)}×`);
  }
  return rows;
}

/** Median time of reading and writing requests by four clients until `isOver`. */
async function mixedLoad(subject, isOver) {
  const mix = ['Get a call', 'List the runs of an agent', 'List the calls of a run', 'Metrics of an agent, 30 days'];
  const times = [];
  const client = async (n) => {
    for (let i = n; !isOver(); i++) {
      times.push(await timed(subject, ...(await REQUESTS[mix[i % mix.length]](subject))));
      const { service, apiKey } = subject;
      const sentAt = performance.now();
      await send(service.url, apiKey, 'POST', '/personalities', { name: 'Written while calls are deleted' });
      times.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)));
  const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  return { mean, p99: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] };
}

const loadFor = (subject, ms) => {
  const until = performance.now() + ms;
  return mixedLoad(subject, () => performance.now() > until);
};

/** Deletes runs with a tenth of all calls, and times other requests before, while and after their rows are deleted. */
async function compareDeletion(large, runs) {
  const { seeder } = large;
  const before = await loadFor(large, WINDOW_MS);
  const deletions = [];
  for (const run of runs) deletions.push(await timed(large, 'DELETE', `/runs/${run}`));
  const count = await seeder.countDeleted();
  progress(`${runs.length} runs with ${count} calls deleted for readers`);
  const deadline = performance.now() + PRUNE_TIMEOUT_MS;
  let left = count;
  while (left === count && performance.now() < deadline) {
    await sleep(250);
    left = await seeder.countDeleted();
  }
  const startedAt = performance.now();
  let isPruned = false;
  const watch = (async () => {
    while (left > 0 && performance.now() < deadline) {
      await sleep(1_000);
      left = await seeder.countDeleted();
    }
    isPruned = true;
  })();
  const during = await mixedLoad(large, () => isPruned);
  await watch;
  if (left > 0) throw new Error(`${left} calls of deleted runs are left`);
  const seconds = (performance.now() - startedAt) / 1000;
  progress(`${count} calls deleted in ${Math.round(seconds)} s`);
  const after = await loadFor(large, WINDOW_MS);
  const row = (name, figure) => {
    const [a, b, c] = [before, during, after].map((load) => load[figure]);
    return {
      name,
      measured: `${a.toFixed(1)} before, ${b.toFixed(1)} during, ${c.toFixed(1)} ms after`,
      ratio: (2 * b) / (a + c),
      limit: figure === 'mean' ? MAX_SLOWDOWN : undefined,
    };
  };
  return {
    rows: [
      row(`Other requests while ${count.toLocaleString('en')} calls are deleted, mean`, 'mean'),
      row('The same, 99th percentile', 'p99'),
    ],
    notes: `DELETE of a run with ${LARGE_RUN.toLocaleString('en')} calls: ${median(deletions).toFixed(0)} ms; its rows and those of the others were deleted within ${Math.round(seconds)} s.`,
  };
}

const sizeTable = ({ calls, tables, result }) => {
  const lines = tables.map(
    ({ table, bytes }) => `| \`${table}\` | ${(bytes / 1e6).toFixed(0)} MB | ${Math.round(bytes / calls)} |`,
  );
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  return `${calls.toLocaleString('en')} calls; a result has ${result.entries} entries in its timeline and ${result.json} characters of JSON, stored as ${result.stored} bytes.

| Table with indexes | Size | Bytes per call |
| --- | ---: | ---: |
${lines.join('\n')}
| total | ${(total / 1e6).toFixed(0)} MB | ${Math.round(total / calls)} |`;
};

async function main() {
  const [{ env }, reference] = await Promise.all([opening, importSource('test/simulators/agent/index.ts')]);
  const server = await reference.startReferenceAgent({ port: 0 });
  const agent = { url: server.url, evaluations: reference.referenceEvaluations };
  try {
    const perAgent = RUNS_PER_AGENT * 100;
    const small = await prepare('small', 1, agent);
    const large = await prepare('large', Math.max(1, Math.round(CALLS / perAgent)), agent);
    progress('large runs');
    const copies = Math.round(LARGE_RUN / large.seeder.original.callsPerRun);
    const agents = Array.from({ length: Math.max(1, CALLS / 10 / LARGE_RUN) }, () => large.seeder.original.agentId);
    const toDelete = [];
    for (const id of agents) toDelete.push(...(await large.seeder.copyRun([id], 0.5, copies)));
    for (const { seeder } of [small, large]) await seeder.finish();
    const sizes = await large.seeder.sizes();
    const stored = { small: await small.seeder.count('calls'), large: sizes.calls };
    progress(`${stored.small} and ${stored.large} calls stored`);

    const rows = await compareSizes(small, large);
    const deletion = await compareDeletion(large, toDelete);
    for (const { seeder } of [small, large]) await seeder.close();
    const version = await postgresVersion(env);
    await write([...rows, ...deletion.rows], { stored, sizes, notes: deletion.notes, version });
  } finally {
    await server.close();
  }
}

async function postgresVersion({ DATABASE_URL }) {
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  const { rows } = await client.query('SHOW server_version');
  await client.end();
  return rows[0].server_version;
}

async function write(rows, { stored, sizes, notes, version }) {
  const isMet = ({ ratio, limit }) => limit === undefined || ratio <= limit;
  const verdict = (row) => (row.limit === undefined ? '' : isMet(row) ? 'met' : '**missed**');
  const lines = rows.map(
    (row) =>
      `| ${row.name} | ${row.measured} | ${row.ratio.toFixed(2)}× | ${row.limit === undefined ? '' : `≤ ${row.limit}×`} | ${verdict(row)} |`,
  );
  const [few, many] = [stored.small, stored.large].map((count) => count.toLocaleString('en'));
  const text = `# Stored calls

Written by \`npm run bench:storage\`; see [docs/performance.md](../../docs/performance.md).

${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, PostgreSQL ${version}. Medians of ${ROUNDS} requests to databases
with ${few} and ${many} stored calls, in turn; ${Math.round((performance.now() - begin) / 60_000)} minutes in total.

| Request | Measured | Ratio | Target | |
| --- | ---: | ---: | ---: | --- |
${lines.join('\n')}

${notes}

## Size

${sizeTable(sizes)}
`;
  await mkdir(path.join(root, 'bench/results'), { recursive: true });
  await writeFile(path.join(root, 'bench/results/storage.md'), text);
  process.stdout.write(text);
  if (!rows.every(isMet)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  // Stopping the processes makes the current step fail; only other errors are reported.
  if (!cleaning) process.stderr.write(`\n${error.stack}\n`);
  process.exitCode = 1;
}
await cleanUp();
