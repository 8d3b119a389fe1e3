import { Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { Database } from '../../platform/database/database.js';
import { conflict, notFound } from '../../platform/errors/domain-error.js';
import { IdempotencyRepository } from '../../platform/idempotency/idempotency.repository.js';
import { AgentsService } from '../agents/agents.service.js';
import { Queue } from '../../platform/queue/queue.js';
import { EvaluationsService } from '../evaluations/evaluations.service.js';
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
    private readonly agents: AgentsService,
    private readonly evaluations: EvaluationsService,
    private readonly responses: IdempotencyRepository,
  ) {}

  /** Whether no call of the run has been deleted. */
  isComplete(runId: string): Promise<boolean> {
    return this.repository.isComplete(runId);
  }

  /**
   * Deletes an imported or fetched call for good: its run (of a fetched one only the call), the runs that judged it again, evaluations
   * that were made from it, and stored responses about its agent.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent, NOT_FOUND for the call; CONFLICT if one of its runs has not ended
   */
  async deleteImported(caller: Caller, agentId: string, externalId: string): Promise<void> {
    await this.database.transaction(async () => {
      // The lock prevents that the same call is imported concurrently.
      const agent = await this.agents.describe(caller, agentId, { lock: true });
      const runs = await this.repository.runsOfImport(agent.id, externalId);
      await this.evaluations.erasePromoted(agent.id, externalId);
      const days = await this.repository.deleteFromDays(agent.id, externalId);
      if (runs.length + days.length === 0) throw notFound();
      for (const id of days) await this.history.recount(id);
      for (const id of runs) await this.delete(caller, id);
      await this.responses.erase(agent.id);
    });
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
