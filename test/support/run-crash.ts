import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openEmbeddedPostgres } from '../../libs/embedded-postgres/index.js';
import { readWav } from '../../libs/audio/index.js';
import { prepareVoice, referenceEvaluations, startReferenceAgent } from '../simulators/agent/index.js';
import { FliteEngine } from '../../libs/speech/index.js';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { migrate } from '../../src/bootstrap/migrate.js';
import { HttpClient } from './http.js';
import { programArguments } from './program.js';
import { eventually, startReceiver } from './receiver.js';

export interface RunCrashOptions {
  readonly calls: number;
  readonly kills: number;
  /** Voice calls instead of text; at most 20 at once. */
  readonly voice?: boolean;
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
  /** Recordings that were served: whole ones, and others. Empty for text. */
  readonly recordings: Readonly<Record<'whole' | 'broken' | 'missing', number>>;
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
    const started = spawn(process.execPath, programArguments('src/main.ts'), {
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
  const { calls, kills, voice = false } = options;
  const speech = new FliteEngine();
  const prepare = () => prepareVoice({ speech, today: Date.now(), lines: [QUESTION, GOODBYE] });
  const agent = await startReferenceAgent({
    port: 0,
    latencyMs: 120,
    ...(voice && { telephone: { slowMs: 0, prepare } }),
  });
  const receiver = await startReceiver();
  const key = `crash-${randomBytes(16).toString('hex')}`;
  const port = 20_000 + (process.pid % 20_000);
  const installation = new Installation(options, {
    PORT: String(port),
    HOST: '127.0.0.1',
    BOOTSTRAP_API_KEY: key,
    DEFAULT_PLAN: 'FREE',
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
    const runId = await startRun(
      client,
      receiver.url,
      installation.databaseUrl,
      voice ? byVoice(calls, agent.url) : byText(calls),
    );
    const killed: string[] = [];
    for (let n = 0; n < kills; n++) {
      await sleep((voice ? 4_000 : 500) + Math.random() * 2_000);
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
    // It ends by itself if the database dies while it starts.
    await installation.kill('api');
    await eventually(() => isReady(client), Boolean, 60_000);
    return {
      ...(await figures(installation.databaseUrl, runId)),
      calls,
      kills: killed,
      events: events().size,
      settledAfterMs,
      recordings: voice ? await servedRecordings(client, `http://127.0.0.1:${port}`, key, runId) : NO_RECORDINGS,
    };
  } finally {
    await installation.stop();
    await agent.close();
    await speech.close();
    await receiver.close();
  }
}

const isReady = async (client: HttpClient): Promise<boolean> =>
  client.get('/readyz').then(
    ({ status }) => status === 200,
    () => false,
  );

interface PlannedRun {
  readonly evaluations: (personalityId: string) => readonly object[];
  readonly repeat: number;
  readonly concurrency: number;
  readonly connection?: object;
}

const byText = (calls: number): PlannedRun => ({
  evaluations: (personalityId) => referenceEvaluations(personalityId).slice(0, Math.ceil(calls / 20)),
  repeat: 20,
  concurrency: 10,
});

const QUESTION = 'Until when are you open?';
const GOODBYE = 'Thank you, goodbye.';
const byVoice = (calls: number, agentUrl: string): PlannedRun => ({
  evaluations: (personalityId) => [
    {
      name: 'Asks for the opening hours',
      scenarioText: 'You want to know until when the restaurant is open.',
      personalityId,
      script: [{ say: QUESTION }, { say: GOODBYE }, { waitSeconds: 5 }, { end: 'The agent does not hang up' }],
      checks: [{ type: 'ends_by', by: 'agent' }],
    },
  ],
  repeat: calls,
  concurrency: 20,
  connection: { protocol: 'twilio-media-streams', url: `${agentUrl}/voice` },
});

const NO_RECORDINGS = { whole: 0, broken: 0, missing: 0 } as const;

/** Downloads the recording of each call of a run. */
async function servedRecordings(client: HttpClient, url: string, key: string, runId: string) {
  const counts: Record<keyof typeof NO_RECORDINGS, number> = { ...NO_RECORDINGS };
  const { body } = await client.get(`/runs/${runId}/calls?limit=100`);
  for (const { id } of body.data as { id: string }[]) {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/calls/${id}/recording`, { headers });
    const file = new Uint8Array(await response.arrayBuffer());
    if (response.status === 404) counts.missing++;
    else if (response.status === 200 && isWhole(file, (await client.get(`/calls/${id}`)).body.data.recording))
      counts.whole++;
    else counts.broken++;
  }
  return counts;
}

/** Whether a file declares its own length, and is as long as the call says. */
function isWhole(file: Uint8Array, recording: { readonly seconds: number } | null): boolean {
  const declared = new DataView(file.buffer, file.byteOffset).getUint32(4, true) + 8;
  const { channels, rate } = readWav(file);
  return (
    declared === file.length && recording !== null && Math.abs(channels[0]!.length / rate - recording.seconds) < 0.001
  );
}

async function startRun(
  client: HttpClient,
  webhook: string,
  databaseUrl: string,
  { evaluations, repeat, concurrency, connection }: PlannedRun,
): Promise<string> {
  const created = async (route: string, body: object): Promise<string> => {
    const response = await client.post(route, body);
    if (response.status !== 201) throw new Error(`POST ${route}: ${JSON.stringify(response.body)}`);
    return response.body.data.id;
  };
  await created('/workspace/webhooks', { url: webhook, events: ['run.completed', 'run.failed'] });
  const agentId = await created('/agents', { provider: 'AGENT_PROVIDER_1', assistantId: 'booking', apiKey: 'none' });
  const personalityId = await created('/personalities', { name: 'Caller' });
  if (connection) {
    const response = await client.put(`/agents/${agentId}/connection`, connection);
    if (response.status !== 200) throw new Error(`PUT connection: ${JSON.stringify(response.body)}`);
  }
  for (const evaluation of evaluations(personalityId)) await created(`/agents/${agentId}/evaluations`, evaluation);
  await onDatabase(databaseUrl, (database) =>
    // Counts each time that a call is marked as ended.
    database.query(`
      CREATE TABLE endings (call_id uuid NOT NULL);
      CREATE FUNCTION note_ending() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO endings VALUES (NEW.id); RETURN NULL; END $$;
      CREATE TRIGGER note_ending AFTER UPDATE ON calls FOR EACH ROW
        WHEN (NEW.status = 'ENDED') EXECUTE FUNCTION note_ending()`),
  );
  return created(`/agents/${agentId}/runs`, { repeat, concurrency });
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
