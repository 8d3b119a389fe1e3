import { abortable } from '../../../concurrency/index.js';
import type { AgentCall } from '../modules/endpoint.js';
import type { TaskModule } from './messages.js';
import type { Peer } from './peer.js';
import type { RequestThreads } from './request-thread.js';

/** A task of a call in a request thread of its workspace, until `close`. */
export class HeldTask {
  private readonly over = new AbortController();
  private readonly peer: Promise<Peer>;

  /**
   * @param first what it is asked for first @param onEnd called with the reason if the task ends before `close`, with its thread
   */
  constructor(
    threads: RequestThreads,
    { source, name }: TaskModule,
    { workspaceId, callId }: Pick<AgentCall, 'workspaceId' | 'callId'>,
    first: readonly [method: 'line' | 'session', ...args: readonly unknown[]],
    onEnd: (reason: unknown) => void = () => undefined,
  ) {
    const { signal } = this.over;
    this.peer = new Promise((found, lost) => {
      const work = async (peer: Peer) => {
        await peer.ask(...first);
        found(peer);
        await new Promise((over) => signal.addEventListener('abort', over, { once: true }));
      };
      threads
        .use(workspaceId, signal, (thread) => thread.run(callId, { source, name }, work))
        .catch((reason: Error) => {
          lost(reason);
          if (!signal.aborted) onEnd(reason);
        });
    });
    this.peer.catch(() => undefined);
  }

  /** @throws what the method throws; CallFailure if the thread ends; the reason of a signal among the arguments */
  async ask<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    const signal = args.find((arg) => arg instanceof AbortSignal) ?? this.over.signal;
    const peer = await abortable(this.peer, AbortSignal.any([signal, this.over.signal]));
    return peer.ask<T>(method, ...args);
  }

  close(): void {
    this.over.abort(new Error('The task is over'));
  }
}
