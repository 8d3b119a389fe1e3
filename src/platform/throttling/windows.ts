import { type Count, countOf, resetAfter, WINDOW_MS } from './counters.js';

/** Begins the keys of client addresses: anyone can make as many of them as they like. */
export const ADDRESS_PREFIX = 'address:';

/**
 * Windows of client addresses kept at most, about 60 MB. Who commands more networks than this is not held by a limit
 * for each of them anyway.
 */
export const MOST_ADDRESSES = 250_000;

/** The count of one key in one window. */
export interface Window {
  /** On the process's monotonic clock, in whole milliseconds. */
  readonly endsAt: number;
  readonly resetAt: number;
  hits: number;
  /** Of `hits`, those that the shared counter has not heard of. */
  untold: number;
  /** The connection through which the shared counter was last heard of; 0 is none. */
  generation: number;
}

/** The windows that this process knows, at most `mostAddresses` of them for client addresses. */
export class Windows {
  private readonly workspaces = new Table(Infinity);
  private readonly addresses: Table;

  constructor(mostAddresses = MOST_ADDRESSES) {
    this.addresses = new Table(mostAddresses / 2);
  }

  /** How many windows are kept, ended ones included. */
  get size(): number {
    return this.workspaces.size + this.addresses.size;
  }

  /** The window of a key that has not ended. */
  find(key: string): Window | undefined {
    const window = this.tableOf(key).get(key);
    return window !== undefined && window.endsAt > now() ? window : undefined;
  }

  /** Replaces the window of a key by one with nothing in it. */
  open(key: string, ttl: number, resetAt = resetAfter(ttl)): Window {
    const window = { endsAt: Math.floor(now()) + ttl, resetAt, hits: 0, untold: 0, generation: 0 };
    this.tableOf(key).set(key, window);
    return window;
  }

  private tableOf(key: string): Table {
    return key.startsWith(ADDRESS_PREFIX) ? this.addresses : this.workspaces;
  }
}

/**
 * Two maps: new windows go into the recent one, which takes the place of the old one when all windows in that have
 * ended, or when it is full. A timer for each window costs 550 bytes a key, and removing the oldest keys of one map one
 * by one costs a walk over all that were removed before.
 */
class Table {
  private recent = new Map<string, Window>();
  private old = new Map<string, Window>();
  private since = now();

  constructor(private readonly most: number) {}

  get size(): number {
    return this.recent.size + this.old.size;
  }

  get(key: string): Window | undefined {
    return this.recent.get(key) ?? this.old.get(key);
  }

  set(key: string, window: Window): void {
    if (this.recent.size >= this.most || now() - this.since >= WINDOW_MS) {
      this.old = this.recent;
      this.recent = new Map();
      this.since = now();
    }
    this.recent.set(key, window);
  }
}

/** What is left of a window, in milliseconds. */
export const remaining = (window: Window): number => Math.ceil(window.endsAt - now());

/** The state of a window, or of the one that would begin now. */
export function stateOf(window: Window | undefined, ttl: number, limit: number): Count {
  if (window === undefined) return countOf(0, ttl, resetAfter(ttl), limit);
  return countOf(window.hits, remaining(window), window.resetAt, limit);
}

/** Monotonic: a clock that an administrator sets back must not make a window longer. */
function now(): number {
  return performance.now();
}
