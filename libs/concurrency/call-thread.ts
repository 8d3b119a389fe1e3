import { parentPort, type Worker } from 'node:worker_threads';
import type { OwnedThread } from './owned-threads.js';
import { startThread } from './start-thread.js';

/** Heap of a thread in MiB: a hostile agent must not end the process. */
const HEAP_MIB = 512;

/** The end of a thread that was not asked to end. */
export interface ThreadDeath {
  /** The calls that it carried, by the ids that their agents received. */
  readonly callIds: readonly string[];
  readonly cause: Error;
}

export interface CallThreadOptions {
  readonly heapMiB?: number;
  readonly onDeath?: (death: ThreadDeath) => void;
}

/** What every thread of calls is asked for. `block` and `crash` are for tests. */
type Diagnosis = { readonly type: 'memory' | 'crash' } | { readonly type: 'block'; readonly ms: number };
interface Memory {
  readonly type: 'memory';
  readonly bytes: number;
}

/**
 * A worker thread that carries calls. Starts with the first message. If it ends unexpectedly its calls fail, and the next message
 * starts another. Does not keep the process alive while it rests.
 */
export abstract class CallThread<Message, Reply extends { readonly type: string }> implements OwnedThread {
  private worker: Worker | undefined;
  private memoryQuestions: ((bytes: number) => void)[] = [];
  private isClosing = false;

  /** @param entry module that the thread runs; it passes its messages to `diagnosed` */
  protected constructor(
    private readonly entry: URL,
    private readonly options: CallThreadOptions,
  ) {}

  memoryBytes(): Promise<number> {
    if (!this.worker) return Promise.resolve(0);
    this.worker.postMessage({ type: 'memory' } satisfies Diagnosis);
    return new Promise((resolve) => this.memoryQuestions.push(resolve));
  }

  /** Blocks the thread if it runs, for tests of what a stall does. */
  block(ms: number): void {
    this.worker?.postMessage({ type: 'block', ms } satisfies Diagnosis);
  }

  /** Ends the thread unexpectedly if it runs, for tests. */
  crash(): void {
    this.worker?.postMessage({ type: 'crash' } satisfies Diagnosis);
  }

  /** Ends the thread, and the calls in progress as if it had died. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.worker?.terminate();
    this.isClosing = false;
  }

  /** Starts the thread if it does not run, and keeps the process alive. */
  protected post(message: Message): void {
    this.worker ??= this.start();
    this.worker.ref();
    this.worker.postMessage(message);
  }

  /** Only to a thread that runs. */
  protected tell(message: Message): void {
    this.worker?.postMessage(message);
  }

  /** The thread carries nothing. */
  protected rest(): void {
    this.worker?.unref();
  }

  protected abstract receive(reply: Reply): void;
  /** The thread has ended. @returns the ids of the calls that it carried, which fail */
  protected abstract lost(cause: Error): readonly string[];

  private start(): Worker {
    const { heapMiB = HEAP_MIB } = this.options;
    const worker = startThread<Reply | Memory>(this.entry, {
      limits: { maxOldGenerationSizeMb: heapMiB },
      onMessage: (reply) =>
        reply.type === 'memory' ? this.answerMemory((reply as Memory).bytes) : this.receive(reply as Reply),
      onEnd: (cause) => this.ended(worker, cause),
    });
    return worker;
  }

  private answerMemory(bytes: number): void {
    for (const answer of this.memoryQuestions) answer(bytes);
    this.memoryQuestions = [];
  }

  private ended(worker: Worker, cause: Error): void {
    if (this.worker === worker) this.worker = undefined;
    this.answerMemory(0);
    const callIds = this.lost(cause);
    if (callIds.length > 0 || !this.isClosing) this.options.onDeath?.({ callIds, cause });
  }
}

/** In a thread: does what every thread of calls is asked for. @returns whether the message asked for it */
export function diagnosed(message: { readonly type: string }): boolean {
  const asked = message as Diagnosis;
  switch (asked.type) {
    case 'crash':
      throw new Error('The thread was asked to crash');
    case 'block': {
      const until = performance.now() + asked.ms;
      while (performance.now() < until);
      return true;
    }
    case 'memory': {
      // Of this thread only, unlike the resident memory.
      const { heapUsed, external } = process.memoryUsage();
      parentPort!.postMessage({ type: 'memory', bytes: heapUsed + external } satisfies Memory);
      return true;
    }
    default:
      return false;
  }
}
