import type { Worker } from 'node:worker_threads';
import { type OwnedThread, startThread } from '../../../concurrency/index.js';
import { CallFailure } from '../../timeline/failure.js';
import type { ThreadDeath } from '../../voice/thread/media-thread.js';
import type { OpenedTask, RequestMessage, RequestReply } from './messages.js';
import { Peer, type PeerMethods } from './peer.js';

/** Heap of a thread in MiB: a hostile agent must not end the process. */
const HEAP_MIB = 512;

export interface RequestThreadOptions {
  readonly heapMiB?: number;
  readonly onDeath?: (death: ThreadDeath) => void;
}

interface Opened {
  readonly name: string;
  readonly peer: Peer;
  readonly fail: (reason: Error) => void;
}

/** How long the end of a thread waits for what goes on after a task, such as ending a call that was placed. */
const SETTLE_MS = 1_000;

/**
 * A thread that sends requests to agents and platforms and reads what comes back: the lines of text calls, what goes before,
 * after and beside voice calls, and lists. Starts with the first task. If it ends unexpectedly its tasks fail, and the next
 * one starts another. Does not keep the process alive without a task.
 */
export class RequestThread implements OwnedThread {
  private worker: Worker | undefined;
  private readonly opened = new Map<number, Opened>();
  private memoryQuestions: ((bytes: number) => void)[] = [];
  private settled: () => void = () => undefined;
  private lastId = 0;
  private isClosing = false;

  constructor(private readonly options: RequestThreadOptions = {}) {}

  /**
   * Opens a task in the thread until the work with it is over.
   * @param name of the task, if the thread ends with it
   * @param methods what the task may ask for
   * @throws CallFailure if the thread ends; what the work throws
   */
  async run<R>(name: string, task: OpenedTask, methods: PeerMethods, work: (peer: Peer) => Promise<R>): Promise<R> {
    const id = ++this.lastId;
    const worker = (this.worker ??= this.start());
    const post = (message: RequestMessage) => worker.postMessage(message);
    const peer = new Peer((message) => post({ type: 'peer', id, message }), methods);
    const ended = new Promise<never>((_, fail) => this.opened.set(id, { name, peer, fail }));
    worker.ref();
    post({ type: 'open', id, opened: task, timeOrigin: performance.timeOrigin });
    try {
      return await Promise.race([work(peer), ended]);
    } finally {
      peer.close(new Error('The task is over'));
      post({ type: 'close', id });
    }
  }

  memoryBytes(): Promise<number> {
    if (!this.worker) return Promise.resolve(0);
    this.worker.postMessage({ type: 'memory' } satisfies RequestMessage);
    return new Promise((resolve) => this.memoryQuestions.push(resolve));
  }

  /** Blocks the thread, for tests of what a stall does. */
  block(ms: number): void {
    this.worker?.postMessage({ type: 'block', ms } satisfies RequestMessage);
  }

  /** Ends the thread unexpectedly, for tests. */
  crash(): void {
    this.worker?.postMessage({ type: 'crash' } satisfies RequestMessage);
  }

  async close(): Promise<void> {
    this.isClosing = true;
    if (this.opened.size > 0) {
      await new Promise<void>((resolve) => {
        this.settled = resolve;
        setTimeout(resolve, SETTLE_MS).unref();
      });
    }
    await this.worker?.terminate();
    this.isClosing = false;
  }

  private start(): Worker {
    const worker = startThread<RequestReply>(new URL('./request-worker.js', import.meta.url), {
      limits: { maxOldGenerationSizeMb: this.options.heapMiB ?? HEAP_MIB },
      onMessage: (reply) => this.receive(reply),
      onEnd: (reason) => this.ended(worker, reason),
    });
    return worker;
  }

  private receive(reply: RequestReply): void {
    switch (reply.type) {
      case 'memory':
        return this.answerMemory(reply.bytes);
      case 'peer':
        return this.opened.get(reply.id)?.peer.receive(reply.message);
      case 'closed':
        this.opened.delete(reply.id);
        if (this.opened.size > 0) return;
        this.worker?.unref();
        this.settled();
    }
  }

  private answerMemory(bytes: number): void {
    for (const answer of this.memoryQuestions) answer(bytes);
    this.memoryQuestions = [];
  }

  private ended(worker: Worker, cause: Error): void {
    if (this.worker === worker) this.worker = undefined;
    this.answerMemory(0);
    const tasks = [...this.opened.values()];
    this.opened.clear();
    if (tasks.length > 0 || !this.isClosing) this.options.onDeath?.({ callIds: tasks.map(({ name }) => name), cause });
    for (const { peer, fail } of tasks) {
      const reason = new CallFailure('thread_ended', {}, { cause });
      peer.close(reason);
      fail(reason);
    }
  }
}
