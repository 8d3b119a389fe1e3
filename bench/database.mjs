// The database of the benchmark: an embedded PostgreSQL in its own directory, with three workspaces of agents.
import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import pg from 'pg';
import { encryption } from './baselines/encryption.mjs';
import { output, root } from './processes.mjs';

const BATCH = 10_000;
/** Agents of each workspace whose ids are known, for requests by id. */
const KNOWN_IDS = 1_000;
/** Every fifth agent has a webhook, and so a second secret. */
const WEBHOOK_EVERY = 5;
/** Writes go to a workspace of their own, so that the lists do not change. */
export const SIZES = { thousand: 1_000, million: 1_000_000, written: 1_000 };

/** Starts PostgreSQL. @returns the server and the settings that service and baseline share */
export async function openDatabase(directory) {
  // Exists only after the build.
  const { openEmbeddedPostgres } = await import(path.join(root, 'dist/libs/embedded-postgres/index.js'));
  const server = await openEmbeddedPostgres({ directory: path.join(directory, 'postgres') });
  const env = {
    DATABASE_URL: server.url('postgres'),
    DATA_DIR: path.join(directory, 'data'),
    DATABASE_POOL_SIZE: '20',
    ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    DEFAULT_PLAN: 'FREE',
    PLAN_FREE_REQUESTS_PER_MINUTE: '1000000000',
    PLAN_ENTERPRISE_REQUESTS_PER_MINUTE: '1000000000',
    LOG_LEVEL: 'warn',
  };
  return { server, env };
}

/** Creates the tables and workspaces. @returns by name, the workspace with its `apiKey` and the known `ids` */
export async function createWorkspaces(env) {
  const workspaces = {};
  for (const name of Object.keys(SIZES)) {
    const created = await output('scripts/admin.mjs', ['workspace', 'create', '--name', name, '--json'], env);
    workspaces[name] = { ...JSON.parse(created), ids: Array.from({ length: KNOWN_IDS }, () => randomUUID()) };
  }
  return workspaces;
}

/** Inserts the agents. @returns the version of PostgreSQL */
export async function seed(env, workspaces, onProgress) {
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  try {
    // The seed need not survive a crash; the measured writes are as durable as usual.
    await client.query('SET synchronous_commit = off');
    const { encrypt } = encryption(env.ENCRYPTION_KEYS);
    for (const [name, size] of Object.entries(SIZES)) {
      const workspace = workspaces[name];
      let inserting = Promise.resolve();
      for (let first = 0; first < size; first += BATCH) {
        const batch = agents(first, Math.min(BATCH, size - first), first === 0 ? workspace.ids : [], encrypt);
        await inserting;
        // Runs while the next batch is encrypted.
        inserting = insert(client, workspace, size, batch);
        if (first % (10 * BATCH) === 0) onProgress(`${first} of ${size} agents inserted`);
      }
      await inserting;
    }
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
    return (await client.query('SHOW server_version')).rows[0].server_version;
  } finally {
    await client.end();
  }
}

function agents(first, count, known, encrypt) {
  const ids = Array.from({ length: count }, (_, i) => known[i] ?? randomUUID());
  const keys = ids.map((id, i) => encrypt(`provider-key-${first + i}`, `agent.apiKey:${id}`));
  const secrets = ids.map((id, i) =>
    i % WEBHOOK_EVERY === 0 ? encrypt(`secret-${i}`, `agent.webhookSecret:${id}`) : null,
  );
  return { first, ids, keys, secrets };
}

/** Creation times are spread evenly over a year. */
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
