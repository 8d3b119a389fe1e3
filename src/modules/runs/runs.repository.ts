import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import type { RunEntity } from './run.entity.js';

const COLUMNS = `r.id, r.workspace_id AS "workspaceId", r.agent_id AS "agentId", r.user_id AS "userId", r.label, r.name,
  r.status, r.score, r.total_calls AS "totalCalls", r.created_at AS "createdAt", r.updated_at AS "updatedAt"`;

const FIND: Statement = { name: 'runs_find', text: `SELECT ${COLUMNS} FROM runs r WHERE r.id = $1` };

const LIST = { name: 'runs_page', columns: COLUMNS, from: 'runs r', where: 'r.agent_id = $1' };

/** Explicit SQL for what every client asks most. */
@Injectable()
export class RunsRepository {
  constructor(private readonly database: Database) {}

  async find(id: string): Promise<RunEntity | undefined> {
    const [row] = await this.database.query<RunEntity>(FIND, [id]);
    return row;
  }

  async page(agentId: string, page: { limit: number; offset: number }): Promise<{ rows: RunEntity[]; total: number }> {
    return readPage<RunEntity>(this.database, LIST, [agentId], page);
  }
}
