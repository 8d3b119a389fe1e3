import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import type { ProcessSpec } from './fork.js';
import { mergeMetrics, metricsOf } from './process-metrics.js';

/** Pause before a process is replaced, doubled after each failure in a row; in milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A process that ends sooner than this after it was ready has failed, like one that never was; in milliseconds. */
const STABLE_MS = 30_000;
/** Number of failures in a row from which they are logged as errors. */
const ALARMING_FAILURES = 3;
/** Time to stop before a process is killed: 10 s for requests, 8 s for jobs, and the database; in milliseconds. */
const STOP_TIMEOUT_MS = 30_000;

interface Managed {
  readonly spec: ProcessSpec;
  /** The process that is ready. */
  current: ChildProcess | undefined;
  /** Failures in a row. */
  failures: number;
}

/** Keeps processes of this program running. */
export class Supervisor {
  isStopping = false;
  private isRestarting = false;
  private readonly managed = new Map<string, Managed>();
  private readonly running = new Set<ChildProcess>();
  private readonly registry = new Registry();
  private readonly replaced = new Counter({
    name: 'supervised_process_replaced_total',
    help: 'How often a process that had ended by itself was replaced',
    labelNames: ['process'],
    registers: [this.registry],
  });

  constructor(private readonly logger: Logger) {
    const { managed } = this;
    new Gauge({
      name: 'supervised_process_ready',
      help: 'Whether the process is ready (1) or down (0)',
      labelNames: ['process'],
      registers: [this.registry],
      collect() {
        for (const [name, { current }] of managed) this.set({ process: name }, current ? 1 : 0);
      },
    });
  }

  /**
   * Starts a process once, and keeps it running if it becomes ready.
   * @returns the address that it serves, or undefined if it ended before it was ready
   */
  start(spec: ProcessSpec): Promise<string | undefined> {
    return this.fork(this.manage(spec), true);
  }

  /** Keeps a process running; waits until it is ready for the first time. */
  async keep(spec: ProcessSpec): Promise<void> {
    await this.forkUntilReady(this.manage(spec));
  }

  /** Replaces all processes one by one; each new one is ready before the old one stops accepting connections. */
  async restart(): Promise<void> {
    if (this.isRestarting || this.isStopping) return;
    this.isRestarting = true;
    this.logger.info('Restarting the processes one by one');
    const rest = [...this.managed.values()];
    while (rest[0] !== undefined && (await this.fork(rest[0])) !== undefined) rest.shift();
    if (rest.length === 0) this.logger.info('All processes restarted');
    else this.logger.error('Restart stopped: a new process ended before it was ready');
    this.isRestarting = false;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.running].map((child) => this.end(child, () => child.kill('SIGTERM'))));
  }

  /**
   * Metrics of all supervised processes and of the supervision.
   * @param own registry of this process, if it serves requests itself
   */
  async metrics(own?: Registry): Promise<string> {
    const ready = [...this.managed.values()].flatMap(({ current }) => (current ? [current] : []));
    const registries = own ? [own, this.registry] : [this.registry];
    return mergeMetrics(
      await Promise.all([...registries.map((registry) => registry.getMetricsAsJSON()), ...ready.map(metricsOf)]),
    );
  }

  private manage(spec: ProcessSpec): Managed {
    const managed = { spec, current: undefined, failures: 0 };
    this.managed.set(spec.name, managed);
    return managed;
  }

  /**
   * Starts a process, which replaces the current one of its name as soon as it is ready.
   * @param isStart whether its end before it is ready ends the start, of which it has said why in one line
   * @returns its address, empty if it serves none, or undefined if it ended before it was ready
   */
  private fork(managed: Managed, isStart = false): Promise<string | undefined> {
    const child = managed.spec.fork();
    this.running.add(child);
    let readyAt = Infinity;
    return new Promise((resolve) => {
      const ended = (how: string, isReplaced: boolean, code: number | null = null) => {
        // A process that cannot be created has an error, and may have an exit as well.
        if (!this.running.delete(child)) return;
        resolve(undefined);
        if (this.isStopping || isReplaced) return;
        managed.failures = performance.now() - readyAt > STABLE_MS ? 0 : managed.failures + 1;
        if (!isStart || code === null || readyAt !== Infinity) this.logEnd(managed, child, how);
        if (managed.current !== child) return;
        managed.current = undefined;
        this.replaced.inc({ process: managed.spec.name });
        void this.forkUntilReady(managed);
      };
      child.on('error', (error) => {
        if (child.pid === undefined) ended(error.message, false);
      });
      child.once('exit', (code, signal) => {
        const isReplaced = code === 0 && readyAt !== Infinity && managed.current !== child;
        ended(signal ?? `exit code ${code}`, isReplaced, code);
      });
      child.on('message', ({ kind, address = '' }: { kind?: string; address?: string }) => {
        if (kind !== 'ready') return;
        readyAt = performance.now();
        void this.takeOver(managed, child).then(() => resolve(address));
      });
    });
  }

  private async takeOver(managed: Managed, child: ChildProcess): Promise<void> {
    this.logger.info(`Process ${managed.spec.name} (${child.pid}) is ready`);
    const previous = managed.current;
    managed.current = child;
    if (previous) await this.end(previous, () => previous.send({ kind: 'retire' }));
  }

  private async forkUntilReady(managed: Managed): Promise<void> {
    do await sleep(Math.min(FIRST_PAUSE_MS * 2 ** managed.failures, LONGEST_PAUSE_MS));
    while (!this.isStopping && (await this.fork(managed)) === undefined);
  }

  private logEnd({ spec, failures }: Managed, { pid }: ChildProcess, how: string): void {
    const line = `Process ${spec.name} (${pid}) ended (${how})`;
    if (failures < ALARMING_FAILURES) this.logger.warn(line);
    else this.logger.error(`${line}, failure ${failures} in a row: ${spec.purpose} wait until it can run`);
  }

  private end(child: ChildProcess, ask: () => void): Promise<void> {
    if (!this.running.has(child)) return Promise.resolve();
    const timeout = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    return new Promise((resolve) => {
      child.once('exit', () => resolve(clearTimeout(timeout)));
      ask();
    });
  }
}
