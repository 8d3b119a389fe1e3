import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import type { JobContext } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { ERASE_AGENTS, ErasedAgentsService } from '../agents/erased-agents.service.js';
import { CaseHistoryService } from '../case-history/case-history.service.js';
import { EvaluationsService } from '../evaluations/evaluations.service.js';
import { RecordingsService } from '../recordings/recordings.service.js';
import { WebhooksService } from '../webhooks/webhooks.service.js';
import { PRUNE_RUNS } from './prune-job.js';
import { RetentionRepository } from './retention.repository.js';

/**
 * Runs the job that erases agents: deletes everything of an agent in batches, the agent last. Each batch is a transaction
 * that finds what is left, so the job continues where a process died. Runs become deleted runs, whose calls and recordings
 * the prune job deletes.
 */
@Injectable()
export class AgentEraser {
  private readonly logger = new Logger('Agents');

  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
    private readonly agents: ErasedAgentsService,
    private readonly evaluations: EvaluationsService,
    private readonly webhooks: WebhooksService,
    private readonly history: CaseHistoryService,
    private readonly recordings: RecordingsService,
    private readonly runs: RetentionRepository,
  ) {
    queue.handle(ERASE_AGENTS, (_, context) => this.erase(context));
  }

  /** Continues in another job when its time is over, so that other maintenance takes turns. */
  private async erase({ signal }: JobContext): Promise<void> {
    const isComplete = await inBatches(() => this.eraseBatch(), signal);
    if (!isComplete) await this.queue.enqueue(ERASE_AGENTS, {}, { jobKey: ERASE_AGENTS.name });
  }

  /** @returns the number of deleted rows; 0 if no agent is left */
  private async eraseBatch(): Promise<number> {
    const batch = await this.database.transaction(async () => {
      const agentId = await this.agents.lockNext();
      if (agentId === undefined) return { deleted: 0 };
      const deleted = await this.eraseFrom(agentId);
      if (deleted > 0) return { deleted };
      await this.recordings.eraseAgent(agentId);
      await this.agents.forget(agentId);
      return { deleted: 1, erased: agentId };
    });
    if (batch.erased !== undefined) this.logger.log(`Agent ${batch.erased} was erased`);
    return batch.deleted;
  }

  private async eraseFrom(agentId: string): Promise<number> {
    const runs = await this.runs.eraseAgent(agentId);
    if (runs > 0) {
      const runAt = new Date(Date.now() + this.runs.pruneDelayMs);
      await this.queue.enqueue(PRUNE_RUNS, {}, { runAt });
      return runs;
    }
    return (
      (await this.evaluations.eraseAgent(agentId)) ||
      (await this.history.eraseAgent(agentId)) ||
      this.webhooks.eraseAgent(agentId)
    );
  }
}
