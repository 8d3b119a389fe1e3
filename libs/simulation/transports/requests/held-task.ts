import { abortable } from '../../../concurrency/index.js';
import type { AgentCall } from '../modules/endpoint.js';
import type { ModuleBase } from '../modules/module.js';
import type { PlainCall, RequestTask } from './messages.js';
import type { Peer, PeerMethods } from './peer.js';
import type { RequestThread } from './request-thread.js';

/** Where tasks run: a pool, or a thread for each. */
export interface RequestThreads {
  use<R>(owner: string, signal: AbortSignal, task: (thread: RequestThread) => Promise<R>): Promise<R>;
}

/** Whose task it is; `callId` names it if its thread ends. */
export type TaskOwner = Pick<AgentCall, 'client' | 'workspaceId' | 'callId'>;

/** A task in a request thread of its workspace, until `close`. */
export class HeldTask {
  private readonly over = new AbortController();
  private readonly peer: Promise<Peer>;

  /** @param onEnd called with the reason if the task ends before `close`, with its thread */
  constructor(
    threads: RequestThreads,
    { source, name }: Pick<ModuleBase, 'source' | 'name'>,
    { client, workspaceId, callId }: TaskOwner,
    task: RequestTask,
    methods: PeerMethods = {},
    onEnd: (reason: unknown) => void = () => undefined,
  ) {
    const { signal } = this.over;
    const opened = { source, protocol: name, client: client.settings, task };
    const resolve = (_signal: AbortSignal, hostname: string) => client.addresses(hostname);
    this.peer = new Promise((found, lost) => {
      const work = (peer: Peer) => {
        found(peer);
        return new Promise<void>((over) => signal.addEventListener('abort', () => over(), { once: true }));
      };
      threads
        .use(workspaceId, signal, (thread) => thread.run(callId, opened, { ...methods, resolve }, work))
        .catch((reason: Error) => {
          lost(reason);
          if (!signal.aborted) onEnd(reason);
        });
    });
    this.peer.catch(() => undefined);
  }

  /** @throws what the method of the task throws; CallFailure if its thread ends; the signal's reason */
  async ask<T>(method: string, args: readonly unknown[] = [], signal: AbortSignal = this.over.signal): Promise<T> {
    const peer = await abortable(this.peer, signal);
    return peer.ask<T>(method, args, signal);
  }

  close(): void {
    this.over.abort(new Error('The task is over'));
  }
}

export function plainCall({ client: _, ledger, ...call }: AgentCall): PlainCall {
  return { ...call, hasLedger: ledger !== undefined };
}

/** What a task may ask of the ledger. */
export const ledgerMethods = ({ ledger }: AgentCall): PeerMethods =>
  ledger
    ? {
        placed: (_signal, ...placed: Parameters<typeof ledger.placed>) => ledger.placed(...placed),
        identified: (_signal, id: string) => ledger.identified(id),
        paid: (_signal, seconds: number) => ledger.paid(seconds),
      }
    : {};
