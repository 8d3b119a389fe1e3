import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/access/caller.js';
import { conflict } from '../../../platform/errors/domain-error.js';
import type { CreateReportLinkRequest, ReportLinkWithUrl } from '../dto/report-link.dto.js';
import { ResultsService, type SharedResults } from '../results.service.js';
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
   * @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run; CONFLICT if the run has not ended or has
   *   too many links
   */
  async create(caller: Caller, runId: string, input: CreateReportLinkRequest): Promise<ReportLinkWithUrl> {
    const { id, status } = await this.runs.require(caller, runId);
    if (!hasEnded(status)) throw conflict('The run has not ended yet');
    return this.links.create({ kind: 'run', id }, caller, input);
  }

  /** What the links of a run open. @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run */
  async subject(caller: Caller, runId: string): Promise<LinkSubject> {
    return { kind: 'run', id: (await this.runs.require(caller, runId)).id };
  }

  /** Reads the run of a link for its report. @throws DomainError NOT_FOUND if the token is unknown, revoked or expired */
  async read(token: string): Promise<SharedResults> {
    const { id, workspaceId, includeRecordings } = await this.links.find('run', token);
    return this.results.readShared(workspaceId, id, includeRecordings);
  }
}
