import { Injectable } from '@nestjs/common';
import type { AuthoredPersonality } from '../../../libs/evaluation-definition/index.js';
import { Database } from '../../platform/database/database.js';
import { column, type JsonColumn, jsonRows } from '../../platform/database/json-rows.js';

const FIELDS = {
  name: column('name', 'text'),
  description: column('description', 'text'),
  prompt: column('prompt', 'text'),
  temperature: column('temperature', 'double precision'),
  accent: column('accent', 'text'),
  backgroundNoise: column('background_noise', 'boolean'),
  gender: column('gender', 'text'),
  provider: column('provider', 'text'),
  voice_id: column('voice_id', 'text'),
  interrupts: column('interrupts', 'text'),
} satisfies Record<keyof AuthoredPersonality, JsonColumn>;
const ROWS = jsonRows(FIELDS);

/** $1: a batch as JSON; $2: its ids, in the same order; null: not this one. */
const CONTENT = `ROWS FROM (jsonb_to_recordset($1::jsonb) AS (${ROWS.record}), unnest($2::uuid[]))
  WITH ORDINALITY AS i (${ROWS.names}, id, position)`;

const CHANGED = `
  SELECT p.id FROM ${CONTENT} JOIN personalities p ON p.id = i.id
   WHERE (${ROWS.columnsOf('p')}) IS DISTINCT FROM (${ROWS.valuesOf('i')})`;

const INSERT = `
  INSERT INTO personalities (id, workspace_id, created_by_user_id, ${ROWS.columns})
  SELECT i.id, $3, $4, ${ROWS.valuesOf('i')} FROM ${CONTENT} WHERE i.id IS NOT NULL ORDER BY i.position`;

const UPDATE = `
  UPDATE personalities p SET (${ROWS.columns}) = (${ROWS.valuesOf('i')}), updated_at = now()
    FROM ${CONTENT} WHERE p.id = i.id`;

const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('personalities:' || $1, 0))`;

/** In the order of their ids, so that concurrent transactions cannot deadlock. */
const LOCK_ROWS = `
  SELECT id FROM personalities WHERE workspace_id = $1 AND name = ANY ($2::text[]) AND deleted_at IS NULL
   ORDER BY id FOR NO KEY UPDATE`;

const NAMED = `
  SELECT id, name FROM personalities
   WHERE workspace_id = $1 AND name = ANY ($2::text[]) AND deleted_at IS NULL ORDER BY created_at, id`;

const NAMES = `
  SELECT p.id, p.name, p.deleted_at IS NULL AND n.bearers = 1 AS "isUnique"
    FROM personalities p
    LEFT JOIN (SELECT name, count(*) AS bearers FROM personalities
                WHERE workspace_id = $1 AND deleted_at IS NULL GROUP BY name) n ON n.name = p.name
   WHERE p.id = ANY ($2::uuid[])`;

const SOME_NAMES = `
  SELECT DISTINCT name FROM personalities WHERE workspace_id = $1 AND deleted_at IS NULL ORDER BY name LIMIT $2`;

const READ = `SELECT p.id, ${Object.entries(FIELDS)
  .map(([name, { column: of }]) => `p.${of} AS "${name}"`)
  .join(', ')} FROM personalities p WHERE p.id = ANY ($1::uuid[])`;

/** Personalities of a file. */
export interface PersonalityBatch {
  /** JSON list of complete personalities. */
  readonly json: string;
  /** Their ids, in the same order; null for those that the statement leaves out. */
  readonly ids: readonly (string | null)[];
}

/** Bulk statements for import and export. */
@Injectable()
export class PersonalityFilesRepository {
  constructor(private readonly database: Database) {}

  /** Serialises the imports of a workspace's personalities and locks those with these names, until the transaction ends. */
  async lock(workspaceId: string, names: readonly string[]): Promise<void> {
    await this.database.query(LOCK, [workspaceId]);
    await this.database.query(LOCK_ROWS, [workspaceId, names]);
  }

  /** The first names of the workspace's personalities in their order, without deleted ones. */
  async someNames(workspaceId: string, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ name: string }>(SOME_NAMES, [workspaceId, limit]);
    return rows.map(({ name }) => name);
  }

  /** The workspace's personalities with these names, without deleted ones. */
  async named(workspaceId: string, names: readonly string[]): Promise<{ id: string; name: string }[]> {
    return this.database.query(NAMED, [workspaceId, names]);
  }

  /** Names by id, also of deleted personalities, and whether each identifies its personality in the workspace. */
  async names(workspaceId: string, ids: readonly string[]): Promise<{ id: string; name: string; isUnique: boolean }[]> {
    return this.database.query(NAMES, [workspaceId, ids]);
  }

  /** The editable fields by id, also of deleted personalities. */
  async read(ids: readonly string[]): Promise<(AuthoredPersonality & { readonly id: string })[]> {
    return this.database.query(READ, [ids]);
  }

  /** Ids of personalities that are stored with different content. */
  async changed({ json, ids }: PersonalityBatch): Promise<string[]> {
    const found = await this.database.query<{ id: string }>(CHANGED, [json, ids]);
    return found.map(({ id }) => id);
  }

  async insert({ json, ids }: PersonalityBatch, owner: { workspaceId: string; userId: string }): Promise<void> {
    await this.database.query(INSERT, [json, ids, owner.workspaceId, owner.userId]);
  }

  async update({ json, ids }: PersonalityBatch): Promise<void> {
    await this.database.query(UPDATE, [json, ids]);
  }
}
