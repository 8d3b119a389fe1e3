import { spawn } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { giveIfAllowed, type LaunchPlan } from './account.js';
import type { Binaries } from './binaries.js';
import type { Layout } from './cluster.js';
import { EmbeddedPostgresError, OWN_DATABASE } from './errors.js';
import { errorCode, findServerOn, isProcess, isServerOn, POLL_MS, processStart } from './process.js';
import { logSize, readLogSince, trimLog } from './server-log.js';

/** A live server process. */
export interface ServerProcess {
  pid: number;
  /** see processStart */
  start: string | undefined;
  port: number;
}

export type PidFileRemains = 'stale' | 'misleading' | 'unreadable';

/** What is going on on a data folder. */
export type ServerState =
  | ({ kind: 'starting' | 'ready' | 'stopping' } & ServerProcess)
  /**
   * port: the one that a crashed server had; number: what its pid file says.
   * remains: the pid file that it has left; its number may be free, in use by a stranger or a zombie, or missing
   */
  | { kind: 'stopped'; port?: number; number?: number; remains?: PidFileRemains };

/** A pid file is written in two steps; for so long (milliseconds) an empty one may be of a server that is just starting. */
const YOUNG_MS = 2000;

/** A number that no process has: the largest one that PostgreSQL can read. */
const NO_PROCESS = '2147483647';

const pidFileOf = (dataFolder: string): string => join(dataFolder, 'postmaster.pid');

/**
 * Looks at postmaster.pid and at the process that it names.
 *
 * @throws file system errors other than a missing file
 */
export function inspectServer(dataFolder: string): ServerState {
  let text: string;
  let age: number;
  try {
    text = readFileSync(pidFileOf(dataFolder), 'utf8');
    age = Date.now() - statSync(pidFileOf(dataFolder)).mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return { kind: 'stopped' };
    throw error;
  }
  // Lines: pid, folder, start time, port, socket folder, address, shared memory, status.
  const lines = text.split('\n');
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  const port = Number.parseInt(lines[3] ?? '', 10) || 0;
  if (!pid) {
    const writer = findServerOn(dataFolder);
    if (writer) return { kind: 'starting', pid: writer, start: processStart(writer), port };
    if (age >= 0 && age < YOUNG_MS) return { kind: 'starting', pid: 0, start: undefined, port };
    return { kind: 'stopped', remains: 'unreadable' };
  }
  const start = processStart(pid);
  if (start === 'gone' || !isServerOn(pid, dataFolder)) {
    return { kind: 'stopped', port, number: pid, remains: isNumberInUse(pid) ? 'misleading' : 'stale' };
  }
  const status = lines[7]?.trim();
  const kind = status === 'ready' ? 'ready' : status === 'stopping' ? 'stopping' : 'starting';
  return { kind, pid, start, port };
}

/** As PostgreSQL sees it: a zombie counts, even one that is never reaped (node as process 1 of a container). */
function isNumberInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/**
 * Makes a pid file harmless that would keep the server from starting although it names no server. The caller holds the
 * lock and has just found the server stopped.
 *
 * A file that names a dead process is left to PostgreSQL, and of a misleading one only the number is changed: from the
 * rest PostgreSQL learns whether orphans of a killed server still use its shared memory, in which case it must not
 * start.
 */
export function disarmPidFile(dataFolder: string, found: ServerState & { kind: 'stopped' }): void {
  const path = pidFileOf(dataFolder);
  if (found.remains === 'unreadable') unlinkSync(path);
  if (found.remains !== 'misleading') return;
  // A server whose starter was killed may be replacing the file at this moment: what is written through the open file
  // then goes nowhere. It is changed in place also because a new file would belong to root, unreadable to the server.
  const file = openSync(path, 'r+');
  try {
    const text = readFileSync(file, 'utf8');
    if (Number.parseInt(text, 10) !== found.number) return;
    const changed = Buffer.from(text.replace(/^[^\n]*/, NO_PROCESS));
    writeSync(file, changed, 0, changed.length, 0);
    ftruncateSync(file, changed.length);
  } finally {
    closeSync(file);
  }
}

