import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from './redis.js';

/** Where Debian installs the programs of each version. */
const VERSIONS = '/usr/lib/postgresql';
const PGBOUNCER = '/usr/sbin/pgbouncer';

/** A PostgreSQL server of the operating system, with its client programs. */
export interface SystemPostgres {
  readonly port: number;
  createDatabase(name: string, ...options: string[]): string;
  /** Starts a standby of this server, which answers reads. */
  startStandby(folder: string): Promise<Standby>;
  stop(): void;
}

export interface Standby {
  readonly port: number;
  promote(): void;
  stop(): void;
}

/** Why no such server can be started; undefined if it can. */
export function postgresUnavailableReason(): string | undefined {
  if (existsSync(VERSIONS) && binaries() !== undefined) return undefined;
  return `no PostgreSQL found in ${VERSIONS} (install Debian's postgresql)`;
}

/** The same for PgBouncer and its server. */
export const pgbouncerUnavailableReason = (): string | undefined =>
  existsSync(PGBOUNCER) ? postgresUnavailableReason() : `no ${PGBOUNCER} found (install Debian's pgbouncer)`;

const binaries = (): string | undefined =>
  readdirSync(VERSIONS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => path.join(VERSIONS, version, 'bin'))
    .find((folder) => existsSync(path.join(folder, 'initdb')) && existsSync(path.join(folder, 'pg_dump')));

const idOf = (flag: string, user: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
/** The words before a command that another user executes: neither program runs as root, who alone may do that. */
const asUser = (user: string): [string, ...string[]] =>
  process.getuid?.() === 0
    ? ['setpriv', `--reuid=${idOf('-u', user)}`, `--regid=${idOf('-g', user)}`, '--clear-groups']
    : ['env'];

/**
 * @param folder empty, of the user who runs the server
 * @param settings of the server, as arguments
 */
export async function startSystemPostgres(
  folder: string,
  user: string,
  settings: readonly string[] = [],
): Promise<SystemPostgres> {
  const bin = binaries()!;
  const run = (program: string, ...words: string[]) => {
    const [first, ...others] = asUser(user);
    execFileSync(first, [...others, path.join(bin, program), ...words], { cwd: folder, stdio: 'ignore' });
  };
  const start = async (data: string) => {
    const port = await freePort();
    const options = `-p ${port} -c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories=${data} ${settings.join(' ')}`;
    run('pg_ctl', '--pgdata', data, '--wait', '--log', `${data}.log`, '--options', options, 'start');
    return { port, stop: () => run('pg_ctl', '--pgdata', data, '--wait', '--mode', 'fast', 'stop') };
  };
  const data = path.join(folder, 'cluster');
  run('initdb', '--pgdata', data, '--username', 'vat', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync');
  const { port, stop } = await start(data);
  const server = `postgres://vat@127.0.0.1:${port}`;
  return {
    port,
    stop,
    createDatabase(name, ...options) {
      execFileSync(path.join(bin, 'createdb'), ['--maintenance-db', `${server}/postgres`, ...options, name]);
      return `${server}/${name}`;
    },
    async startStandby(name) {
      const copy = path.join(folder, name);
      run(
        'pg_basebackup',
        '--pgdata',
        copy,
        '--dbname',
        server,
        '--write-recovery-conf',
        '--checkpoint',
        'fast',
        '--no-sync',
      );
      const standby = await start(copy);
      return { ...standby, promote: () => run('pg_ctl', '--pgdata', copy, '--wait', 'promote') };
    },
  };
}

/** A PgBouncer in front of a server. */
export interface PgBouncer {
  readonly port: number;
  stop(): Promise<void>;
}

/** @param settings of the section `pgbouncer`, besides those of its place */
export async function startPgBouncer(
  folder: string,
  user: string,
  serverPort: number,
  settings: Readonly<Record<string, string>>,
): Promise<PgBouncer> {
  const port = Number(settings['listen_port'] ?? (await freePort()));
  mkdirSync(folder);
  const users = path.join(folder, 'users');
  writeFileSync(users, '"vat" ""\n');
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: users,
  };
  const lines = Object.entries({ ...all, ...settings }).map(([name, value]) => `${name} = ${value}`);
  const file = path.join(folder, 'pgbouncer.ini');
  writeFileSync(file, `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\n${lines.join('\n')}\n`);
  const [first, ...others] = asUser(user);
  const child = spawn(first, [...others, PGBOUNCER, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`PgBouncer ended:\n${output}`)));
    child.stderr.on('data', (text) => {
      output += String(text);
      if (output.includes('process up')) resolve();
    });
  });
  return {
    port,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Copies a certificate and its key to where a server of that user reads them. @returns settings of PostgreSQL */
export function tlsSettings(folder: string, user: string, certificates: string, name: string): string[] {
  const copy = (from: string, to: string) => {
    const file = path.join(folder, to);
    writeFileSync(file, readFileSync(path.join(certificates, from)));
    chmodSync(file, 0o600);
    chownSync(file, idOf('-u', user), idOf('-g', user));
    return file;
  };
  const [certificate, key] = [copy(`${name}.pem`, `${name}.pem`), copy('key.pem', 'key.pem')];
  return ['-c ssl=on', `-c ssl_cert_file=${certificate}`, `-c ssl_key_file=${key}`];
}
