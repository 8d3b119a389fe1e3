import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { notErased } from '../database/erased-agents.js';
import { IdempotencyEntity } from './idempotency.entity.js';
import type { ResponseSubject } from './response-subject.js';

const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked';

/** Each stored response removes some expired ones, so that the table stays as small as a day's use. */
const REMOVE_EXPIRED = `DELETE FROM idempotency_keys WHERE id IN (
  SELECT id FROM idempotency_keys WHERE expires_at < now() ORDER BY expires_at LIMIT 10 FOR UPDATE SKIP LOCKED)`;

const FIND = `
  SELECT id, body_hash AS "bodyHash", status, response, api_key_id AS "apiKeyId", agent_id AS "agentId",
         expires_at AS "expiresAt"
    FROM idempotency_keys i WHERE i.id = $1 AND i.expires_at > now() AND ${notErased('i.agent_id')}`;

const AGENT_OF_RUN = 'SELECT agent_id AS "agentId" FROM runs WHERE id = $1';

const AGENT_OF_DELIVERY = `
  SELECT v.agent_id AS "agentId" FROM webhook_deliveries d JOIN webhook_events v ON v.id = d.event_id WHERE d.id = $1`;

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

  /** Not one about an agent that was erased while the request was in progress: its response was stored after that. */
  async find(id: string): Promise<IdempotencyEntity | undefined> {
    const [stored] = await this.database.query<IdempotencyEntity>(FIND, [id]);
    return stored;
  }

  /** The agent that a response is about; null for none. */
  async agentOf(subject: ResponseSubject): Promise<string | null> {
    if (!subject) return null;
    if ('agentId' in subject) return subject.agentId;
    const [statement, id] =
      'runId' in subject ? [AGENT_OF_RUN, subject.runId] : [AGENT_OF_DELIVERY, subject.deliveryId];
    const [row] = await this.database.query<{ agentId: string | null }>(statement, [id]);
    return row?.agentId ?? null;
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
