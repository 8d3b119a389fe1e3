import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { notErased } from '../../platform/database/erased-agents.js';
import { readPage } from '../../platform/database/page-query.js';
import type { EvaluationEntity } from './evaluation.entity.js';
import { COLUMNS } from './evaluations.columns.js';

const FIND = `
  SELECT ${COLUMNS} FROM evaluations e
   WHERE e.id = $1 AND e.deleted_at IS NULL AND ${notErased('e.agent_id')}`;

const LIST = {
  columns: COLUMNS,
  from: 'evaluations e',
  where: 'e.agent_id = $1 AND e.deleted_at IS NULL',
  total: { list: 'evaluations' },
};

/** Oldest first, which is also the order within an imported file. */
const SELECT = `
  SELECT e.id FROM evaluations e
   WHERE e.agent_id = $1 AND e.deleted_at IS NULL
     AND ($2::uuid[] IS NULL OR e.id = ANY ($2)) AND ($3::text[] IS NULL OR e.tags && $3)
     AND ($4::text[] IS NULL OR e.scope = ANY ($4))
   ORDER BY e.created_at, e.id`;

const READ = `SELECT ${COLUMNS} FROM evaluations e WHERE e.id = ANY ($1::uuid[]) ORDER BY e.created_at, e.id`;

const OWNERS = `
  SELECT id, agent_id AS "agentId", workspace_id AS "workspaceId" FROM evaluations
   WHERE id = ANY ($1::uuid[]) AND deleted_at IS NULL`;

const IDS_BY_KEY = `
  SELECT key, id FROM evaluations WHERE agent_id = $1 AND key = ANY ($2::text[]) AND deleted_at IS NULL`;

const IS_THERE = `
  SELECT FROM evaluations WHERE agent_id = $1 AND deleted_at IS NULL AND (scope = ANY ($2::text[]) OR key = $3) LIMIT 1`;

const SOFT_DELETE = `
  UPDATE evaluations SET deleted_at = now(), updated_at = now() WHERE id = $1 AND deleted_at IS NULL RETURNING id`;

const PROVE = `
  UPDATE evaluations SET proven_at = now(), updated_at = now()
   WHERE id = ANY ($1::uuid[]) AND origin_call_id IS NOT NULL AND proven_at IS NULL`;

/** $2: maximum number. Also those that were deleted before. */
const ERASE = `
  DELETE FROM evaluations WHERE id = ANY (ARRAY(SELECT id FROM evaluations WHERE agent_id = $1 LIMIT $2)) RETURNING id`;

/** $2: external id of a call, which may have been judged again. Also those that were deleted before. */
const ERASE_PROMOTED = `
  DELETE FROM evaluations e WHERE e.agent_id = $1 AND EXISTS (
    SELECT FROM calls c JOIN call_imports i ON i.call_id = coalesce(c.recorded_call_id, c.id)
     WHERE c.id = e.origin_call_id AND i.agent_id = $1 AND i.external_id = $2)`;

/** Evaluations deleted by one statement; each can have hundreds of kilobytes. */
const MAX_ERASED = 100;

/** SQL for evaluations. */
@Injectable()
export class EvaluationsRepository {
  constructor(private readonly database: Database) {}

  /** An evaluation of any workspace, unless it was deleted. */
  async find(id: string): Promise<EvaluationEntity | undefined> {
    const [row] = await this.database.query<EvaluationEntity>(FIND, [id]);
    return row;
  }

  async page(
    agentId: string,
    page: { limit: number; offset: number },
  ): Promise<{ rows: EvaluationEntity[]; total: number }> {
    return readPage<EvaluationEntity>(this.database, LIST, [agentId], page);
  }

  /** Ids of an agent's evaluations with one of these ids, at least one of these tags and one of these scopes; undefined for no filter. */
  async select(
    agentId: string,
    { ids, tags, scopes }: { readonly [filter in 'ids' | 'tags' | 'scopes']?: readonly string[] | undefined },
  ): Promise<string[]> {
    const values = [agentId, ids ?? null, tags ?? null, scopes ?? null];
    const rows = await this.database.query<{ id: string }>(SELECT, values);
    return rows.map(({ id }) => id);
  }

  /** Evaluations by id, oldest first. */
  async read(ids: readonly string[]): Promise<EvaluationEntity[]> {
    return this.database.query(READ, [ids]);
  }

  /** Agents and workspaces of these evaluations; deleted ones are omitted. */
  async owners(ids: readonly string[]): Promise<Pick<EvaluationEntity, 'id' | 'agentId' | 'workspaceId'>[]> {
    return this.database.query(OWNERS, [ids]);
  }

  /** Ids of an agent's evaluations by key; unknown keys are omitted. */
  async idsByKey(agentId: string, keys: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.database.query<{ key: string; id: string }>(IDS_BY_KEY, [agentId, keys]);
    return new Map(rows.map(({ key, id }) => [key, id]));
  }

  async isThere(agentId: string, scopes: readonly string[], key: string): Promise<boolean> {
    return (await this.database.query(IS_THERE, [agentId, scopes, key])).length > 0;
  }

  /** @returns false if it does not exist or was deleted already */
  async softDelete(id: string): Promise<boolean> {
    return (await this.database.query(SOFT_DELETE, [id])).length > 0;
  }

  /** Ends the provisional state of evaluations; others are unchanged. */
  async prove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.database.query(PROVE, [ids]);
  }

  /** Deletes the evaluations for good that were made from a call that was recorded elsewhere. */
  async erasePromoted(agentId: string, externalId: string): Promise<void> {
    await this.database.query(ERASE_PROMOTED, [agentId, externalId]);
  }

  /** Deletes a batch of an agent's evaluations for good. @returns their number */
  async eraseAgent(agentId: string): Promise<number> {
    return (await this.database.query(ERASE, [agentId, MAX_ERASED])).length;
  }
}
