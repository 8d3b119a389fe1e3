import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { openAppContext } from '../../src/bootstrap/app-context.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { fatal } from '../support/postgres-messages.js';
import { sql } from '../support/sql.js';
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

  function open(warnings: string[]) {
    const url = new URL(database.url);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const write = (line: string) => void warnings.push((JSON.parse(line) as { msg: string }).msg);
    const settings = readSettings({ DATABASE_URL: url.toString(), DATA_DIR: directory });
    return openAppContext(settings, pino({ level: 'warn' }, { write }));
  }

  it('waits for a database server that is starting, and logs that once', async () => {
    rejections = [1, 2].map(() => fatal('57P03', 'the database system is starting up'));
    const warnings: string[] = [];
    const appContext = await open(warnings);
    await appContext.release();
    expect(warnings.filter((line) => line.includes('is starting; waiting'))).toHaveLength(1);
    expect(rejections).toEqual([]);
  });

  it('does not wait if the database rejects the password', async () => {
    rejections = [fatal('28P01', 'password authentication failed')];
    await expect(open([])).rejects.toThrow(/cannot be reached: password authentication failed\. Check DATABASE_URL/);
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
