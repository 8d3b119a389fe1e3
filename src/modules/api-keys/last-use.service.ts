import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { ApiKeysRepository } from './api-keys.repository.js';

/** How long uses are collected before they are written, which is the precision of `lastUsedAt`. */
const FLUSH_MS = 30_000;

/** Records when keys were last used. Batched, because a write per request would cost more than the request. */
@Injectable()
export class LastUseService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(LastUseService.name);
  private uses = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly repository: ApiKeysRepository) {}

  record(apiKeyId: string): void {
    this.uses.set(apiKeyId, Date.now());
    // Started by a use instead of an interval, so that an idle service does not access the database.
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const uses = this.uses;
    if (uses.size === 0) return;
    this.uses = new Map();
    try {
      await this.repository.recordUses(uses);
    } catch (error) {
      this.logger.warn(`Last uses of API keys could not be written: ${String(error)}`);
    }
  }
}
