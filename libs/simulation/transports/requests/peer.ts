import { inspect } from 'node:util';
import { OutboundClient, type OutboundOptions } from '../../../outbound-http/index.js';
import { CallFailure, type Failure } from '../../timeline/failure.js';

type Resolve = NonNullable<OutboundOptions['resolve']>;
type Work = (...args: never[]) => unknown;

/** A value that only its thread has: where it stands in the arguments, and the number under which the thread keeps it. */
interface Kept {
  readonly path: readonly string[];
  readonly type: 'function' | 'signal' | 'client';
  readonly id: number;
  readonly settings?: OutboundClient['settings'];
}

/** An error as plain data, with its fields such as `code` or `isPermanent`, and the question in which it was thrown. */
type Thrown = Pick<Error, 'name' | 'message' | 'stack'> & { readonly ask: number };

type Outcome =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'failure'; readonly failure: Failure }
  | { readonly type: 'thrown'; readonly thrown: Thrown }
  /** The error that the thread which asks threw itself. */
  | { readonly type: 'yours'; readonly ask: number };

interface Asked {
  readonly type: 'ask';
  readonly ask: number;
  /** Number of the function. */
  readonly of: number;
  readonly args: readonly unknown[];
  readonly kept: readonly Kept[];
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export type PeerMessage =
  | Asked
  | { readonly type: 'abort'; readonly id: number }
  | { readonly type: 'answer'; readonly ask: number; readonly outcome: Outcome };

/** How deep values that only their thread has may stand in arguments: `call.ledger.placed`. */
const DEPTH = 2;
/** How long what was aborted waits for its answer: the other thread may be blocked. */
const ABORT_MS = 1_000;

class RemoteError extends Error {
  readonly ask!: number;

  constructor({ message, ...thrown }: Thrown) {
    super(message);
    Object.assign(this, thrown);
  }
}

/**
 * One of two ends in two threads that call each other's functions. Arguments are plain data in which functions, signals and
 * clients may stand: the other end gets ones that lead back. Results are plain data. A `CallFailure` stays one, and any other
 * error that returns to the thread that threw it is the same object.
 */
export class Peer {
  private readonly functions: Work[];
  private readonly signals = new Map<number, AbortController>();
  private readonly pending = new Map<number, Pending>();
  private readonly working = new Set<Promise<void>>();
  private readonly thrown = new Map<number, unknown>();
  private readonly over = new AbortController();
  private lastId = 0;

  /** @param root what the other end asks for with `ask` */
  constructor(
    private readonly post: (message: PeerMessage) => void,
    root: Work = () => undefined,
  ) {
    this.functions = [root];
  }

  /** @throws what the other end throws; the reason of a signal among the arguments, once it is aborted */
  ask<T>(...args: readonly unknown[]): Promise<T> {
    return this.call(0, args) as Promise<T>;
  }

  receive(message: PeerMessage): void {
    switch (message.type) {
      case 'ask': {
        const work = this.work(message).finally(() => this.working.delete(work));
        return void this.working.add(work);
      }
      case 'abort':
        return this.signals.get(message.id)?.abort();
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

  private async call(of: number, args: readonly unknown[]): Promise<unknown> {
    const ask = ++this.lastId;
    const kept: Kept[] = [];
    const signals: AbortSignal[] = [this.over.signal];
    const plain = args.map((arg, index) => this.plain(arg, [String(index)], kept, signals));
    for (const signal of signals) signal.throwIfAborted();
    try {
      return await new Promise((resolve, reject) => {
        this.pending.set(ask, { resolve, reject });
        for (const signal of signals.slice(1)) {
          signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason as Error), ABORT_MS).unref());
        }
        this.post({ type: 'ask', ask, of, args: plain, kept });
      });
    } catch (error) {
      for (const signal of signals) signal.throwIfAborted();
      throw error;
    } finally {
      this.pending.delete(ask);
    }
  }

  /** A value without what only this thread has, which is kept. */
  private plain(value: unknown, path: readonly string[], kept: Kept[], signals: AbortSignal[]): unknown {
    const keep = (work: Work) => this.functions.push(work) - 1;
    if (typeof value === 'function') kept.push({ path, type: 'function', id: keep(value as Work) });
    else if (value instanceof OutboundClient) {
      const id = keep((hostname: string) => value.addresses(hostname));
      kept.push({ path, type: 'client', id, settings: value.settings });
    } else if (value instanceof AbortSignal) {
      const id = ++this.lastId;
      // Also after the answer: what was begun may go on.
      const until = { once: true, signal: this.over.signal };
      value.addEventListener('abort', () => this.post({ type: 'abort', id }), until);
      signals.push(value);
      kept.push({ path, type: 'signal', id });
    } else if (path.length <= DEPTH && isObject(value)) {
      const parts = Object.entries(value).map(([name, part]) => [
        name,
        this.plain(part, [...path, name], kept, signals),
      ]);
      return Object.fromEntries(parts);
    } else return value;
    return undefined;
  }

  /** Puts in what leads back to the other thread. */
  private filled({ args, kept }: Asked): unknown[] {
    const filled = [...args];
    for (const { path, ...of } of kept) {
      const [name, ...owners] = path.toReversed();
      const owner = owners.reduceRight<unknown>((one, part) => (one as Record<string, unknown>)[part], filled);
      (owner as Record<string, unknown>)[name!] = this.leadingBack(of);
    }
    return filled;
  }

  private leadingBack({ type, id, settings }: Omit<Kept, 'path'>): unknown {
    if (type === 'signal') {
      const controller = new AbortController();
      this.signals.set(id, controller);
      return controller.signal;
    }
    const ask = (...args: readonly unknown[]) => {
      const answer = this.call(id, args);
      // Not everyone who calls it waits for it.
      answer.catch(() => undefined);
      return answer;
    };
    return type === 'function' ? ask : new OutboundClient({ ...settings, resolve: ask as Resolve });
  }

  private async work(asked: Asked): Promise<void> {
    const { ask, of } = asked;
    try {
      const value = await this.functions[of]!(...(this.filled(asked) as never[]));
      this.post({ type: 'answer', ask, outcome: { type: 'value', value } });
    } catch (error) {
      // Also of the post, which throws for what cannot be copied: an answer that never comes would end the thread.
      this.post({ type: 'answer', ask, outcome: this.outcomeOf(error, ask) });
    }
  }

  private outcomeOf(error: unknown, ask: number): Outcome {
    if (error instanceof CallFailure) return { type: 'failure', failure: error.failure };
    if (error instanceof RemoteError) return { type: 'yours', ask: error.ask };
    this.thrown.set(ask, error);
    const shown = error instanceof Error ? error : new Error(inspect(error));
    const { name, message, stack } = shown;
    const isPlain = (value: unknown) => Object(value) !== value && typeof value !== 'symbol';
    const fields = Object.fromEntries(Object.entries(shown).filter(([, value]) => isPlain(value)));
    return { type: 'thrown', thrown: { ...fields, name, message, ...(stack && { stack }), ask } };
  }

  private answered(ask: number, outcome: Outcome): void {
    const pending = this.pending.get(ask);
    if (outcome.type === 'value') pending?.resolve(outcome.value);
    else if (outcome.type === 'failure') pending?.reject(new CallFailure(outcome.failure));
    else if (outcome.type === 'thrown') pending?.reject(new RemoteError(outcome.thrown));
    else pending?.reject(this.thrown.get(outcome.ask));
  }
}

const isObject = (value: unknown): value is object => Object.prototype.toString.call(value) === '[object Object]';
