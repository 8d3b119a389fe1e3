import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../libs/embedded-postgres/index.js';
import { startReferenceAgent } from '../simulators/agent/index.js';
import { eventually, startReceiver } from '../support/receiver.js';
import { freePort, startRedis, type TestRedis } from '../support/redis.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { resourceUsageOf } from './leaks.js';
import { ServiceProcess } from './service-process.js';

const POOL_SIZE = 8;
/** The name that the service gives its embedded database. */
const DATABASE = 'voice_agent_testing';

export interface Workspace {
  readonly index: number;
  readonly id: string;
  readonly key: string;
  readonly requestsPerMinute: number;
}

/**
 * All processes of a chaos test, on the loopback interface, in one folder: a service as `npm start` runs it, which has the
 * embedded database, and others that reach its database through a proxy.
 */
export class Installation {
  readonly services: ServiceProcess[] = [];
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly redis: TestRedis | undefined;
  proxy!: TcpProxy;
  /** Start time of a service process on this machine without faults, in milliseconds. */
  startMs = 0;
  /** Joined, so that the server and its port stay when the service is terminated. */
  private server!: EmbeddedPostgres;
  private modes = new Map<string, number>();

  private constructor(
    private readonly root: string,
    private readonly directory: string,
    private readonly agent: Awaited<ReturnType<typeof startReferenceAgent>>,
    receiver: Awaited<ReturnType<typeof startReceiver>>,
    redis: TestRedis | undefined,
    private readonly logs: string | undefined,
  ) {
    this.receiver = receiver;
    this.redis = redis;
  }

  /** @param logs folder in which the process logs are kept, if any */
  static async open(root: string, directory: string, withRedis: boolean, logs?: string): Promise<Installation> {
    // PostgreSQL must reach its data as an ordinary user, or file modes would not apply to it.
    chmodSync(directory, 0o755);
    const agent = await startReferenceAgent({ port: 0, latencyMs: 40 });
    const redis = withRedis ? await startRedis() : undefined;
    return new Installation(root, directory, agent, await startReceiver(), redis, logs);
  }

  get apis(): readonly ServiceProcess[] {
    return this.services.filter(({ role }) => role !== 'worker');
  }

  get workers(): readonly ServiceProcess[] {
    return this.services.filter(({ role }) => role === 'worker');
  }

  /** The service with the embedded database. */
  get main(): ServiceProcess {
    return this.services[0]!;
  }

  get databaseUrl(): string {
    return this.server.url(DATABASE);
  }

  private get postgres(): string {
    return path.join(this.directory, 'service/postgres');
  }

  /**
   * Starts the service with the database, and then the given numbers of other processes, and creates a workspace for each
   * of these rate limits.
   */
  async start(rates: readonly number[], counts: { apis: number; workers: number }): Promise<Workspace[]> {
    let env = this.environment();
    const add = async (role: ServiceProcess['role'], n: number) => {
      const [port, metrics] = [await freePort(), await freePort()];
      const processEnv = { ...env, PORT: String(port), METRICS_PORT: String(metrics) };
      const [url, metricsUrl] = [port, metrics].map((each) => `http://127.0.0.1:${each}`) as [string, string];
      const program = path.join(this.root, 'dist/src/main.js');
      const log = this.logs && path.join(this.logs, `${role}-${n}.log`);
      this.services.push(new ServiceProcess(`${role} ${n}`, role, url, metricsUrl, program, processEnv, log));
    };
    await add('all', 1);
    const startedAt = performance.now();
    this.main.start();
    await this.isReady(this.main);
    this.startMs = Math.round(performance.now() - startedAt);
    this.server = await openEmbeddedPostgres({ directory: this.postgres, mustExist: true });
    this.proxy = await createTcpProxy(this.databaseUrl);
    env = { ...env, DATABASE_URL: this.proxy.url };
    for (let n = 1; n <= counts.apis; n++) await add('api', n);
    for (let n = 1; n <= counts.workers; n++) await add('worker', n);
    for (const service of this.services.slice(1)) service.start();
    const workspaces: Workspace[] = [];
    for (const [index, rate] of rates.entries()) workspaces.push(await this.createWorkspace(index, rate, env));
    for (const service of this.apis) await this.isReady(service);
    await this.allServe();
    return workspaces;
  }

