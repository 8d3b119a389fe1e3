/** A shared counter's answer: hits, milliseconds until the window ends, Unix time of that end in seconds. */
export type SharedCount = readonly [hits: number, timeToExpire: number, resetAt: number];

/** What a process knows of a counter, in case it has been lost: it is begun like this, and is at least this high. */
export interface Beginning {
  readonly hits: number;
  /** Milliseconds. */
  readonly ttl: number;
  /** Unix time in seconds. */
  readonly resetAt: number;
}

/** The way to counters that several processes share. While it is down, nothing is sent and nobody waits. */
export interface CounterLink {
  /** The number of the present connection, counted from 1, or undefined while there is none. */
  readonly generation: number | undefined;
  /** Tries to connect; later attempts are made in the background. Never rejects. */
  open(): Promise<void>;
  /**
   * Counts `points` for `key`, beginning with `beginning` if there is no such key; 0 points only look.
   * @throws when there is no answer; the link is down then
   */
  count(key: string, points: number, beginning: Beginning): Promise<SharedCount>;
  close(): void;
}
