import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/access/caller.js';
import { conflict } from '../../../platform/errors/domain-error.js';
import type { CreateReportLinkRequest, ReportLinkWithUrl } from '../dto/report-link.dto.js';
import { ResultsService, type RunResults } from '../results.service.js';
import { hasEnded, RunsService } from '../../runs/runs.service.js';
import { type LinkSubject, LinksService } from './links.service.js';

/** Links to the reports of runs, which work without an API key. */
@Injectable()
export class ReportLinksService {
  constructor(
    private readonly links: LinksService,
    private readonly runs: RunsService,
    private readonly results: ResultsService,
  ) {}

  /**
   * @returns the link with its address, which cannot be read again
   * @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run; CONFLICT if the run has not ended, has
   *   too many links or is one of production calls
   */
  async create(caller: Caller, runId: string, input: CreateReportLinkRequest): Promise<ReportLinkWithUrl> {
    const { id, status, origin } = await this.runs.require(caller, runId);
    if (origin === 'production') throw conflict('Reports of production calls have no links: they need an API key');
    if (!hasEnded(status)) throw conflict('The run has not ended yet');
    return this.links.create({ kind: 'run', id }, caller, input);
  }

  /** What the links of a run open. @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run */
  async subject(caller: Caller, runId: string): Promise<LinkSubject> {
    return { kind: 'run', id: (await this.runs.require(caller, runId)).id };
  }

  /**
   * Reads the run of a link for its report.
   * @throws DomainError NOT_FOUND if the token is unknown, revoked or expired, or opens production calls
   */
  async read(token: string): Promise<RunResults> {
    const { id, workspaceId, includeRecordings } = await this.links.find('run', token);
    return this.results.readShared(workspaceId, id, includeRecordings);
  }
}
