import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { IdempotencyEntity } from './idempotency.entity.js';

const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked';

/** Each stored response removes some expired ones, so that the table stays as small as a day's use. */
const REMOVE_EXPIRED = `DELETE FROM idempotency_keys WHERE id IN (
  SELECT id FROM idempotency_keys WHERE expires_at < now() ORDER BY expires_at LIMIT 10 FOR UPDATE SKIP LOCKED)`;

/** Stored responses of idempotent requests. All methods run in the caller's transaction. */
@Injectable()
export class IdempotencyRepository {
  constructor(private readonly database: Database) {}

  /** @returns false if another transaction holds the lock; it is released at the end of the transaction */
  async tryLock(id: string): Promise<boolean> {
    const [row] = await this.database.query<{ locked: boolean }>(TRY_LOCK, [id]);
    return row?.locked ?? false;
  }

  async find(id: string): Promise<IdempotencyEntity | null> {
    const stored = await this.database.manager.findOneBy(IdempotencyEntity, { id });
    return stored && stored.expiresAt > new Date() ? stored : null;
  }

  async save(entity: IdempotencyEntity): Promise<void> {
    await this.database.manager.save(IdempotencyEntity, entity);
    await this.database.query(REMOVE_EXPIRED);
  }
}
