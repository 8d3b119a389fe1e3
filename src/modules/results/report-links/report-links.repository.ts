import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { readPage } from '../../../platform/database/page-query.js';
import type { ReportLinkEntity } from './report-link.entity.js';

/** What a link opens: the report of a run, or the page of an agent. */
export interface LinkSubject {
  readonly kind: 'run' | 'agent';
  readonly id: string;
}

export type ReportLinkRow = Omit<ReportLinkEntity, 'tokenHash' | 'runId' | 'agentId' | 'webhookId'>;

/** The subject of an unexpired link. */
export interface FoundSubject {
  readonly id: string;
  readonly workspaceId: string;
  readonly includeRecordings: boolean;
}

const COLUMNS = `l.id, l.created_by_user_id AS "createdByUserId", l.include_recordings AS "includeRecordings",
  l.expires_at AS "expiresAt", l.created_at AS "createdAt"`;

/** Expired links behave like deleted ones. */
const LIVE = 'l.expires_at > now()';

const statementsOf = (kind: LinkSubject['kind']) => ({
  list: { columns: COLUMNS, from: 'report_links l', where: `l.${kind}_id = $1 AND ${LIVE}` },
  /** Conflicts with itself and with the deletion of the subject. */
  lock: `SELECT id FROM ${kind}s WHERE id = $1 FOR NO KEY UPDATE`,
  deleteExpired: `DELETE FROM report_links l WHERE l.${kind}_id = $1 AND NOT (${LIVE})`,
  count: `SELECT count(*)::int AS count FROM report_links WHERE ${kind}_id = $1 AND webhook_id IS NULL`,
  insert: `
    INSERT INTO report_links AS l (id, ${kind}_id, created_by_user_id, token_hash, include_recordings, expires_at)
    VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 hour') RETURNING ${COLUMNS}`,
  delete: `DELETE FROM report_links l WHERE l.id = $1 AND l.${kind}_id = $2 AND ${LIVE} RETURNING l.id`,
  find: `
    SELECT s.id, s.workspace_id AS "workspaceId", l.include_recordings AS "includeRecordings"
      FROM report_links l JOIN ${kind}s s ON s.id = l.${kind}_id WHERE l.token_hash = $1 AND ${LIVE}`,
});
const STATEMENTS = { run: statementsOf('run'), agent: statementsOf('agent') };

/** $3: hours. Only links of the last day, so that each is in messages of one day. */
const RENEW = `
  UPDATE report_links l SET expires_at = now() + $3 * interval '1 hour'
   WHERE l.webhook_id = $1 AND l.agent_id = $2 AND l.created_at > now() - interval '24 hours' AND ${LIVE}
  RETURNING l.id, l.token_hash AS "tokenHash"`;

/** $5: hours. */
const INSERT_FOR_WEBHOOK = `
  INSERT INTO report_links (id, webhook_id, agent_id, created_by_user_id, token_hash, include_recordings, expires_at)
  SELECT $3, e.id, a.id, e.created_by_user_id, $4, false, now() + $5 * interval '1 hour'
    FROM webhook_endpoints e JOIN agents a ON a.workspace_id = e.workspace_id
   WHERE e.id = $1 AND a.id = $2 AND a.deleted_at IS NULL FOR KEY SHARE
  RETURNING id`;

/** SQL for links to reports of runs and pages of agents. */
@Injectable()
export class ReportLinksRepository {
  constructor(private readonly database: Database) {}

  /** Unexpired links of a subject. */
  page({ kind, id }: LinkSubject, page: { limit: number; offset: number }) {
    return readPage<ReportLinkRow>(this.database, STATEMENTS[kind].list, [id], page);
  }

  /**
   * Serialises creating links of a subject, and prevents its deletion, until the transaction ends.
   * @returns whether it exists
   */
  async lock({ kind, id }: LinkSubject): Promise<boolean> {
    return (await this.database.query(STATEMENTS[kind].lock, [id])).length > 0;
  }

  /** Deletes the expired links of a subject. @returns the number of the others */
  async countLive({ kind, id }: LinkSubject): Promise<number> {
    await this.database.query(STATEMENTS[kind].deleteExpired, [id]);
    const [row] = await this.database.query<{ count: number }>(STATEMENTS[kind].count, [id]);
    return row?.count ?? 0;
  }

  async insert(
    subject: LinkSubject,
    link: Pick<ReportLinkEntity, 'id' | 'createdByUserId' | 'tokenHash' | 'includeRecordings'>,
    expiresInHours: number,
  ): Promise<ReportLinkRow> {
    const { id, createdByUserId, tokenHash, includeRecordings } = link;
    const values = [id, subject.id, createdByUserId, tokenHash, includeRecordings, expiresInHours];
    const [row] = await this.database.query<ReportLinkRow>(STATEMENTS[subject.kind].insert, values);
    if (!row) throw new Error('INSERT returned no row');
    return row;
  }

  /** Lets the newest links of a webhook live for `hours` from now. */
  renew(webhookId: string, agentId: string, hours: number): Promise<Pick<ReportLinkEntity, 'id' | 'tokenHash'>[]> {
    return this.database.query(RENEW, [webhookId, agentId, hours]);
  }

  /** Also deletes expired links of the agent. @returns false if the webhook or the agent was deleted */
  async insertForWebhook(
    webhookId: string,
    agentId: string,
    { id, tokenHash }: Pick<ReportLinkEntity, 'id' | 'tokenHash'>,
    hours: number,
  ): Promise<boolean> {
    await this.database.query(STATEMENTS.agent.deleteExpired, [agentId]);
    return (await this.database.query(INSERT_FOR_WEBHOOK, [webhookId, agentId, id, tokenHash, hours])).length > 0;
  }

  /** @returns whether the subject had such a link */
  async delete(linkId: string, { kind, id }: LinkSubject): Promise<boolean> {
    return (await this.database.query(STATEMENTS[kind].delete, [linkId, id])).length > 0;
  }

  /** @returns what an unexpired link opens; undefined if that is of another kind */
  async find(kind: LinkSubject['kind'], tokenHash: Buffer): Promise<FoundSubject | undefined> {
    return (await this.database.query<FoundSubject>(STATEMENTS[kind].find, [tokenHash]))[0];
  }
}
