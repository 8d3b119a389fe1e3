import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { FieldName } from '../../../../libs/evaluation-definition/index.js';
import { column, type JsonColumn, jsonRows } from '../../../platform/database/json-rows.js';
import type { EvaluationEntity } from '../evaluation.entity.js';
import { COLUMNS } from '../evaluations.columns.js';

/** Everything that an import replaces in an evaluation. */
const ROWS = jsonRows({
  name: column('name', 'text'),
  scenarioText: column('scenario_text', 'text'),
  generalInstructions: column('general_instructions', 'text'),
  critical: column('critical', 'boolean'),
  tags: column('tags', 'text[]'),
  script: column('script', 'jsonb'),
  checks: column('checks', 'jsonb'),
  criteria: column('criteria', 'jsonb'),
  maxTurns: column('max_turns', 'int'),
  maxDurationSeconds: column('max_duration_seconds', 'int'),
  language: column('language', 'text'),
  timezone: column('timezone', 'text'),
  variables: column('variables', 'jsonb'),
  history: column('history', 'jsonb'),
  toolResults: column('tool_results', 'jsonb'),
  conditions: column('conditions', 'jsonb'),
  turnEndMs: column('turn_end_ms', 'int'),
  fillers: column('fillers', 'boolean'),
  agentVariables: column('agent_variables', 'jsonb'),
  scope: column('scope', 'text'),
  appliesTo: column('applies_to', 'jsonb'),
} satisfies Record<Exclude<FieldName, 'key' | 'personalityId' | 'vendorCallPhoneNumber'>, JsonColumn>);

/** $1: a batch as JSON; $2, $3: its ids and personalities, in the same order; a null id: not this one. */
const CONTENT = `ROWS FROM (
  jsonb_to_recordset($1::jsonb) AS (key text, "vendorCallPhoneNumber" text, ${ROWS.record}),
  unnest($2::uuid[]), unnest($3::uuid[]))
  WITH ORDINALITY AS i (key, "vendorCallPhoneNumber", ${ROWS.names}, id, "personalityId", position)`;

const STORED = `${ROWS.columns}, personality_id, vendor_call_phone_number`;
const STORED_OF_E = `${ROWS.columnsOf('e')}, e.personality_id, e.vendor_call_phone_number`;
/** $4: phone number of evaluations without one of their own. */
const GIVEN = `${ROWS.valuesOf('i')}, i."personalityId", coalesce(i."vendorCallPhoneNumber", $4)`;

/** Identifier in files: the key or, without one, the id. */
const KEY = 'coalesce(e.key, e.id::text)';

const MATCH = `
  SELECT ${KEY} AS key, e.id, e.personality_id AS "personalityId", e.origin_call_id IS NOT NULL AND e.proven_at IS NULL AS provisional
    FROM evaluations e WHERE e.agent_id = $1 AND ${KEY} = ANY($2::text[]) AND e.deleted_at IS NULL`;

const CHANGED = `
  SELECT e.id FROM ${CONTENT} JOIN evaluations e ON e.id = i.id
   WHERE (${STORED_OF_E}) IS DISTINCT FROM (${GIVEN})`;

const INSERT = `
  INSERT INTO evaluations (id, workspace_id, agent_id, created_by_user_id, key, ${STORED})
  SELECT i.id, $5, $6, $7, i.key, ${GIVEN} FROM ${CONTENT} WHERE i.id IS NOT NULL ORDER BY i.position`;

const UPDATE = `
  UPDATE evaluations e SET (${STORED}) = (${GIVEN}), updated_at = now() FROM ${CONTENT} WHERE e.id = i.id`;

const BATCH = `
  SELECT ${COLUMNS} FROM evaluations e
   WHERE e.agent_id = $1 AND e.deleted_at IS NULL AND (e.created_at, e.id) > ($2, $3)
   ORDER BY e.created_at, e.id LIMIT $4`;

/** Oldest first, like the batches. */
const PERSONALITIES = `
  SELECT e.id, e.personality_id AS "personalityId" FROM evaluations e
   WHERE e.agent_id = $1 AND e.deleted_at IS NULL ORDER BY e.created_at, e.id`;

const USED = `
  SELECT coalesce(bool_or(timezone IS NOT NULL), false) AS timezone, coalesce(bool_or(history <> '[]'), false) AS history
    FROM evaluations WHERE agent_id = $1 AND deleted_at IS NULL`;

/** $1: agents; $2: personalities; $3: maximum number of agents per personality. */
const USERS = `
  SELECT u."personalityId", u.total::int, array_agg(u.id ORDER BY u.position) AS agents
    FROM (SELECT e.personality_id AS "personalityId", a.id, a.position,
                 count(*) OVER (PARTITION BY e.personality_id) AS total,
                 row_number() OVER (PARTITION BY e.personality_id ORDER BY a.position) AS rank
            FROM unnest($1::uuid[]) WITH ORDINALITY AS a (id, position)
            JOIN evaluations e ON e.agent_id = a.id AND e.deleted_at IS NULL
           WHERE e.personality_id = ANY ($2::uuid[])
           GROUP BY e.personality_id, a.id, a.position) u
   WHERE u.rank <= $3 GROUP BY u."personalityId", u.total`;

/** The existing evaluation of an item. */
export interface Match {
  readonly key: string;
  readonly id: string;
  readonly personalityId: string;
  /** An import leaves it so. */
  readonly provisional: boolean;
}

/** A batch of evaluations. */
export interface Content {
  /** JSON list of evaluations; a `vendorCallPhoneNumber` of null stands for `phoneNumber`. */
  readonly json: string;
  /** Their ids, in the same order; null for those that the statement leaves out. */
  readonly ids: readonly (string | null)[];
  /** Their personalities, in the same order. */
  readonly personalityIds: readonly string[];
  readonly phoneNumber: string;
}

/** The agents whose evaluations use a personality. */
export interface PersonalityUsers {
  readonly personalityId: string;
  readonly agents: readonly string[];
  readonly total: number;
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

  /** The personality of each of the agent's evaluations by the evaluation's id, oldest first. */
  async personalities(agentId: string): Promise<Map<string, string>> {
    const rows = await this.database.query<{ id: string; personalityId: string }>(PERSONALITIES, [agentId]);
    return new Map(rows.map(({ id, personalityId }) => [id, personalityId]));
  }

  /** Whether one of the agent's evaluations names its time zone, and whether one has a history. */
  async usedFields(agentId: string): Promise<{ readonly timezone: boolean; readonly history: boolean }> {
    const [used] = await this.database.query<{ timezone: boolean; history: boolean }>(USED, [agentId]);
    return used!;
  }

  /** Which of these agents have evaluations with these personalities, at most `limit` of each, and how many there are. */
  async users(
    agentIds: readonly string[],
    personalityIds: readonly string[],
    limit: number,
  ): Promise<PersonalityUsers[]> {
    return this.database.query(USERS, [agentIds, personalityIds, limit]);
  }
}

const valuesOf = ({ json, ids, personalityIds, phoneNumber }: Content): unknown[] => [
  json,
  ids,
  personalityIds,
  phoneNumber,
];
