import { Client } from 'pg';
import type { HttpClient } from './http.js';
import { prepareEvaluations } from './run-app.js';
import { ServiceProcess } from './service-process.js';
import { createTestApp, TEST_KEY, type TestApp } from './test-app.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { until } from './until.js';

/** A service whose calls are executed by processes of their own, which can be killed. */
export class PaidService {
  private readonly workers: ServiceProcess[] = [];

  private constructor(
    private readonly env: Readonly<Record<string, string>>,
    private readonly database: TestDatabase,
    private readonly app: TestApp,
    readonly client: HttpClient,
    readonly agentId: string,
  ) {}

  /** Until its first process has executed a run, and so has loaded what calls need. @param env of all processes */
  static async start(
    env: Readonly<Record<string, string>>,
    evaluation: object,
    run: object = {},
  ): Promise<PaidService> {
    const database = await createTestDatabase();
    const { NODE_OPTIONS: _, ...settings } = env;
    const app = await createTestApp({ env: { ...settings, ROLE: 'api' }, databaseUrl: database.url });
    const { client, agentId } = await prepareEvaluations(app, [evaluation]);
    const service = new PaidService(env, database, app, client, agentId);
    await service.startWorker();
    const id = await service.startRun(run);
    await until('the first run has ended', () => service.hasEnded(id), 150_000);
    return service;
  }

  get worker(): ServiceProcess {
    return this.workers.at(-1)!;
  }

  async startWorker(): Promise<void> {
    const worker = await ServiceProcess.start({
      ...this.env,
      DATABASE_URL: this.database.url,
      ROLE: 'worker',
      ENCRYPTION_KEYS: `${TEST_KEY.id}:${TEST_KEY.key.toString('base64')}`,
    });
    this.workers.push(worker);
  }

  async startRun(body: object): Promise<string> {
    return (await this.client.post(`/agents/${this.agentId}/runs`, body)).body.data.id as string;
  }

  async hasEnded(id: string): Promise<boolean> {
    return (await this.client.get(`/runs/${id}`)).body.data.endedAt !== null;
  }

  /**
   * Holds the attempt's row, so that no process can write that its call was placed.
   * @returns what frees it
   */
  async lockRow(attempt: string): Promise<() => Promise<void>> {
    const locking = new Client(this.database.url);
    await locking.connect();
    await locking.query('BEGIN');
    await locking.query('SELECT 1 FROM platform_calls WHERE claim_id = $1 FOR UPDATE', [attempt]);
    return () => locking.end();
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.dispose();
    await this.app.close();
    await this.database.drop();
  }
}
