import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openEmbeddedPostgres } from '../index.js';
import { inspectServer } from '../postmaster.js';
import { processStart } from '../process.js';

/** Helpers of the specs: folders, servers and processes that are gone when a test ends, whatever it did. */

/** Settings that make throw-away servers quick. */
export const FAST = { fsync: 'off', shared_buffers: '16MB' };

const folders: string[] = [];
const children: ChildProcess[] = [];

/**
 * @param mode 0o755: an ordinary user that root lends can reach it; 0o700: he cannot
 * @returns a new folder below the system's temporary folder
 */
export function newFolder(mode = 0o755): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-postgres-')));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

let template: string | undefined;

/** @returns a new folder with the data of a server that was set up and closed: quicker than to set it up each time */
export async function newServerFolder(): Promise<string> {
  if (!template) {
    const made = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-postgres-template-')));
    chmodSync(made, 0o755);
    await (await openEmbeddedPostgres({ directory: made, parameters: FAST })).close();
    template = made;
  }
  const folder = newFolder();
  // Keeps the owners, other than fs.cp.
  execFileSync('cp', ['-a', `${template}/.`, folder]);
  return folder;
}

/** For the end of a spec that has used newServerFolder. */
export function removeTemplate(): void {
  if (template) rmSync(template, { recursive: true, force: true });
}

/** The process number of the server that lives on this folder of ours, if any. */
export function serverPid(directory: string): number | undefined {
  const state = inspectServer(join(directory, 'data'));
  return state.kind === 'stopped' ? undefined : state.pid;
}

/** Waits until something holds; milliseconds. */
export async function until(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition.toString()}`);
    await sleep(5);
  }
}

/** Waits for the end of a process. */
export async function untilGone(pid: number): Promise<void> {
  await until(() => processStart(pid) === 'gone');
}

/** Ends everything that a test has left: its processes, the servers on its folders, the folders. */
export async function cleanUp(): Promise<void> {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const folder of folders.splice(0)) {
    for (const directory of [folder, join(folder, 'postgres')]) {
      const pid = serverPid(directory);
      if (!pid) continue;
      process.kill(pid, 'SIGKILL');
      await untilGone(pid);
    }
    // Orphans (of initdb, of a killed server) may still be writing their last.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Another process that runs testing/child.mjs. */
export interface Child {
  pid: number;
  /** the next line that it reports */
  next(): Promise<Record<string, unknown>>;
  /** lets it take its next step */
  go(): void;
  /** kill -9, and waits for its end */
  kill(): Promise<void>;
  ended: Promise<unknown>;
}

/** Starts testing/child.mjs with a mode and its arguments. */
export function startChild(...given: string[]): Child {
  return startChildAs({}, ...given);
}

/** The same as another user, for root. */
export function startChildAs(user: { uid?: number; gid?: number }, ...given: string[]): Child {
  const script = join(process.cwd(), 'libs/embedded-postgres/testing/child.mjs');
  const child = spawn(process.execPath, ['--import', '@swc-node/register/esm-register', script, ...given], {
    ...user,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  // It may be gone when it is told to go on.
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  return {
    pid: child.pid!,
    ended,
    async next() {
      const { value, done } = await lines.next();
      if (done) throw new Error('the process has ended without a word');
      return JSON.parse(value) as Record<string, unknown>;
    },
    go: () => void child.stdin.write('\n'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A process that is ready to open a server: its first line has been read. */
export async function startOpener(directory: string, user: { uid?: number; gid?: number } = {}): Promise<Child> {
  const child = startChildAs(user, 'open', JSON.stringify({ directory, parameters: FAST }));
  await child.next();
  return child;
}

/** A process that has ended but that its parent never reaps. */
export async function startZombie(): Promise<{ pid: number; end(): void }> {
  // It outlives the shell, which would reap it; the sleep that takes the shell's place does not.
  const parent = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(parent);
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(chunk.toString());
  await untilGone(pid);
  process.kill(pid, 0);
  return { pid, end: () => void parent.kill('SIGKILL') };
}

/** Runs one statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Says why a test cannot run here. */
export function skipped(reason: string): void {
  process.stderr.write(`skipped: ${reason}\n`);
}
