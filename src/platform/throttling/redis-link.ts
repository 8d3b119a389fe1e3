import { Logger } from '@nestjs/common';
import type { Beginning, CounterLink, SharedCount } from './counter-link.js';
import { CONNECT_TIMEOUT_MS, createRedisClient, type RedisClient } from './redis-client.js';

/** How long Redis may take for an answer, in milliseconds; it is waited for once, and then no more until it is back. */
export const ANSWER_TIMEOUT_MS = 500;
/** Pause before Redis is tried again, in milliseconds. */
const RETRY_MS = 1_000;
/** Redis that goes away again within this time waits twice as long for its next chance, up to the longest pause. */
const STEADY_MS = 30_000;
const LONGEST_RETRY_MS = 30_000;

/** The connection to Redis. While it is down, nothing is sent and nobody waits. */
export class RedisLink implements CounterLink {
  private readonly logger = new Logger('RateLimits');
  private readonly name: string;
  private client: RedisClient | undefined;
  private connecting: RedisClient | undefined;
  private generations = 0;
  private upSince = 0;
  private retryMs = RETRY_MS;
  private timer: NodeJS.Timeout | undefined;
  private state: 'new' | 'up' | 'down' | 'closed' = 'new';

  constructor(private readonly url: string) {
    // Without user and password: this goes to the log.
    this.name = `Redis at ${new URL(url).host}`;
  }

  /** The number of the present connection, counted from 1, or undefined while there is none. */
  get generation(): number | undefined {
    return this.client && this.generations;
  }

  /** Tries to connect; later attempts are made in the background. Never rejects. */
  async open(): Promise<void> {
    let client: RedisClient | undefined;
    try {
      client = this.connecting = createRedisClient(this.url);
      await this.connect(client);
      if (this.isClosed) throw new Error('closed meanwhile');
    } catch (error) {
      client?.destroy();
      this.connecting = undefined;
      this.away(error);
      return;
    }
    const established = client;
    this.connecting = undefined;
    this.client = established;
    this.generations += 1;
    this.upSince = performance.now();
    established.on('error', (error) => this.lose(established, error));
    this.logger.log(
      `${this.name} ${this.state === 'down' ? 'is back: rate limits are shared again' : 'shares the rate limits'}`,
    );
    this.state = 'up';
  }

  /**
   * Counts `points` for `key`, beginning with `beginning` if Redis has no such key; 0 points only look.
   * @throws when Redis fails in any way; the link is down then
   */
  async count(key: string, points: number, beginning: Beginning): Promise<SharedCount> {
    const { client } = this;
    if (!client) throw new Error(`${this.name} is away`);
    try {
      return await this.answerOf(client, client.count(key, points, beginning));
    } catch (error) {
      // Also an error that Redis itself answers: a replica or a full one cannot count.
      this.lose(client, error);
      throw error;
    }
  }

  close(): void {
    this.state = 'closed';
    clearTimeout(this.timer);
    this.client?.destroy();
    this.connecting?.destroy();
    this.client = undefined;
  }

  private get isClosed(): boolean {
    return this.state === 'closed';
  }

  private async connect(client: RedisClient): Promise<void> {
    // Every failure also rejects what waits for it; without a listener the event would end the process.
    client.on('error', () => undefined);
    const giveUp = setTimeout(() => client.destroy(), CONNECT_TIMEOUT_MS + ANSWER_TIMEOUT_MS);
    try {
      await client.connect();
    } finally {
      clearTimeout(giveUp);
    }
    // Counting is what has to work: a replica, a full memory or a missing permission also answer a ping.
    await this.answerOf(client, client.count('probe', 1, { hits: 0, ttl: 1_000, resetAt: 0 }));
  }

  /** Waits for an answer; when it takes too long, the connection ends and all that wait on it with it. */
  private async answerOf<Answer>(client: RedisClient, answer: Promise<Answer>): Promise<Answer> {
    let isWaiting = true;
    const timer = setTimeout(() => {
      // One more turn of the event loop: if this process was the slow one, the answer is there and only unread.
      setImmediate(() => {
        if (!isWaiting) return;
        this.lose(client, new Error(`no answer within ${ANSWER_TIMEOUT_MS} ms`));
        client.destroy();
      });
    }, ANSWER_TIMEOUT_MS);
    try {
      return await answer;
    } finally {
      isWaiting = false;
      clearTimeout(timer);
    }
  }

  private lose(client: RedisClient, error: unknown): void {
    if (this.client !== client) return;
    this.client = undefined;
    const wasSteady = performance.now() - this.upSince > STEADY_MS;
    this.retryMs = wasSteady ? RETRY_MS : Math.min(this.retryMs * 2, LONGEST_RETRY_MS);
    this.away(error);
    client.destroy();
  }

  private away(error: unknown): void {
    if (this.isClosed) return;
    if (this.state !== 'down') {
      this.state = 'down';
      this.logger.warn(
        `${this.name} is away (${reasonOf(error)}): rate limits are counted in this process until it is back`,
      );
    }
    this.timer = setTimeout(() => void this.open(), this.retryMs);
    this.timer.unref();
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's error for a refused connection has an empty message when a name has several addresses.
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}
