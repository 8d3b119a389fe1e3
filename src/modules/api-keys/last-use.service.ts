import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { ApiKeysRepository } from './api-keys.repository.js';

/** How often uses are written: the precision of `lastUsedAt`. */
const FLUSH_MS = 30_000;

/** Writes down every 30 seconds when keys were last used: a write per request would cost more than the request. */
@Injectable()
export class LastUseService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(LastUseService.name);
  private uses = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly repository: ApiKeysRepository) {}

  record(apiKeyId: string): void {
    this.uses.set(apiKeyId, Date.now());
    // Started by a use rather than at regular intervals: an idle service leaves the database alone.
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
