import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { agentBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { programArguments } from '../support/program.js';
import { freePort } from '../support/redis.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);

const KEY = 'environment-test-key-0123456789';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'environment-'));
  // PostgreSQL, which does not run as root, must reach its data.
  chmodSync(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));

/** What a machine sets for other programs: all that libpq, node-postgres and graphile-worker read. */
const OF_OTHERS = {
  // brianc/node-postgres#3386, #436, ooni/explorer-legacy#1
  ...{
    PGSSLMODE: 'require',
    PGSSLROOTCERT: '/nowhere',
    PGSSLCERT: '/nowhere',
    PGSSLKEY: '/nowhere',
    PGGSSENCMODE: 'require',
  },
  // brianc/node-postgres#545, graphile/crystal#348, ikalnytskyi/action-setup-postgres#13
  ...{
    PGHOST: '192.0.2.1',
    PGHOSTADDR: '192.0.2.1',
    PGPORT: '1',
    PGUSER: 'other',
    PGPASSWORD: 'other',
    PGDATABASE: 'other',
  },
  ...{
    PGPASSFILE: '/nowhere',
    PGSERVICE: 'other',
    PGSERVICEFILE: '/nowhere',
    PGDATA: '/nowhere',
    PGSYSCONFDIR: '/nowhere',
  },
  // brianc/node-postgres#1482
  ...{
    PGOPTIONS: '-c search_path=other -c default_transaction_read_only=on',
    PGTZ: 'Asia/Tokyo',
    PGDATESTYLE: 'German',
  },
  ...{ PGCLIENTENCODING: 'LATIN1', PGCLIENT_ENCODING: 'LATIN1', PGREPLICATION: 'database', PGCONNECT_TIMEOUT: '1' },
  ...{ PGTARGETSESSIONATTRS: 'standby', PGREQUIREAUTH: 'none', PGCHANNELBINDING: 'require', PGAPPNAME: 'other' },
  // brianc/node-postgres#1894
  NODE_PG_FORCE_NATIVE: '1',
  ...{ GRAPHILE_WORKER_SCHEMA: 'other', GRAPHILE_LOGGER_DEBUG: '1', NO_LOG_SUCCESS: '1' },
};

it('variables of PostgreSQL that a machine sets for other programs have no effect on the embedded database', async () => {
  const service = await ServiceProcess.start({
    ...OF_OTHERS,
    DATABASE_URL: '',
    DATA_DIR: folder,
    BOOTSTRAP_API_KEY: KEY,
  });
  try {
    await until(
      'it is ready, or has ended',
      () => service.exit !== undefined || /Process worker .* is ready/.test(service.output),
      90_000,
    );
    expect([service.exit, service.output.split('\n').filter((line) => !line.startsWith('{'))]).toEqual([
      undefined,
      [''],
    ]);
    const client = new HttpClient(service.url, KEY);
    expect((await client.post('/agents', agentBody({ name: 'ä € 🙂' }))).body.data).toMatchObject({ name: 'ä € 🙂' });
    const { stdout } = spawnSync(
      process.execPath,
      [...programArguments('src/admin/main.ts'), 'workspace', 'list', '--json'],
      {
        cwd: PROJECT_ROOT,
        encoding: 'utf8',
        env: { ...process.env, ...OF_OTHERS, DATABASE_URL: '', DATA_DIR: folder },
      },
    );
    expect(JSON.parse(stdout)).toHaveLength(1);
    service.child.kill('SIGTERM');
    expect(await service.waitForExit()).toEqual({ code: 0, signal: null });
  } finally {
    await service.dispose();
  }
});

/** The settings that the service reads of a file .env. */
function settingsOf(file: Buffer): { status: number | null; output: string; env: Record<string, string> } {
  const name = path.join(folder, '.env');
  writeFileSync(name, file);
  const [flags, program] = [
    programArguments('').slice(0, -1),
    programArguments('src/bootstrap/environment.ts').at(-1)!,
  ];
  const script = 'process.stdout.write(JSON.stringify(process.env))';
  const args = [`--env-file=${name}`, ...flags, '--import', path.resolve(PROJECT_ROOT, program), '--eval', script];
  const env = { PATH: process.env['PATH'], HOME: '/', HOST: 'of the environment' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: PROJECT_ROOT, encoding: 'utf8', env });
  return { status, output: stderr, env: stdout === '' ? {} : (JSON.parse(stdout) as Record<string, string>) };
}

