import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../support/redis.js';

/** Where Debian installs the programs of each version. */
const VERSIONS = '/usr/lib/postgresql';

/** A PostgreSQL server of the operating system, with its client programs, for the commands of docs/production.md. */
export interface SystemPostgres {
  createDatabase(name: string): string;
  stop(): void;
}

/** Why no such server can be started; undefined if it can. */
export function postgresUnavailableReason(): string | undefined {
  if (existsSync(VERSIONS) && binaries() !== undefined) return undefined;
  return `no PostgreSQL found in ${VERSIONS} (install Debian's postgresql)`;
}

const binaries = (): string | undefined =>
  readdirSync(VERSIONS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => path.join(VERSIONS, version, 'bin'))
    .find((folder) => existsSync(path.join(folder, 'initdb')) && existsSync(path.join(folder, 'pg_dump')));

/** @param folder empty, of the user who runs the server */
export async function startSystemPostgres(folder: string, user: string): Promise<SystemPostgres> {
  const bin = binaries()!;
  const id = (flag: string) => execFileSync('id', [flag, user], { encoding: 'utf8' }).trim();
  const asUser = (program: string, ...words: string[]) => {
    const who = [`--reuid=${id('-u')}`, `--regid=${id('-g')}`, '--clear-groups'];
    execFileSync('setpriv', [...who, path.join(bin, program), ...words], { cwd: folder, stdio: 'ignore' });
  };
  const [data, port] = [path.join(folder, 'cluster'), await freePort()];
  asUser('initdb', '--pgdata', data, '--username', 'vat', '--auth', 'trust', '--encoding', 'UTF8');
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
  asUser('pg_ctl', '--pgdata', data, '--wait', '--log', path.join(folder, 'log'), '--options', options, 'start');
  const server = `postgres://vat@127.0.0.1:${port}`;
  return {
    createDatabase(name) {
      execFileSync(path.join(bin, 'createdb'), ['--maintenance-db', `${server}/postgres`, name]);
      return `${server}/${name}`;
    },
    stop: () => asUser('pg_ctl', '--pgdata', data, '--wait', '--mode', 'fast', 'stop'),
  };
}

/** The command of docs/production.md that begins with a word; a document without exactly one is an error. */
export function documentedCommand(root: string, word: string): string {
  const text = readFileSync(path.join(root, 'docs/production.md'), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const [command, ...others] = blocks.filter((block) => block.startsWith(`${word} `));
  if (command === undefined || others.length > 0) throw new Error(`docs/production.md has not one block of ${word}`);
  return command;
}
