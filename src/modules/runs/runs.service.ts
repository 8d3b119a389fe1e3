import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { Database } from '../../platform/database/database.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../platform/database/page.js';
import { conflict, DomainError } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import { RecordingUploadsService } from '../recordings/recording-uploads.service.js';
import type { ListedRun, RunDetails, RunMetrics } from './dto/run.responses.js';
import { toDerivedFrom, toListedRun, toMetrics, toRun } from './run-data.js';
import { RunWatcher } from './run-watcher.service.js';
import { hasEnded, type RunEntity } from './run.entity.js';
import {
  type CallCounts,
  type CaseOfPlan,
  type NewRun,
  type RunEnd,
  type RunFilter,
  RunsRepository,
} from './runs.repository.js';

export { CALL_STATUSES, MEDIA, OUTCOMES } from './call.entity.js';
export { hasEnded, MAX_PAID_ATTEMPTS, RUN_ORIGINS, RUN_STATUSES, type RunOrigin } from './run.entity.js';
export { evaluationOf, type Judged, judgedBy } from './judged.js';
export { toRunData } from './run-data.js';
export { RUN_CANCELLED, SCORE } from './runs.repository.js';
export { CALLS_DUE, keptSlots, slotsOfOne } from './call-slots.js';
export type { CaseOfPlan, NewRun };

/** Reads and cancels runs. */
@Injectable()
export class RunsService {
  constructor(
    private readonly database: Database,
    private readonly repository: RunsRepository,
    private readonly agents: AgentsService,
    private readonly watcher: RunWatcher,
    private readonly uploads: RecordingUploadsService,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent */
  async list(caller: Caller, agentId: string, query: PageRequest & RunFilter): Promise<Page<ListedRun>> {
    await this.agents.require(caller, agentId);
    return listPage(query, toListedRun, (rows) => this.repository.page(agentId, query, rows));
  }

  /**
   * Also returns runs of deleted agents.
   * @param waitMs how long to wait for the run to end before reading it, in milliseconds
   * @param signal ends the wait; its reason is thrown if it is a DomainError
   * @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run
   */
  async get(caller: Pick<Caller, 'workspaceId'>, id: string, waitMs = 0, signal?: AbortSignal): Promise<RunDetails> {
    const run = requireOwned(caller, await this.repository.findWithCounts(uuidOrNotFound(id)));
    if (waitMs === 0 || hasEnded(run.status)) return toDetails(run, run);
    await this.watcher.untilEnded(run.id, waitMs, signal);
    if (signal?.reason instanceof DomainError) throw signal.reason;
    const later = requireOwned(caller, await this.repository.findWithCounts(run.id));
    return toDetails(later, later);
  }

  /** @throws DomainError as `get` does */
  async metrics(caller: Caller, id: string): Promise<RunMetrics> {
    const run = requireOwned(caller, await this.repository.findWithCounts(uuidOrNotFound(id)));
    return toMetrics({ ...run, score: scoreOf(run, run) });
  }

  /** The run, of any workspace; undefined if it does not exist. */
  find(id: string): Promise<RunEntity | undefined> {
    return this.repository.find(id);
  }

  /** Checks that the caller may read the run. @throws DomainError as `get` does */
  async require(caller: Pick<Caller, 'workspaceId'>, id: string): Promise<RunEntity> {
    return requireOwned(caller, await this.repository.find(uuidOrNotFound(id)));
  }

  /** The cases of a run, in plan order; none if it was deleted. */
  cases(id: string): Promise<CaseOfPlan[]> {
    return this.repository.cases(id);
  }

  /** Writes a queued run, without its calls. */
  create(run: NewRun): Promise<RunEntity> {
    return this.repository.insert(run);
  }

  /** Stores which version of its agent a run calls, unless it is known. */
  setAgentVersion(id: string, version: string): Promise<void> {
    return this.repository.setAgentVersion(id, version);
  }

  /** Locks an open run whose calls have all ended. @returns undefined if it has ended already or has calls left */
  lockOver(id: string): Promise<RunEntity | undefined> {
    return this.repository.lockOver(id);
  }

  /** Counts the calls of a run after some were added or deleted. */
  recount(id: string): Promise<void> {
    return this.repository.recount(id);
  }

  /** Ends a run and notifies who waits for it. @returns the ended run; undefined if it had ended already */
  async end(id: string, result: RunEnd): Promise<RunEntity | undefined> {
    const run = await this.repository.end(id, result);
    if (!run) return undefined;
    await this.repository.notifyEnded(id);
    if (run.isImported) await this.repository.closeImport(id);
    return run;
  }

  /**
   * Aborts calls in progress, and deletes the recording that was sent for an import. Idempotent.
   * @throws DomainError as `get` does; CONFLICT if the run has completed or failed, or is that of a day of production
   */
  async cancel(caller: Caller, id: string): Promise<RunDetails> {
    const run = await this.database.transaction(async () => {
      const open = await this.require(caller, id);
      if (open.day !== null) throw conflict('A run of production calls is not cancelled: it ends after its day');
      if (await this.repository.cancel(open)) {
        await this.repository.notifyEnded(open.id, { isCancelled: true });
        if (open.isImported) await this.repository.closeImport(open.id);
      }
      const now = requireOwned(caller, await this.repository.findWithCounts(open.id));
      if (now.status !== 'CANCELLED') throw conflict('The run has ended already');
      return now;
    });
    // As at the end of an import: after the commit, because a run that goes on needs its file.
    if (run.isImported) await this.uploads.delete(run.id);
    return toDetails(run, run);
  }
}

/** The score so far of a run that has not ended. */
const scoreOf = (run: RunEntity, { meanScore = null }: Partial<CallCounts>): number =>
  hasEnded(run.status) ? run.score : (meanScore ?? 0);

export function toDetails(row: RunEntity, counts: Partial<CallCounts>): RunDetails {
  const {
    passed = 0,
    failed = 0,
    invalid = 0,
    error = 0,
    cancelled = 0,
    pending = 0,
    provisional = 0,
    retriedCalls = 0,
    paidSeconds = null,
    callsThatWaited = 0,
    production = null,
  } = counts;
  return {
    ...toRun(row),
    ...toMetrics({ ...row, score: scoreOf(row, counts) }),
    repeat: row.repeat,
    concurrency: row.concurrency,
    maxPaidAttempts: row.maxPaidAttempts,
    paidSeconds,
    callsThatWaited,
    dialling: (row.derivedFrom === null && row.agentSnapshot.dialling) || null,
    minimumScore: row.minimumScore,
    minimumPassRate: row.minimumPassRate,
    allowedUncounted: row.allowedUncounted,
    notWorseThan: row.notWorseThan,
    baselineRunId: row.baselineRunId,
    origin: row.origin,
    day: row.day,
    production,
    agentVersion: row.agentVersion,
    agentVariables: row.agentVariables,
    assistantVersion: row.assistantVersion,
    scheduleId: row.scheduleId,
    derivedFrom: toDerivedFrom(row),
    exitCode: row.exitCode,
    startedAt: row.startedAt?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
    counts: { passed, failed, invalid, error, cancelled, pending, provisional },
    retriedCalls,
    reasons: row.reasons,
    warnings: row.warnings,
  };
}
