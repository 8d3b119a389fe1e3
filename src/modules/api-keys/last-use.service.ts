import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/** How often uses are written: the precision of `lastUsedAt`. */
const FLUSH_MS = 30_000;

const WRITE = `
  UPDATE api_keys k SET last_used_at = u.used_at
    FROM unnest($1::uuid[], $2::timestamptz[]) AS u (id, used_at)
   WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.used_at)`;

/** Remembers when keys were used and writes it down now and then: a write per request would cost more than the request. */
@Injectable()
export class LastUseService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(LastUseService.name);
  private uses = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  record(apiKeyId: string): void {
    this.uses.set(apiKeyId, Date.now());
    // Armed by a use rather than ticking for ever: an idle service leaves the database alone.
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
    // Always in the same order, so that two processes never wait for each other's rows.
    const ids = [...uses.keys()].sort();
    try {
      await this.database.query(WRITE, [ids, ids.map((id) => new Date(uses.get(id) ?? 0))]);
    } catch (error) {
      this.logger.warn(`Last uses of API keys could not be written: ${String(error)}`);
    }
  }
}
