/**
 * Executes the steps of Dockerfile and compose.yaml in empty folders, as far as a machine without a container engine can:
 * builds the image's stages, runs its command as an ordinary user on the embedded database, executes the commands of
 * docs/production.md that back up and restore, and runs the services of compose.yaml on PostgreSQL and Redis. Ends with 1 at the first failure.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbeddedPostgres } from '../../libs/embedded-postgres/index.js';
import { freePort, startRedis } from '../support/redis.js';
import { readCompose } from './compose.js';
import { buildImage, copyContext, type Image } from './dockerfile.js';
import { postgresUnavailableReason, startSystemPostgres } from '../support/system-postgres.js';
import { documentedCommand } from './documented-command.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const START_MS = 90_000;
const DATABASE = 'voice_agent_testing';
const running = new Set<ChildProcess>();
const scratch = mkdtempSync(path.join(tmpdir(), 'production-'));
// The ordinary user reads it.
chmodSync(scratch, 0o755);

const folder = (name: string): string => {
  const created = path.join(scratch, name);
  mkdirSync(created, { recursive: true });
  return created;
};

/** A container: a process of the image's user with its own settings and nothing else. */
class Container {
  output = '';
  readonly ended: Promise<unknown>;
  private readonly child: ChildProcess;

  constructor(
    private readonly image: Image,
    private readonly env: Readonly<Record<string, string>>,
  ) {
    this.child = spawn('setpriv', this.words(image.command), { cwd: image.folder, env: this.environment });
    running.add(this.child);
    this.child.stdout?.on('data', (text) => (this.output += String(text)));
    this.child.stderr?.on('data', (text) => (this.output += String(text)));
    this.ended = once(this.child, 'exit').then(() => running.delete(this.child));
  }

  get url(): string {
    return `http://127.0.0.1:${this.env['PORT']}`;
  }

  /** Waits until the image's health check succeeds. */
  async healthy(): Promise<void> {
    await this.until('its health check', () => {
      const check = spawnSync('setpriv', this.words(this.image.healthCheck), { env: this.environment });
      return check.status === 0;
    });
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    for (const deadline = Date.now() + START_MS; !holds(); await sleep(250)) {
      if (this.child.exitCode !== null || Date.now() > deadline) throw new Error(`${what} failed:\n${this.output}`);
    }
  }

  /** Ends as `docker stop` does. @throws Error unless it ends with 0 */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ended;
    if (this.child.exitCode !== 0) throw new Error(`Ended with ${this.child.exitCode}:\n${this.output}`);
  }

  private get environment(): NodeJS.ProcessEnv {
    return { PATH: process.env['PATH'], HOME: '/nonexistent', ...this.image.env, ...this.env };
  }

  private words(command: readonly string[]): string[] {
    const id = (flag: string) => execFileSync('id', [flag, this.image.user], { encoding: 'utf8' }).trim();
    return [`--reuid=${id('-u')}`, `--regid=${id('-g')}`, '--clear-groups', ...command];
  }
}

