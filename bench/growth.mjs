// Is a list of a million agents as fast as one of a thousand, on any page? Run after `npm run build`: node bench/growth.mjs
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { openEmbeddedPostgres } from '../dist/libs/embedded-postgres/index.js';
import { PROGRAM } from './harness/subjects.mjs';

const PORT = process.env.BENCH_PORT ?? '3198';
const SMALL = 1_000;
const LARGE = Number(process.env.BENCH_AGENTS ?? 1_000_000);
const LIMIT = 25;
const CONNECTIONS = 8;
const ROUNDS = 5;
const ROUND_MS = 1_000;
const SEARCHES = ['agent 777123', 'Rossi agent 99999', 'nobody at all', 'agent 12', '777', 'pizza', 'zz'];
/** Longest that counting up the lists may take once somebody has read them, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;

const url = `http://127.0.0.1:${PORT}`;
const directory = await mkdtemp(path.join(tmpdir(), 'bench-growth-'));
const server = await openEmbeddedPostgres({
  directory,
  // Only the filling is any faster for it.
  parameters: { fsync: 'off', max_wal_size: '4GB', maintenance_work_mem: '512MB' },
});
const env = {
  ...process.env,
  PORT,
  DATA_DIR: directory,
  DATABASE_URL: server.url('postgres'),
  LOG_LEVEL: 'error',
};
const print = (text) => process.stdout.write(`${text}\n`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function send(key, method, route, body) {
  const response = await fetch(url + route, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${await response.text()}`);
  return response.json();
}

function newWorkspace(name) {
  const program = ['dist/src/admin/main.js', 'workspace', 'create', '--name', name, '--plan', 'FREE'];
  return JSON.parse(execFileSync(process.execPath, [...program, '--rate-limit', '100000000', '--json'], { env }));
}

/** Without keys of their own: a key is encrypted for its agent. */
async function fill(database, { key, count }) {
  const { data } = await send(key, 'POST', '/agents', { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: 'k' });
  await database.query(
    `INSERT INTO agents (id, workspace_id, created_by_user_id, provider, assistant_id, api_key, call_monitoring,
                         is_using_default_api_key, name, phone_number, created_at)
     SELECT gen_random_uuid(), a.workspace_id, a.created_by_user_id, 'AGENT_PROVIDER_' || 1 + n % 4,
            'asst_' || md5(n::text), NULL, false, true,
            (ARRAY['Bella', 'Rossi', 'Booking', 'Support', 'Sales', 'Pizza', 'Clinic', 'Hotel'])[1 + n % 8] || ' agent ' || n,
            '+1' || 2000000000 + n::bigint * 37, a.created_at - n * interval '1 second'
       FROM agents a, generate_series(1, $2::int) n WHERE a.id = $1`,
    [data.id, count - 1],
  );
}

/** Milliseconds per request, of several clients at once. */
async function measure(work) {
  const end = performance.now() + ROUND_MS;
  let count = 0;
  const client = async () => {
    for (; performance.now() < end; count++) await work();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  return ROUND_MS / count;
}

/** Reads the lists until they are counted up, as their first readers do. */
async function settle(workspaces, routes, database) {
  const end = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    for (const { key } of workspaces) for (const route of routes) await send(key, 'GET', route);
    const { rows } = await database.query(
      `SELECT count(*) AS sealed FROM list_heads WHERE (sealed_at, sealed_id) = (opened_at, opened_id)`,
    );
    if (Number(rows[0].sealed) >= 3) return;
    if (performance.now() > end) throw new Error('The lists were not counted up in time');
    await pause(500);
  }
}

const database = new Client({ connectionString: server.url('postgres') });
let service;
try {
  const [small, large] = [SMALL, LARGE].map((count) => ({ count, key: newWorkspace(`${count} agents`).apiKey }));
  service = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'ignore', 'inherit'], env });
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      (r) => r.ok,
      () => false,
    );
  while (!(await isReady())) await pause(100);
  await database.connect();
  // An index of a million rows is built sooner than it grows.
  const { rows } = await database.query(`SELECT pg_get_indexdef('agents_search_idx'::regclass) AS definition`);
  await database.query('DROP INDEX agents_search_idx');
  for (const workspace of [small, large]) {
    const begun = performance.now();
    await fill(database, workspace);
    print(`${workspace.count} agents stored in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  }
  await database.query(rows[0].definition);
  await database.query('VACUUM ANALYZE agents');
  const filter = '&provider=AGENT_PROVIDER_2';
  const list = (page, more = '') => `/agents?limit=${LIMIT}&page=${page}${more}`;
  const begun = performance.now();
  await settle([small, large], [list(1), list(1, filter)], database);
  print(`lists counted up within ${((performance.now() - begun) / 1000).toFixed(1)} s of their first reading\n`);

  const of = (share) => Math.floor(share / LIMIT);
  const base = { label: `page 1 of ${SMALL}`, ...small, route: list(1) };
  const filteredBase = { label: `page 1 of ${SMALL / 4} of a provider`, ...small, route: list(1, filter) };
  const cases = [
    base,
    { label: `page 1 of ${LARGE}`, ...large, route: list(1), against: base },
    { label: 'page 1,000', ...large, route: list(Math.min(1_000, of(LARGE))), against: base },
    { label: 'page in the middle', ...large, route: list(of(LARGE / 2)), against: base },
    { label: 'last page', ...large, route: list(of(LARGE)), against: base },
    filteredBase,
    { label: 'page 1 of a provider', ...large, route: list(1, filter), against: filteredBase },
    { label: 'last page of a provider', ...large, route: list(of(LARGE / 4), filter), against: filteredBase },
  ];
  const times = new Map(cases.map((each) => [each, []]));
  // Turn by turn, so that what else the machine does hits all alike; the first turn warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const each of cases) {
      const { data } = await send(each.key, 'GET', each.route);
      if (data.length !== LIMIT) throw new Error(`${each.label}: ${data.length} agents`);
      const time = await measure(() => send(each.key, 'GET', each.route));
      if (round > 0) times.get(each).push(time);
    }
  }
  for (const [{ label, against }, values] of times) {
    const ratio = against ? `  throughput × ${(median(times.get(against)) / median(values)).toFixed(2)}` : '';
    print(`${label.padEnd(32)} ${median(values).toFixed(2)} ms${ratio}`);
  }

  print(`\nsearches of ${LARGE}, one at a time`);
  for (const search of SEARCHES) {
    const route = list(1, `&search=${encodeURIComponent(search)}`);
    const values = [];
    let total;
    for (let i = 0; i < 7; i++) {
      const start = performance.now();
      total = (await send(large.key, 'GET', route)).meta.total;
      values.push(performance.now() - start);
    }
    print(`${JSON.stringify(search).padEnd(32)} ${median(values).toFixed(1)} ms, ${total} found`);
  }
} finally {
  await database.end();
  if (service?.kill('SIGTERM')) await once(service, 'exit');
  await server.close();
  await rm(directory, { recursive: true, force: true });
}
