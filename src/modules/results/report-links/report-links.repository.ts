import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { readPage } from '../../../platform/database/page-query.js';
import type { ReportLinkEntity } from './report-link.entity.js';

export type ReportLinkRow = Omit<ReportLinkEntity, 'tokenHash'>;

/** What a link opens. */
export interface LinkedRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly includeRecordings: boolean;
}

const COLUMNS = `l.id, l.run_id AS "runId", l.created_by_user_id AS "createdByUserId",
  l.include_recordings AS "includeRecordings", l.expires_at AS "expiresAt", l.created_at AS "createdAt"`;

/** Expired links behave like deleted ones. */
const LIVE = 'l.expires_at > now()';

const LIST = { columns: COLUMNS, from: 'report_links l', where: `l.run_id = $1 AND ${LIVE}` };

/** Conflicts with itself and with the deletion of the run. */
const LOCK_RUN = 'SELECT id FROM runs WHERE id = $1 FOR NO KEY UPDATE';

const DELETE_EXPIRED = `DELETE FROM report_links l WHERE l.run_id = $1 AND NOT (${LIVE})`;

const COUNT = 'SELECT count(*)::int AS count FROM report_links WHERE run_id = $1';

const INSERT = `
  INSERT INTO report_links AS l (id, run_id, created_by_user_id, token_hash, include_recordings, expires_at)
  VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 hour') RETURNING ${COLUMNS}`;

const DELETE = `DELETE FROM report_links l WHERE l.id = $1 AND l.run_id = $2 AND ${LIVE} RETURNING l.id`;

const FIND_BY_TOKEN = `
  SELECT l.run_id AS "runId", r.workspace_id AS "workspaceId", l.include_recordings AS "includeRecordings"
    FROM report_links l JOIN runs r ON r.id = l.run_id WHERE l.token_hash = $1 AND ${LIVE}`;

/** SQL for links to reports. */
@Injectable()
export class ReportLinksRepository {
  constructor(private readonly database: Database) {}

  /** Unexpired links of a run. */
  page(runId: string, page: { limit: number; offset: number }): Promise<{ rows: ReportLinkRow[]; total: number }> {
    return readPage<ReportLinkRow>(this.database, LIST, [runId], page);
  }

  /**
   * Serialises creating links of a run, and prevents its deletion, until the transaction ends.
   * @returns whether the run exists
   */
  async lockRun(runId: string): Promise<boolean> {
    return (await this.database.query(LOCK_RUN, [runId])).length > 0;
  }

  /** Deletes the expired links of a run. @returns the number of the others */
  async countLive(runId: string): Promise<number> {
    await this.database.query(DELETE_EXPIRED, [runId]);
    const [row] = await this.database.query<{ count: number }>(COUNT, [runId]);
    return row?.count ?? 0;
  }

  async insert(
    link: Pick<ReportLinkEntity, 'id' | 'runId' | 'createdByUserId' | 'tokenHash' | 'includeRecordings'>,
    expiresInHours: number,
  ): Promise<ReportLinkRow> {
    const { id, runId, createdByUserId, tokenHash, includeRecordings } = link;
    const values = [id, runId, createdByUserId, tokenHash, includeRecordings, expiresInHours];
    const [row] = await this.database.query<ReportLinkRow>(INSERT, values);
    if (!row) throw new Error('INSERT returned no row');
    return row;
  }

  /** @returns whether the run had such a link */
  async delete(id: string, runId: string): Promise<boolean> {
    return (await this.database.query(DELETE, [id, runId])).length > 0;
  }

  /** @returns the run that an unexpired link leads to */
  async findRun(tokenHash: Buffer): Promise<LinkedRun | undefined> {
    const [row] = await this.database.query<LinkedRun>(FIND_BY_TOKEN, [tokenHash]);
    return row;
  }
}
