import { Injectable } from '@nestjs/common';
import type { Reader } from '../../platform/access/caller.js';
import { Database } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import type { RecordingReadingEntity } from './recording-reading.entity.js';

/** A list shows at most as many parts of a minute; beyond, they are one from the first byte to the last. */
const MAX_PARTS = 100;
/** How long a reading is kept. */
const RETENTION_DAYS = 400;
/** Rows deleted by one statement. */
const MAX_ROWS = 1_000;

/** $1: a call; $2 to $4: who reads; $5: length of the file; $6, $7: the part, without its end. Nothing for a call that was deleted. */
const NOTE = `
  INSERT INTO recording_readings AS r
    (id, workspace_id, agent_id, call_id, external_id, api_key_id, user_id, request_id, file_bytes, parts, minute)
  SELECT gen_random_uuid(), c.workspace_id, c.agent_id, c.id, i.external_id, $2, $3, $4, $5,
         int8multirange(int8range($6, $7)), date_trunc('minute', now())
    FROM calls read JOIN calls c ON c.id = coalesce(read.recorded_call_id, read.id)
    LEFT JOIN call_imports i ON i.call_id = c.id WHERE read.id = $1
  ON CONFLICT (call_id, api_key_id, minute) DO UPDATE SET requests = r.requests + 1, updated_at = now(),
    parts = CASE WHEN r.requests < ${MAX_PARTS} THEN r.parts + excluded.parts
                 ELSE int8multirange(range_merge(r.parts + excluded.parts)) END
  RETURNING id`;

/** $2: agent, $3: call and $4: begin, or null. */
const LIST = {
  columns: `r.id, r.agent_id AS "agentId", r.call_id AS "callId", r.external_id AS "externalId", r.api_key_id AS "apiKeyId",
    k.name AS "apiKeyName", r.user_id AS "userId", u.name AS "userName", r.request_id AS "requestId", r.requests,
    (SELECT json_agg(json_build_object('from', lower(p), 'to', upper(p) - 1)) FROM unnest(r.parts) p) AS parts,
    r.parts = int8multirange(int8range(0, r.file_bytes)) AS "isWhole", r.created_at AS "createdAt", r.updated_at AS "updatedAt"`,
  from: 'recording_readings r',
  joins: 'JOIN api_keys k ON k.id = r.api_key_id JOIN users u ON u.id = r.user_id',
  where: `r.workspace_id = $1 AND ($2::uuid IS NULL OR r.agent_id = $2) AND ($3::uuid IS NULL OR r.call_id = $3)
    AND ($4::timestamptz IS NULL OR r.created_at >= $4)`,
};

const ERASE = 'UPDATE recording_readings SET external_id = NULL WHERE agent_id = $1 AND external_id IS NOT NULL';

const DELETE_EXPIRED = `
  DELETE FROM recording_readings WHERE id = ANY (ARRAY(
    SELECT id FROM recording_readings WHERE created_at < now() - ${RETENTION_DAYS} * interval '24 hours'
     LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED)) RETURNING id`;

/** The first and the last byte that are sent of a file, and its size. */
export interface SentPart {
  readonly start: number;
  readonly end: number;
  readonly size: number;
}

export type ReadingRow = Omit<RecordingReadingEntity, 'workspaceId' | 'fileBytes' | 'parts' | 'minute'> & {
  readonly apiKeyName: string;
  readonly userName: string;
  readonly parts: readonly { readonly from: number; readonly to: number }[];
  readonly isWhole: boolean;
  /** Of the list. */
  readonly total: number;
};

/** SQL for the readings of recordings. */
@Injectable()
export class RecordingReadingsRepository {
  constructor(private readonly database: Database) {}

  /** @returns false if the call was deleted; then nothing was written */
  async note(
    { apiKeyId, userId, requestId }: Reader,
    callId: string,
    { start, end, size }: SentPart,
  ): Promise<boolean> {
    const values = [callId, apiKeyId, userId, requestId, size, start, end + 1];
    return (await this.database.query(NOTE, values)).length > 0;
  }

  page(
    workspaceId: string,
    { agentId, callId, from }: { readonly agentId?: string; readonly callId?: string; readonly from?: string },
    page: { limit: number; offset: number },
  ) {
    const values = [workspaceId, agentId ?? null, callId ?? null, from ?? null];
    return readPage<ReadingRow>(this.database, LIST, values, page);
  }

  /** Forgets what an agent that is being erased called its calls. */
  async eraseAgent(agentId: string): Promise<void> {
    await this.database.query(ERASE, [agentId]);
  }

  /** Deletes a batch of old readings. @returns their number */
  async deleteExpired(): Promise<number> {
    return (await this.database.query(DELETE_EXPIRED)).length;
  }
}
