import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { openEmbeddedPostgres } from '../index.js';
import { isAlive, readPostmaster } from '../pg-ctl.js';

/** Helpers of the specs: folders, servers and processes that are removed after every test. */

/** Settings that make temporary servers fast. */
export const FAST = { fsync: 'off', shared_buffers: '16MB' };

const folders: string[] = [];
const children: ChildProcess[] = [];

/**
 * @param mode 0o755: ordinary users can enter it; 0o700: they cannot
 * @returns a new folder below the system's temporary folder
 */
export function newFolder(mode = 0o755): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-postgres-')));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

let template: string | undefined;

/** @returns a new folder with the data of a closed server: a copy is faster than initdb */
export async function newServerFolder(): Promise<string> {
  if (!template) {
    const made = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-postgres-template-')));
    chmodSync(made, 0o755);
    await (await openEmbeddedPostgres({ directory: made, parameters: FAST })).close();
    template = made;
  }
  const folder = newFolder();
  // Keeps the owners, unlike fs.cp.
  execFileSync('cp', ['-a', `${template}/.`, folder]);
  return folder;
}

/** Call after all tests of a spec that uses newServerFolder. */
export function removeTemplate(): void {
  if (template) rmSync(template, { recursive: true, force: true });
}

/** Whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat[stat.lastIndexOf(')') + 2] !== 'Z';
  } catch {
    return process.platform !== 'linux';
  }
}

/** The process id of the server that runs in the folder, if any. */
export function serverPid(directory: string): number | undefined {
  const pid = readPostmaster(join(directory, 'data'))?.pid;
  return pid && isRunning(pid) ? pid : undefined;
}

/** Waits until the condition holds. */
export async function until(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition.toString()}`);
    await sleep(5);
  }
}

/** Waits for the end of a process. */
export async function untilGone(pid: number): Promise<void> {
  await until(() => !isRunning(pid));
}

/** Ends the processes and servers of a test and removes its folders. */
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
    // Orphans of initdb or of a killed server may still be writing.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Another process that runs testing/child.ts. */
export interface Child {
  pid: number;
  /** the next reported line */
  next(): Promise<Record<string, unknown>>;
  /** starts its next step */
  go(): void;
  /** kill -9; waits until it has ended */
  kill(): Promise<void>;
  ended: Promise<unknown>;
}

/** Starts testing/child.ts with a mode and its arguments. */
export function startChild(...given: string[]): Child {
  return startChildAs({}, ...given);
}

/** The same as another user, for root. */
export function startChildAs(user: { uid?: number; gid?: number }, ...given: string[]): Child {
  const script = fileURLToPath(new URL('./child.js', import.meta.url));
  const child = spawn(process.execPath, [script, ...given], {
    ...user,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  // The process may have ended already.
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  return {
    pid: child.pid!,
    ended,
    async next() {
      const { value, done } = await lines.next();
      if (done) throw new Error('the process ended without a report');
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

/** A process that has ended but that its parent does not reap. */
export async function startZombie(): Promise<{ pid: number; end(): void }> {
  // `exec` replaces the shell, which would reap its child, by a program that does not.
  const parent = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(parent);
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(chunk.toString());
  await untilGone(pid);
  process.kill(pid, 0);
  return { pid, end: () => void parent.kill('SIGKILL') };
}

/** Runs one statement on a new connection. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Reports why a test cannot run here. */
export function skipped(reason: string): void {
  process.stderr.write(`skipped: ${reason}\n`);
}
