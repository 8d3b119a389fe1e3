import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { IdempotencyEntity } from './idempotency.entity.js';
import type { ResponseSubject } from './response-subject.js';

const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked';

/** Each stored response removes some expired ones, so that the table stays as small as a day's use. */
const REMOVE_EXPIRED = `DELETE FROM idempotency_keys WHERE id IN (
  SELECT id FROM idempotency_keys WHERE expires_at < now() ORDER BY expires_at LIMIT 10 FOR UPDATE SKIP LOCKED)`;

const AGENT_OF_RUN = 'SELECT agent_id AS "agentId" FROM runs WHERE id = $1';

const ERASE = 'DELETE FROM idempotency_keys WHERE agent_id = $1';

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

  /** The agent that a response is about; null for none. */
  async agentOf(subject: ResponseSubject): Promise<string | null> {
    if (!subject) return null;
    if ('agentId' in subject) return subject.agentId;
    const [run] = await this.database.query<{ agentId: string }>(AGENT_OF_RUN, [subject.runId]);
    return run?.agentId ?? null;
  }

  /** Deletes the responses about an agent; there are those of one day. */
  async erase(agentId: string): Promise<void> {
    await this.database.query(ERASE, [agentId]);
  }

  async save(entity: IdempotencyEntity): Promise<void> {
    await this.database.manager.save(IdempotencyEntity, entity);
    await this.database.query(REMOVE_EXPIRED);
  }
}