const BOM = '\uFEFF';
const TWO = { PORT: '4000', DATA_DIR: 'a b' };
// oven-sh/bun#34002, motdotla/dotenv#1041, docker/compose#5220, nektos/act#2638, navali-creations/soothsayer#139
it.each([
  ['a byte order mark', `${BOM}PORT=4000\nDATA_DIR="a b"\n`, TWO],
  ['a byte order mark and CRLF', `${BOM}PORT=4000\r\nDATA_DIR="a b"\r\n`, TWO],
  ['a byte order mark before a comment', `${BOM}# Settings\nPORT=4000\nDATA_DIR="a b"\n`, TWO],
  ['a byte order mark before comments with "="', `${BOM}# A=1\n# PORT=5000\n\nPORT=4000\nDATA_DIR="a b"\n`, TWO],
  ['a byte order mark before an empty line', `${BOM}\r\n\r\nPORT=4000\r\nDATA_DIR="a b"\r\n`, TWO],
  ['a byte order mark before a commented setting', `${BOM}#PORT=5000\nPORT=4000\nDATA_DIR="a b"\n`, TWO],
  ['nothing but a byte order mark', BOM, {}],
  ['a setting of the environment', `${BOM}HOST=of the file\nPORT=4000\n`, { HOST: 'of the environment', PORT: '4000' }],
])('a file .env with %s is read', (_, text, expected) => {
  const { status, output, env } = settingsOf(Buffer.from(text));
  expect([status, output]).toEqual([0, '']);
  expect(env).toMatchObject(expected);
  expect(Object.keys(env).filter((name) => !/^[A-Z_]+$/.test(name))).toEqual([]);
});

// motdotla/dotenv#445, subosito/gotenv#25, appwrite/console#3186: PowerShell's redirection.
it.each(['utf16le', 'utf16be'])('a file .env in %s is refused in one line', (encoding) => {
  const file = Buffer.from(`${BOM}PORT=4000\r\nDATA_DIR=a\r\n`, 'utf16le');
  const { status, output } = settingsOf(encoding === 'utf16le' ? file : file.swap16());
  expect([status, output]).toEqual([
    1,
    'The file .env is not in UTF-8 (Windows PowerShell writes UTF-16). Save it as UTF-8\n',
  ]);
});

/** Whether an ordinary user could run this project. */
function isProjectInReach(): boolean {
  for (let at = PROJECT_ROOT; ; at = path.dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

/** Has no entry in /etc/passwd. */
const UNKNOWN = 4_000_000;
const canSwitch = process.getuid?.() === 0 && process.platform === 'linux' && isProjectInReach();
if (!canSwitch)
  process.stderr.write('skipped: a user without a home needs root on Linux, and a project that others can reach\n');

// libuv/libuv#810, puppeteer/puppeteer#9230, containers/crun#599, truenas/apps#5272
(canSwitch ? it : it.skip)('a user without HOME and without an entry in /etc/passwd starts the service', async () => {
  const database = await createTestDatabase();
  const port = await freePort();
  chownSync(folder, UNKNOWN, UNKNOWN);
  const child = spawn(process.execPath, programArguments('src/main.ts'), {
    ...{ cwd: PROJECT_ROOT, uid: UNKNOWN, gid: UNKNOWN, stdio: ['ignore', 'pipe', 'pipe'] },
    env: {
      ...{
        PATH: process.env['PATH'],
        HOST: '127.0.0.1',
        PORT: String(port),
        DATABASE_URL: database.url,
        DATA_DIR: folder,
      },
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += String(text)));
  try {
    await until(
      `it is ready\n${output}`,
      () => child.exitCode !== null || /Process worker .* is ready/.test(output),
      60_000,
    );
    expect(output).not.toMatch(/ENOENT|^ +at /m);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  } finally {
    child.kill('SIGTERM');
    await until('it has ended', () => child.exitCode !== null, 30_000);
    await database.drop();
  }
});
