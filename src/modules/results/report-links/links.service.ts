import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/access/caller.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { Database } from '../../../platform/database/database.js';
import { uuidOrNotFound } from '../../../platform/database/ids.js';
import { type Page, type PageRequest, window } from '../../../platform/database/page.js';
import { conflict, notFound } from '../../../platform/errors/domain-error.js';
import type { CreateReportLinkRequest, ReportLink, ReportLinkWithUrl } from '../dto/report-link.dto.js';
import {
  type FoundLink,
  type LinkSubject,
  type ReportLinkRow,
  ReportLinksRepository,
} from './report-links.repository.js';

export type { LinkSubject };

const MAX_LIVE_LINKS = 20;
const TOKEN_BYTES = 32;
/** Path of what a link opens, and its name. */
const PATHS = {
  run: ['reports', 'A run can have', 'report links'],
  agent: ['pages', 'An agent can have', 'page links'],
} as const;

/** Links that open something of a workspace without an API key. The caller's access is checked by those who call this. */
@Injectable()
export class LinksService {
  constructor(
    private readonly database: Database,
    private readonly repository: ReportLinksRepository,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @returns the link with its address, which cannot be read again
   * @throws DomainError NOT_FOUND if the subject was deleted; CONFLICT if it has too many links
   */
  create(
    subject: LinkSubject,
    { userId }: Pick<Caller, 'userId'>,
    { includeRecordings = false, expiresInHours }: CreateReportLinkRequest,
  ): Promise<ReportLinkWithUrl> {
    const [path, owner, links] = PATHS[subject.kind];
    return this.database.transaction(async () => {
      // Otherwise it has been deleted in the meantime.
      if (!(await this.repository.lock(subject))) throw notFound();
      if ((await this.repository.countLive(subject)) >= MAX_LIVE_LINKS) {
        throw conflict(`${owner} at most ${MAX_LIVE_LINKS} ${links} that have not expired`);
      }
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const created = { id: randomUUID(), createdByUserId: userId, tokenHash: hashOf(token), includeRecordings };
      const link = await this.repository.insert(subject, created, expiresInHours);
      // Never from the Host header, which the client chooses.
      return { ...toResponse(link), url: `${this.settings.publicUrl ?? ''}/${path}/${token}` };
    });
  }

  /** The links that have not expired. */
  async list(subject: LinkSubject, query: PageRequest): Promise<Page<ReportLink>> {
    const { page, limit, offset } = window(query);
    const { rows, total } = await this.repository.page(subject, { limit, offset });
    return { items: rows.map(toResponse), total, page, limit };
  }

  /** Revokes a link. @throws DomainError NOT_FOUND if the subject has no such link */
  async delete(subject: LinkSubject, id: string): Promise<void> {
    if (!(await this.repository.delete(uuidOrNotFound(id), subject))) throw notFound();
  }

  /** @throws DomainError NOT_FOUND if the token is unknown, revoked or expired */
  async find(token: string): Promise<FoundLink> {
    const found = await this.repository.find(hashOf(token));
    if (!found) throw notFound();
    return found;
  }
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

function toResponse(row: ReportLinkRow): ReportLink {
  return {
    id: row.id,
    includeRecordings: row.includeRecordings,
    expiresAt: row.expiresAt.toISOString(),
    createdByUserId: row.createdByUserId,
    createdAt: row.createdAt.toISOString(),
  };
}
