import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import type { EvaluationEntity } from './evaluation.entity.js';

const COLUMNS = `e.id, e.workspace_id AS "workspaceId", e.agent_id AS "agentId", e.personality_id AS "personalityId",
  e.created_by_user_id AS "createdByUserId", e.name, e.scenario_text AS "scenarioText",
  e.general_instructions AS "generalInstructions", e.vendor_call_phone_number AS "vendorCallPhoneNumber",
  e.created_at AS "createdAt", e.updated_at AS "updatedAt", e.deleted_at AS "deletedAt"`;

const FIND: Statement = {
  name: 'evaluations_find',
  text: `SELECT ${COLUMNS} FROM evaluations e WHERE e.id = $1 AND e.deleted_at IS NULL`,
};

const LIST = {
  name: 'evaluations_page',
  columns: COLUMNS,
  from: 'evaluations e',
  where: 'e.agent_id = $1 AND e.deleted_at IS NULL',
};

/** Explicit SQL for what every client asks most. */
@Injectable()
export class EvaluationsRepository {
  constructor(private readonly database: Database) {}

  /** An evaluation that is not deleted, of whichever workspace. */
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
}
