import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Pause before a process is replaced, doubled after each failed start; in milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Time to stop before a process is killed: 10 s for requests, 8 s for jobs, and the database; in milliseconds. */
const STOP_TIMEOUT_MS = 30_000;

/** Keeps processes numbered from 1 running on Node's cluster. */
export class Supervisor {
  isStopping = false;
  private isRestarting = false;
  /** The process that is ready, by number. */
  private readonly current = new Map<number, Worker>();

  constructor(private readonly logger: Logger) {}

  /**
   * Starts one process, which migrates the database and creates the first key, and then the others.
   * @returns the address they serve, or undefined if the first process ended before it was ready
   */
  async start(processes: number): Promise<string | undefined> {
    const address = await this.fork(1);
    if (address === undefined) return undefined;
    await Promise.all(Array.from({ length: processes - 1 }, (_, index) => this.forkUntilReady(index + 2)));
    return address;
  }

  /** Replaces all processes one by one; each new one is ready before the old one stops accepting connections. */
  async restart(): Promise<void> {
    if (this.isRestarting || this.isStopping) return;
    this.isRestarting = true;
    this.logger.info('Restarting the processes one by one');
    const numbers = [...this.current.keys()];
    while (numbers[0] !== undefined && (await this.fork(numbers[0])) !== undefined) numbers.shift();
    if (numbers.length === 0) this.logger.info('All processes restarted');
    else this.logger.error('Restart stopped: a new process ended before it was ready');
    this.isRestarting = false;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(workers.map((worker) => this.end(worker, () => worker.process.kill('SIGTERM'))));
  }

  /**
   * Starts a process, which replaces the current one of its number as soon as it is ready.
   * @returns its address, or undefined if it ended before it was ready
   */
  private fork(number: number): Promise<string | undefined> {
    const worker = cluster.fork({ PROCESS_NUMBER: String(number) });
    // Sending fails while a process dies; its exit is handled below.
    worker.on('error', () => undefined);
    return new Promise((resolve) => {
      worker.once('exit', (code, signal) => {
        resolve(undefined);
        const isReplaced = code === 0 && this.current.get(number) !== worker;
        if (!this.isStopping && !isReplaced)
          this.logger.warn(`Process ${worker.process.pid} ended (${signal || `exit code ${code}`})`);
        if (this.current.get(number) === worker) void this.forkUntilReady(number);
      });
      worker.on('message', ({ kind, address }: { kind?: string; address?: string }) => {
        if (kind === 'ready') void this.takeOver(number, worker).then(() => resolve(address));
      });
    });
  }

  private async takeOver(number: number, worker: Worker): Promise<void> {
    this.logger.info(`Process ${worker.process.pid} is ready`);
    const previous = this.current.get(number);
    this.current.set(number, worker);
    if (previous) await this.end(previous, () => previous.send({ kind: 'retire' }));
  }

  private async forkUntilReady(number: number, pauseMs = FIRST_PAUSE_MS): Promise<void> {
    await sleep(pauseMs);
    if (this.isStopping || (await this.fork(number)) !== undefined) return;
    await this.forkUntilReady(number, Math.min(2 * pauseMs, LONGEST_PAUSE_MS));
  }

  private end(worker: Worker, ask: () => void): Promise<void> {
    if (worker.isDead()) return Promise.resolve();
    const timeout = setTimeout(() => worker.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
    return new Promise((resolve) => {
      worker.once('exit', () => resolve(clearTimeout(timeout)));
      ask();
    });
  }
}
