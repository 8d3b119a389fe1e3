import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { openAppContext } from '../../src/bootstrap/app-context.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { delayed, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp } from '../support/test-app.js';
import { createTestDatabase } from '../support/test-database.js';

const SERVER_URL = process.env['TEST_DATABASE_URL'] ?? '';

describe('a database role with limited privileges', () => {
  let role: string;
  /** As the administrator, and as the role. */
  let url: string;
  let limitedUrl: string;
  let dataDir: string;
  let drop: () => Promise<void>;

  beforeEach(async () => {
    role = `limited_${randomBytes(6).toString('hex')}`;
    dataDir = await mkdtemp(path.join(tmpdir(), 'privileges-'));
    await sql(SERVER_URL, `CREATE ROLE ${role} LOGIN PASSWORD 'limited'`);
  });
  afterEach(async () => {
    await drop();
    await sql(SERVER_URL, `DROP ROLE ${role}`);
    await rm(dataDir, { recursive: true });
  });

  const use = (databaseUrl: string, dropDatabase: () => Promise<void>) => {
    url = databaseUrl;
    const limited = new URL(databaseUrl);
    [limited.username, limited.password] = [role, 'limited'];
    limitedUrl = limited.toString();
    drop = dropDatabase;
  };
  const useEmptyDatabase = async () => {
    const name = `empty_${randomBytes(6).toString('hex')}`;
    await sql(SERVER_URL, `CREATE DATABASE ${name} TEMPLATE template0`);
    const empty = new URL(SERVER_URL);
    empty.pathname = `/${name}`;
    use(empty.toString(), async () => void (await sql(SERVER_URL, `DROP DATABASE ${name} WITH (FORCE)`)));
    return name;
  };
  const useMigratedDatabase = async () => {
    const database = await createTestDatabase();
    use(database.url, database.drop);
  };
  const open = () =>
    openAppContext(readSettings({ DATABASE_URL: limitedUrl, DATA_DIR: dataDir }), pino({ level: 'silent' }));
  /** The statements that the message names. */
  const rejection = async (): Promise<{ message: string; grants: string[] }> => {
    const error: unknown = await open().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'StartError', message: expect.stringMatching(/^The role .*[^\n]$/) });
    const { message } = error as Error;
    return { message, grants: message.match(/GRANT [^;]+/g) ?? [] };
  };
  const tables = () => sql(url, `SELECT 1 FROM pg_tables WHERE schemaname IN ('public', 'graphile_worker')`);

  it('is refused with every missing privilege of an empty database, before anything is created', async () => {
    const name = await useEmptyDatabase();
    const { message, grants } = await rejection();
    expect(message).toContain(`The role ${role} lacks privileges on the database ${name}; nothing was changed`);
    expect(message).toContain('CREATE on the schema public');
    expect(message).toContain('CREATE on the database');
    expect(await tables()).toEqual([]);
    // The statements of the message are what it needs.
    for (const grant of grants) await sql(url, grant);
    const appContext = await open();
    await appContext.release();
    expect((await tables()).length).toBeGreaterThan(10);
  });

  it('needs nothing else in a database that it owns', async () => {
    const name = await useEmptyDatabase();
    await sql(SERVER_URL, `ALTER DATABASE ${name} OWNER TO ${role}`);
    await (await open()).release();
    expect((await tables()).length).toBeGreaterThan(10);
  });

  it('is refused if the tables of a migrated database belong to another role', async () => {
    await useMigratedDatabase();
    const { message } = await rejection();
    const owner = new URL(SERVER_URL).username;
    expect(message).toContain(`its tables belong to ${owner}, and the service needs the rights of their owner`);
    expect(message).toContain(`Connect as ${owner} (DATABASE_URL)`);
  });

  it('is refused even if it may read and write them: the queue hides its rows from all but their owner', async () => {
    await useMigratedDatabase();
    await sql(url, `GRANT USAGE ON SCHEMA public, graphile_worker TO ${role}`);
    await sql(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, graphile_worker TO ${role}`);
    expect((await rejection()).message).toContain('the service needs the rights of their owner');
  });

  it('serves requests and executes runs with the documented privileges', async () => {
    const name = await useEmptyDatabase();
    await sql(url, `GRANT CONNECT, CREATE ON DATABASE ${name} TO ${role}`);
    await sql(url, `GRANT USAGE, CREATE ON SCHEMA public TO ${role}`);
    await (await open()).release();
    await sql(url, 'DELETE FROM encryption_canary');
    const agent = await startScriptedAgent(() => delayed(5));
    const app = await createTestApp({ env: callEnv(agent.url), databaseUrl: limitedUrl });
    try {
      const { client, agentId } = await prepareEvaluations(app);
      expect(await executeRun(client, agentId)).toMatchObject({ status: 'COMPLETED' });
    } finally {
      await app.close();
      await agent.close();
    }
  });
});
