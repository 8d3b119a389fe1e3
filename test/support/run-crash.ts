import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openEmbeddedPostgres } from '../../libs/embedded-postgres/index.js';
import { referenceEvaluations, startReferenceAgent } from '../../libs/reference-agent/index.js';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { migrate } from '../../src/bootstrap/migrate.js';
import { HttpClient } from './http.js';
import { eventually, startReceiver } from './receiver.js';

export interface RunCrashOptions {
  readonly calls: number;
  readonly kills: number;
  /** Root of the repository. */
  readonly root: string;
  readonly dataDir: string;
}

export interface RunCrashFigures {
  readonly calls: number;
  /** The process killed each time, and how many calls had ended by then. */
  readonly kills: readonly string[];
  readonly status: string;
  readonly outcomes: Readonly<Record<string, number>>;
  /** How often calls were marked as ended; must equal the number of calls. */
  readonly endings: number;
  readonly results: number;
  /** Calls whose process died at least once. */
  readonly lost: number;
  /** Distinct events of the run's end that were received; deliveries may repeat. */
  readonly events: number;
  /** From the last restart until the run had ended and its event was received. */
  readonly settledAfterMs: number;
}

type Part = 'worker 1' | 'worker 2' | 'api' | 'postgresql';
const PARTS: readonly Part[] = ['worker 1', 'worker 2', 'api', 'postgresql'];

/** Runs a database and the service's processes, and kills and restarts any of them. */
class Installation {
  private readonly processes = new Map<Part, ChildProcess>();
  private server!: Awaited<ReturnType<typeof openEmbeddedPostgres>>;
  private port = '';

