import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { migrate } from '../../src/bootstrap/migrate.js';
import { checkDatabaseServer } from '../../src/bootstrap/database-server.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { documentedCommand } from '../production/documented-command.js';
import { callEnv, createRunApp, executeRun, prepareAgent } from '../support/run-app.js';
import { ServiceProcess } from '../support/service-process.js';
import { sql } from '../support/sql.js';
import {
  pgbouncerUnavailableReason,
  startPgBouncer,
  startSystemPostgres,
  type SystemPostgres,
  tlsSettings,
} from '../support/system-postgres.js';
import { until } from '../support/until.js';

/** Neither program runs as root. */
const USER = process.getuid?.() === 0 ? 'postgres' : execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
const CERTIFICATES = path.resolve(__dirname, '../support/certificates');
const certificate = (name: string) => path.join(CERTIFICATES, `${name}.pem`);

/** What the start logs, and its error. */
async function start(url: string): Promise<{ warnings: string[]; error: string | undefined }> {
  const warnings: string[] = [];
  const write = (line: string) => void warnings.push((JSON.parse(line) as { msg: string }).msg);
  const { databaseUrl = '' } = readSettings({ DATABASE_URL: url });
  const error = await checkDatabaseServer(databaseUrl, pino({ level: 'warn' }, { write })).then(
    () => undefined,
    ({ name, message }: Error) => `${name}: ${message}`,
  );
  return { warnings, error };
}

const reason = pgbouncerUnavailableReason();
if (reason !== undefined && process.env['REQUIRE_ALL_TESTS'] !== 'true') {
  process.stderr.write(`Skipped: servers and poolers of the operating system, because ${reason}\n`);
}
const describeWithPrograms =
  reason === undefined || process.env['REQUIRE_ALL_TESTS'] === 'true' ? describe : describe.skip;