/**
 * A port of 127.0.0.1 that nobody uses at this moment.
 *
 * @param preferred taken if it is free: after a crash the pools of other processes find the server where it was
 * @throws EmbeddedPostgresError when there is none
 */
export async function findPort(preferred: number | undefined): Promise<number> {
  const port = (preferred && (await tryPort(preferred))) || (await tryPort(0));
  if (port) return port;
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot be started: no port of 127.0.0.1 can be opened. ` +
      `Bring up the loopback interface and allow it, or ${OWN_DATABASE}.`,
  );
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(undefined));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}

/** Settings for a small service. `port` and `listen_addresses` are not for the caller to change. */
const DEFAULT_PARAMETERS: Readonly<Record<string, string>> = {
  shared_buffers: '128MB',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Errors of statements reach the service itself; statements and values may be private and would swell the log.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  // The binaries come without LLVM.
  jit: 'off',
  // Containers have only 64 MB of /dev/shm, and systemd empties a user's share of it when he logs out.
  dynamic_shared_memory_type: 'mmap',
  max_parallel_workers_per_gather: '0',
};

/** A server that this process has started. */
export interface Launch {
  pid: number | undefined;
  port: number;
  /** once it has ended: exit code, signal name or error code */
  ended: () => number | string | undefined;
  /** what it has written since its start */
  log: () => string;
}

/**
 * Starts the server in a session of its own (Ctrl-C on the terminal must not reach it before the service has drained
 * its requests) and independent of this process's life.
 */
export function launchServer(
  layout: Layout,
  binaries: Binaries,
  plan: LaunchPlan,
  settings: { port: number; env: NodeJS.ProcessEnv; parameters: Readonly<Record<string, string>> },
): Launch {
  const parameters = {
    ...DEFAULT_PARAMETERS,
    ...settings.parameters,
    listen_addresses: '127.0.0.1',
    port: String(settings.port),
    unix_socket_directories: '',
    // Otherwise the messages would not arrive in the file that is read here.
    logging_collector: 'off',
    log_destination: 'stderr',
  };
  trimLog(layout.log);
  const offset = logSize(layout.log);
  const log = openSync(layout.log, 'a', 0o600);
  try {
    giveIfAllowed(layout.log, layout.owner);
    const command = [
      ...plan.prefix,
      binaries.postgres,
      '-D',
      layout.data,
      ...Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ];
    let ended: number | string | undefined;
    const child = spawn(command[0]!, command.slice(1), {
      env: settings.env,
      ...plan.identity,
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.on('error', (error) => (ended ??= errorCode(error) ?? error.message));
    child.on('exit', (code, signal) => (ended ??= code ?? signal ?? 'unknown'));
    child.unref();
    return {
      pid: child.pid,
      port: settings.port,
      ended: () => ended,
      log: () => readLogSince(layout.log, offset),
    };
  } finally {
    closeSync(log);
  }
}

/** How long each kind of shutdown may take before the next harder one, milliseconds. */
const SHUTDOWN_MS = { fast: 10_000, immediate: 6000, kill: 2000 };

/**
 * Stops a server: fast (connections are cut, everything is written to disk), then immediate (like a power cut, the next
 * start recovers), then by force.
 *
 * @returns how it went; 'stuck' when it still lives
 */
export async function stopServer(
  server: ServerProcess,
  dataFolder: string,
): Promise<keyof typeof SHUTDOWN_MS | 'stuck'> {
  const steps = [
    ['fast', 'SIGINT'],
    ['immediate', 'SIGQUIT'],
    ['kill', 'SIGKILL'],
  ] as const;
  for (const [kind, signal] of steps) {
    // Its number may have been given to somebody else meanwhile.
    if (isServerOn(server.pid, dataFolder) && isProcess(server.pid, server.start)) {
      try {
        process.kill(server.pid, signal);
      } catch (error) {
        if (errorCode(error) !== 'ESRCH') throw error;
      }
    }
    const deadline = Date.now() + SHUTDOWN_MS[kind];
    while (Date.now() < deadline) {
      if (!isProcess(server.pid, server.start)) return kind;
      await sleep(POLL_MS);
    }
  }
  return 'stuck';
}
