import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import { mergeMetrics, metricsOf } from './process-metrics.js';
import { PROCESS_NAME } from './supervised-host.js';

/** Pause before a process is replaced, doubled after each failure in a row; in milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A process that ends sooner than this after it was ready has failed, like one that never was; in milliseconds. */
const STABLE_MS = 30_000;
/** Number of failures in a row from which they are logged as errors. */
const ALARMING_FAILURES = 3;
/** Time to stop before a process is killed: 10 s for requests, 8 s for jobs, and the database; in milliseconds. */
const STOP_TIMEOUT_MS = 30_000;
/** What is interrupted while a process is down, for the log. */
const PURPOSES = { api: 'requests', worker: 'runs and webhook deliveries' };

/** The role of a supervised process, which is its name, too. */
type SupervisedRole = keyof typeof PURPOSES;

interface Supervised {
  readonly role: SupervisedRole;
  /** Undefined while it is down. */
  child: ChildProcess | undefined;
  isReady: boolean;
  /** Failures in a row. */
  failures: number;
}

/** Keeps processes of this program running. */
export class Supervisor {
  isStopping = false;
  private readonly supervised: Supervised[] = [];
  private readonly registry = new Registry();
  private readonly replaced = new Counter({
    name: 'supervised_process_replaced_total',
    help: 'How often a process that had ended by itself was replaced',
    labelNames: ['process'],
    registers: [this.registry],
  });

  constructor(private readonly logger: Logger) {
    const { supervised } = this;
    new Gauge({
      name: 'supervised_process_ready',
      help: 'Whether the process is ready (1) or down (0)',
      labelNames: ['process'],
      registers: [this.registry],
      collect() {
        for (const { role, isReady } of supervised) this.set({ process: role }, isReady ? 1 : 0);
      },
    });
  }

  /**
   * Starts a process once, and keeps it running if it becomes ready.
   * @returns the address that it serves, or undefined if it ended before it was ready
   */
  start(role: SupervisedRole): Promise<string | undefined> {
    return this.fork(this.supervise(role), true);
  }

  /** Starts a process soon, and keeps it running. */
  keep(role: SupervisedRole): void {
    void this.forkUntilReady(this.supervise(role));
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.supervised.map(({ child }) => (child ? end(child) : Promise.resolve())));
  }

  /** Metrics of the processes and of the supervision. */
  async metrics(): Promise<string> {
    const ready = this.supervised.flatMap(({ child, isReady }) => (child && isReady ? [child] : []));
    return mergeMetrics(await Promise.all([this.registry.getMetricsAsJSON(), ...ready.map(metricsOf)]));
  }

  private supervise(role: SupervisedRole): Supervised {
    const supervised = { role, child: undefined, isReady: false, failures: 0 };
    this.supervised.push(supervised);
    return supervised;
  }

  /**
   * Starts a process.
   * @param isFirst whether this is the start of the service: a process that exits before it is ready has then said why itself,
   * and is not replaced
   * @returns its address, empty if it serves none, or undefined if it ended before it was ready
   */
  private fork(supervised: Supervised, isFirst = false): Promise<string | undefined> {
    const { role } = supervised;
    const [, program = '', ...args] = process.argv;
    const child = fork(program, args, { env: { ...process.env, ROLE: role, [PROCESS_NAME]: role } });
    supervised.child = child;
    let readyAt = Infinity;
    return new Promise((resolve) => {
      const ended = (how: string, code: number | null = null) => {
        // A process that cannot be created has an error, and may have an exit as well.
        if (supervised.child !== child) return;
        const { isReady } = supervised;
        Object.assign(supervised, { child: undefined, isReady: false });
        resolve(undefined);
        if (this.isStopping) return;
        supervised.failures = performance.now() - readyAt > STABLE_MS ? 0 : supervised.failures + 1;
        if (!isFirst || code === null || isReady) this.logEnd(supervised, child, how);
        if (!isReady) return;
        this.replaced.inc({ process: role });
        void this.forkUntilReady(supervised);
      };
      child.on('error', (error) => {
        if (child.pid === undefined) ended(error.message);
      });
      child.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`, code));
      child.on('message', ({ kind, address = '' }: { kind?: string; address?: string }) => {
        if (kind !== 'ready') return;
        readyAt = performance.now();
        supervised.isReady = true;
        this.logger.info(`Process ${role} (${child.pid}) is ready`);
        resolve(address);
      });
    });
  }

  private async forkUntilReady(supervised: Supervised): Promise<void> {
    do await sleep(Math.min(FIRST_PAUSE_MS * 2 ** supervised.failures, LONGEST_PAUSE_MS));
    while (!this.isStopping && (await this.fork(supervised)) === undefined);
  }

  private logEnd({ role, failures }: Supervised, { pid }: ChildProcess, how: string): void {
    const line = `Process ${role} (${pid}) ended (${how})`;
    if (failures < ALARMING_FAILURES) this.logger.warn(line);
    else this.logger.error(`${line}, failure ${failures} in a row: ${PURPOSES[role]} wait until it can run`);
  }
}

function end(child: ChildProcess): Promise<void> {
  const timeout = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  return new Promise((resolve) => {
    child.once('exit', () => resolve(clearTimeout(timeout)));
    child.kill('SIGTERM');
  });
}