  constructor(
    private readonly options: RunCrashOptions,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  get databaseUrl(): string {
    return this.server.url('crash');
  }

  async start(): Promise<void> {
    await this.startPostgres();
    await this.server.createDatabase('crash');
    const dataSource = await createDataSource(this.databaseUrl, 2).initialize();
    await migrate(dataSource);
    await dataSource.destroy();
    for (const part of PARTS) this.startProcess(part);
  }

  async kill(part: Part): Promise<void> {
    if (part === 'postgresql') {
      process.kill(this.server.pid, 'SIGKILL');
      await this.server.close().catch(() => undefined);
      return this.startPostgres();
    }
    const running = this.processes.get(part);
    const ended = running && running.exitCode === null && running.signalCode === null && once(running, 'exit');
    running?.kill('SIGKILL');
    await ended;
    this.startProcess(part);
  }

  async stop(): Promise<void> {
    for (const running of this.processes.values()) running.kill('SIGKILL');
    await this.server.close();
  }

  private async startPostgres(): Promise<void> {
    this.server = await openEmbeddedPostgres({ directory: path.join(this.options.dataDir, 'postgres') });
    const { port } = new URL(this.server.url('crash'));
    if (this.port !== '' && port !== this.port)
      throw new Error(`PostgreSQL restarted on port ${port}, not ${this.port}`);
    this.port = port;
  }

  private startProcess(part: Part): void {
    if (part === 'postgresql') return;
    const args = ['--import', '@swc-node/register/esm-register', path.join(this.options.root, 'src/main.ts')];
    const started = spawn(process.execPath, args, {
      cwd: this.options.root,
      env: {
        ...process.env,
        ...this.env,
        DATABASE_URL: this.databaseUrl,
        ROLE: part === 'api' ? 'api' : 'worker',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.processes.set(part, started);
  }
}

/**
 * Executes a run on one API process and two workers while they and PostgreSQL are killed at random times and restarted at
 * once. Returns figures about its result.
 */
export async function crashRun(options: RunCrashOptions): Promise<RunCrashFigures> {
  const { calls, kills } = options;
  const agent = await startReferenceAgent({ port: 0, latencyMs: 120 });
  const receiver = await startReceiver();
  const key = `crash-${randomBytes(16).toString('hex')}`;
  const port = 20_000 + (process.pid % 20_000);
  const installation = new Installation(options, {
    PORT: String(port),
    HOST: '127.0.0.1',
    BOOTSTRAP_API_KEY: key,
    PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
    ENCRYPTION_KEYS: `crash:${randomBytes(32).toString('base64')}`,
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    AGENT_PROVIDER_1_URL: `${agent.url}/v1/chat/completions`,
    DATA_DIR: options.dataDir,
    LOG_LEVEL: 'fatal',
    LOG_FORMAT: 'json',
  });
  const client = new HttpClient(`http://127.0.0.1:${port}`, key);
  try {
    await installation.start();
    await eventually(() => isReady(client), Boolean, 60_000);
    const runId = await startRun(client, calls, receiver.url, installation.databaseUrl);
    const killed: string[] = [];
    for (let n = 0; n < kills; n++) {
      await sleep(500 + Math.random() * 2_000);
      // Each of them at least once, then at random.
      const part = PARTS[n < PARTS.length ? n : Math.floor(Math.random() * PARTS.length)]!;
      await installation.kill(part);
      killed.push(part);
    }
    const lastStart = performance.now();
    const events = () =>
      new Set(receiver.received.filter(({ body }) => body.includes(runId)).map(({ headers }) => headers['webhook-id']));
    await eventually(
      () => events().size,
      (size) => size > 0,
      180_000,
    ).catch(() => undefined);
    const settledAfterMs = Math.round(performance.now() - lastStart);
    // Leaves time for late or repeated results.
    await sleep(5_000);
    return {
      ...(await figures(installation.databaseUrl, runId)),
      calls,
      kills: killed,
      events: events().size,
      settledAfterMs,
    };
  } finally {
    await installation.stop();
    await agent.close();
    await receiver.close();
  }
}

const isReady = async (client: HttpClient): Promise<boolean> =>
  client.get('/readyz').then(
    ({ status }) => status === 200,
    () => false,
  );

async function startRun(client: HttpClient, calls: number, webhook: string, databaseUrl: string): Promise<string> {
  const created = async (route: string, body: object): Promise<string> => {
    const response = await client.post(route, body);
    if (response.status !== 201) throw new Error(`POST ${route}: ${JSON.stringify(response.body)}`);
    return response.body.data.id;
  };
  await created('/workspace/webhooks', { url: webhook, events: ['run.completed', 'run.failed'] });
  const agentId = await created('/agents', { provider: 'AGENT_PROVIDER_1', assistantId: 'booking', apiKey: 'none' });
  const personalityId = await created('/personalities', { name: 'Caller' });
  const repeat = 20;
  const evaluations = referenceEvaluations(personalityId).slice(0, Math.ceil(calls / repeat));
  for (const evaluation of evaluations) await created(`/agents/${agentId}/evaluations`, evaluation);
  await onDatabase(databaseUrl, (database) =>
    // Counts each time that a call is marked as ended.
    database.query(`
      CREATE TABLE endings (call_id uuid NOT NULL);
      CREATE FUNCTION note_ending() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO endings VALUES (NEW.id); RETURN NULL; END $$;
      CREATE TRIGGER note_ending AFTER UPDATE ON calls FOR EACH ROW
        WHEN (NEW.status = 'ENDED') EXECUTE FUNCTION note_ending()`),
  );
  return created(`/agents/${agentId}/runs`, { repeat, concurrency: 10 });
}

async function figures(databaseUrl: string, runId: string) {
  return onDatabase(databaseUrl, async (database) => {
    const one = async (text: string, values: unknown[] = [runId]) => (await database.query(text, values)).rows[0];
    const { rows } = await database.query<{ outcome: string; count: number }>(
      `SELECT coalesce(outcome, status) AS outcome, count(*)::int FROM calls WHERE run_id = $1 GROUP BY 1`,
      [runId],
    );
    return {
      status: (await one('SELECT status FROM runs WHERE id = $1')).status as string,
      outcomes: Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count])),
      endings: (await one('SELECT count(*)::int AS n FROM endings', [])).n as number,
      results: (await one('SELECT count(*)::int AS n FROM call_results', [])).n as number,
      lost: (await one('SELECT count(*)::int AS n FROM calls WHERE run_id = $1 AND lease_expirations > 0')).n as number,
    };
  });
}

async function onDatabase<T>(url: string, work: (database: Client) => Promise<T>): Promise<T> {
  const database = new Client({ connectionString: url });
  await database.connect();
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}
