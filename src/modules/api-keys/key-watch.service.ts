import { setMaxListeners } from 'node:events';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { onBehalfOfService } from '../../platform/database/fair-pool.js';
import { Notifications } from '../../platform/database/notifications.js';
import { type DomainError, expiredKey, invalidKey } from '../../platform/errors/domain-error.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { KEYS_CHANGED } from './api-keys.service.js';

/** How often expiry is compared with the clock, and the database is asked while notifications are interrupted. */
const CHECK_MS = 250;

/** A key that a request in progress depends on. */
export interface KeyWatch {
  /** Aborts with a DomainError UNAUTHORIZED as its reason once the key is revoked or has expired. */
  readonly signal: AbortSignal;
  /** To be called when the request ends. */
  stop(): void;
}

interface WatchedKey {
  readonly ended: AbortController;
  watches: number;
  /** Milliseconds since the epoch; Infinity for a key that does not expire. */
  expiresAt: number;
}

/**
 * Ends what outlives the check of its key: event streams and waits. A revocation on any process arrives as a notification
 * of the database; the state is read again for all watched keys together.
 */
@Injectable()
export class KeyWatchService implements OnApplicationShutdown {
  private readonly logger = new Logger(KeyWatchService.name);
  private readonly keys = new Map<string, WatchedKey>();
  private timer: NodeJS.Timeout | undefined;
  private reading = false;
  /** Whether the state may have changed since the last reading began. */
  private stale = false;

  constructor(
    private readonly repository: ApiKeysRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    notifications.subscribe(KEYS_CHANGED, () => this.refresh());
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Also notices a revocation between the check of the request's key and this call. */
  watch({ apiKeyId }: Caller): KeyWatch {
    const key = this.keys.get(apiKeyId) ?? newWatchedKey();
    this.keys.set(apiKeyId, key);
    key.watches++;
    this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
    this.refresh();
    let isWatching = true;
    const stop = () => {
      if (!isWatching) return;
      isWatching = false;
      if (--key.watches === 0) this.forget(apiKeyId, key);
    };
    return { signal: key.ended.signal, stop };
  }

  private check(): void {
    for (const [id, key] of this.keys) if (key.expiresAt <= this.clock.now()) this.end(id, key, expiredKey());
    if (this.stale || !this.notifications.live) this.refresh();
  }

  private refresh(): void {
    this.stale = true;
    // The read is for all workspaces, so it must not wait for the connections of the one that happens to cause it.
    if (!this.reading) void onBehalfOfService(() => this.read());
  }

  private async read(): Promise<void> {
    this.reading = true;
    try {
      while (this.stale && this.keys.size > 0) {
        this.stale = false;
        const watched = new Map(this.keys);
        const valid = await this.repository.findExpiries([...watched.keys()]);
        for (const [id, key] of watched) {
          const expiresAt = valid.get(id);
          if (expiresAt === undefined) this.end(id, key, invalidKey());
          else if (expiresAt <= this.clock.now()) this.end(id, key, expiredKey());
          else key.expiresAt = expiresAt;
        }
      }
    } catch (error) {
      // Repeated by the next check.
      this.stale = true;
      this.logger.debug(`Watched API keys could not be read: ${String(error)}`);
    } finally {
      this.reading = false;
    }
  }

  private end(id: string, key: WatchedKey, reason: DomainError): void {
    this.forget(id, key);
    key.ended.abort(reason);
  }

  private forget(id: string, key: WatchedKey): void {
    // A later request may watch the same key again.
    if (this.keys.get(id) === key) this.keys.delete(id);
    if (this.keys.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

function newWatchedKey(): WatchedKey {
  const ended = new AbortController();
  // Each request with the key listens; Node would warn of a leak from the eleventh on.
  setMaxListeners(0, ended.signal);
  return { ended, watches: 0, expiresAt: Infinity };
}
