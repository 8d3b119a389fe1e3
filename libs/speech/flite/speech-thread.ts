import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FliteAnswer, FliteTask } from './flite-thread.js';

interface Waiting {
  readonly resolve: (message: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The task took longer than allowed; its thread was ended. */
export class ThreadTimeout extends Error {
  override readonly name = 'ThreadTimeout';
}

/**
 * The worker thread of the embedded engine: one for the process, since a second one would take processor time from calls.
 * It starts with the first task, is ended after a time without one, and does not keep the process alive. Tasks run one
 * after the other.
 */
export class SpeechThread {
  private worker: Worker | undefined;
  private isReady = false;
  private waiting: Waiting | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(private readonly options: { readonly timeoutMs: number; readonly idleMs: number }) {}

  /** @throws ThreadTimeout, or why the thread ended */
  async run(task: FliteTask): Promise<FliteAnswer> {
    if (this.isClosed) throw new Error('The speech engine is closed');
    clearTimeout(this.idleTimer);
    const worker = (this.worker ??= this.start());
    worker.ref();
    try {
      if (!this.isReady) {
        await this.next(worker);
        this.isReady = true;
      }
      const answer = this.next(worker);
      worker.postMessage(task);
      return (await answer) as FliteAnswer;
    } catch (error) {
      await this.end();
      throw error;
    } finally {
      worker.unref();
      this.idleTimer = setTimeout(() => void this.end(), this.options.idleMs).unref();
    }
  }

  /** Ends the thread and the task in progress. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.idleTimer);
    await this.end();
  }

  private start(): Worker {
    const extension = path.extname(import.meta.url);
    const worker = new Worker(fileURLToPath(new URL(`./flite-thread${extension}`, import.meta.url)), {
      // Tests run the sources, and a thread does not inherit Jest's compilation. Options of the process are not the thread's.
      execArgv: extension === '.ts' ? ['--import', '@swc-node/register/esm-register'] : [],
    });
    worker.on('message', (message) => this.waiting?.resolve(message));
    worker.on('error', (error: Error) => this.failed(worker, error));
    worker.on('exit', () => this.failed(worker, new Error('The thread of the speech engine ended')));
    return worker;
  }

  private next(worker: Worker): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new ThreadTimeout(`The speech engine took longer than ${this.options.timeoutMs} ms`)),
        this.options.timeoutMs,
      );
      const settle =
        <Value>(then: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer);
          then(value);
        };
      this.waiting = { resolve: settle(resolve), reject: settle(reject) };
      if (this.worker !== worker) this.waiting.reject(new Error('The thread of the speech engine ended'));
    }).finally(() => (this.waiting = undefined));
  }

  private failed(worker: Worker, error: Error): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    this.isReady = false;
    this.waiting?.reject(error);
  }

  private async end(): Promise<void> {
    const { worker } = this;
    if (worker) this.failed(worker, new Error('The thread of the speech engine was ended'));
    await worker?.terminate();
  }
}
