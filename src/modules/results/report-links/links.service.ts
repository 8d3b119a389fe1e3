import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/access/caller.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { Database } from '../../../platform/database/database.js';
import { uuidOrNotFound } from '../../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../../platform/database/page.js';
import { conflict, notFound } from '../../../platform/errors/domain-error.js';
import { MessageLinksService } from '../../webhooks/message-links.service.js';
import type { CreateReportLinkRequest, ReportLink, ReportLinkWithUrl } from '../dto/report-link.dto.js';
import {
  type FoundSubject,
  type LinkSubject,
  type ReportLinkRow,
  ReportLinksRepository,
} from './report-links.repository.js';

export type { FoundSubject, LinkSubject };

const MAX_LIVE_LINKS = 20;
/** How long a link in a message lives. */
const WEBHOOK_LINK_HOURS = 168;
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
    messages: MessageLinksService,
  ) {
    messages.make = (agentId, webhookId, secret) => this.pageForWebhook(agentId, webhookId, secret);
  }

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
      return { ...toResponse(link), url: this.url(path, token) };
    });
  }

  /**
   * The page of an agent for the messages of a webhook. Tokens are not stored, so that of a webhook's link is computed from its id.
   * @returns undefined if the agent or the webhook was deleted
   */
  private async pageForWebhook(agentId: string, webhookId: string, secret: string): Promise<string | undefined> {
    const tokenOf = (id: string) => createHmac('sha256', secret).update(id).digest('base64url');
    const links = await this.repository.renew(webhookId, agentId, WEBHOOK_LINK_HOURS);
    // The token of an earlier secret is not known any more.
    const current = links.find(({ id, tokenHash }) => hashOf(tokenOf(id)).equals(tokenHash));
    if (current) return this.url('pages', tokenOf(current.id));
    const id = randomUUID();
    const link = { id, tokenHash: hashOf(tokenOf(id)) };
    const isMade = await this.repository.insertForWebhook(webhookId, agentId, link, WEBHOOK_LINK_HOURS);
    return isMade ? this.url('pages', tokenOf(id)) : undefined;
  }

  /** Never from the Host header, which the client chooses. */
  private url(path: string, token: string): string {
    return `${this.settings.publicUrl ?? ''}/${path}/${token}`;
  }

  /** The links that have not expired. */
  async list(subject: LinkSubject, query: PageRequest): Promise<Page<ReportLink>> {
    return listPage(query, toResponse, (rows) => this.repository.page(subject, rows));
  }

  /** Revokes a link. @throws DomainError NOT_FOUND if the subject has no such link */
  async delete(subject: LinkSubject, id: string): Promise<void> {
    if (!(await this.repository.delete(uuidOrNotFound(id), subject))) throw notFound();
  }

  /** @throws DomainError NOT_FOUND if the token is unknown, revoked or expired, or opens something of another kind */
  async find(kind: LinkSubject['kind'], token: string): Promise<FoundSubject> {
    const found = await this.repository.find(kind, hashOf(token));
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
