import { Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type RateLimiterAbstract, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible';
import { createClient } from 'redis';
import { messageOf } from '../errors/message-of.js';
import { LIMITER_OPTIONS, LimiterCounter, type WindowCount, WindowCounter } from './window-counter.js';

/** How long a connection with its first command may take, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2_500;
/** How long a command may take, in milliseconds; after that Redis counts as unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;
/** Pause before Redis is tried again, in milliseconds. */
const RETRY_MS = 1_000;
/** Keeps an idle connection from being closed by Redis or by a proxy, in milliseconds. */
const PING_MS = 15_000;

/** What Node says of a certificate whose authority it does not know. */
const UNTRUSTED = /unable to (verify|get)|self[- ]signed/;

const createRedisClient = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: PING_MS,
    // The counter reconnects by itself, because only a command that counts shows that Redis is usable.
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
  });

/**
 * Counts in Redis, and in this process while Redis is unavailable. The library's own `insuranceLimiter`
 * would hide the error, and would start at zero: here the local counter counts along.
 */
export class RedisCounter extends WindowCounter implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('RateLimits');
  private readonly name: string;
  private client: ReturnType<typeof createRedisClient> | undefined;
  /** Undefined while Redis is unavailable. */
  private redis: RateLimiterAbstract | undefined;
  private state: 'new' | 'up' | 'down' | 'closed' = 'new';
  private retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly url: string,
    private readonly local: LimiterCounter,
  ) {
    super();
    // Without user and password, because it is logged.
    this.name = `Redis at ${new URL(url).host}`;
  }

  onModuleInit(): Promise<void> {
    return this.connect();
  }

  onModuleDestroy(): void {
    this.state = 'closed';
    clearTimeout(this.retry);
    this.client?.destroy();
  }

  async increment(key: string, windowMs: number): Promise<WindowCount> {
    const local = await this.local.increment(key, windowMs);
    const { redis } = this;
    if (!redis) return local;
    try {
      return await new LimiterCounter(redis).increment(key, windowMs);
    } catch (error) {
      this.fail(redis, error);
      return local;
    }
  }

  async read(key: string): Promise<WindowCount | undefined> {
    const { redis } = this;
    if (!redis) return this.local.read(key);
    try {
      return await new LimiterCounter(redis).read(key);
    } catch (error) {
      this.fail(redis, error);
      return this.local.read(key);
    }
  }

  /** Tries to connect, and tries again in the background if that fails. Never rejects. */
  private async connect(): Promise<void> {
    const client = createRedisClient(this.url);
    this.client = client;
    const limiter = new RateLimiterRedis({ ...LIMITER_OPTIONS, storeClient: client, useRedisPackage: true });
    const redis = new RLWrapperTimeouts({ ...LIMITER_OPTIONS, limiter, timeoutMs: COMMAND_TIMEOUT_MS });
    client.on('error', (error) => this.fail(redis, error));
    const timeout = setTimeout(() => client.destroy(), CONNECT_TIMEOUT_MS);
    try {
      await client.connect();
      // A replica, a full memory or a missing permission would still respond to a ping.
      await redis.consume('probe');
      this.redis = redis;
      const isBack = this.state === 'down';
      this.state = 'up';
      this.logger.log(
        isBack ? `${this.name} is back: rate limits are shared again` : `${this.name} shares the rate limits`,
      );
    } catch (error) {
      this.unavailable(error);
    } finally {
      clearTimeout(timeout);
    }
  }

  private fail(redis: RateLimiterAbstract, error: unknown): void {
    // Reported already, or a connection that was never used.
    if (this.redis === redis) this.unavailable(error);
  }

  private unavailable(error: unknown): void {
    this.redis = undefined;
    if (this.client?.isOpen) this.client.destroy();
    if (this.state === 'closed') return;
    if (this.state !== 'down') {
      const message = messageOf(error);
      const cure = UNTRUSTED.test(message) ? '; its authority is named with NODE_EXTRA_CA_CERTS=FILE' : '';
      this.logger.warn(
        `${this.name} is unavailable (${message}${cure}): each process counts rate limits by itself until it is back`,
      );
    }
    this.state = 'down';
    this.retry = setTimeout(() => void this.connect(), RETRY_MS);
    this.retry.unref();
  }
}
