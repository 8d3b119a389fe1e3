import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { CallImportEntity } from './call-import.entity.js';

/** Serialises the imports of one external id. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('calls:import:' || $1::text || ' ' || $2::text, 0))`;

/** The calls of a deleted run are deleted later. */
const FORGET_DELETED = `
  DELETE FROM call_imports i
   WHERE i.agent_id = $1 AND i.external_id = $2 AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = i.run_id)`;

const FIND = `
  SELECT call_id AS "callId", content_hash AS "contentHash" FROM call_imports
   WHERE agent_id = $1 AND external_id = $2 AND content_hash IS NOT NULL`;

const INSERT = `
  INSERT INTO call_imports (call_id, run_id, workspace_id, agent_id, external_id, content_hash, channels, transcript, bytes,
                            tool_calls, ended_reason, reported, origin, decided)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`;

/** When it took place, in place of when its attempt begins. */
const SET_START = 'UPDATE calls SET started_at = $2 WHERE id = $1';

const SOURCE = `
  SELECT channels, transcript, tool_calls AS "toolCalls", ended_reason AS "endedReason", origin, decided
    FROM call_imports WHERE call_id = $1`;

export type NewCallImport = Omit<CallImportEntity, 'bytes'> & { readonly bytes: number };
export type CallSource = Pick<
  CallImportEntity,
  'channels' | 'transcript' | 'toolCalls' | 'endedReason' | 'origin' | 'decided'
>;

/** SQL for calls that were recorded elsewhere. */
@Injectable()
export class CallImportsRepository {
  constructor(private readonly database: Database) {}

  /** The agent's call of an external id; no other transaction imports one until this one ends. */
  async lock(
    agentId: string,
    externalId: string,
  ): Promise<Pick<CallImportEntity, 'callId' | 'contentHash'> | undefined> {
    await this.database.query(LOCK, [agentId, externalId]);
    await this.database.query(FORGET_DELETED, [agentId, externalId]);
    const [row] = await this.database.query<Pick<CallImportEntity, 'callId' | 'contentHash'>>(FIND, [
      agentId,
      externalId,
    ]);
    return row;
  }

  async insert(one: NewCallImport, startedAt: Date): Promise<void> {
    const { callId, runId, workspaceId, agentId, externalId, contentHash, channels, bytes, endedReason, origin } = one;
    const [said, tools, reported, decided] = [one.transcript, one.toolCalls, one.reported, one.decided].map(jsonOf);
    const values = [callId, runId, workspaceId, agentId, externalId, contentHash, channels, said, bytes, tools];
    await this.database.query(INSERT, [...values, endedReason, reported, origin, decided]);
    await this.database.query(SET_START, [callId, startedAt]);
  }

  /** What a call is imported with; undefined if it was deleted. */
  async source(callId: string): Promise<CallSource | undefined> {
    const [row] = await this.database.query<CallSource>(SOURCE, [callId]);
    return row;
  }
}

const jsonOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
