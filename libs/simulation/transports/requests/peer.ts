import { CallFailure, type Failure } from '../../timeline/failure.js';

/** What one thread does for the other one, by name. The signal is aborted as that of `Peer.ask` is. */
export type PeerMethods = Readonly<Record<string, (signal: AbortSignal, ...args: never[]) => unknown>>;

/** An error as plain data; the thread that threw it keeps it under the number of what it was asked. */
type ThrownError = Pick<Error, 'name' | 'message' | 'stack'> & { readonly code?: unknown; readonly thrownAt: number };

type Outcome =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'failure'; readonly failure: Failure }
  | { readonly type: 'error'; readonly error: ThrownError }
  /** The error that the thread which asks threw itself. */
  | { readonly type: 'yours'; readonly thrownAt: number };

export type PeerMessage =
  /** `ask` 0: no answer is awaited. */
  | { readonly type: 'ask'; readonly ask: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly type: 'abort'; readonly ask: number }
  | { readonly type: 'answer'; readonly ask: number; readonly outcome: Outcome };

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** How long what was aborted waits for its answer: the other thread may be blocked. */
const ABORT_MS = 1_000;

class RemoteError extends Error {
  readonly thrownAt: number;

  constructor({ message, ...thrown }: ThrownError) {
    super(message);
    this.thrownAt = thrown.thrownAt;
    Object.assign(this, thrown);
  }
}

/**
 * One of two ends in two threads, each of which asks the other one for what only that one can do. Arguments and results are
 * plain data. A `CallFailure` stays one; any other error that returns to the thread that threw it is the same object.
 */
export class Peer {
  private readonly pending = new Map<number, Pending>();
  private readonly aborts = new Map<number, AbortController>();
  private readonly working = new Set<Promise<void>>();
  private readonly thrown = new Map<number, unknown>();
  private readonly over = new AbortController();
  private lastAsk = 0;

  constructor(
    private readonly post: (message: PeerMessage) => void,
    private readonly methods: PeerMethods,
  ) {}

  /** @throws what the method throws; the signal's reason, if it is aborted */
  async ask<T>(method: string, args: readonly unknown[] = [], signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.over.signal.throwIfAborted();
    const ask = ++this.lastAsk;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.pending.set(ask, { resolve, reject });
        const abort = () => {
          this.post({ type: 'abort', ask });
          setTimeout(() => reject(signal!.reason as Error), ABORT_MS).unref();
        };
        // Also after the answer: what was begun may go on.
        signal?.addEventListener('abort', abort, { once: true, signal: this.over.signal });
        this.post({ type: 'ask', ask, method, args });
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      this.pending.delete(ask);
    }
  }

  /** Awaits no answer. */
  tell(method: string, ...args: readonly unknown[]): void {
    this.post({ type: 'ask', ask: 0, method, args });
  }

  receive(message: PeerMessage): void {
    switch (message.type) {
      case 'ask': {
        const work = this.work(message).finally(() => this.working.delete(work));
        this.working.add(work);
        return;
      }
      case 'abort':
        return this.aborts.get(message.ask)?.abort();
      case 'answer':
        return this.answered(message.ask, message.outcome);
    }
  }

  /** Nothing is asked from now on, and what was asked is given up. */
  close(reason: Error): void {
    this.over.abort(reason);
    for (const { reject } of this.pending.values()) reject(reason);
  }

  /** Resolves when this end has answered everything. */
  async settled(): Promise<void> {
    while (this.working.size > 0) await Promise.all(this.working);
  }

  private async work({ ask, method, args }: Extract<PeerMessage, { type: 'ask' }>): Promise<void> {
    const abort = new AbortController();
    if (ask > 0) this.aborts.set(ask, abort);
    const outcome = await this.outcome(ask, () => this.methods[method]!(abort.signal, ...(args as never[])));
    if (ask > 0) this.post({ type: 'answer', ask, outcome });
  }

  private async outcome(ask: number, work: () => unknown): Promise<Outcome> {
    try {
      return { type: 'value', value: await work() };
    } catch (error) {
      if (error instanceof CallFailure) return { type: 'failure', failure: error.failure };
      if (error instanceof RemoteError) return { type: 'yours', thrownAt: error.thrownAt };
      this.thrown.set(ask, error);
      const { name, message, stack, code } = error as NodeJS.ErrnoException;
      return { type: 'error', error: { name, message, ...(stack && { stack }), code, thrownAt: ask } };
    }
  }

  private answered(ask: number, outcome: Outcome): void {
    const pending = this.pending.get(ask);
    if (!pending) return;
    switch (outcome.type) {
      case 'value':
        return pending.resolve(outcome.value as never);
      case 'failure':
        return pending.reject(new CallFailure(outcome.failure));
      case 'error':
        return pending.reject(new RemoteError(outcome.error));
      case 'yours':
        return pending.reject(this.thrown.get(outcome.thrownAt));
    }
  }
}
