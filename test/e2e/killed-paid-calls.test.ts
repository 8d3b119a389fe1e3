import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { PaidPlatform } from '../../libs/simulation/testing/paid-platform/server.js';
import { usePaidPlatform } from '../../libs/simulation/testing/paid-platform/register.js';
import type { HttpClient } from '../support/http.js';
import { callEnv, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestApp, TEST_KEY, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);
usePaidPlatform();

const PRELOAD = path.join(process.env['TEST_BUILD']!, 'libs/simulation/testing/paid-platform/preload.js');
/** In which the platform's calls have ended after the death of a process. */
const ENDED_WITHIN_MS = 60_000;

describe('a process that is killed during calls on a platform that bills', () => {
  let database: TestDatabase;
  let platform: PaidPlatform;
  let app: TestApp;
  let client: HttpClient;
  let agentId: string;
  const workers: ServiceProcess[] = [];

  const environment = () => ({
    ...(callEnv(platform.url) as Record<string, string>),
    AGENT_PROVIDER_1_PROTOCOL: 'paid-text',
  });
  const startWorker = async () => {
    const worker = await ServiceProcess.start({
      ...environment(),
      DATABASE_URL: database.url,
      ROLE: 'worker',
      ENCRYPTION_KEYS: `${TEST_KEY.id}:${TEST_KEY.key.toString('base64')}`,
      NODE_OPTIONS: `--import ${pathToFileURL(PRELOAD).href}`,
    });
    workers.push(worker);
    return worker;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    platform = await PaidPlatform.start();
    app = await createTestApp({ env: { ...environment(), ROLE: 'api' }, databaseUrl: database.url });
    const evaluation = shortEvaluation({ script: [{ say: 'Hello' }, { say: 'Again' }] });
    ({ client, agentId } = await prepareEvaluations(app, [evaluation]));
    await startWorker();
    // Until it is ready and has loaded what calls need.
    const { id } = (await client.post(`/agents/${agentId}/runs`, {})).body.data;
    await until('the first run has ended', async () => await hasEnded(id), 150_000);
  });
  afterAll(async () => {
    for (const worker of workers) await worker.dispose();
    await app.close();
    await platform.stop();
    await database.drop();
  });

  const hasEnded = async (id: string): Promise<boolean> => (await client.get(`/runs/${id}`)).body.data.endedAt !== null;

  /** Holds the attempt's row, so that the process cannot write that the call was placed. */
  const lockRow = async (attempt: string): Promise<Client> => {
    const locking = new Client(database.url);
    await locking.connect();
    await locking.query('BEGIN');
    await locking.query('SELECT 1 FROM platform_calls WHERE claim_id = $1 FOR UPDATE', [attempt]);
    return locking;
  };

  it.each([
    ['before its request', 'connecting', 0, 1],
    ["before it has written the platform's answer", 'unwritten', 0, 2],
    ['after it has written that', 'spoken', 1, 2],
    ['in the call', 'spoken', 2, 2],
    ['while it ends the call', 'ending', 1, 2],
  ])('%s leaves no call open, and each is dialled once more at most', async (_, point, occurrence, dialled) => {
    const before = platform.opened.length;
    const worker = workers.at(-1)!;
    let killedAt: number | undefined;
    let seen = 0;
    const kill = () => {
      if (killedAt !== undefined) return;
      killedAt = Date.now();
      worker.child.kill('SIGKILL');
    };
    platform.isConnectionCut = () => {
      if (point !== 'connecting' || killedAt !== undefined) return false;
      kill();
      return true;
    };
    platform.onEvent = async (event, attempt) => {
      if (killedAt !== undefined) return;
      if (point === 'unwritten' && event === 'opened') {
        const locking = await lockRow(attempt);
        // The answer arrives, and its writing waits for the row.
        setTimeout(() => {
          kill();
          void locking.end();
        }, 500);
      }
      if (event === point && ++seen === occurrence) {
        kill();
        // Nothing of what the process wanted happens.
        await worker.waitForExit();
      }
    };
    const { id } = (await client.post(`/agents/${agentId}/runs`, {})).body.data;
    await until('the process is killed', () => killedAt !== undefined, 60_000);
    await startWorker();
    await until('the run has ended', () => hasEnded(id), ENDED_WITHIN_MS + 30_000);
    expect((await client.get(`/runs/${id}`)).body.data).toMatchObject({ status: 'COMPLETED', counts: { passed: 1 } });
    await until('no call is open', () => platform.open.size === 0, killedAt! + ENDED_WITHIN_MS - Date.now());
    expect(platform.opened.length - before).toBe(dialled);
    const [call] = (await client.get(`/runs/${id}/calls`)).body.data;
    expect(call.attempts.map(({ failureCode }: any) => failureCode)).toEqual(['interrupted', null]);
  });
});
