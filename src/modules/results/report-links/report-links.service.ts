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
import { ResultsService, type RunResults } from '../results.service.js';
import { hasEnded, RunsService } from '../../runs/runs.service.js';
import { type ReportLinkRow, ReportLinksRepository } from './report-links.repository.js';

const MAX_LIVE_LINKS = 20;
const TOKEN_BYTES = 32;

/** Links to the reports of runs, which work without an API key. */
@Injectable()
export class ReportLinksService {
  constructor(
    private readonly database: Database,
    private readonly repository: ReportLinksRepository,
    private readonly runs: RunsService,
    private readonly results: ResultsService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @returns the link with its address, which cannot be read again
   * @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run; CONFLICT if the run has not ended or has
   *   too many links
   */
  async create(caller: Caller, runId: string, input: CreateReportLinkRequest): Promise<ReportLinkWithUrl> {
    const run = await this.runs.require(caller, runId);
    if (!hasEnded(run.status)) throw conflict('The run has not ended yet');
    return this.database.transaction(async () => {
      // Otherwise it has been deleted in the meantime.
      if (!(await this.repository.lockRun(run.id))) throw notFound();
      if ((await this.repository.countLive(run.id)) >= MAX_LIVE_LINKS) {
        throw conflict(`A run can have at most ${MAX_LIVE_LINKS} report links that have not expired`);
      }
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const link = await this.repository.insert(
        {
          id: randomUUID(),
          runId: run.id,
          createdByUserId: caller.userId,
          tokenHash: hashOf(token),
          includeRecordings: input.includeRecordings ?? false,
        },
        input.expiresInHours,
      );
      // Never from the Host header, which the client chooses.
      return { ...toResponse(link), url: `${this.settings.publicUrl ?? ''}/reports/${token}` };
    });
  }

  /** The links that have not expired. @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run */
  async list(caller: Caller, runId: string, query: PageRequest): Promise<Page<ReportLink>> {
    const run = await this.runs.require(caller, runId);
    const { page, limit, offset } = window(query);
    const { rows, total } = await this.repository.page(run.id, { limit, offset });
    return { items: rows.map(toResponse), total, page, limit };
  }

  /** Revokes a link. @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run */
  async delete(caller: Caller, runId: string, id: string): Promise<void> {
    const run = await this.runs.require(caller, runId);
    if (!(await this.repository.delete(uuidOrNotFound(id), run.id))) throw notFound();
  }

  /** Reads the run of a link for its report. @throws DomainError NOT_FOUND if the token is unknown, revoked or expired */
  async read(token: string): Promise<Omit<RunResults, 'readAudio'> & Partial<RunResults>> {
    const found = await this.repository.findRun(hashOf(token));
    if (!found) throw notFound();
    const { runId, workspaceId, includeRecordings } = found;
    const { readAudio, ...results } = await this.results.read({ workspaceId }, runId, { comparedWith: 'gate' });
    return includeRecordings ? { ...results, readAudio } : results;
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
