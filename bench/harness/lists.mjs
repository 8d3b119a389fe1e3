// The lists as they are in service: counted up by the job that their first readers cause (decision 41).
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SIZES } from './database.mjs';
import { root, start, stop } from './processes.mjs';
import { SUBJECTS } from './subjects.mjs';

const PROVIDERS = [1, 2, 3, 4].map((n) => `AGENT_PROVIDER_${n}`);
const LONGEST_WAIT_MS = 120_000;
const PAUSE_MS = 250;

/** Reads every long list that will be measured until all of them are counted up. @throws Error if that takes too long */
export async function countUpLists({ env, workspaces }, sizes = SIZES) {
  // Loaded here, for it is there only after the build. Shorter lists are never counted up.
  const { MOST_UNCOUNTED } = await import(join(root, 'dist/src/platform/database/page-query.js'));
  const lists = ['thousand', 'million'].flatMap((name) => {
    const whole = { list: 'agents', path: '/agents', size: sizes[name], ...workspaces[name] };
    const parts = PROVIDERS.map((provider) => ({
      ...whole,
      list: `agents:${provider}`,
      path: `/agents?provider=${provider}`,
      size: sizes[name] / PROVIDERS.length,
    }));
    return [whole, ...parts].filter(({ size }) => size > MOST_UNCOUNTED);
  });
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  const service = await start({ ...SUBJECTS[0], env, ready: '/readyz' });
  const end = performance.now() + LONGEST_WAIT_MS;
  try {
    await client.connect();
    for (const { list, path, apiKey, workspaceId } of lists) {
      while (!(await isCounted(client, list, workspaceId))) {
        if (performance.now() > end) throw new Error(`${list} was not counted up in time`);
        const headers = { Authorization: `Bearer ${apiKey}`, Connection: 'close' };
        await (await fetch(`http://127.0.0.1:${service.port}${path}`, { headers })).arrayBuffer();
        await sleep(PAUSE_MS);
      }
    }
  } finally {
    await client.end();
    await stop(service);
  }
}

async function isCounted(client, list, workspaceId) {
  const { rowCount } = await client.query(
    'SELECT FROM list_heads WHERE list = $1 AND scope = $2 AND (sealed_at, sealed_id) = (opened_at, opened_id)',
    [list, workspaceId],
  );
  return rowCount === 1;
}
