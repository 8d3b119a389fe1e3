import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { EvaluationEntity } from '../evaluation.entity.js';
import { COLUMNS } from '../evaluations.columns.js';

/** $1: a batch as JSON, so that thousands need few statements; $2: its ids, in the same order; null: not this one. */
const CONTENT = `ROWS FROM (
  jsonb_to_recordset($1::jsonb) AS (key text, name text, "scenarioText" text, "generalInstructions" text,
    "personalityId" uuid, "vendorCallPhoneNumber" text, critical boolean, tags text[], script jsonb, checks jsonb,
    criteria jsonb, "maxTurns" int, "maxDurationSeconds" int),
  unnest($2::uuid[])) WITH ORDINALITY AS i (key, name, "scenarioText", "generalInstructions", "personalityId",
    "vendorCallPhoneNumber", critical, tags, script, checks, criteria, "maxTurns", "maxDurationSeconds", id, position)`;

const STORED = `name, scenario_text, general_instructions, personality_id, vendor_call_phone_number, critical, tags,
  script, checks, criteria, max_turns, max_duration_seconds`;
/** $3: phone number of evaluations without one of their own. */
const GIVEN = `i.name, i."scenarioText", i."generalInstructions", i."personalityId",
  coalesce(i."vendorCallPhoneNumber", $3), i.critical, i.tags, i.script, i.checks, i.criteria, i."maxTurns", i."maxDurationSeconds"`;
const STORED_OF_E = STORED.replace(/\w+/g, 'e.$&');

/** Identifier in files: the key or, without one, the id. */
const KEY = 'coalesce(e.key, e.id::text)';

const MATCH = `
  SELECT ${KEY} AS key, e.id, e.personality_id AS "personalityId" FROM evaluations e
   WHERE e.agent_id = $1 AND ${KEY} = ANY($2::text[]) AND e.deleted_at IS NULL`;

const CHANGED = `
  SELECT e.id FROM ${CONTENT} JOIN evaluations e ON e.id = i.id
   WHERE (${STORED_OF_E}) IS DISTINCT FROM (${GIVEN})`;

const INSERT = `
  INSERT INTO evaluations (id, workspace_id, agent_id, created_by_user_id, key, ${STORED})
  SELECT i.id, $4, $5, $6, i.key, ${GIVEN} FROM ${CONTENT} WHERE i.id IS NOT NULL ORDER BY i.position`;

const UPDATE = `
  UPDATE evaluations e SET (${STORED}) = (${GIVEN}), updated_at = now() FROM ${CONTENT} WHERE e.id = i.id`;

const BATCH = `
  SELECT ${COLUMNS} FROM evaluations e
   WHERE e.agent_id = $1 AND e.deleted_at IS NULL AND (e.created_at, e.id) > ($2, $3)
   ORDER BY e.created_at, e.id LIMIT $4`;

/** The existing evaluation of an item. */
export interface Match {
  readonly key: string;
  readonly id: string;
  readonly personalityId: string;
}

/** A batch of evaluations. */
export interface Content {
  /** JSON list of evaluations; a `vendorCallPhoneNumber` of null stands for `phoneNumber`. */
  readonly json: string;
  /** Their ids, in the same order; null for those that the statement leaves out. */
  readonly ids: readonly (string | null)[];
  readonly phoneNumber: string;
}

/** Position before a batch of an export. */
export type Cursor = Pick<EvaluationEntity, 'createdAt' | 'id'>;
const BEGINNING: Cursor = { createdAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** Bulk statements for import and export. */
@Injectable()
export class ImportExportRepository {
  constructor(private readonly database: Database) {}

  /** The agent's evaluations with these keys. */
  async match(agentId: string, keys: readonly string[]): Promise<Map<string, Match>> {
    const found = await this.database.query<Match>(MATCH, [agentId, keys]);
    return new Map(found.map((match) => [match.key, match]));
  }

  /** Ids of evaluations that are stored with different content. */
  async changed(content: Content): Promise<string[]> {
    const found = await this.database.query<{ id: string }>(CHANGED, valuesOf(content));
    return found.map(({ id }) => id);
  }

  async insert(content: Content, owner: { workspaceId: string; agentId: string; userId: string }): Promise<void> {
    const { workspaceId, agentId, userId } = owner;
    await this.database.query(INSERT, [...valuesOf(content), workspaceId, agentId, userId]);
  }

  /** Replaces everything except the key. */
  async update(content: Content): Promise<void> {
    await this.database.query(UPDATE, valuesOf(content));
  }

  /** The agent's evaluations after the cursor, oldest first. */
  async batch(agentId: string, size: number, { createdAt, id } = BEGINNING): Promise<EvaluationEntity[]> {
    return this.database.query<EvaluationEntity>(BATCH, [agentId, createdAt, id, size]);
  }
}

const valuesOf = ({ json, ids, phoneNumber }: Content): unknown[] => [json, ids, phoneNumber];
