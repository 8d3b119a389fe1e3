import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type DestinationStream, type Logger } from 'pino';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { openDataSource } from '../../src/platform/database/pool.js';
import { createApp } from '../../src/app.setup.js';
import { type FirstKey, FirstKeyService } from '../../src/modules/api-keys/first-key.service.js';
import type { NewWorkspace } from '../../src/modules/workspaces/workspaces.service.js';
import { readSettings, type Settings } from '../../src/platform/config/settings.js';
import { checkCanary } from '../../src/platform/encryption/canary.js';
import { KeyRing } from '../../src/platform/encryption/key-ring.js';
import { createLogger } from '../../src/platform/observability/logger.js';
import { createTestDatabase } from './test-database.js';

/** The complete service on a free loopback port, with a separate database. */
export interface TestApp {
  readonly url: string;
  readonly nest: NestExpressApplication;
  readonly databaseUrl: string;
  readonly keyRing: KeyRing;
  /** Creates a workspace with an ADMIN key and, by default, a rate limit that no test reaches. */
  createWorkspace(input?: Partial<NewWorkspace>): Promise<FirstKey>;
  close(): Promise<void>;
}

export interface TestAppOptions {
  /** Environment variables of the service. */
  readonly env?: NodeJS.ProcessEnv;
  /** Receives the log lines; by default nothing is logged. */
  readonly log?: DestinationStream;
  /** An existing database to use instead of a new one; the caller drops it. */
  readonly databaseUrl?: string;
}

export async function createTestApp({ env = {}, log, databaseUrl }: TestAppOptions = {}): Promise<TestApp> {
  const database = databaseUrl === undefined ? await createTestDatabase() : { url: databaseUrl, drop: async () => {} };
  // Created when the first recording is stored.
  const dataDir = path.join(tmpdir(), `vat-test-${randomUUID()}`);
  const settings: Settings = readSettings({
    DATA_DIR: dataDir,
    PLAN_FREE_REQUESTS_PER_MINUTE: '1000000',
    DATABASE_POOL_SIZE: '5',
    ...env,
  });
  const keyRing = new KeyRing([TEST_KEY]);
  const dataSource = await openDataSource(createDataSource(database.url, settings.databasePoolSize));
  await checkCanary(dataSource, keyRing);
  const logger: Logger = createLogger({ logLevel: log ? 'debug' : 'silent', logFormat: 'json' }, log);
  const { nest } = await createApp({ settings, dataSource, databaseUrl: database.url, keyRing }, logger);
  await nest.listen(0, '127.0.0.1');
  const { port } = nest.getHttpServer().address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    nest,
    databaseUrl: database.url,
    keyRing,
    createWorkspace: (input) =>
      nest
        .get(FirstKeyService)
        .createWorkspace({ name: 'Test', plan: 'ENTERPRISE', requestsPerMinute: 1_000_000, ...input }),
    close: async () => {
      nest.getHttpServer().closeAllConnections();
      await nest.close();
      await rm(dataDir, { recursive: true, force: true });
      await database.drop();
    },
  };
}

/** The encryption key of every test application of this process. */
export const TEST_KEY = { id: 'test', key: randomBytes(32) };
