import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { openDataSource } from '../../src/platform/database/pool.js';
import { createApp } from '../../src/app.setup.js';
import { FirstKeyService } from '../../src/modules/api-keys/first-key.service.js';
import { WebhookEndpointsService } from '../../src/modules/webhooks/webhook-endpoints.service.js';
import { WebhooksService } from '../../src/modules/webhooks/webhooks.service.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { checkCanary } from '../../src/platform/encryption/canary.js';
import { KeyRing } from '../../src/platform/encryption/key-ring.js';
import { createLogger } from '../../src/platform/observability/logger.js';
import { runData } from '../factories/webhook-events.js';
import { programArguments } from './program.js';
import { eventually, startReceiver } from './receiver.js';

export interface CrashOptions {
  /** A migrated database. */
  readonly databaseUrl: string;
  readonly events: number;
  readonly kills: number;
  /** Root of the repository. */
  readonly root: string;
  readonly dataDir: string;
}

export interface CrashFigures {
  readonly events: number;
  readonly kills: number;
  /** Events delivered before each kill. */
  readonly deliveredAtKills: number[];
  readonly received: number;
  readonly delivered: number;
  /** Events received more than once: the process was killed during an attempt, or the response was 500. */
  readonly repeated: number;
  /** From the last start until no delivery was pending. */
  readonly settledAfterMs: number;
  readonly pending: number;
  readonly wrongSignatures: number;
  readonly unknownIds: number;
}

/**
 * Sends events while the process that delivers them is killed repeatedly (SIGKILL, at random times), and counts what is
 * received. The events are written by a separate process, as by an API process.
 */
export async function crashWebhooks(options: CrashOptions): Promise<CrashFigures> {
  const { databaseUrl, events, kills } = options;
  const env = {
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: `crash:${randomBytes(32).toString('base64')}`,
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    DATA_DIR: options.dataDir,
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
  };
  const settings = readSettings({ ...env, ROLE: 'api' });
  const keyRing = new KeyRing(settings.encryptionKeys ?? []);
  const dataSource = await openDataSource(createDataSource(databaseUrl, 5));
  await checkCanary(dataSource, keyRing);
  const logger = createLogger({ logLevel: 'silent', logFormat: 'json' });
  const { nest } = await createApp({ settings, dataSource, databaseUrl, keyRing }, logger);
  const seen = new Set<string>();
  const receiver = await startReceiver((response, request) => {
    const id = String(request.headers['webhook-id']);
    // One event in sixteen fails the first time, so that there are retries as well.
    const isFailing = id.endsWith('8') && !seen.has(id);
    seen.add(id);
    setTimeout(() => response.writeHead(isFailing ? 500 : 200).end(), 15);
  });
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  const workers: ChildProcess[] = [];
  try {
    const owner = await nest.get(FirstKeyService).createWorkspace({ name: 'Crash', plan: 'ENTERPRISE' });
    const caller = { ...owner, role: 'ADMIN' as const, apiKeyId: randomUUID(), requestsPerMinute: 1 };
    const { secret } = await nest
      .get(WebhookEndpointsService)
      .create(caller, { url: receiver.url, events: ['run.completed'] });
    const start = () => {
      const worker = spawn(process.execPath, programArguments('src/main.ts'), {
        cwd: options.root,
        env: { ...process.env, ...env, ROLE: 'worker' },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      workers.push(worker);
      return worker;
    };
    const countReceived = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size;

    let worker = start();
    const emitting = (async () => {
      for (let i = 0; i < events; i++) {
        await nest.get(WebhooksService).emit({
          workspaceId: owner.workspaceId,
          type: 'run.completed',
          data: { run: runData(owner), reportUrl: null },
        });
      }
    })();
    const deliveredAtKills: number[] = [];
    for (let i = 0; i < kills; i++) {
      // By received events and not by time, so that some are left however fast the deliveries are.
      const share = (i + Math.random()) / (kills + 1);
      const until = performance.now() + 60_000;
      while (countReceived() <= events * share && performance.now() < until) await pause(1);
      await pause(Math.random() * 20);
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.kill('SIGKILL');
      await ended;
      deliveredAtKills.push(countReceived());
      worker = start();
    }
    const lastStart = performance.now();
    await emitting;
    const count = async (where: string) =>
      Number((await database.query(`SELECT count(*) FROM webhook_deliveries WHERE ${where}`)).rows[0].count);
    await eventually(
      () => count(`status = 'PENDING'`),
      (pending) => pending === 0,
      120_000,
    ).catch(() => undefined);
    const settledAfterMs = Math.round(performance.now() - lastStart);

    const { rows } = await database.query<{ id: string }>('SELECT id FROM webhook_events');
    const known = new Set(rows.map(({ id }) => id));
    const verifier = new Webhook(secret);
    const hasValidSignature = ({ headers, body }: (typeof receiver.received)[number]) => {
      try {
        verifier.verify(body, headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    };
    const times = new Map<string, number>();
    for (const { headers } of receiver.received) {
      const id = String(headers['webhook-id']);
      times.set(id, (times.get(id) ?? 0) + 1);
    }
    return {
      events,
      kills,
      deliveredAtKills,
      received: times.size,
      delivered: await count(`status = 'DELIVERED'`),
      repeated: [...times.values()].filter((n) => n > 1).length,
      settledAfterMs,
      pending: await count(`status = 'PENDING'`),
      wrongSignatures: receiver.received.filter((request) => !hasValidSignature(request)).length,
      unknownIds: [...times.keys()].filter((id) => !known.has(id)).length,
    };
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    await database.end();
    await nest.close();
    await receiver.close();
  }
}
