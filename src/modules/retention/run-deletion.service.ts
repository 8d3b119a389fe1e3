import { Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { Database } from '../../platform/database/database.js';
import { conflict, notFound } from '../../platform/errors/domain-error.js';
import { Queue } from '../../platform/queue/queue.js';
import { CaseHistoryService } from '../case-history/case-history.service.js';
import { hasEnded, RunsService } from '../runs/runs.service.js';
import { PRUNE_RUNS } from './prune-job.js';
import { RetentionRepository } from './retention.repository.js';

/** Deletes runs on request. */
@Injectable()
export class RunDeletionService {
  private readonly logger = new Logger('Runs');

  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
    private readonly repository: RetentionRepository,
    private readonly runs: RunsService,
    private readonly history: CaseHistoryService,
  ) {}

  /** Whether no call of the run has been deleted. */
  isComplete(runId: string): Promise<boolean> {
    return this.repository.isComplete(runId);
  }

  /**
   * Deletes an ended run with its calls for good. Takes the same time for any number of calls: nothing can read them
   * after the run is gone, and a job deletes them later.
   * @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run; CONFLICT if it has not ended
   */
  async delete(caller: Caller, id: string): Promise<void> {
    const run = await this.runs.require(caller, id);
    if (!hasEnded(run.status)) throw conflict('The run has not ended yet; cancel it first');
    await this.database.transaction(async () => {
      // Otherwise another request has deleted it in the meantime.
      if (!(await this.repository.delete(run.id))) throw notFound();
      await this.history.forgetRun(run.id);
      // Without a key: the deletion of another run must not postpone this job.
      const runAt = new Date(Date.now() + this.repository.pruneDelayMs);
      await this.queue.enqueue(PRUNE_RUNS, {}, { runAt });
    });
    const { workspaceId, userId, apiKeyId } = caller;
    this.logger.log(
      `Run ${run.id} of workspace ${workspaceId} was deleted by user ${userId} with API key ${apiKeyId}: ` +
        `${run.totalCalls} calls, agent ${run.agentId}`,
    );
  }
}
