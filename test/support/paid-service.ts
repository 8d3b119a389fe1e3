import { Client } from 'pg';
import type { HttpClient } from './http.js';
import { prepareEvaluations } from './run-app.js';
import { ServiceProcess } from './service-process.js';
import { createTestApp, TEST_KEY, type TestApp } from './test-app.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

/** A service whose calls are executed by processes of their own, which can be killed. */
export class PaidService {
  private readonly workers: ServiceProcess[] = [];

  private constructor(
    private readonly env: Readonly<Record<string, string>>,
    private readonly database: TestDatabase,
    readonly app: TestApp,
  ) {}

  /** @param env of all processes */
  static async start(env: Readonly<Record<string, string>>): Promise<PaidService> {
    const database = await createTestDatabase();
    const { NODE_OPTIONS: _, ...settings } = env;
    const app = await createTestApp({ env: { ...settings, ROLE: 'api' }, databaseUrl: database.url });
    const service = new PaidService(env, database, app);
    await service.startWorker();
    return service;
  }

  /**
   * An agent in a workspace of its own.
   * @param connection absent: how its provider says that it is reached @param values of the agent
   */
  async addAgent(evaluation: object, connection?: object, values: object = {}): Promise<PaidAgent> {
    const { client, agentId } = await prepareEvaluations(this.app, [evaluation], values);
    if (connection) {
      const response = await client.put(`/agents/${agentId}/connection`, connection);
      expect(response).toMatchObject({ status: 200 });
    }
    return new PaidAgent(client, agentId);
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

  /**
   * Holds the rows of the attempt, so that no process can write that its call was placed or how it ended.
   * @returns what frees them; what waits for them is never written
   */
  async holdRows(attempt: string): Promise<() => Promise<void>> {
    const holding = new Client(this.database.url);
    await holding.connect();
    await holding.query('BEGIN');
    await holding.query('SELECT 1 FROM platform_calls WHERE claim_id = $1 FOR UPDATE', [attempt]);
    await holding.query('SELECT 1 FROM calls WHERE claim_id = $1 FOR UPDATE', [attempt]);
    return async () => {
      // A statement that waits would be executed although the process that sent it has died.
      await holding.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                            WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))`);
      await holding.end();
    };
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.dispose();
    await this.app.close();
    await this.database.drop();
  }
}

/** An agent whose calls such a service executes. */
export class PaidAgent {
  constructor(
    readonly client: HttpClient,
    readonly agentId: string,
  ) {}

  async startRun(body: object = {}): Promise<string> {
    return (await this.client.post(`/agents/${this.agentId}/runs`, body)).body.data.id as string;
  }

  async hasEnded(id: string): Promise<boolean> {
    return (await this.client.get(`/runs/${id}`)).body.data.endedAt !== null;
  }

  /** Expects that the run passed in its second attempt, the first of which died with its process. */
  async expectPassedAgain(id: string): Promise<void> {
    expect((await this.client.get(`/runs/${id}`)).body.data).toMatchObject({
      status: 'COMPLETED',
      counts: { passed: 1 },
    });
    const [call] = (await this.client.get(`/runs/${id}/calls`)).body.data;
    expect(call.attempts.map(({ failureCode }: any) => failureCode)).toEqual(['interrupted', null]);
  }
}
