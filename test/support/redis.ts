import { randomInt } from 'node:crypto';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A real redis-server on a free loopback port, without persistence. */
export interface TestRedis {
  readonly url: string;
  /** Runs a command with redis-cli and returns what it prints. */
  cli(...args: string[]): string;
  /** Suspends the process: connections stay open, but it does not respond. */
  pause(): void;
  resume(): void;
  /** Kills the process; all data is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  start(...args: string[]): Promise<void>;
}

const isInstalled = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** `describe` if redis-server is installed; otherwise skips the tests and prints the reason. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (isInstalled) return describe(name, tests);
  process.stderr.write(`Skipped: "${name}", because no redis-server is installed (apt-get install redis-server)\n`);
  describe.skip(name, tests);
}

export async function startRedis(...args: string[]): Promise<TestRedis> {
  const port = await freePort();
  let server: ChildProcess | undefined;

  const start = async (...more: string[]) => {
    const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'];
    const started = spawn('redis-server', [...fixed, ...more], { stdio: 'ignore' });
    server = started;
    while (!(await accepts(port))) {
      if (started.exitCode !== null) throw new Error(`redis-server ended with code ${started.exitCode}`);
      await sleep(20);
    }
  };
  const kill = async () => {
    const ending = server;
    server = undefined;
    if (!ending || ending.exitCode !== null) return;
    const ended = once(ending, 'exit');
    ending.kill('SIGKILL');
    await ended;
  };
  await start(...args);
  return {
    url: `redis://127.0.0.1:${port}`,
    cli: (...command) => execFileSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' }).trim(),
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    kill,
    start,
  };
}

/** Below the ports that the kernel assigns to clients and to other tests, which could take it before it is used. */
const PORTS = { first: 15_000, count: 16_000 };

/** Returns a free loopback port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + randomInt(PORTS.count);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
