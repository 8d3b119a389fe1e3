import { Inject, Injectable } from '@nestjs/common';
import { PAGE_DAYS, type ReportedAgent, type ReportedProduction } from '../../../libs/run-report/index.js';
import { type Caller, readsWords } from '../../platform/access/caller.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { notFound } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import { RecordingsService, type StoredRecording } from '../recordings/recordings.service.js';
import { type FoundSubject, type LinkSubject, LinksService } from '../results/report-links/links.service.js';
import { ResultsService, type RunResults } from '../results/results.service.js';
import { AgentPagesRepository, type LookRow } from './agent-pages.repository.js';
import { streamsOf } from './streams.js';

/** Runs in the charts, and in the grids of cases. */
const MAX_LOOKS = 120;
const MAX_COLUMNS = { ofStream: 30, ofAll: 120 };
/** Failed production calls. */
const MAX_FAILED = 50;
/** Readers of a link can open reports of runs for a day longer than the longest period: the page is older than the click. */
const READABLE_DAYS = Math.max(...PAGE_DAYS) + 1;

/** Addresses on a page. */
type Addresses = Pick<ReportedAgent, 'pageOf'> & {
  readonly reportOf: (runId: string) => string;
  /** Whether the reader may see words of production calls. */
  readonly hasWords: boolean;
};

/** The results of an agent over time as a page, and links to it that work without an API key. */
@Injectable()
export class AgentPagesService {
  constructor(
    private readonly repository: AgentPagesRepository,
    private readonly agents: AgentsService,
    private readonly links: LinksService,
    private readonly results: ResultsService,
    private readonly recordings: RecordingsService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent */
  read(caller: Caller, agentId: string, days: number): Promise<ReportedAgent> {
    const reportOf = (runId: string) => `${this.settings.publicUrl ?? ''}/runs/${runId}/report`;
    return this.page(caller, agentId, days, { reportOf, hasWords: readsWords(caller, 'production') });
  }

  /** The page of a link. @throws DomainError NOT_FOUND if the token is unknown, revoked or expired, or the agent was deleted */
  async readShared(token: string, days: number): Promise<ReportedAgent> {
    const { id: agentId, workspaceId } = await this.links.find('agent', token);
    // Relative to the page, so that they work behind any path of a proxy.
    return this.page({ workspaceId }, agentId, days, {
      reportOf: (runId) => `${token}/runs/${runId}`,
      pageOf: (length) => `?days=${length}`,
      hasWords: false,
    });
  }

  /** A run that the page of a link leads to. @throws DomainError NOT_FOUND as `readShared` does, and for another run */
  async readSharedRun(token: string, runId: string): Promise<RunResults> {
    const { workspaceId, includeRecordings } = await this.openRun(token, uuidOrNotFound(runId));
    const { run, ...results } = await this.results.readShared(workspaceId, runId, includeRecordings);
    if (!includeRecordings) return { run, ...results };
    return { run: { ...run, recordingOf: (callId) => `../calls/${callId}/recording` }, ...results };
  }

  /** The recording of a call in such a run. @throws DomainError NOT_FOUND as `readSharedRun` does, and if the link has no recordings */
  async readSharedRecording(token: string, callId: string): Promise<StoredRecording> {
    const id = uuidOrNotFound(callId);
    const runId = await this.repository.runOfCall(id);
    const { workspaceId, includeRecordings } = await this.openRun(token, runId);
    if (!includeRecordings) throw notFound();
    return this.recordings.get({ workspaceId }, id);
  }

  /** The link by which a run is read. @param runId undefined for an unknown one */
  private async openRun(token: string, runId: string | undefined): Promise<FoundSubject> {
    const link = await this.links.find('agent', token);
    await this.agents.describe(link, link.id);
    if (runId === undefined || !(await this.repository.isInPeriod(runId, link.id, READABLE_DAYS))) throw notFound();
    return link;
  }

  /** What the links of an agent open. @throws DomainError NOT_FOUND or FORBIDDEN for the agent */
  async subject(caller: Caller, agentId: string): Promise<LinkSubject> {
    return { kind: 'agent', id: (await this.agents.describe(caller, agentId)).id };
  }

  private async page(
    caller: Pick<Caller, 'workspaceId'>,
    agentId: string,
    days: number,
    { reportOf, pageOf, hasWords }: Addresses,
  ): Promise<ReportedAgent> {
    const { id, name } = await this.agents.describe(caller, agentId);
    const looks = await this.repository.looks(id, days, MAX_LOOKS);
    const results = await this.repository.results(id, days, MAX_COLUMNS);
    const red = await this.repository.redSince(id, days);
    const production = await this.production(id, days, hasWords);
    const stored = new Set([
      ...[...looks, ...red].flatMap(({ runId, isStored }) => (isStored ? [runId] : [])),
      ...results.flatMap(({ runId, status }) => (status === null ? [] : [runId])),
    ]);
    return {
      id,
      name,
      days,
      to: new Date().toISOString(),
      nextRunAt: (await this.repository.nextRunAt(id))?.toISOString() ?? null,
      alarms: await this.repository.alarms(id, days),
      schedules: await this.repository.schedules(id),
      looks: looks.map(toLook).reverse(),
      runs: looks[0]?.total ?? 0,
      streams: streamsOf(results, red),
      production,
      reportOf: (runId) => (stored.has(runId) ? reportOf(runId) : undefined),
      ...(pageOf && { pageOf }),
    };
  }

  private async production(agentId: string, days: number, hasWords: boolean): Promise<ReportedProduction | null> {
    const found = await this.repository.productionDays(agentId, days);
    if (!found) return null;
    const cases = await this.repository.productionCases(agentId, days);
    return {
      ...found,
      cases,
      failed: hasWords ? await this.repository.failedProduction(agentId, days, MAX_FAILED) : null,
    };
  }
}

const toLook = ({ isStored: _, total: __, endedAt, ...look }: LookRow) => ({
  ...look,
  endedAt: endedAt.toISOString(),
});
