import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cannotReach, cannotSwitch, withReadAccess, type Account } from './account.js';
import type { Binaries } from './binaries.js';
import { EmbeddedPostgresError, errorCode, OWN_DATABASE } from './errors.js';
import { lastRelevantLine } from './server-log.js';

/** How often to check what another process does, milliseconds. */
export const POLL_MS = 20;
/** How long each kind of shutdown may take before the next harder one, milliseconds. */
const SHUTDOWN_MS = { fast: 10_000, SIGQUIT: 6000, SIGKILL: 2000 };

/** How a program ended: its exit code, signal or error code, and its output. */
export interface Outcome {
  code: number | string;
  output: string;
}

/** A server's main process according to postmaster.pid. 0: the file is empty, damaged or not complete yet. */
export interface Postmaster {
  pid: number;
  port: number;
}

/** @returns undefined when there is no postmaster.pid. A crashed server leaves its file behind: check with `isAlive` */
export function readPostmaster(dataDirectory: string): Postmaster | undefined {
  try {
    // Lines: pid, directory, start time, port, ...
    const lines = readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number.parseInt(lines[0]!, 10) || 0, port: Number.parseInt(lines[3] ?? '', 10) || 0 };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether a process exists. It may be another process that got the same number later. */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Runs PostgreSQL's programs, as the account if this process is root. Methods throw EmbeddedPostgresError if they cannot. */
export class PgCtl {
  private launcher: readonly string[] = [];

  constructor(
    private readonly binaries: Binaries,
    private readonly dataDirectory: string,
    private readonly account: Account | undefined,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** Starts the server in its own session, writing to the log file, and waits until it accepts connections. */
  async start(settings: Readonly<Record<string, string>>, log: string, timeoutMs: number): Promise<Outcome> {
    // The server needs its absolute path, which pg_ctl reaches here only if the account may pass the folders above.
    if (this.account) await this.run('pgCtl', ['status', '--pgdata', this.dataDirectory]);
    // pg_ctl passes the options, the data directory and the log through a shell, in which it quotes the last two badly.
    const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
    const options = Object.entries(settings).map(([name, value]) => `-c ${quote(`${name}=${value}`)}`);
    const timeout = String(Math.max(1, Math.ceil(timeoutMs / 1000)));
    const folder = dirname(this.dataDirectory);
    const paths = ['--pgdata', relative(folder, this.dataDirectory), '--log', relative(folder, log)];
    const args = ['start', '--silent', '--wait', '--timeout', timeout, ...paths, '--options', options.join(' ')];
    return this.run('pgCtl', args, folder);
  }

  /**
   * Stops the server: fast (connections are closed, everything is written to disk), then immediately (the next start
   * recovers), then by force.
   *
   * @returns how the server stopped
   */
  async stop(pid: number): Promise<keyof typeof SHUTDOWN_MS> {
    const timeout = String(SHUTDOWN_MS.fast / 1000);
    const args = ['stop', '--silent', '--pgdata', this.dataDirectory, '--mode', 'fast', '--timeout', timeout];
    const { code } = await this.run('pgCtl', args);
    if (code === 0) return 'fast';
    for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
      if (isAlive(pid)) process.kill(pid, signal);
      for (const deadline = Date.now() + SHUTDOWN_MS[signal]; Date.now() < deadline; await sleep(POLL_MS)) {
        if (!isAlive(pid)) return signal;
      }
    }
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL process ${pid} cannot be stopped, not even with SIGKILL: check the disk of ${this.dataDirectory}.`,
    );
  }

  /** Removes a postmaster.pid whose process is not a server: PostgreSQL would refuse to start. */
  removeStalePidFile(pid: number): void {
    // Unless another process has started the server by now.
    if (readPostmaster(this.dataDirectory)?.pid !== pid) return;
    rmSync(join(this.dataDirectory, 'postmaster.pid'), { force: true });
  }

  /** Runs a program until it ends. @param cwd by default a folder that every account can enter */
  async run(name: 'initdb' | 'pgCtl', args: readonly string[], cwd = '/'): Promise<Outcome> {
    const { account, env, launcher } = this;
    const program = this.binaries[name];
    const outcome =
      account && launcher.length > 0
        ? await runProgram([...launcher, program, ...args], { env, cwd })
        : await runProgram([program, ...args], { env, cwd, ...account });
    const { code, output } = outcome;
    if (account && code === 'EPERM') throw cannotSwitch(account);
    const isDenied = code === 'EACCES' || /Permission denied/.test(output);
    if (account && isDenied && launcher.length === 0 && process.platform === 'linux') {
      this.launcher = withReadAccess(account);
      return this.run(name, args, cwd);
    }
    // ENOENT: setpriv does not exist.
    if (account && (code === 'EACCES' || (launcher.length > 0 && code === 'ENOENT'))) {
      throw cannotReach(account, program);
    }
    // The program, its interpreter or a shared library is missing or not executable.
    if (/^(126|127|E[A-Z0-9]+)$/.test(String(code))) throw cannotRun(program, outcome);
    if (account && isDenied) throw cannotReach(account, this.dataDirectory);
    return outcome;
  }
}

function runProgram(
  [program = '', ...args]: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd: string } & Partial<Account>,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let output = '';
    // Detached: Ctrl-C in the terminal is for this process to handle.
    const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const collect = (chunk: Buffer): void => void (output += chunk.toString('utf8'));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: errorCode(error) ?? 'EUNKNOWN', output: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? signal ?? 'EUNKNOWN', output }));
  });
}

function cannotRun(program: string, { code, output }: Outcome): EmbeddedPostgresError {
  const fix =
    code === 'ENOENT' || /Error (loading|relocating)|GLIBC/.test(output)
      ? 'This system seems to lack the GNU C library (Alpine Linux?): use one that has it'
      : 'Run "npm ci" again and check that the file is executable';
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL program ${program} cannot be run: ${lastRelevantLine(output)} (${code}). ${fix}, or ${OWN_DATABASE}.`,
  );
}
