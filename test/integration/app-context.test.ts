import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { openAppContext } from '../../src/bootstrap/app-context.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { KeyRing } from '../../src/platform/encryption/key-ring.js';
import { fatal } from '../support/postgres-messages.js';
import { sql } from '../support/sql.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('openAppContext', () => {
  let database: TestDatabase;
  let server: Server;
  let directory: string;
  let rejections: Buffer[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    directory = await mkdtemp(path.join(tmpdir(), 'app-context-'));
    const target = new URL(database.url);
    server = createServer((client) => {
      client.on('error', () => undefined);
      const rejection = rejections.shift();
      if (rejection) return void client.once('data', () => client.end(rejection));
      const upstream = connect(Number(target.port), target.hostname).on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    await database.drop();
    await rm(directory, { recursive: true });
  });

  function open(warnings: string[], port = (server.address() as AddressInfo).port) {
    const url = new URL(database.url);
    url.hostname = '127.0.0.1';
    url.port = String(port);
    const write = (line: string) => void warnings.push((JSON.parse(line) as { msg: string }).msg);
    const settings = readSettings({ DATABASE_URL: url.toString(), DATA_DIR: directory });
    return openAppContext(settings, pino({ level: 'warn' }, { write }));
  }

  it.each([
    ['is starting', fatal('57P03', 'the database system is starting up')],
    // sorry, too many clients already: processes of the old version still run
    ['has no free connection', fatal('53300', 'sorry, too many clients already')],
    // Docker accepts connections for a container whose server does not listen yet
    ['closes connections', Buffer.alloc(0)],
    // What PgBouncer says while its server is starting
    ['is behind a pooler that cannot reach it', fatal('08P01', 'server login has been failing, try again later')],
  ])('waits for a database server that %s, and logs that once', async (_, rejection) => {
    rejections = [rejection, rejection];
    const warnings: string[] = [];
    const appContext = await open(warnings);
    await appContext.release();
    expect(warnings.filter((line) => line.includes('is not available yet'))).toEqual([
      expect.stringMatching(/^The database \S+ at 127\.0\.0\.1:\d+ is not available yet: .*\. Waiting up to 60 s$/),
    ]);
    expect(rejections).toEqual([]);
  });

  // hyscaler/HyCanvas#15, iuliandita/digarr#200, tolgee/tolgee-platform#2168, Haufe-Lexware/wicked.haufe.io#251
  it('waits for a database server that does not listen yet', async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const warnings: string[] = [];
    const opening = open(warnings, port);
    await until('the service waits', () => warnings.length > 0);
    server.listen(port, '127.0.0.1');
    await (await opening).release();
    expect(warnings[0]).toContain('is not available yet: connect ECONNREFUSED');
  });

  it('does not wait if the database rejects the password', async () => {
    rejections = [fatal('28P01', 'password authentication failed')];
    await expect(open([])).rejects.toThrow(/cannot be reached: password authentication failed\. Check DATABASE_URL/);
  });

  describe('without ENCRYPTION_KEYS', () => {
    const keyFile = () => path.join(directory, 'encryption-keys');
    beforeEach(async () => {
      await rm(keyFile(), { force: true });
      await sql(database.url, 'DELETE FROM encryption_canary');
    });

    it('generates a key file that fits the database on the next start', async () => {
      await (await open([])).release();
      const written = await readFile(keyFile(), 'utf8');
      await (await open([])).release();
      expect(await readFile(keyFile(), 'utf8')).toBe(written);
    });

    it('writes no key file if the database cannot be reached', async () => {
      rejections = [fatal('28P01', 'password authentication failed')];
      await expect(open([])).rejects.toThrow('cannot be reached');
      expect(existsSync(keyFile())).toBe(false);
    });

    it('writes no key file for a database that is encrypted with other keys', async () => {
      const sealed = new KeyRing([{ id: 'k7', key: randomBytes(32) }]).encrypt('x', 'canary');
      await sql(database.url, 'INSERT INTO encryption_canary (id, sealed) VALUES (1, $1)', [sealed]);
      await expect(open([])).rejects.toMatchObject({
        name: 'SettingsError',
        message: expect.stringMatching(/^The secrets of this database are encrypted with the key "k7", but .*[^\n]$/),
      });
      expect(existsSync(keyFile())).toBe(false);
    });

    it('lets one of several first starts with different data directories generate the key', async () => {
      const directories = await Promise.all([1, 2, 3].map(() => mkdtemp(path.join(tmpdir(), 'app-context-'))));
      const results = await Promise.allSettled(
        directories.map((dataDir) =>
          openAppContext(readSettings({ DATABASE_URL: database.url, DATA_DIR: dataDir }), pino({ level: 'silent' })),
        ),
      );
      for (const result of results) if (result.status === 'fulfilled') await result.value.release();
      const isOpen = results.map(({ status }) => status === 'fulfilled');
      expect(isOpen.filter(Boolean)).toHaveLength(1);
      expect(directories.map((dataDir) => existsSync(path.join(dataDir, 'encryption-keys')))).toEqual(isOpen);
      for (const dataDir of directories) await rm(dataDir, { recursive: true });
    });
  });

  it('rejects a database of another version with one line', async () => {
    await sql(database.url, `INSERT INTO migrations (timestamp, name) VALUES (1, 'Other1')`);
    await expect(open([])).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(/^The.*Other1.*$/),
    });
    await sql(database.url, `DELETE FROM migrations WHERE name = 'Other1'`);
  });
});
