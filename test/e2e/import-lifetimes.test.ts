import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { Random } from '../chaos/random.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { importCall } from '../support/imported-calls.js';
import { shortEvaluation } from '../support/run-app.js';
import { ServiceProcess } from '../support/service-process.js';
import { sql } from '../support/sql.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

jest.setTimeout(600_000);

const SEED = 6;
const SEQUENCES = shareOf(30);
const STEPS = 8;
/** Sequences from one kill of the worker to the next. */
const KILL_EACH = 6;
/** A deleted run keeps its files for a minute, and those of a killed worker are found 45 s after its start. */
const SETTLED_MS = 150_000;
const KEY = `import-lifetimes-${randomUUID()}`;

let dataDir: string;
let database: TestDatabase;
let service: ServiceProcess;
let client: HttpClient;
let personalityId: string;

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'import-lifetimes-'));
  database = await createTestDatabase();
  service = await ServiceProcess.start({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: KEY,
    DEFAULT_PLAN: 'FREE',
    PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
  });
  await service.waitForOutput('Process worker \\(\\d+\\) is ready');
  client = new HttpClient(service.url, KEY);
  personalityId = (await client.post('/personalities', personalityBody())).body.data.id;
}, 120_000);
afterAll(async () => {
  await service?.dispose();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function createAgent(): Promise<{ agentId: string; evaluationId: string }> {
  const agentId: string = (await client.post('/agents', agentBody())).body.data.id;
  const created = await client.post(`/agents/${agentId}/evaluations`, { ...shortEvaluation(), personalityId });
  return { agentId, evaluationId: created.body.data.id };
}

const importTo = async ({ agentId, evaluationId }: { agentId: string; evaluationId: string }): Promise<string> => {
  const imported = await importCall({ url: service.url, apiKey: KEY }, agentId, { evaluationId });
  expect(imported).toMatchObject({ status: 202 });
  return imported.body.data.runId;
};

/** Ids in the names of files, by folder: what was sent, and what is kept of calls. */
function files(): { readonly uploads: string[]; readonly recordings: string[] } {
  const folder = path.join(dataDir, 'recordings');
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const ids = (isUpload: boolean) =>
    all.filter(({ parentPath }) => parentPath.endsWith('uploads') === isUpload).map(({ name }) => name.slice(0, 36));
  return { uploads: ids(true), recordings: [...new Set(ids(false))].sort() };
}

const idsOf = async (query: string): Promise<string[]> =>
  (await sql<{ id: string }>(database.url, query)).map(({ id }) => id);

describe('the file of an imported call', () => {
  it('is deleted when its run is cancelled, with what it takes of the room of the workspace', async () => {
    const agent = await createAgent();
    for (let count = 0; count < 12; count++) {
      const runId = await importTo(agent);
      const { status } = await client.post(`/runs/${runId}/cancel`);
      // Some calls were imported before.
      expect([200, 409]).toContain(status);
      await until('the file is deleted', () => !files().uploads.includes(runId));
    }
    expect(await idsOf('SELECT call_id AS id FROM call_imports WHERE bytes > 0 OR transcript IS NOT NULL')).toEqual([]);
  });

  it('exists as long as its row after any sequence of imports, cancellations, deletions and kills of the worker', async () => {
    const random = new Random(SEED);
    let steps = 0;
    for (let sequence = 0; sequence < SEQUENCES; sequence++) {
      const agent = await createAgent();
      const runs: string[] = [];
      const done: string[] = [];
      const actions = {
        import: async () => void runs.push(await importTo(agent)),
        cancel: async () => (await client.post(`/runs/${random.pick(runs) ?? randomUUID()}/cancel`)).status,
        delete: async () => (await client.delete(`/runs/${random.pick(runs) ?? randomUUID()}`)).status,
        wait: () => sleep(random.integer(300)),
      };
      for (let step = 0; step < STEPS; step++) {
        const action = random.pick(['import', 'import', 'cancel', 'delete', 'wait'] as const)!;
        const result = await actions[action]();
        done.push(action);
        if (typeof result === 'number') expect([200, 404, 409]).toContain(result);
        if (++steps % (KILL_EACH * STEPS) === 0) {
          // Absent while it is replaced.
          const worker = service.children.find((pid) => pid !== service.pidOf('api'));
          if (worker !== undefined) process.kill(worker, 'SIGKILL');
          done.push('kill');
        }
      }
      if (random.next() < 0.3) await client.delete(`/agents/${agent.agentId}?permanently=true`);
    }
    const open = `SELECT id FROM runs WHERE status IN ('QUEUED', 'RUNNING')`;
    await until('all runs have ended', async () => (await idsOf(open)).length === 0, SETTLED_MS);
    await until('nothing that was sent is left', () => files().uploads.length === 0, SETTLED_MS);
    const rows = () => idsOf('SELECT id FROM recordings ORDER BY id');
    const isSettled = async () => String(files().recordings) === String(await rows());
    await until('recordings have their rows and rows their files', isSettled, SETTLED_MS).catch(() => undefined);
    expect(files().recordings).toEqual(await rows());
    expect(service.exit).toBeUndefined();
  });
});
