import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openEmbeddedPostgres } from '../../../libs/embedded-postgres/index.js';
import { ServiceProcess } from '../service-process.js';
import { sql } from '../sql.js';
import { createTestDatabase } from '../test-database.js';

jest.setTimeout(600_000);

// Its parent is killed before it could assert anything.
// eslint-disable-next-line jest/expect-expect
it('starts servers and never ends', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'endless-'));
  const postgres = await openEmbeddedPostgres({ directory, parameters: { fsync: 'off' } });
  const service = await ServiceProcess.start({ DATABASE_URL: (await createTestDatabase()).url });
  await service.waitForOutput('Process worker \\(\\d+\\) is ready');
  // As browsers are started, which Ctrl-C does not reach.
  const detached = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  await once(detached, 'spawn');
  const [row] = await sql<{ folder: string }>(
    process.env['TEST_DATABASE_URL']!,
    "SELECT current_setting('data_directory') folder",
  );
  const [shared = ''] = readFileSync(path.join(row!.folder, 'postmaster.pid'), 'utf8').split('\n');
  const pids = [process.pid, Number(shared), postgres.pid, service.pid, ...service.children, detached.pid];
  writeFileSync(process.env['ENDLESS_REPORT']!, JSON.stringify({ folders: [tmpdir(), row!.folder], pids }));
  await new Promise(() => undefined);
});