describeWithPrograms('a PostgreSQL server of the operating system', () => {
  let folder: string;
  let server: SystemPostgres;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'database-server-'));
    execFileSync('chown', [USER, folder]);
    server = await startSystemPostgres(folder, USER, tlsSettings(folder, USER, CERTIFICATES, 'self-signed'));
  });
  afterAll(async () => {
    server.stop();
    await rm(folder, { recursive: true });
  });

  let number = 0;
  const database = () => server.createDatabase(`vat_${++number}`);

  describe('behind PgBouncer', () => {
    const behind = async (settings: Record<string, string>, work: (url: (of: string) => string) => Promise<void>) => {
      const pooler = await startPgBouncer(path.join(folder, `pgbouncer-${++number}`), USER, server.port, settings);
      const through = (of: string) => {
        const url = new URL(of);
        url.port = String(pooler.port);
        return url.toString();
      };
      await work(through).finally(() => pooler.stop());
    };

    it.each([
      // graphile/worker#119, riverqueue/river#205, bensheldon/good_job#1573, supabase/supavisor#239
      ['transaction', {}],
      ['transaction', { ignore_startup_parameters: 'statement_timeout,idle_in_transaction_session_timeout' }],
      // Servers take turns, as those of PgCat and Odyssey do
      ['transaction', { server_round_robin: '1', min_pool_size: '3' }],
      ['transaction', { default_pool_size: '1' }],
      // yandex/odyssey#477: the pooler resets a session before it gives it to another client
      ['transaction', { server_reset_query_always: '1' }],
      ['statement', {}],
      ['statement', { server_round_robin: '1', min_pool_size: '2' }],
    ])('in %s mode with %j, is refused with both remedies', async (mode, settings) => {
      await behind({ pool_mode: mode, ...settings }, async (through) => {
        const { warnings, error } = await start(through(database()));
        expect(warnings).toEqual([]);
        expect(error).toMatch(
          /^StartError: The database vat_\d+ at \S+ is behind a connection pooler that keeps no sessions, such as PgBouncer in transaction .* Set the pooler to session mode, or DATABASE_URL to the server itself \(.*\)$/,
        );
      });
    });

    // logto-io/logto#8065, pgjdbc/pgjdbc#3432: no setting of PgBouncer is needed
    it('in session mode, executes a run', async () => {
      await behind({ pool_mode: 'session', default_pool_size: '60' }, async (through) => {
        const service = await ServiceProcess.start({
          DATABASE_URL: through(database()),
          BOOTSTRAP_API_KEY: 'k'.repeat(20),
        });
        try {
          await service.waitForOutput('Listening on');
          expect(service.output).not.toMatch(/"level":(40|50)(?!.*(BOOTSTRAP_API_KEY|ENCRYPTION_KEYS))/);
        } finally {
          service.child.kill('SIGTERM');
          await service.waitForExit();
          await service.dispose();
        }
        const databaseUrl = through(database());
        await migrate(createDataSource(databaseUrl, 2));
        const app = await createRunApp({}, { databaseUrl });
        try {
          const { client, agentId } = await prepareAgent(app, ['house-facts']);
          expect(await executeRun(client, agentId, { repeat: 20 })).toMatchObject({ counts: { passed: 20 } });
        } finally {
          await app.close();
        }
      });
    });

    it('says that a pooler refuses a parameter of the address', async () => {
      await behind({ pool_mode: 'session' }, async (through) => {
        expect((await start(`${through(database())}?options=-c%20search_path=vat`)).error).toMatch(
          /unsupported startup parameter.*A connection pooler refuses that parameter: remove it from DATABASE_URL, or/,
        );
      });
    });

    it('waits while the pooler cannot reach its server', async () => {
      const url = database();
      const pooler = await startPgBouncer(path.join(folder, `pgbouncer-${++number}`), USER, 1, {
        ...{ pool_mode: 'session', server_login_retry: '1', query_wait_timeout: '2' },
      });
      const through = new URL(url);
      through.port = String(pooler.port);
      const write = jest.fn();
      const waiting = checkDatabaseServer(through.toString(), pino({ level: 'warn' }, { write }));
      await until('the start waits', () => write.mock.calls.length > 0);
      await pooler.stop();
      const restarted = await startPgBouncer(path.join(folder, `pgbouncer-${++number}`), USER, server.port, {
        ...{ pool_mode: 'session', listen_port: String(pooler.port) },
      });
      await waiting.finally(() => restarted.stop());
      expect(write.mock.calls[0]?.[0]).toMatch(/is not available yet: .*Waiting up to 60 s/);
    });
  });

  describe('with TLS', () => {
    const url = (query: string, host = 'localhost') => `${database().replace('127.0.0.1', host)}?${query}`;
    const serve = async (name: string) => {
      const file = path.join(folder, `${name}.pem`);
      if (name !== 'self-signed') tlsSettings(folder, USER, CERTIFICATES, name);
      chownSync(file, Number(execFileSync('id', ['-u', USER], { encoding: 'utf8' })), -1);
      return file;
    };

    it.each(['sslmode=no-verify', 'sslmode=disable', `sslrootcert=${certificate('self-signed')}`])(
      'is reached with %s',
      async (query) => expect(await start(url(query))).toEqual({ warnings: [], error: undefined }),
    );
    it.each(['require', 'verify-ca', 'verify-full', 'prefer'])(
      'is reached with sslmode=%s and the certificate of its authority',
      async (mode) => {
        const address = url(`sslmode=${mode}&sslrootcert=${certificate('self-signed')}`);
        expect(await start(address)).toEqual({ warnings: [], error: undefined });
      },
    );
    it('is reached under another name with verify-ca as libpq means it', async () => {
      const query = `uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${certificate('self-signed')}`;
      expect(await start(url(query, '127.0.0.1'))).toEqual({ warnings: [], error: undefined });
    });

    // brianc/node-postgres#2558, #2009, Unleash/unleash#613, lobehub/lobe-chat#3000; printed by the real process
    it('ends the start with one line if its certificate is not trusted', async () => {
      const service = await ServiceProcess.start({ DATABASE_URL: url('sslmode=require') });
      try {
        expect(await service.waitForExit()).toEqual({ code: 1, signal: null });
        expect(service.output).toMatch(
          /^The database vat_\d+ at localhost:\d+ cannot be reached: .*certificate.*\. Its certificate is not trusted: add sslrootcert=FILE to DATABASE_URL, .* NODE_EXTRA_CA_CERTS=FILE\n$/,
        );
      } finally {
        await service.dispose();
      }
    });

    // supabase/pg-toolbelt#88
    it('names the remedy if its certificate has another name', async () => {
      const { error } = await start(url(`sslmode=verify-full&sslrootcert=${certificate('self-signed')}`, '127.0.0.1'));
      expect(error).toMatch(
        /cannot be reached: Hostname\/IP does not match .*\. Use a name of its certificate in DATABASE_URL/,
      );
    });

    it('names the file that cannot be read', async () => {
      const { error } = await start(url('sslmode=require&sslrootcert=/nonexistent/ca.pem'));
      expect(error).toMatch(
        /no such file or directory, open '\/nonexistent\/ca.pem'. Check the files that DATABASE_URL names$/,
      );
    });

    it.each([
      ['expired', /certificate has expired\. Renew its certificate/],
      ['other-host', /does not match .*\. Use a name of its certificate/],
    ])('names the remedy for the certificate %s', async (name, expected) => {
      const file = await serve(name);
      const other = path.join(folder, name);
      await rm(other, { recursive: true, force: true });
      execFileSync('install', ['-d', '-o', USER, other]);
      const second = await startSystemPostgres(other, USER, [
        ...['-c ssl=on', `-c ssl_cert_file=${file}`, `-c ssl_key_file=${path.join(folder, 'key.pem')}`],
      ]);
      try {
        const address = second.createDatabase('vat').replace('127.0.0.1', 'localhost');
        const { error } = await start(`${address}?sslmode=require&sslrootcert=${certificate(name)}`);
        expect(error).toMatch(expected);
      } finally {
        second.stop();
      }
    });
  });

  it('is reached by its socket, in both forms', async () => {
    const socket = path.join(folder, 'cluster');
    const name = new URL(database()).pathname.slice(1);
    for (const url of [
      `postgresql://vat@:${server.port}/${name}?host=${socket}`,
      `postgresql://vat@${encodeURIComponent(socket)}:${server.port}/${name}`,
    ]) {
      expect(await start(url)).toEqual({ warnings: [], error: undefined });
    }
  });

  // windmill-labs/windmill#9722, sqlx transact-rs/sqlx#4105, cloudnative-pg/cloudnative-pg#1254, ubicloud/ubicloud#5433
  it('as a standby is waited for until it is promoted, also with serializable transactions', async () => {
    const url = new URL(database());
    await sql(
      url.toString(),
      `ALTER DATABASE ${url.pathname.slice(1)} SET default_transaction_isolation = 'serializable'`,
    );
    const standby = await server.startStandby('standby');
    try {
      url.port = String(standby.port);
      const write = jest.fn();
      const checked = checkDatabaseServer(url.toString(), pino({ level: 'warn' }, { write }));
      await until('the start waits', () => write.mock.calls.length > 0);
      standby.promote();
      await checked;
      expect(write.mock.calls).toEqual([
        [
          expect.stringMatching(
            /is a standby, which is read-only\. Set DATABASE_URL to the primary server\. Waiting up to/,
          ),
        ],
      ]);
    } finally {
      standby.stop();
    }
  });

  // SwiftPackageIndex/SwiftPackageIndex-Server#1001, dimitri/pgcopydb#8: a provider's administrator creates the extension
  it('takes a backup with the documented commands, also where pg_trgm belongs to another role', async () => {
    const url = database();
    await migrate(createDataSource(url, 2));
    const restored = new URL(database());
    await sql(restored.toString(), `CREATE ROLE restorer LOGIN`);
    await sql(restored.toString(), `ALTER DATABASE ${restored.pathname.slice(1)} OWNER TO restorer`);
    await sql(restored.toString(), `CREATE EXTENSION pg_trgm`);
    restored.username = 'restorer';
    for (const [program, address] of [
      ['pg_dump', url],
      ['pg_restore', restored.toString()],
    ] as const)
      execFileSync('bash', ['-c', documentedCommand(PROJECT_ROOT, program)], {
        cwd: folder,
        env: { ...process.env, DATABASE_URL: address },
      });
    expect(await sql(restored.toString(), `SELECT count(*)::int AS agents FROM agents`)).toEqual([{ agents: 0 }]);
  });

  it('warns once, with both numbers, if the role allows fewer connections than the processes may open', async () => {
    const url = new URL(database());
    await sql(url.toString(), `CREATE ROLE few LOGIN CONNECTION LIMIT 30`);
    await sql(url.toString(), `ALTER DATABASE ${url.pathname.slice(1)} OWNER TO few`);
    url.username = 'few';
    const service = await ServiceProcess.start({ DATABASE_URL: url.toString(), ...callEnv('http://127.0.0.1:9') });
    try {
      await service.waitForOutput('Running jobs and calls|"name":"worker"');
      const lines = service.output.split('\n').filter((line) => line.includes('may open'));
      expect(lines).toEqual([
        expect.stringContaining(
          'The processes of the service may open 52 connections to the database, but the role allows 30: raise that limit, or lower DATABASE_POOL_SIZE',
        ),
      ]);
    } finally {
      service.child.kill('SIGTERM');
      await service.waitForExit();
      await service.dispose();
    }
  });
});
