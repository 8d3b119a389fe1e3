import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { pino } from 'pino';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { checkDatabaseServer } from '../../src/bootstrap/database-server.js';
import { migrate } from '../../src/bootstrap/migrate.js';
import { createRunApp, executeRun, prepareAgent } from '../support/run-app.js';
import { ServiceProcess } from '../support/service-process.js';
import { sql } from '../support/sql.js';
import { createTestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** Settings of a role or database that reach every session, by the public reports about them. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  'immich-app/static-pages#719, directus/directus#3139, brianc/node-postgres#2640': [`DateStyle = 'German, DMY'`],
  'oven-sh/bun#41888': [`DateStyle = 'SQL, DMY'`],
  'the manual of PostgreSQL, compatibility': ['array_nulls = off', 'standard_conforming_strings = off'],
  'others: brianc/node-postgres#3156, #2475, #2718 and #2005, pgbouncer/pgbouncer#1562 and #909, graphile/worker#273, simstudioai/sim#7437, porsager/postgres#1155':
    [
      ...[`IntervalStyle = 'iso_8601'`, `client_encoding = 'LATIN1'`, `TimeZone = 'America/St_Johns'`],
      ...[`bytea_output = 'escape'`, 'extra_float_digits = -15', `xmlbinary = 'hex'`, 'row_security = off'],
      ...[`default_transaction_isolation = 'serializable'`, `lock_timeout = '1ms'`],
      ...[`idle_session_timeout = '300ms'`, `idle_in_transaction_session_timeout = '100ms'`],
    ],
};

const nameOf = ({ url }: TestDatabase) => new URL(url).pathname.slice(1);
const set = ({ url }: TestDatabase, name: string, assignment: string) =>
  sql(process.env['TEST_DATABASE_URL'] ?? '', `ALTER DATABASE ${name} SET ${assignment}`, []).then(() => url);

describe('a database with settings of its own', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  it.each(Object.entries(SETTINGS))('serves requests and runs jobs with settings of %s', async (_, settings) => {
    for (const setting of settings) await set(database, nameOf(database), setting);
    const app = await createRunApp({}, { databaseUrl: database.url });
    try {
      const { client, agentId } = await prepareAgent(app, ['house-facts'], { name: 'Zoë "€" \\ 🙂' });
      // Longer than the shortest limit of an idle session.
      await sleep(400);
      const run = await executeRun(client, agentId, { repeat: 4 });
      expect(run).toMatchObject({ status: 'COMPLETED', counts: { passed: 4 } });
      expect(Math.abs(Date.parse(run.createdAt) - Date.now())).toBeLessThan(60_000);
      expect((await client.get(`/agents/${agentId}`)).body.data.name).toBe('Zoë "€" \\ 🙂');
    } finally {
      await app.close();
    }
  });

  // cyrilgdn/terraform-provider-postgresql#96 and #123, safe-global/safe-transaction-service#1893; RDS and Supabase
  it.each(['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout'])(
    'is migrated without a limit of time, and the wait for another process has none, when %s is 200 ms',
    async (setting) => {
      await set(database, nameOf(database), `${setting} = '200ms'`);
      const other = new Client({ connectionString: database.url });
      await other.connect();
      await other.query(`SET ${setting} = 0`);
      await other.query('SELECT pg_advisory_lock($1)', [7_205_113_824]);
      const dataSource = createDataSource(database.url, 2);
      const migrated = migrate(dataSource);
      const outcome = await Promise.race([migrated.then(() => 'ended', String), sleep(800, 'waits')]);
      await other.end();
      expect([outcome, await migrated]).toEqual(['waits', []]);
    },
  );

  it('keeps search_path: all tables are in the schema that it names', async () => {
    const url = new URL(database.url);
    await sql(database.url, 'CREATE SCHEMA vat');
    url.searchParams.set('options', '-c search_path=vat');
    const migrations = await migrate(createDataSource(url.toString(), 2));
    expect(migrations.length).toBeGreaterThan(10);
    const [row] = await sql(database.url, `SELECT to_regclass('vat.calls') IS NOT NULL AS found`);
    expect(row).toEqual({ found: true });
  });

  /** New sessions have the new settings. */
  const reconnect = () =>
    sql(
      process.env['TEST_DATABASE_URL'] ?? '',
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
      [nameOf(database)],
    );
  const check = (url: string) => checkDatabaseServer(url, pino({ level: 'silent' }));

  // hasura/graphql-engine#7315, IQSS/dataverse#8278, netbox-community/netbox#15895, TeamSQL/desktop-app#259
  it.each(['LATIN1', 'SQL_ASCII', 'WIN1252', 'EUC_JP'])(
    'is refused at the start with the encoding %s',
    async (encoding) => {
      const name = `${nameOf(database)}_encoding`;
      const server = process.env['TEST_DATABASE_URL'] ?? '';
      await sql(server, `CREATE DATABASE ${name} ENCODING '${encoding}' TEMPLATE template0 LOCALE 'C'`);
      try {
        const url = new URL(server);
        url.pathname = `/${name}`;
        await expect(check(url.toString())).rejects.toMatchObject({
          name: 'StartError',
          message: expect.stringMatching(
            `^The database ${name} at .* has the encoding ${encoding}, .* CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0 .*$`,
          ),
        });
      } finally {
        await sql(server, `DROP DATABASE ${name}`);
      }
    },
  );

  it('is refused at the start if its sessions run no triggers', async () => {
    await set(database, nameOf(database), `session_replication_role = 'replica'`);
    await expect(check(database.url)).rejects.toThrow(/runs no triggers: session_replication_role is replica/);
  });

  describe('that is read-only', () => {
    beforeEach(() => set(database, nameOf(database), 'default_transaction_read_only = on'));

    // citusdata/pg_cron#270, supabase/supabase#9824, ubicloud/ubicloud#5272, aiven/devportal#503
    it('ends the start with one line', async () => {
      const service = await ServiceProcess.start({ DATABASE_URL: database.url });
      try {
        expect(await service.waitForExit()).toEqual({ code: 1, signal: null });
        expect(service.output).toMatch(
          /^The database \S+ at \S+ is read-only: default_transaction_read_only is on for .* disk is full\n$/,
        );
      } finally {
        await service.dispose();
      }
    });
  });

  it('lets the service end in order while it refuses writes', async () => {
    const service = await ServiceProcess.start({ DATABASE_URL: database.url, ROLE: 'worker' });
    try {
      await service.waitForOutput('Running jobs and calls');
      await set(database, nameOf(database), 'default_transaction_read_only = on');
      await reconnect();
      await service.waitForOutput('The queue.s sweep failed');
      service.child.kill('SIGTERM');
      expect(await service.waitForExit()).toEqual({ code: 0, signal: null });
    } finally {
      await service.dispose();
    }
  });

  // windmill-labs/windmill#9722, fleetdm/fleet#39228, hapostgres/pg_auto_failover#970
  it('is not ready while it refuses writes, and is again when it accepts them', async () => {
    const app = await createTestApp({ databaseUrl: database.url });
    const status = async () => (await fetch(`${app.url}/readyz`)).status;
    try {
      expect(await status()).toBe(200);
      await set(database, nameOf(database), 'default_transaction_read_only = on');
      await reconnect();
      expect(await status()).toBe(503);
      await set(database, nameOf(database), 'default_transaction_read_only = off');
      await reconnect();
      // The first request may still get a connection that was ended.
      await until('the service is ready', async () => (await status()) === 200);
    } finally {
      await app.close();
    }
  });
});
