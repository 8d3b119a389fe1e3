/**
 * Kills the worker with `kill -9` during webhook deliveries and prints figures:
 *   node --import @swc-node/register/esm-register test/crash/webhook-crash.ts [events] [kills]
 */
import 'reflect-metadata';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestDatabase } from '../support/test-database.js';
import { startTestPostgres } from '../support/test-postgres.js';
import { crashWebhooks } from '../support/webhook-crash.js';

const [events = '1000', kills = '8'] = process.argv.slice(2);
const dataDir = await mkdtemp(path.join(tmpdir(), 'webhook-crash-'));
// PostgreSQL, which does not run as root, must reach its data.
await chmod(dataDir, 0o755);
const postgres = await startTestPostgres(path.join(dataDir, 'postgres'));
try {
  process.env['TEST_DATABASE_URL'] = postgres.url;
  const { url: databaseUrl } = await createTestDatabase();
  const root = path.resolve(import.meta.dirname, '../..');
  const figures = await crashWebhooks({ databaseUrl, events: Number(events), kills: Number(kills), root, dataDir });
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  const { received, delivered, pending, wrongSignatures, unknownIds, settledAfterMs } = figures;
  const isCorrect =
    received === figures.events &&
    delivered === figures.events &&
    pending + wrongSignatures + unknownIds === 0 &&
    settledAfterMs < 60_000;
  process.exitCode = isCorrect ? 0 : 1;
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
