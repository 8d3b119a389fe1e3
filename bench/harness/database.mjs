// One PostgreSQL for all: the project's embedded one in a folder of its own, with the tables of the service and agents.
import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import pg from 'pg';
import { sealing } from '../baselines/sealing.mjs';
import { output, root } from './processes.mjs';

/** Requests per minute that are never reached. */
const UNLIMITED = '1000000000';
/** One in so many agents has a webhook, and so a second secret to open. */
const WEBHOOK_EVERY = 5;
const BATCH = 10_000;
/** So many agents of each workspace are known by their ids, to be asked for one by one. */
const ASKED_FOR = 1_000;

/** Sizes of the three workspaces; the last one is written to, so that the lists stay as they are. */
export const SIZES = { thousand: 1_000, million: 1_000_000, written: 1_000 };

/** Starts the server. @returns it, and the settings that every subject gets */
export async function openDatabase(directory) {
  // Loaded here, for it is there only after the build.
  const { openEmbeddedPostgres } = await import(path.join(root, 'dist/libs/embedded-postgres/index.js'));
  const server = await openEmbeddedPostgres({ directory: path.join(directory, 'postgres') });
  await server.createDatabase('bench');
  const env = {
    DATABASE_URL: server.url('bench'),
    DATA_DIR: path.join(directory, 'data'),
    DATABASE_POOL_SIZE: '20',
    ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    PLAN_FREE_REQUESTS_PER_MINUTE: UNLIMITED,
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
  };
  return { server, env };
}

/** Makes the tables and the workspaces. @returns those with their keys and the `ids` of agents that `seed` makes */
export async function makeWorkspaces(env) {
  const workspaces = {};
  for (const name of Object.keys(SIZES)) {
    const args = ['workspace', 'create', '--name', name, '--json'];
    const made = await output({ name: 'workspace create', script: 'dist/src/admin/main.js', args, env });
    const ids = Array.from({ length: ASKED_FOR }, () => randomUUID());
    workspaces[name] = { ...JSON.parse(made), ids };
  }
  return workspaces;
}

/**
 * Fills the workspaces.
 * @param onProgress called with the share that is done
 * @returns the version of PostgreSQL
 */
export async function seed({ env, workspaces }, onProgress, sizes = SIZES) {
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  try {
    // Nobody needs the seed after a crash. What the measured programs write is as durable as ever.
    await client.query('SET synchronous_commit = off');
    const { seal } = sealing(env.ENCRYPTION_KEYS);
    const total = Object.values(sizes).reduce((a, b) => a + b, 0);
    let done = 0;
    for (const [name, size] of Object.entries(sizes)) {
      const workspace = workspaces[name];
      let inserting = Promise.resolve();
      for (let first = 0; first < size; first += BATCH) {
        const batch = sealedAgents(first, Math.min(BATCH, size - first), first === 0 ? workspace.ids : [], seal);
        // One batch is sealed while the one before it is inserted.
        await inserting;
        inserting = insert(client, workspace, size, batch);
        onProgress((done += batch.ids.length) / total);
      }
      await inserting;
    }
    await client.query('VACUUM ANALYZE agents');
    await client.query('CHECKPOINT');
    const { rows } = await client.query('SHOW server_version');
    return rows[0].server_version;
  } finally {
    await client.end();
  }
}

/** Agents number `first` and on: what of them the database could not make up itself. */
function sealedAgents(first, count, known, seal) {
  const ids = Array.from({ length: count }, (_, i) => known[i] ?? randomUUID());
  const keys = ids.map((id, i) => seal(`provider-key-${first + i}`, `agent.apiKey:${id}`));
  const secrets = ids.map((id, i) =>
    (first + i) % WEBHOOK_EVERY === 0 ? seal(`webhook-secret-${first + i}`, `agent.webhookSecret:${id}`) : null,
  );
  return { first, ids, keys, secrets };
}

/** Their ages are spread evenly over a year. @param size of the whole workspace */
async function insert(client, { workspaceId, userId }, size, { first, ids, keys, secrets }) {
  await client.query(
    `INSERT INTO agents (id, workspace_id, created_by_user_id, provider, type, prompt_type, name, api_key, assistant_id,
                         language, phone_number, prompt, call_monitoring, is_using_default_api_key, webhook_url,
                         webhook_secret, created_at, updated_at)
     SELECT x.id, $4, $5, 'AGENT_PROVIDER_' || 1 + i % 4, CASE i % 2 WHEN 0 THEN 'INBOUND' ELSE 'OUTBOUND' END, 'SINGLE',
            'Agent ' || i || ' of line ' || i % 10, x.key, 'assistant-' || i, 'en-US',
            '+1555' || lpad(i::text, 7, '0'),
            'You take table reservations for a restaurant with forty seats. Ask for the day, the time, the number of '
              || 'people and a name, repeat them, and say that the table is booked.',
            false, false, CASE WHEN x.secret IS NOT NULL THEN 'https://example.com/hooks/' || i END, x.secret, t, t
       FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS x (id, key, secret, n),
            LATERAL (SELECT $6::int + x.n::int - 1 AS i) AS number,
            LATERAL (SELECT now() - i * interval '365 days' / $7::int AS t) AS age`,
    [ids, keys, secrets, workspaceId, userId, first, size],
  );
}
