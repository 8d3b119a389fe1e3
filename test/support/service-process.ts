import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { programArguments } from './program.js';
import { freePort } from './redis.js';
import { until } from './until.js';

/** The service in a separate process on a free port. */
export class ServiceProcess {
  /** Standard output and standard error so far. */
  output = '';
  exit: { readonly code: number | null; readonly signal: string | null } | undefined;

  private constructor(
    readonly child: ChildProcess,
    readonly port: number,
    private readonly dataDir: string,
  ) {
    child.stdout?.on('data', (text: Buffer) => (this.output += String(text)));
    child.stderr?.on('data', (text: Buffer) => (this.output += String(text)));
    child.once('exit', (code, signal) => (this.exit = { code, signal }));
  }

  static async start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    const port = Number(env['PORT'] ?? (await freePort()));
    const dataDir = await mkdtemp(path.join(tmpdir(), 'service-process-'));
    const child = spawn(process.execPath, programArguments('src/main.ts'), {
      cwd: PROJECT_ROOT,
      env: { ...process.env, HOST: '127.0.0.1', LOG_FORMAT: 'json', DATA_DIR: dataDir, ...env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new ServiceProcess(child, port, dataDir);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Process id of the latest process of this name, such as `api` or `worker`, that became ready. */
  pidOf(name: string): number {
    return Number([...this.output.matchAll(new RegExp(`Process ${name} \\((\\d+)\\) is ready`, 'g'))].at(-1)?.[1]);
  }

  /** Process ids of the running child processes. */
  get children(): number[] {
    try {
      const table = execFileSync('ps', ['-o', 'pid=,stat=', '--ppid', String(this.pid)], { encoding: 'utf8' });
      const rows = table
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/));
      return rows.filter(([, state]) => !state?.startsWith('Z')).map(([pid]) => Number(pid));
    } catch {
      // ps exits with an error if there are none.
      return [];
    }
  }

  /** Waits until the output contains `text` at least `times` times. */
  async waitForOutput(text: string | RegExp, times = 1): Promise<void> {
    const pattern = new RegExp(text, 'g');
    await until(`${String(text)} in\n${this.output}`, () => [...this.output.matchAll(pattern)].length >= times, 90_000);
  }

  async waitForExit(): Promise<{ readonly code: number | null; readonly signal: string | null }> {
    await until('the process ends', () => this.exit !== undefined, 60_000);
    return this.exit ?? { code: null, signal: null };
  }

  /** Kills the process if it is still running, and removes its data directory. */
  async dispose(): Promise<void> {
    if (!this.exit) this.child.kill('SIGKILL');
    await this.waitForExit();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
