// `npm run bench:page`, described in docs/performance.md.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { importSource } from '../scripts/compiled-sources.mjs';
import { openDatabase } from './database.mjs';
import { median } from './load.mjs';
import { root, SERVICE, start, stopAll } from './processes.mjs';
import { createOriginal } from './storage-seed.mjs';

const ROUNDS = 60;
const WARM_ROUNDS = 5;
const DAYS = 90;
const MAX_RATIO = 2;
const MAX_STATEMENTS = 12;
/** Calls of an agent, as runs a day and calls of each case in a run. Each is compared with the first. */
const AGENTS = {
  few: { runsPerDay: 1, repeat: 1 },
  'ten times the calls in each run': { runsPerDay: 1, repeat: 10 },
  'ten times the runs': { runsPerDay: 10, repeat: 1 },
};

const begin = performance.now();
const directory = await mkdtemp(path.join(tmpdir(), 'bench-page-'));
let server;
let isStopping = false;
async function cleanUp() {
  isStopping = true;
  await stopAll();
  await server?.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void cleanUp().finally(() => process.exit(130)));
const progress = (step) => process.stderr.write(`${Math.round((performance.now() - begin) / 1000)} s: ${step}\n`);

/** PostgreSQL that counts statements, which it does after a restart only. */
async function openCounting() {
  const first = await openDatabase(directory);
  const client = new pg.Client({ connectionString: first.env.DATABASE_URL });
  await client.connect();
  await client.query(`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
  await client.end();
  await first.server.close();
  const second = await openDatabase(directory);
  return { ...second, env: { ...second.env, RUN_RETENTION_DAYS: '0' } };
}

/** Copies the original run and the results of its cases over 90 days, to an agent of its own. @returns its id, and its number of calls */
async function copyAgent(client, { agentId, runId }, { runsPerDay, repeat }) {
  const [{ id }] = (
    await client.query(
      `INSERT INTO agents SELECT n.* FROM agents a,
         LATERAL jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid())) n WHERE a.id = $1 RETURNING id`,
      [agentId],
    )
  ).rows;
  await client.query(
    `INSERT INTO runs SELECT n.* FROM runs r, generate_series(0, $3::int - 1) i,
       LATERAL (SELECT now() - (i + 0.5) * $4 * interval '24 hours' AS at) t,
       LATERAL jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'agent_id', $2::uuid,
         'created_at', at, 'updated_at', at, 'started_at', at, 'ended_at', at)) n WHERE r.id = $1`,
    [runId, id, DAYS * runsPerDay, 1 / runsPerDay],
  );
  // One call in twenty fails, so that cases are red.
  const { rows } = await client.query(
    `INSERT INTO case_results SELECT n.* FROM case_results h, runs r,
       LATERAL (SELECT h.passed + h.failed AS one, (random() < 0.05)::int AS bad) c,
       LATERAL jsonb_populate_record(h, jsonb_build_object('id', gen_random_uuid(), 'agent_id', r.agent_id, 'run_id', r.id,
         'created_at', r.ended_at, 'ended_at', r.ended_at, 'passed', $3::int * one - bad, 'failed', bad,
         'latencies', (SELECT coalesce(jsonb_agg(ms * (0.5 + random())), '[]')
                         FROM unnest(h.latencies) ms, generate_series(1, $3::int)))) n
      WHERE h.run_id = $1 AND r.agent_id = $2 RETURNING passed + failed AS calls`,
    [runId, id, repeat],
  );
  return { id, calls: rows.reduce((sum, { calls }) => sum + calls, 0) };
}

/** Times the pages of both agents in turn. */
async function compare({ url, apiKey }, few, many) {
  const times = { few: [], many: [] };
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    for (const [name, { id }] of Object.entries({ few, many })) {
      const sentAt = performance.now();
      const response = await fetch(`${url}/agents/${id}/page?days=${DAYS}`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${text}`);
      if (!text.includes('Cases in the newest 30 runs')) throw new Error('The page has no results');
      if (round >= 0) times[name].push(performance.now() - sentAt);
    }
  }
  const ratio = median(times.many.map((ms, i) => ms / times.few[i]));
  return { few: median(times.few), many: median(times.many), ratio };
}

