import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Delay before a restart, like that of a process manager. */
const RESTART_MS = 250;
/** Log lines kept for each process. */
const KEPT_LINES = 2_000;

/** One service, restarted whenever it exits, as systemd or Kubernetes would. */
export class ServiceProcess {
  /** The latest errors in its log. */
  readonly errors: string[] = [];
  /** Number of starts. */
  starts = 0;
  /** Unexpected exits: failed starts and crashes. */
  ownEnds = 0;
  private child: ChildProcess | undefined;
  private isWanted = false;
  private isExpected = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    readonly name: string,
    readonly role: 'all' | 'api' | 'worker',
    readonly url: string,
    readonly metricsUrl: string,
    private readonly program: string,
    private readonly env: NodeJS.ProcessEnv,
    /** File for its output. */
    private readonly logFile?: string,
  ) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** How many processes have metrics: with the role `all`, a worker process runs beside the API. */
  get processes(): number {
    return this.role === 'all' ? 2 : 1;
  }

  /** Kills the worker process beside the API, which the service replaces. */
  killWorker(): void {
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(this.pid)], { encoding: 'utf8' });
    const isWorker = (pid: string) => readFileSync(`/proc/${pid}/environ`, 'utf8').includes('\0ROLE=worker\0');
    for (const pid of stdout.trim().split(/\s+/).filter(Boolean))
      if (isWorker(pid)) process.kill(Number(pid), 'SIGKILL');
  }

  start(): void {
    this.isWanted = true;
    this.isExpected = false;
    this.starts++;
    const child = spawn(process.execPath, [this.program], {
      env: { ...process.env, ...this.env, ROLE: this.role },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        if (this.logFile) appendFileSync(this.logFile, `${line}\n`);
        this.errors.push(line);
        if (this.errors.length > KEPT_LINES) this.errors.shift();
      });
    }
    child.once('exit', () => {
      if (!this.isWanted) return;
      if (!this.isExpected) this.ownEnds++;
      this.timer = setTimeout(() => this.start(), RESTART_MS);
    });
  }

  /** Sends a signal and waits for the exit; the restart is automatic. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    this.isExpected = true;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async stop(): Promise<void> {
    this.isWanted = false;
    clearTimeout(this.timer);
    await this.end('SIGKILL');
  }

  /** Kills the process at once, for a program that is exiting. */
  abandon(): void {
    this.isWanted = false;
    clearTimeout(this.timer);
    this.child?.kill('SIGKILL');
  }
}