async function api<T>(url: string, key: string, body?: object): Promise<T> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(url, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

const AGENT = {
  provider: 'AGENT_PROVIDER_1',
  assistantId: 'assistant-1',
  apiKey: 'provider-key-1',
  name: 'Production',
};

/** One container on the embedded database; then a second one on a copy of its data. */
async function oneContainer(image: Image): Promise<void> {
  const settings = async (data: string) => ({ PORT: String(await freePort()), DATA_DIR: data });
  const data = path.join(image.folder, 'data');
  const first = new Container(image, await settings(data));
  await first.healthy();
  const key = readFileSync(path.join(data, 'first-admin-key'), 'utf8').trim();
  await api(`${first.url}/agents`, key, AGENT);
  for (const page of ['/docs', '/openapi.json', '/client.tgz']) {
    const { status } = await fetch(first.url + page);
    if (status !== 200) throw new Error(`${page}: ${status}`);
  }
  if (first.output.includes('only this machine')) throw new Error('The image does not set HOST');
  await first.stop();
  console.log('One container: healthy as an ordinary user, serves its pages, stops with 0');

  execute(documentedCommand(ROOT, 'cp'), { cwd: image.folder });
  const copy = path.join(scratch, 'restored');
  execFileSync('mv', [path.join(image.folder, 'backup'), copy]);
  const second = new Container(image, await settings(copy));
  await second.healthy();
  await holdsAgent(second, key);
  await second.stop();
  console.log('Backup: a copy of DATA_DIR restores agents, keys and secrets');
}

function execute(command: string, { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> }): void {
  console.log(command.trim());
  execFileSync('bash', ['-euo', 'pipefail', '-c', command], { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
}

/** @throws Error unless the service has the agent with its secret in clear */
async function holdsAgent({ url }: Container, key: string): Promise<void> {
  const { data: agents } = await api<{ data: { name: string; apiKey: string }[] }>(`${url}/agents`, key);
  if (agents[0]?.apiKey !== AGENT.apiKey)
    throw new Error(`The backup does not hold the agent: ${JSON.stringify(agents)}`);
}

/** Dumps the database of a running service and restores it into an empty one; only the same keys can read it. */
async function dumped(image: Image): Promise<void> {
  const missing = postgresUnavailableReason();
  if (missing !== undefined) {
    if (process.env['REQUIRE_ALL_TESTS'] === 'true') throw new Error(missing);
    return console.log(`Not executed: pg_dump and pg_restore, because ${missing}`);
  }
  const [owned, work, data] = [folder('system-postgres'), folder('dump'), folder('dump-data')];
  execFileSync('chown', [image.user, owned, data]);
  const postgres = await startSystemPostgres(owned, image.user);
  try {
    const encryptionKey = () => `k1:${randomBytes(32).toString('base64')}`;
    const start = async (url: string, keys: string) =>
      new Container(image, {
        ...{ DATABASE_URL: url, ENCRYPTION_KEYS: keys, DATA_DIR: data },
        ...{ HOST: '127.0.0.1', PORT: String(await freePort()) },
      });
    const [url, keys] = [postgres.createDatabase('original'), encryptionKey()];
    const first = await start(url, keys);
    await first.healthy();
    const key = readFileSync(path.join(data, 'first-admin-key'), 'utf8').trim();
    await api(`${first.url}/agents`, key, AGENT);
    execute(documentedCommand(ROOT, 'pg_dump'), { cwd: work, env: { DATABASE_URL: url } });
    await first.stop();

    const restored = postgres.createDatabase('restored');
    execute(documentedCommand(ROOT, 'pg_restore'), { cwd: work, env: { DATABASE_URL: restored } });
    const other = await start(restored, encryptionKey());
    await other.ended;
    if (!/ENCRYPTION_KEYS/.test(other.output)) throw new Error(`Other keys are not refused:\n${other.output}`);
    const second = await start(restored, keys);
    await second.healthy();
    await holdsAgent(second, key);
    await second.stop();
  } finally {
    postgres.stop();
  }
  console.log('Backup: pg_dump and pg_restore restore agents, keys and secrets; other encryption keys are refused');
}

const SPEAK = `
  import { FliteEngine, soundOf } from './dist/libs/speech/index.js';
  const engine = new FliteEngine();
  const { words } = await engine.synthesise({ text: 'Good morning.', voice: 'slt' });
  await engine.close();
  console.log(words.length, (await soundOf('cough', 'slt')).pcm.length);`;

/** The embedded voices and the files of sounds are in the image. */
function speaks(image: Image): void {
  const args = ['--input-type=module', '--eval', SPEAK];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: image.folder, encoding: 'utf8' });
  if (stdout !== '2 2800\n') throw new Error(`The image cannot speak: ${stdout}${stderr}`);
  console.log('Voices: the image speaks and has the sounds of a caller');
}

/** The image, and so the build, has only what the service and `vat` load. */
function hasNoTests(image: Image): void {
  const files = readdirSync(path.join(image.folder, 'dist'), { recursive: true }).map(String);
  const tests = files.filter((file) => /^test(\/|$)|simulators|\/testing\/|\.spec\.js$/.test(file));
  if (tests.length > 0) throw new Error(`The image contains tests or simulators: ${tests.slice(0, 5).join(', ')}`);
  console.log('Files: the image contains neither tests nor simulators');
}

/** The services of compose.yaml, with a real PostgreSQL and Redis in place of their containers. */
async function composed(image: Image): Promise<void> {
  const postgres = await openEmbeddedPostgres({ directory: folder('postgres') });
  await postgres.createDatabase(DATABASE);
  const databaseUrl = postgres.url(DATABASE);
  const redis = await startRedis();
  try {
    const encryptionKey = `k1:${randomBytes(32).toString('base64')}`;
    const file = { POSTGRES_PASSWORD: 'secret', ENCRYPTION_KEYS: encryptionKey, PUBLIC_URL: 'https://vat.example.com' };
    const services = readCompose(ROOT, file);
    const shared = folder('shared');
    execFileSync('chown', [image.user, shared]);
    const containers: Container[] = [];
    for (const { name, environment } of services) {
      const container = new Container(image, {
        ...environment,
        DATABASE_URL: databaseUrl,
        REDIS_URL: redis.url,
        DATA_DIR: shared,
        HOST: '127.0.0.1',
        PORT: String(await freePort()),
      });
      containers.push(container);
      if (environment['ROLE'] === 'api') await container.healthy();
      else
        await container.until(`the start of ${name}`, () =>
          /"msg":"[^"]*(ready|started|Running jobs)/i.test(container.output),
        );
      console.log(`${name}: started`);
    }
    const [one, two] = containers as [Container, Container];
    const key = readFileSync(path.join(shared, 'first-admin-key'), 'utf8').trim();
    const { data: agent } = await api<{ data: { id: string } }>(`${one.url}/agents`, key, AGENT);
    await api(`${two.url}/agents/${agent.id}`, key);
    for (const container of containers.reverse()) await container.stop();
    console.log('compose.yaml: two API and two worker processes share database, Redis and volume, and stop with 0');
  } finally {
    await redis.kill();
    await postgres.close();
  }
}

try {
  const context = folder('context');
  copyContext(ROOT, context);
  const image = buildImage(context, folder('stages'));
  speaks(image);
  hasNoTests(image);
  await oneContainer(image);
  await dumped(image);
  await composed(image);
} finally {
  for (const child of running) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
}
