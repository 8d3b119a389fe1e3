import { Inject, Injectable, Logger } from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import type { JobContext } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { RecordingsService } from '../recordings/recordings.service.js';
import { CaseHistoryService } from '../case-history/case-history.service.js';
import { PRUNE_RUNS } from './prune-job.js';
import { RetentionRepository } from './retention.repository.js';

/** Runs the prune job: applies RUN_RETENTION_DAYS and PRODUCTION_RETENTION_DAYS, deletes results of cases that are too old, and calls and recordings of deleted runs. */
@Injectable()
export class RunPruner {
  private readonly logger = new Logger('Runs');

  constructor(
    private readonly queue: Queue,
    private readonly repository: RetentionRepository,
    private readonly recordings: RecordingsService,
    private readonly history: CaseHistoryService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    queue.handle(PRUNE_RUNS, (_, context) => this.prune(context));
  }

  /** Continues in another job when its time is over, so that other maintenance takes turns. */
  private async prune({ signal }: JobContext): Promise<void> {
    const isComplete =
      (await this.deleteExpired(signal)) &&
      (await inBatches(() => this.history.deleteExpired(), signal)) &&
      (await inBatches(() => this.pruneBatch(), signal));
    if (!isComplete) await this.queue.enqueue(PRUNE_RUNS, {}, { jobKey: PRUNE_RUNS.name });
  }

  private pruneBatch(): Promise<number> {
    return this.repository.prune((runId) => this.recordings.deleteRun(runId));
  }

  private async deleteExpired(signal: AbortSignal): Promise<boolean> {
    const { runRetentionDays, productionRetentionDays } = this.settings;
    // Those of production are kept no longer than others. 0: without a limit.
    const ofProduction = Math.min(runRetentionDays || Infinity, productionRetentionDays || Infinity);
    return (
      (await this.deleteOlder(runRetentionDays || Infinity, false, signal)) &&
      (await this.deleteOlder(ofProduction, true, signal))
    );
  }

  private async deleteOlder(days: number, ofProduction: boolean, signal: AbortSignal): Promise<boolean> {
    if (days === Infinity) return true;
    let count = 0;
    const isComplete = await inBatches(async () => {
      const deleted = await this.repository.deleteExpired(days, { ofProduction });
      count += deleted;
      return deleted;
    }, signal);
    if (count > 0) this.logger.log(`Deleted ${count} runs that ended more than ${days} days ago`);
    return isComplete;
  }
}
