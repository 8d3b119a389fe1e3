import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

/** Milliseconds between two looks at something that another process does. `ps` outside Linux is dear, so look less often. */
export const POLL_MS = process.platform === 'linux' ? 12 : 60;

/** The `code` of a Node or PostgreSQL error ("ENOENT", "57P03"), if it has one. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/**
 * When a process was started, as an opaque text that no later process with the same number shares, not even after a
 * reboot or in a restarted container.
 *
 * @returns 'gone' when there is no such process (or only its zombie), undefined when it cannot be found out
 */
export function processStart(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    if (errorCode(error) !== 'EPERM') return 'gone';
  }
  try {
    if (process.platform !== 'linux') {
      const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
      return line.startsWith('Z') ? 'gone' : line.replace(/^\S+\s+/, '').replace(/\s+/g, '-');
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may itself hold blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie that nobody reaps (node as process 1 of a container) still answers to signal 0.
    return fields[0] === 'Z' || fields[0] === 'X' ? 'gone' : `${bootId()}-${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** Start ticks count from the boot, so only together with the boot they name one process. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().slice(0, 8);
  } catch {
    return '';
  }
}

/** Whether the process `pid` that was started at `start` (see processStart) still lives. In doubt yes. */
export function isProcess(pid: number, start: string | undefined): boolean {
  const now = processStart(pid);
  if (now === 'gone') return false;
  return !start || now === undefined || now === start;
}

/**
 * Whether a live process is a PostgreSQL server on this data folder: process numbers are reused, so the number in
 * postmaster.pid alone says nothing.
 */
export function isServerOn(pid: number, dataFolder: string): boolean {
  if (processStart(pid) === 'gone') return false;
  if (process.platform !== 'linux') {
    try {
      const command = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
      return command.includes('postgres') && command.includes(dataFolder);
    } catch {
      return false;
    }
  }
  try {
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') return false;
  } catch {
    return false;
  }
  try {
    // The server works inside its data folder; unlike its command line this stays true when a parent folder is renamed.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataFolder);
  } catch {
    try {
      // Of another user's process only the command line can be read.
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(dataFolder);
    } catch {
      return false;
    }
  }
}

/** The number of a PostgreSQL server on this data folder, for when its pid file does not tell. Linux only. */
export function findServerOn(dataFolder: string): number | undefined {
  if (process.platform !== 'linux') return undefined;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => isServerOn(pid, dataFolder));
}

/** How a program ended: its exit code (or the signal's name) and everything it wrote. */
export interface Outcome {
  code: number | string;
  output: string;
}

/**
 * Runs a program to its end and collects what it writes.
 *
 * @param options environment, and the user to run as
 * @returns never rejects: a program that cannot be started at all has the error code ("ENOENT") as its code
 */
export function run(
  command: readonly string[],
  options: { env: NodeJS.ProcessEnv; uid?: number; gid?: number },
): Promise<Outcome> {
  return new Promise((resolve) => {
    let output = '';
    try {
      // Detached: Ctrl-C on the terminal is for this process to handle, not for its helpers.
      const child = spawn(command[0]!, command.slice(1), {
        ...options,
        cwd: '/',
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const collect = (chunk: Buffer): void => {
        output = (output + chunk.toString('utf8')).slice(-20_000);
      };
      child.stdout.on('data', collect);
      child.stderr.on('data', collect);
      child.on('error', (error) => resolve({ code: errorCode(error) ?? 'failed', output: output || error.message }));
      child.on('close', (code, signal) => resolve({ code: code ?? signal ?? 'failed', output }));
    } catch (error) {
      resolve({ code: errorCode(error) ?? 'failed', output: String(error) });
    }
  });
}
