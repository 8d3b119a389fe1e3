import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HttpClient } from '../support/http.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

jest.setTimeout(120_000);

describe('the first start', () => {
  let database: TestDatabase;
  let dataDir: string;
  let service: ServiceProcess;

  beforeEach(async () => {
    database = await createTestDatabase();
    dataDir = await mkdtemp(path.join(tmpdir(), 'first-start-'));
    service = await ServiceProcess.start({ DATABASE_URL: database.url, DATA_DIR: dataDir, ROLE: 'api' });
  });
  afterEach(async () => {
    await service.dispose();
    await database.drop();
    await rm(dataDir, { recursive: true });
  });

  it('keeps the ADMIN key out of a log, in a file that it names', async () => {
    await service.waitForOutput('Connect a first agent');
    const file = path.join(dataDir, 'first-admin-key');
    const key = (await readFile(file, 'utf8')).trim();
    expect(service.output).toContain(file);
    expect(service.output).not.toContain(key.slice(4));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await new HttpClient(service.url, key).get('/workspace/api-keys')).status).toBe(200);
  });
});
