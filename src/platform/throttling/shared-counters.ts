import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { CounterLink } from './counter-link.js';
import { type Count, countOf, Counters, resetAfter } from './counters.js';
import { remaining, stateOf, Windows } from './windows.js';

/** How long the start waits for the first connection, in milliseconds. */
const START_WAIT_MS = 1_000;

/**
 * Counters that several processes share: all with the same Redis, or all of one supervisor. Every answer of theirs is
 * kept: while they are away, this process counts on from there, and when they are back they hear of what was counted
 * meanwhile, so that neither change grants anyone a second budget.
 */
export class SharedCounters extends Counters implements OnModuleInit, OnApplicationShutdown {
  private starting: Promise<void> | undefined;

  constructor(
    private readonly link: CounterLink,
    private readonly windows = new Windows(),
  ) {
    super();
  }

  /** Called twice: the throttler's module has the same object as a provider of its own. */
  onModuleInit(): Promise<void> {
    this.starting ??= this.start();
    return this.starting;
  }

  onApplicationShutdown(): void {
    this.link.close();
  }

  async increment(key: string, ttl: number, limit: number): Promise<Count> {
    const { generation } = this.link;
    if (generation === undefined) return this.countHere(key, 1, ttl, limit);
    const known = this.windows.find(key);
    const untold = known?.untold ?? 0;
    // After an interruption the window may be lost, for instance by a restart of Redis: it goes on from what is known.
    const beginning =
      known !== undefined && known.generation !== generation
        ? { hits: known.hits - untold, ttl: remaining(known), resetAt: known.resetAt }
        : { hits: 0, ttl, resetAt: resetAfter(ttl) };
    if (known !== undefined) {
      // Before the answer: a request that comes meanwhile must not tell them again.
      known.untold = 0;
      known.generation = generation;
    }
    try {
      const [hits, timeToExpire, resetAt] = await this.link.count(key, 1 + untold, beginning);
      this.keep(key, hits, timeToExpire, resetAt, generation);
      return countOf(hits, timeToExpire, resetAt, limit);
    } catch {
      // They may have been counted before the link broke; telling them again errs on the strict side.
      return this.countHere(key, 1, ttl, limit, untold);
    }
  }

  async peek(key: string, ttl: number, limit: number): Promise<Count> {
    const { generation } = this.link;
    const known = this.windows.find(key);
    const isAhead = known !== undefined && known.generation !== generation;
    if (generation === undefined || isAhead) return stateOf(known, ttl, limit);
    try {
      const [hits, timeToExpire, resetAt] = await this.link.count(key, 0, { hits: 0, ttl, resetAt: resetAfter(ttl) });
      return countOf(hits, timeToExpire, resetAt, limit);
    } catch {
      return stateOf(this.windows.find(key), ttl, limit);
    }
  }

  private async start(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, START_WAIT_MS)));
    await Promise.race([this.link.open(), enough]);
    clearTimeout(timer);
  }

  private countHere(key: string, points: number, ttl: number, limit: number, untold = 0): Count {
    const known = this.windows.find(key);
    const window = known ?? this.windows.open(key, ttl);
    window.hits += points;
    window.untold += points + (known === undefined ? 0 : untold);
    return stateOf(window, ttl, limit);
  }

  private keep(key: string, hits: number, timeToExpire: number, resetAt: number, generation: number): void {
    const known = this.windows.find(key);
    const window = known?.resetAt === resetAt ? known : this.windows.open(key, timeToExpire, resetAt);
    window.hits = Math.max(window.hits, hits);
    window.generation = generation;
  }
}
