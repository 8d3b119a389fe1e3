import { Injectable } from '@nestjs/common';
import type { AuthoredEvaluation } from '../../../../libs/evaluation-definition/index.js';
import { Database } from '../../../platform/database/database.js';
import type { EvaluationEntity } from '../evaluation.entity.js';
import { COLUMNS } from '../evaluations.columns.js';

/** The evaluations as one JSON parameter, so that thousands need only one statement. */
const CONTENT = `jsonb_to_recordset($1::jsonb) AS i(id uuid, position int, key text, name text, "scenarioText" text,
  "generalInstructions" text, "personalityId" uuid, "vendorCallPhoneNumber" text, critical boolean, tags text[],
  script jsonb, checks jsonb, criteria jsonb, "maxTurns" int, "maxDurationSeconds" int)`;

const STORED = `name, scenario_text, general_instructions, personality_id, vendor_call_phone_number, critical, tags,
  script, checks, criteria, max_turns, max_duration_seconds`;
const GIVEN = `i.name, i."scenarioText", i."generalInstructions", i."personalityId", i."vendorCallPhoneNumber",
  i.critical, i.tags, i.script, i.checks, i.criteria, i."maxTurns", i."maxDurationSeconds"`;
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
  SELECT i.id, $2, $3, $4, i.key, ${GIVEN} FROM ${CONTENT} ORDER BY i.position`;

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

export type Content = AuthoredEvaluation & { readonly id: string };

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
  async changed(contents: readonly Content[]): Promise<Set<string>> {
    if (contents.length === 0) return new Set();
    const found = await this.database.query<{ id: string }>(CHANGED, [JSON.stringify(contents)]);
    return new Set(found.map(({ id }) => id));
  }

  async insert(
    contents: readonly Content[],
    owner: { workspaceId: string; agentId: string; userId: string },
  ): Promise<void> {
    if (contents.length === 0) return;
    const positioned = contents.map((content, position) => ({ ...content, position }));
    const { workspaceId, agentId, userId } = owner;
    await this.database.query(INSERT, [JSON.stringify(positioned), workspaceId, agentId, userId]);
  }

  /** Replaces everything except the key. */
  async update(contents: readonly Content[]): Promise<void> {
    if (contents.length > 0) await this.database.query(UPDATE, [JSON.stringify(contents)]);
  }

  /** The agent's evaluations after the cursor, oldest first. */
  async batch(agentId: string, size: number, { createdAt, id } = BEGINNING): Promise<EvaluationEntity[]> {
    return this.database.query<EvaluationEntity>(BATCH, [agentId, createdAt, id, size]);
  }
}