/** Statements of one page, with those that find the API key and the workspace; what the service does by itself is left out. */
async function countStatements(client, service, { id }) {
  const calls = async () =>
    new Map(
      (await client.query(`SELECT query, sum(calls)::int AS calls FROM pg_stat_statements GROUP BY query`)).rows.map(
        ({ query, calls }) => [query, calls],
      ),
    );
  const pages = 20;
  const before = await calls();
  for (let n = 0; n < pages; n++)
    await (
      await fetch(`${service.url}/agents/${id}/page`, { headers: { authorization: `Bearer ${service.apiKey}` } })
    ).text();
  const after = await calls();
  return [...after].filter(([query, count]) => count - (before.get(query) ?? 0) >= pages).length;
}

async function main() {
  const { server: opened, env } = await openCounting();
  server = opened;
  const reference = await importSource('test/simulators/agent/index.ts');
  const agent = await reference.startReferenceAgent({ port: 0 });
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  client.on('error', () => undefined);
  try {
    const service = await start(SERVICE, {
      ...env,
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
      AGENT_PROVIDER_1_URL: `${agent.url}/v1/chat/completions`,
    });
    const original = await createOriginal(service, env, reference.referenceEvaluations);
    await client.connect();
    await client.query('CREATE EXTENSION pg_stat_statements');
    const agents = {};
    for (const [name, size] of Object.entries(AGENTS)) agents[name] = await copyAgent(client, original, size);
    await client.query('VACUUM ANALYZE');
    progress(`results of ${Object.values(agents).map(({ calls }) => calls)} calls stored`);
    const keyed = { url: service.url, apiKey: original.apiKey };
    const { few, ...others } = agents;
    const rows = [];
    for (const [name, many] of Object.entries(others)) {
      const { few: a, many: b, ratio } = await compare(keyed, few, many);
      const measured = `${a.toFixed(1)} → ${b.toFixed(1)} ms, ${ratio.toFixed(2)}×`;
      rows.push({ target: `Page with ${name} ≤ ${MAX_RATIO}×`, measured, isMet: ratio <= MAX_RATIO });
    }
    const statements = await countStatements(client, keyed, others['ten times the runs']);
    rows.push({
      target: `Statements of a page ≤ ${MAX_STATEMENTS}`,
      measured: statements,
      isMet: statements <= MAX_STATEMENTS,
    });
    await write(rows, agents, (await client.query('SHOW server_version')).rows[0].server_version);
    await client.end();
  } finally {
    await agent.close();
  }
}

async function write(rows, agents, version) {
  const lines = rows.map(
    ({ target, measured, isMet }) => `| ${target} | ${measured} | ${isMet ? 'met' : '**missed**'} |`,
  );
  const calls = Object.values(agents).map((agent) => agent.calls.toLocaleString('en'));
  const text = `# The page of an agent

Written by \`npm run bench:page\`; see [docs/performance.md](../../docs/performance.md).

${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, PostgreSQL ${version}. Pages of ${DAYS} days of agents with ${calls[0]} and
with ${calls.slice(1).join(' and ')} calls in turn; medians of ${ROUNDS} rounds.

| Target | Measured | |
| --- | ---: | --- |
${lines.join('\n')}
`;
  await writeFile(path.join(root, 'bench/results/agent-page.md'), text);
  process.stdout.write(text);
  if (!rows.every(({ isMet }) => isMet)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  // Stopping the processes makes the current step fail; only other errors are reported.
  if (!isStopping) process.stderr.write(`\n${error.stack}\n`);
  process.exitCode = 1;
}
await cleanUp();
