import { abortable, CallThread, type CallThreadOptions } from '../../../concurrency/index.js';
import { CallFailure } from '../../timeline/failure.js';
import type { RequestMessage, RequestReply, TaskModule } from './messages.js';
import { Peer } from './peer.js';

interface Opened {
  readonly name: string;
  readonly peer: Peer;
  readonly fail: (reason: Error) => void;
}

/** How long the end of a thread waits for what goes on after a task, such as ending a call that was placed. */
const SETTLE_MS = 1_000;

/**
 * A thread that sends requests to agents and platforms and reads what comes back: the lines of text calls, what goes before,
 * after and beside voice calls, and lists.
 */
export class RequestThread extends CallThread<RequestMessage, RequestReply> {
  /** Module that threads run. Tests replace it. */
  static entry = new URL('./request-worker.js', import.meta.url);
  private readonly opened = new Map<number, Opened>();
  private settled: () => void = () => undefined;
  private lastId = 0;

  constructor(options: CallThreadOptions = {}) {
    super(RequestThread.entry, options);
  }

  /**
   * Opens a task in the thread until the work with it is over.
   * @param name of the task, if the thread ends with it
   * @throws CallFailure if the thread ends; what the work throws
   */
  async run<R>(name: string, module: TaskModule, work: (peer: Peer) => Promise<R>): Promise<R> {
    const id = ++this.lastId;
    const peer = new Peer((message) => this.tell({ type: 'peer', id, message }));
    const ended = new Promise<never>((_, fail) => this.opened.set(id, { name, peer, fail }));
    this.post({ type: 'open', id, module });
    try {
      return await Promise.race([work(peer), ended]);
    } finally {
      peer.close(new Error('The task is over'));
      this.tell({ type: 'close', id });
    }
  }

  override async close(): Promise<void> {
    if (this.opened.size > 0) {
      const settled = new Promise<void>((resolve) => (this.settled = resolve));
      await abortable(settled, AbortSignal.timeout(SETTLE_MS)).catch(() => undefined);
    }
    await super.close();
  }

  protected receive(reply: RequestReply): void {
    if (reply.type === 'peer') return this.opened.get(reply.id)?.peer.receive(reply.message);
    this.opened.delete(reply.id);
    if (this.opened.size > 0) return;
    this.rest();
    this.settled();
  }

  protected lost(cause: Error): readonly string[] {
    const tasks = [...this.opened.values()];
    this.opened.clear();
    for (const { peer, fail } of tasks) {
      const reason = new CallFailure('thread_ended', {}, { cause });
      peer.close(reason);
      fail(reason);
    }
    return tasks.map(({ name }) => name);
  }
}

/** Where tasks run: a pool, or a thread for each. */
export interface RequestThreads {
  use<R>(owner: string, signal: AbortSignal, task: (thread: RequestThread) => Promise<R>): Promise<R>;
}
