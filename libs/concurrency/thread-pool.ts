import type { Worker } from 'node:worker_threads';
import { PrioritySemaphore } from './priority-semaphore.js';
import { READY } from './serve-tasks.js';
import { startThread } from './start-thread.js';

export interface ThreadPoolOptions {
  /** The module that the threads run, with the extension `.js` as in an import; it calls `serveTasks`. */
  readonly entry: URL;
  /** Maximum number of threads, which is also the number of tasks at the same time. */
  readonly threads: number;
  /** Heap of a thread, in MiB. A task that needs more ends with its thread. Undefined: that of the process. */
  readonly heapMiB?: number;
  /** How long one task may take, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a thread without a task is kept, in milliseconds: starting one takes longer than most tasks. */
  readonly idleMs: number;
}

/** A task exceeded a limit of its thread. */
export class ThreadLimitExceeded extends Error {
  override readonly name = 'ThreadLimitExceeded';

  constructor(readonly limit: 'memory' | 'time') {
    super(`The task exceeded its ${limit} limit`);
  }
}

/** The young generation of a thread's heap, in MiB; V8's default is three times as large. */
const YOUNG_HEAP_MIB = 16;

/**
 * Runs CPU-intensive tasks in worker threads with a memory and a time limit each, so that no task blocks or ends the
 * process. Threads start on demand and are reused; tasks beyond the number of threads wait in order of arrival.
 */
export class ThreadPool<Task, Result> {
  private readonly permits: PrioritySemaphore;
  private readonly idle: PooledThread<Task, Result>[] = [];
  private readonly all = new Set<PooledThread<Task, Result>>();
  private isClosed = false;

  constructor(private readonly options: ThreadPoolOptions) {
    this.permits = new PrioritySemaphore(options.threads);
  }

  /**
   * @param transfer buffers of the task that move to the thread instead of being copied
   * @throws ThreadLimitExceeded, or whatever the task throws
   */
  run(task: Task, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    return this.permits.run(async () => {
      if (this.isClosed) throw new Error('The thread pool is closed');
      const thread = this.idleThread() ?? this.start();
      try {
        const result = await thread.run(task, transfer, this.options.timeoutMs);
        this.idle.push(thread);
        thread.expireAfter(this.options.idleMs, () => void this.end(thread));
        return result;
      } catch (error) {
        // Waits for the end, so that there are never more threads than allowed.
        await this.end(thread);
        throw error;
      }
    });
  }

  /** Ends all threads and with them the tasks in progress; later ones are rejected. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.all].map((thread) => this.end(thread)));
  }

  /** Number of threads, with and without a task. */
  get size(): number {
    return this.all.size;
  }

  private idleThread(): PooledThread<Task, Result> | undefined {
    const thread = this.idle.pop();
    if (!thread?.hasFailed) return thread;
    this.all.delete(thread);
    return this.idleThread();
  }

  private start(): PooledThread<Task, Result> {
    const thread = new PooledThread<Task, Result>(this.options);
    this.all.add(thread);
    return thread;
  }

  private async end(thread: PooledThread<Task, Result>): Promise<void> {
    const index = this.idle.indexOf(thread);
    if (index !== -1) this.idle.splice(index, 1);
    await thread.terminate();
    this.all.delete(thread);
  }
}

interface Pending {
  readonly resolve: (message: unknown) => void;
  readonly reject: (error: Error) => void;
}

class PooledThread<Task, Result> {
  private readonly worker: Worker;
  private isReady = false;
  /** Why the thread has ended. */
  private failure: Error | undefined;
  private pending: Pending | undefined;
  private expiry: NodeJS.Timeout | undefined;

  constructor({ entry, heapMiB }: ThreadPoolOptions) {
    this.worker = startThread(entry, {
      limits: heapMiB ? { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: YOUNG_HEAP_MIB } : undefined,
      onMessage: (message) => this.pending?.resolve(message),
      onEnd: (reason) => this.fail(limitOf(reason) ?? reason),
    });
  }

  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  async run(task: Task, transfer: readonly ArrayBuffer[], timeoutMs: number): Promise<Result> {
    this.cancelExpiry();
    this.worker.ref();
    // The time in which the module is loaded is not the task's.
    if (!this.isReady) this.isReady = (await this.nextMessage()) === READY;
    const timer = setTimeout(() => this.pending?.reject(new ThreadLimitExceeded('time')), timeoutMs);
    try {
      const result = this.nextMessage();
      this.worker.postMessage(task, transfer);
      return (await result) as Result;
    } finally {
      clearTimeout(timer);
      // An idle thread does not keep the process alive.
      this.worker.unref();
    }
  }

  expireAfter(ms: number, expired: () => void): void {
    this.expiry = setTimeout(expired, ms).unref();
  }

  async terminate(): Promise<void> {
    this.cancelExpiry();
    await this.worker.terminate();
  }

  private cancelExpiry(): void {
    clearTimeout(this.expiry);
  }

  private nextMessage(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.pending = { resolve, reject };
      if (this.failure) reject(this.failure);
    }).finally(() => (this.pending = undefined));
  }

  private fail(error: Error): void {
    this.failure = error;
    this.pending?.reject(error);
  }
}

function limitOf(error: Error & { code?: unknown }): ThreadLimitExceeded | undefined {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadLimitExceeded('memory') : undefined;
}
