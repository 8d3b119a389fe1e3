import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import type { ToSupervisor, ToWorker } from '../platform/cluster/messages.js';
import { StartError } from '../bootstrap/start-error.js';

/** A process that has served for this long has not died of its start, in milliseconds. */
const STEADY_MS = 10_000;
/** Pause before a dead process is replaced; doubled with every one that dies early, in milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** So many early deaths in a row, with no steady process beside them, are a crash loop. */
const MOST_EARLY_DEATHS = 6;
/** How long a start may take (a recovery of the database and migrations included), in milliseconds. */
const START_MS = 180_000;
/** How long an end may take: 10 s for requests, 8 s for jobs, and the connections to the database. */
const STOP_MS = 30_000;

/** The place of one process; two are in it while one takes over from the other. */
interface Slot {
  readonly number: number;
  readonly workers: Set<Worker>;
  earlyDeaths: number;
  replacing: NodeJS.Timeout | undefined;
}

export interface SupervisorOptions {
  readonly processes: number;
  /** Added to the environment of each process. */
  readonly env: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Gets what the processes say, apart from that they are ready. */
  onMessage(worker: Worker, message: ToSupervisor): void;
  /** Told once that the processes die faster than it makes sense to replace them. */
  onCrashLoop(error: StartError): void;
}

/** Keeps a number of processes running, on Node's own cluster. */
export class Supervisor {
  private readonly slots: Slot[];
  private readonly readySince = new WeakMap<Worker, number>();
  private state: 'starting' | 'running' | 'stopping' = 'starting';
  /** Of all processes: by a start or by a restart. */
  private isLaunching = false;

  constructor(private readonly options: SupervisorOptions) {
    this.slots = Array.from({ length: options.processes }, (_, index) => ({
      number: index + 1,
      workers: new Set(),
      earlyDeaths: 0,
      replacing: undefined,
    }));
  }

  /** The ready processes, the newest of each place. */
  get serving(): { readonly slot: number; readonly worker: Worker }[] {
    return this.slots.flatMap(({ number, workers }) => {
      const worker = [...workers].filter((one) => this.readySince.has(one)).at(-1);
      return worker ? [{ slot: number, worker }] : [];
    });
  }

  /**
   * Starts one process, which brings the database up to date and makes the first key, and then the others.
   * @returns the address at which they serve, or undefined when the first one ended before it was ready
   */
  async start(): Promise<string | undefined> {
    const [first, ...others] = this.slots;
    this.isLaunching = true;
    const address = first && (await this.launch(first));
    if (address === undefined || this.isStopping) return undefined;
    this.state = 'running';
    await Promise.all(others.map((slot) => this.launch(slot)));
    this.isLaunching = false;
    return address;
  }

  /** Puts new processes in the place of all, one by one, each ready before its predecessor stops taking requests. */
  async restart(): Promise<void> {
    const { logger } = this.options;
    if (this.isLaunching || this.isStopping) {
      logger.warn('Not restarting: a start, a restart or a stop is under way');
      return;
    }
    this.isLaunching = true;
    logger.info('Restarting the processes one by one');
    try {
      for (const slot of this.slots) {
        const old = [...slot.workers];
        const address = await this.launch(slot);
        if (this.isStopping) return;
        if (address === undefined) {
          logger.error('Restart given up: the new process ended before it was ready. The old ones go on');
          return;
        }
        await Promise.all(old.map((worker) => this.end(worker, () => tell(worker, { kind: 'retire' }))));
      }
      logger.info('All processes have been restarted');
    } finally {
      this.isLaunching = false;
    }
  }

  /** Ends all processes: those that take too long by force. */
  async stop(): Promise<void> {
    this.state = 'stopping';
    for (const { replacing } of this.slots) clearTimeout(replacing);
    const workers = this.slots.flatMap((slot) => [...slot.workers]);
    await Promise.all(workers.map((worker) => this.end(worker, () => worker.process.kill('SIGTERM'))));
  }

  private get isStopping(): boolean {
    return this.state === 'stopping';
  }

  /** @returns the address of the new process once it is ready; undefined when it ends before */
  private launch(slot: Slot): Promise<string | undefined> {
    const worker = cluster.fork(this.options.env);
    slot.workers.add(worker);
    return new Promise((resolve) => {
      const tooLong = setTimeout(() => worker.process.kill('SIGKILL'), START_MS);
      const ended = (how: string) => {
        clearTimeout(tooLong);
        resolve(undefined);
        // A process that could not be made reports an error and no exit.
        if (slot.workers.delete(worker)) this.replace(slot, worker, how);
      };
      worker.once('exit', (code: number | null, signal: string | null) => ended(signal ?? `exit code ${code}`));
      worker.on('error', (error) => {
        if (worker.process.pid === undefined) ended(error.message);
      });
      worker.on('message', (message: ToSupervisor) => {
        if (message.kind !== 'ready') return this.options.onMessage(worker, message);
        clearTimeout(tooLong);
        this.readySince.set(worker, performance.now());
        this.options.logger.info(`Process ${worker.process.pid} is ready (${slot.number} of ${this.slots.length})`);
        resolve(message.address);
      });
    });
  }

  private replace(slot: Slot, dead: Worker, how: string): void {
    // A place that is being handed over is not empty.
    if (this.state !== 'running' || slot.workers.size > 0) return;
    slot.earlyDeaths = this.isSteady(dead) ? 1 : slot.earlyDeaths + 1;
    const ended = `Process ${dead.process.pid} ended (${how})`;
    if (slot.earlyDeaths >= MOST_EARLY_DEATHS && !this.serving.some(({ worker }) => this.isSteady(worker))) {
      this.options.onCrashLoop(
        new StartError(`${ended}, as ${slot.earlyDeaths} in a row did soon after their start: giving up`),
      );
      return;
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (slot.earlyDeaths - 1), LONGEST_PAUSE_MS);
    this.options.logger.warn(`${ended}. Another one takes its place in ${pause} ms`);
    slot.replacing = setTimeout(() => void this.launch(slot), pause);
  }

  private isSteady(worker: Worker): boolean {
    return performance.now() - (this.readySince.get(worker) ?? Infinity) > STEADY_MS;
  }

  private end(worker: Worker, ask: () => void): Promise<void> {
    return new Promise((resolve) => {
      if (worker.isDead()) return resolve();
      const tooLong = setTimeout(() => {
        this.options.logger.warn(`Process ${worker.process.pid} has not ended within ${STOP_MS / 1000} s: killing it`);
        worker.process.kill('SIGKILL');
      }, STOP_MS);
      worker.once('exit', () => {
        clearTimeout(tooLong);
        resolve();
      });
      ask();
    });
  }
}

/** Says something to a process that may be ending just now. */
export function tell(worker: Worker, message: ToWorker): void {
  worker.process.send?.(message, undefined, undefined, () => undefined);
}
