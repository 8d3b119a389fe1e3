import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import type { PersonalityEntity } from './personality.entity.js';

const COLUMNS = `p.id, p.workspace_id AS "workspaceId", p.created_by_user_id AS "createdByUserId", p.name, p.description,
  p.prompt, p.temperature, p.accent, p.background_noise AS "backgroundNoise", p.gender, p.provider,
  p.voice_id AS "voiceId", p.interrupts, p.created_at AS "createdAt", p.updated_at AS "updatedAt", p.deleted_at AS "deletedAt"`;

const FIND = `SELECT ${COLUMNS} FROM personalities p WHERE p.id = $1 AND p.deleted_at IS NULL`;

const LIST = {
  columns: COLUMNS,
  from: 'personalities p',
  where: 'p.workspace_id = $1 AND p.deleted_at IS NULL',
};

const OWNERS = `
  SELECT id, workspace_id AS "workspaceId" FROM personalities WHERE id = ANY($1::uuid[]) AND deleted_at IS NULL`;

const SOFT_DELETE = `
  UPDATE personalities SET deleted_at = now(), updated_at = now() WHERE id = $1 AND deleted_at IS NULL RETURNING id`;

/** SQL for personalities. */
@Injectable()
export class PersonalitiesRepository {
  constructor(private readonly database: Database) {}

  /** A personality of any workspace, unless it was deleted. */
  async find(id: string): Promise<PersonalityEntity | undefined> {
    const [row] = await this.database.query<PersonalityEntity>(FIND, [id]);
    return row;
  }

  async page(
    workspaceId: string,
    page: { limit: number; offset: number },
  ): Promise<{ rows: PersonalityEntity[]; total: number }> {
    return readPage<PersonalityEntity>(this.database, LIST, [workspaceId], page);
  }

  /** Workspaces of these personalities; deleted ones are omitted. */
  async owners(ids: readonly string[]): Promise<{ id: string; workspaceId: string }[]> {
    return this.database.query(OWNERS, [ids]);
  }

  /** @returns false if it does not exist or was deleted already */
  async softDelete(id: string): Promise<boolean> {
    return (await this.database.query(SOFT_DELETE, [id])).length > 0;
  }
}
