import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Database } from '../../src/platform/database/database.js';
import { Attack } from '../support/hostile/attack.js';
import { hostileRequests } from '../support/hostile/requests.js';
import { WireClient } from '../support/hostile/wire.js';
import { Fixtures } from '../support/hostile/fixtures.js';
import { HttpClient } from '../support/http.js';
import { createValidator, type OpenApiDocument } from '../support/openapi-validator.js';
import { collectionOf, WITHOUT_WORKER, withoutWebhookLimits } from '../support/resources.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

/** In `npm run test:all` 2,500. Full run: `HOSTILE_REQUESTS=20000 npx jest test/e2e/hostile-input.test.ts`; HOSTILE_SEED sets another seed. */
const REQUESTS = Number(process.env['HOSTILE_REQUESTS'] ?? 1_500);
const SEED = Number(process.env['HOSTILE_SEED'] ?? 20_261_121);
/** Number of requests that are sent concurrently. */
const BATCH = 8;
/** Much longer than any request takes, so that only a hang reaches it. */
const ANSWER_TIMEOUT_MS = 20_000;
/** Over 13,000 requests this corresponds to a leak of 2 KiB each; the test tools cause a variation of one percent. */
const HEAP_GROWTH = 1.15;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('hostile input', () => {
  let app: TestApp;
  let wire: WireClient;
  const errorLines: string[] = [];

  beforeAll(async () => {
    app = await createTestApp({
      env: WITHOUT_WORKER,
      log: {
        write: (line) => {
          const { level, msg } = JSON.parse(line) as { level: number; msg: string };
          // A long test reports that its jobs wait, rightly: it has no worker.
          if (level >= 50 && !msg.includes('no worker process is running')) errorLines.push(line);
        },
      },
    });
    withoutWebhookLimits(app);
    wire = new WireClient(new URL(app.url), ANSWER_TIMEOUT_MS);
  });
  afterAll(async () => {
    wire.close();
    await app.close();
  });

  it(`gets only responses that conform to the OpenAPI document from ${REQUESTS} requests (HOSTILE_SEED=${SEED})`, async () => {
    const document = (await new HttpClient(app.url).get<OpenApiDocument>('/openapi.json')).body;
    const validator = createValidator(document);
    // Of members of collections, not of what belongs to a member, such as the connection of an agent.
    const deletable = [...validator.operations.keys()].filter((name) => /^DELETE [^{]*\{\w+\}$/.test(name));
    const fixtures = await Fixtures.create(
      app,
      deletable.map((name) => collectionOf(name.slice('DELETE '.length))),
    );
    const attack = new Attack(fixtures, wire, validator, document);
    const requests = hostileRequests(document);
    const numRuns = Math.ceil(REQUESTS / BATCH);
    const heaps: number[] = [];
    let runs = 0;

    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: BATCH, maxLength: BATCH }), async (batch) => {
        const faults = (await Promise.all(batch.map((request) => attack.send(request)))).flat();
        expect(faults).toEqual([]);
        // The first third warms up caches, prepared statements and compiled code.
        if (++runs % Math.floor(numRuns / 3) === 0) heaps.push(heapUsed());
      }),
      { seed: SEED, numRuns, interruptAfterTimeLimit: 3_600_000, markInterruptAsFailure: true },
    );

    const statuses = Object.fromEntries([...attack.statuses].sort(([a], [b]) => a - b));
    process.stderr.write(
      `hostile input: seed ${SEED}, responses by status ${JSON.stringify(statuses)}, ${attack.readBack} writes read back, ` +
        `heap ${heaps.map((bytes) => Math.round(bytes / 2 ** 20)).join(' → ')} MiB\n`,
    );
    expect(errorLines).toEqual([]);
    expect([...attack.operations].sort()).toEqual([...validator.operations.keys()].sort());
    // Enough requests must get past validation for the test to be meaningful.
    expect(attack.readBack).toBeGreaterThan(REQUESTS / 100);
    // Bodies over the limit are rare here; the conformance tests send one to every operation.
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '201', '400', '401', '403', '404', '415']));
    expect((heaps.at(-1) ?? 0) / (heaps[0] ?? 1)).toBeLessThan(HEAP_GROWTH);
  }, 3_600_000);

  it('leaves no connection or transaction open, and still responds', async () => {
    const database = app.nest.get(Database);
    // Requests of disconnected clients may still be in progress.
    for (let i = 0; i < 100 && database.poolState.total > database.poolState.idle; i++) await setTimeout(50);
    expect(database.poolState).toMatchObject({ idle: database.poolState.total, waiting: 0 });
    const open = await database.manager.query<object[]>(
      `SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    expect(open).toEqual([]);
    const client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    const created = await client.post('/personalities', { name: 'After the test' });
    expect(created.status).toBe(201);
    expect((await client.get('/personalities')).body.meta.total).toBe(1);
  });
});