  /** Waits until the metrics of every process are served, also of one that was started just now. */
  async allServe(): Promise<void> {
    for (const service of this.services) {
      const usages = () => resourceUsageOf(service).catch(() => []);
      await eventually(usages, ({ length }) => length === service.processes, 30_000);
    }
  }

  isReady(service: ServiceProcess): Promise<boolean> {
    return eventually(() => isUp(`${service.url}/readyz`), Boolean, 60_000);
  }

  /** Runs statements on a direct connection, not through the proxy. */
  async onDatabase<T>(work: (database: Client) => Promise<T>): Promise<T> {
    const database = new Client({ connectionString: this.databaseUrl });
    database.on('error', () => undefined);
    await database.connect();
    try {
      return await work(database);
    } finally {
      await database.end().catch(() => undefined);
    }
  }

  /** Kills the server's main process; the service starts another one. */
  killPostmaster(): void {
    process.kill(this.server.pid, 'SIGKILL');
  }

  /** Ends all other connections to the database. */
  async cutConnections(database: Client): Promise<void> {
    this.proxy.cut();
    const others = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()';
    await database.query(`${others} AND pid <> pg_backend_pid()`);
  }

  /** Sessions of the service in the database. */
  sessions(): Promise<number> {
    const others = 'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    return this.number(`SELECT count(*) ${others}`);
  }

  maxConnections(): Promise<number> {
    return this.number(`current_setting('max_connections')`);
  }

  private number(expression: string): Promise<number> {
    return this.onDatabase(async (database) => {
      const { rows } = await database.query<{ n: number }>(`SELECT (${expression})::int AS n`);
      return rows[0]!.n;
    });
  }

  /** Removes write permission from the whole data directory, like a read-only mount. */
  makeReadOnly(): void {
    const visit = (file: string): void => {
      const { mode } = statSync(file);
      this.modes.set(file, mode & 0o7777);
      if ((mode & 0o170000) === 0o040000) for (const name of readdirSync(file)) visit(path.join(file, name));
      chmodSync(file, mode & 0o7777 & ~0o222);
    };
    visit(path.join(this.postgres, 'data'));
  }

  /** Restores write permission; the service restarts PostgreSQL if it has exited. */
  makeWritable(): void {
    // Top-down: the entries of a read-only folder can still be changed.
    for (const [file, mode] of this.modes) {
      try {
        chmodSync(file, mode);
      } catch {
        // Removed in the meantime by PostgreSQL.
      }
    }
    this.modes.clear();
  }

  async stop(): Promise<void> {
    await Promise.all(this.services.map((service) => service.stop()));
    this.makeWritable();
    this.redis?.resume();
    await this.redis?.kill();
    await this.proxy?.close();
    await this.server?.close().catch(() => undefined);
    await this.receiver.close();
    await this.agent.close();
  }

  private environment(): NodeJS.ProcessEnv {
    return {
      DATABASE_POOL_SIZE: String(POOL_SIZE),
      ...(this.redis && { REDIS_URL: this.redis.url }),
      HOST: '127.0.0.1',
      DATA_DIR: path.join(this.directory, 'service'),
      BOOTSTRAP_API_KEY: `chaos-${randomBytes(16).toString('hex')}`,
      ENCRYPTION_KEYS: `chaos:${randomBytes(32).toString('base64')}`,
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
      // All clients share one address, which is counted while keys cannot be looked up.
      DEFAULT_PLAN: 'FREE',
      PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
      AGENT_PROVIDER_1_URL: `${this.agent.url}/v1/chat/completions`,
      LOG_LEVEL: 'error',
      LOG_FORMAT: 'json',
    };
  }

  private async createWorkspace(index: number, rate: number, env: NodeJS.ProcessEnv): Promise<Workspace> {
    const program = path.join(this.root, 'dist/src/admin/main.js');
    const args = ['workspace', 'create', '--name', `Chaos ${index}`, '--rate-limit', String(rate), '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
      env: { ...process.env, ...env },
    });
    const { workspaceId, apiKey } = JSON.parse(stdout) as { workspaceId: string; apiKey: string };
    return { index, id: workspaceId, key: apiKey, requestsPerMinute: rate };
  }
}

const isUp = async (url: string): Promise<boolean> =>
  fetch(url).then(
    async (response) => {
      await response.text();
      return response.ok;
    },
    () => false,
  );
