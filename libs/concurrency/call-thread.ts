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

/** What every thread of calls is asked for, and its answer. */
interface MemoryQuestion {
  readonly type: 'memory';
}
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

  /** @param entry module that the thread runs; it passes its messages to `answeredMemory` */
  protected constructor(
    private readonly entry: URL,
    private readonly options: CallThreadOptions,
  ) {}

  memoryBytes(): Promise<number> {
    if (!this.worker) return Promise.resolve(0);
    this.worker.postMessage({ type: 'memory' } satisfies MemoryQuestion);
    return new Promise((resolve) => this.memoryQuestions.push(resolve));
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

/** In a thread: answers how much memory it uses. @returns whether the message asked for that */
export function answeredMemory({ type }: { readonly type: string }): boolean {
  if (type !== ('memory' satisfies MemoryQuestion['type'])) return false;
  // Of this thread only, unlike the resident memory.
  const { heapUsed, external } = process.memoryUsage();
  parentPort!.postMessage({ type, bytes: heapUsed + external } satisfies Memory);
  return true;
}
