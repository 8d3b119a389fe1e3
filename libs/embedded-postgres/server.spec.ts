import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { sample, shareOf } from '../statistics/testing/sample.js';
import { EmbeddedPostgresError, openEmbeddedPostgres, type EmbeddedPostgres } from './index.js';
import {
  cleanUp,
  FAST,
  isRunning,
  newFolder,
  newServerFolder,
  query,
  removeTemplate,
  serverPid,
  startChild,
  startOpener,
  startZombie,
  until,
  untilGone,
} from './testing/processes.js';

afterEach(cleanUp);
afterAll(removeTemplate);

const open = (directory: string, parameters: Record<string, string> = {}): Promise<EmbeddedPostgres> =>
  openEmbeddedPostgres({ directory, parameters: { ...FAST, ...parameters } });

const portOf = (server: EmbeddedPostgres): string => new URL(server.url('x')).port;

describe('first start of the embedded PostgreSQL', () => {
  it('creates a server that listens on loopback only and requires the generated password', async () => {
    const messages: string[] = [];
    const directory = join(newFolder(), 'deep/inside/postgres');
    const server = await openEmbeddedPostgres({ directory, parameters: FAST, log: (line) => messages.push(line) });
    const password = readFileSync(join(directory, 'password'), 'utf8').trim();
    expect(password).toMatch(/^[\w-]{32}$/);
    expect(statSync(join(directory, 'password')).mode & 0o777).toBe(0o600);
    expect(server.url('a b')).toBe(`postgresql://postgres:${password}@127.0.0.1:${portOf(server)}/a%20b`);
    expect(messages.join()).not.toContain(password);
    expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain(password);

    const wrong = server.url('postgres').replace(password, 'postgres');
    await expect(query(wrong, 'select 1')).rejects.toThrow('password authentication failed');
    const settings = await query(
      server.url('postgres'),
      `select current_setting('listen_addresses') addresses, current_setting('unix_socket_directories') sockets,
         current_setting('server_encoding') encoding, current_setting('max_connections') connections,
         current_setting('shared_buffers') buffers, current_setting('timezone') zone,
         (select datlocprovider::text || datlocale from pg_database where datname = 'template0') locale,
         lower('ÄÉ') lower, (select string_agg(distinct auth_method, ',') from pg_hba_file_rules) methods`,
    );
    expect(settings).toEqual([
      {
        addresses: '127.0.0.1',
        sockets: '',
        encoding: 'UTF8',
        connections: '200',
        buffers: '16MB',
        zone: 'UTC',
        locale: 'bC.UTF-8',
        lower: 'äé',
        methods: 'scram-sha-256',
      },
    ]);
    await server.close();
    await server.close();
    await untilGone(server.pid);
    expect(readdirSync(directory).sort()).toEqual(['data', 'password', 'server.log']);
  });

  it('keeps data across restarts and ignores databases that already exist', async () => {
    const directory = newFolder();
    const first = await open(directory);
    const names = ['app', 'Odd "name"', 'ünï'];
    await Promise.all([...names, ...names, ...names].map((name) => first.createDatabase(name)));
    await query(first.url('Odd "name"'), 'create table t as select 42 as answer');
    await first.close();
    expect(serverPid(directory)).toBeUndefined();

    const began = performance.now();
    const second = await open(directory);
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(second.adopted).toBe(false);
    expect(await query(second.url('Odd "name"'), 'select answer from t')).toEqual([{ answer: 42 }]);
    expect(await query(second.url('ünï'), 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.close();
  });

  it('starts over when the process was killed during initdb', async () => {
    const directory = join(newFolder(), 'postgres');
    const child = await startOpener(directory);
    child.go();
    await until(() => existsSync(directory) && readdirSync(directory).some((name) => name.startsWith('init-')));
    await until(() => {
      const name = readdirSync(directory).find((entry) => entry.startsWith('init-'));
      return name !== undefined && existsSync(join(directory, name, 'data/global'));
    });
    await child.kill();
    expect(existsSync(join(directory, 'data'))).toBe(false);
    const server = await open(directory);
    expect(await query(server.url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.close();
  });

  it('creates one server when several processes start at the same time', async () => {
    const directory = join(newFolder(), 'postgres');
    const children = await Promise.all([startOpener(directory), startOpener(directory), startOpener(directory)]);
    for (const child of children) child.go();
    const reports = await Promise.all(children.map((child) => child.next()));
    expect(new Set(reports.map(({ pid }) => pid)).size).toBe(1);
    expect(reports.filter(({ adopted }) => adopted === false)).toHaveLength(1);
    for (const child of children) child.go();
    expect(await Promise.all(children.map((child) => child.next()))).toEqual(children.map(() => ({ closed: true })));
    // They closed at the same time too: one of them has to stop the server.
    expect(serverPid(directory)).toBeUndefined();
    expect(readFileSync(join(directory, 'server.log'), 'utf8').match(/starting PostgreSQL/g)).toHaveLength(1);
  });
});

describe('running embedded PostgreSQL', () => {
  it('is joined after kill -9 of the process that started it', async () => {
    const directory = await newServerFolder();
    const child = await startOpener(directory);
    child.go();
    const { pid, url } = await child.next();
    await query(String(url), 'create table t as select 42 as answer');
    await child.kill();
    const server = await open(directory);
    expect(server).toMatchObject({ pid, adopted: true });
    expect(await query(server.url('postgres'), 'select answer from t')).toEqual([{ answer: 42 }]);
    // The killed process is not a client any more, so this one is the last.
    await server.close();
    await untilGone(Number(pid));
  });

  it('is stopped only by its last live client', async () => {
    const directory = await newServerFolder();
    const server = await open(directory);
    const again = await open(directory);
    const [polite, killed] = await Promise.all([startOpener(directory), startOpener(directory)]);
    polite.go();
    killed.go();
    expect(await polite.next()).toMatchObject({ pid: server.pid, adopted: true });
    expect(await killed.next()).toMatchObject({ pid: server.pid, adopted: true });
    await again.close();
    expect(serverPid(directory)).toBe(server.pid);
    await server.close();
    expect(serverPid(directory)).toBe(server.pid);
    await killed.kill();
    polite.go();
    expect(await polite.next()).toEqual({ closed: true });
    expect(serverPid(directory)).toBeUndefined();
  });

  it('runs in its own session, out of reach of Ctrl-C', async () => {
    const server = await open(await newServerFolder());
    const stat = readFileSync(`/proc/${server.pid}/stat`, 'utf8');
    const [, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    expect([Number(group), Number(session)]).toEqual([server.pid, server.pid]);
    await server.close();
  });

  it('can be opened while other processes close it', async () => {
    const directory = await newServerFolder();
    await (await open(directory)).close();
    const options = JSON.stringify({ directory, parameters: FAST });
    const children = Array.from({ length: 3 }, () => startChild('cycle', options, String(shareOf(8))));
    expect(await Promise.all(children.map((child) => child.next()))).toEqual(children.map(() => ({ done: true })));
    expect(serverPid(directory)).toBeUndefined();
  });

  it('is started again after a shutdown that is in progress', async () => {
    const directory = await newServerFolder();
    const server = await open(directory);
    const deaths: string[] = [];
    void server.stoppedUnexpectedly.then((reason) => deaths.push(reason.message));
    // A smart shutdown waits for the last connection, here that of `server`.
    const { pid } = server;
    process.kill(pid, 'SIGTERM');
    await until(() => /smart shutdown request/.test(readFileSync(join(directory, 'server.log'), 'utf8')));
    let isOpen = false;
    const opening = open(directory).finally(() => (isOpen = true));
    await sleep(300);
    expect(isOpen).toBe(false);
    process.kill(pid, 'SIGINT');
    const next = await opening;
    expect(next.pid).not.toBe(pid);
    await until(() => server.pid === next.pid);
    // Whether the interruption was noticed depends on timing.
    expect(deaths.filter((message) => !message.includes(`process ${pid}`))).toEqual([]);
    await Promise.all([server.close(), next.close()]);
    expect(serverPid(directory)).toBeUndefined();
  });
});

describe('killed embedded PostgreSQL', () => {
  it('reports an unexpected stop once and restarts on the same port', async () => {
    const directory = await newServerFolder();
    const server = await open(directory);
    const [port, pid] = [portOf(server), server.pid];
    await query(server.url('postgres'), 'create table t as select 42 as answer');
    const reasons: EmbeddedPostgresError[] = [];
    void server.stoppedUnexpectedly.then((reason) => reasons.push(reason));
    process.kill(pid, 'SIGKILL');
    await until(() => reasons.length > 0);
    expect(reasons[0]).toBeInstanceOf(EmbeddedPostgresError);
    expect(reasons[0]!.message).toMatch(/stopped unexpectedly \(process \d+\): its process was killed/);
    await expect(server.createDatabase('x')).rejects.toThrow(EmbeddedPostgresError);

    // `server` registers again, as a second process of the service would.
    const next = await open(directory);
    expect(next.adopted).toBe(false);
    expect(next.pid).not.toBe(pid);
    expect(portOf(next)).toBe(port);
    expect(await query(next.url('postgres'), 'select answer from t')).toEqual([{ answer: 42 }]);
    await until(() => server.pid === next.pid);
    await next.close();
    expect(serverPid(directory)).toBe(next.pid);
    await server.close();
    expect(serverPid(directory)).toBeUndefined();
    expect(reasons).toHaveLength(1);
  });

  it('restarts on the given port after an orderly stop, which leaves no trace of the old port', async () => {
    const directory = await newServerFolder();
    const server = await open(directory);
    const port = portOf(server);
    process.kill(server.pid, 'SIGINT');
    await server.stoppedUnexpectedly;
    await server.close();
    const next = await openEmbeddedPostgres({ directory, parameters: FAST, mustExist: true, port: Number(port) });
    expect(portOf(next)).toBe(port);
    await next.close();
  });

  it('can be closed after kill -9 of the postmaster', async () => {
    const directory = await newServerFolder();
    // Immediately, and after the stop was noticed.
    for (const wait of [0, 300]) {
      const server = await open(directory);
      process.kill(server.pid, 'SIGKILL');
      await sleep(wait);
      await expect(server.close()).resolves.toBeUndefined();
    }
  });

  it('does not report an unexpected stop when only a connection crashes', async () => {
    const server = await open(await newServerFolder());
    const reasons: unknown[] = [];
    void server.stoppedUnexpectedly.then((reason) => reasons.push(reason));
    const client = new Client({ connectionString: server.url('postgres') });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const lost = new Promise<void>((resolve) => client.on('end', resolve));
    process.kill(rows[0]!.pid, 'SIGKILL');
    await lost;
    const users = `select count(*)::int as n from pg_locks where locktype = 'advisory' and granted`;
    let seen = 0;
    for (let round = 0; round < 200 && !seen; round++) {
      seen = await query(server.url('postgres'), users).then(
        ([row]) => Number(row!.n),
        () => 0,
      );
      await sleep(20);
    }
    expect(seen).toBe(1);
    expect(reasons).toEqual([]);
    await server.close();
    await untilGone(server.pid);
  });

  it('starts despite a stale postmaster.pid', async () => {
    const directory = await newServerFolder();
    const file = join(directory, 'data/postmaster.pid');
    let server = await open(directory);
    const zombie = await startZombie();
    await untilGone(zombie.pid);
    const numbers = {
      'a dead process': '2147483646',
      'this very process': String(process.pid),
      'its parent': String(process.ppid),
      'process 1': '1',
      // A killed server in a container whose process 1 does not reap children.
      'a zombie': String(zombie.pid),
      'an empty file, as of a power cut': undefined,
      'a half-written file': 'x',
    };
    for (const number of sample(Object.values(numbers), 4)) {
      const text = readFileSync(file, 'utf8');
      process.kill(server.pid, 'SIGKILL');
      await untilGone(server.pid);
      await server.close();
      // Overwritten in place: its owner is the server's user.
      writeFileSync(file, number === undefined ? '' : text.replace(/^\d+/, number));
      server = await open(directory);
      expect(server.adopted).toBe(false);
    }
    await server.close();
    zombie.end();
  });

  it('waits for orphaned connections of a killed postmaster before it starts again', async () => {
    const directory = await newServerFolder();
    const server = await open(directory);
    const client = new Client({ connectionString: server.url('postgres') });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const orphan = rows[0]!.pid;
    // Stopped, it cannot notice that its postmaster is gone.
    process.kill(orphan, 'SIGSTOP');
    try {
      process.kill(server.pid, 'SIGKILL');
      await untilGone(server.pid);
      await server.close();
      const opening = open(directory);
      await sleep(700);
      expect(serverPid(directory)).toBeUndefined();
      process.kill(orphan, 'SIGCONT');
      await (await opening).close();
    } finally {
      if (isRunning(orphan)) process.kill(orphan, 'SIGCONT');
    }
  });
});

describe('embedded PostgreSQL with a removed folder', () => {
  it('is stopped by close', async () => {
    const directory = await newServerFolder();
    const server = await open(directory);
    rmSync(directory, { recursive: true, force: true });
    await server.close();
    await untilGone(server.pid);
    expect(existsSync(directory)).toBe(false);
  });
});

describe('start errors of the embedded PostgreSQL', () => {
  it('name the relevant line of the server log', async () => {
    const directory = await newServerFolder();
    const opening = open(directory, { no_such_setting: '1' });
    await expect(opening).rejects.toThrow(EmbeddedPostgresError);
    await expect(opening).rejects.toThrow(/does not start: .*unrecognized configuration parameter "no_such_setting"/);
    await (await open(directory)).close();
  });

  it('name the version of data from another major version', async () => {
    const directory = newFolder();
    mkdirSync(join(directory, 'data'));
    writeFileSync(join(directory, 'data/PG_VERSION'), '16\n');
    await expect(open(directory)).rejects.toThrow(
      /from PostgreSQL 16, but the embedded server is PostgreSQL 18.*pg_upgrade/,
    );
  });

  it('reject a data directory with foreign files, but not an empty one', async () => {
    const directory = newFolder();
    mkdirSync(join(directory, 'data'));
    writeFileSync(join(directory, 'data/precious'), randomUUID());
    await expect(open(directory)).rejects.toThrow(/not a PostgreSQL data directory/);
    rmSync(join(directory, 'data/precious'));
    await (await open(directory)).close();
  });

  it('report missing data that must exist, and create none', async () => {
    const directory = newFolder();
    await expect(openEmbeddedPostgres({ directory, mustExist: true })).rejects.toThrow(/data is missing or empty/);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('report a wrong or missing password file', async () => {
    const directory = await newServerFolder();
    await (await open(directory)).close();
    const file = join(directory, 'password');
    writeFileSync(file, 'wrong');
    await expect(open(directory)).rejects.toThrow(/does not accept the stored password/);
    expect(serverPid(directory)).toBeUndefined();
    rmSync(file);
    await expect(open(directory)).rejects.toThrow(/password .* is missing/);
  });

  it('report a file in place of the folder', async () => {
    const file = join(newFolder(), 'file');
    writeFileSync(file, '');
    await expect(open(file)).rejects.toThrow(EmbeddedPostgresError);
    await expect(open(join(file, 'postgres'))).rejects.toThrow(/DATA_DIR/);
  });
});
