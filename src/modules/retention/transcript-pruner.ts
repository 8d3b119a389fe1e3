import { Inject, Injectable, Logger } from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import type { JobContext } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { RecordingsService } from '../recordings/recordings.service.js';
import { WebhooksService } from '../webhooks/webhooks.service.js';
import { PRUNE_TRANSCRIPTS } from './prune-job.js';
import { TranscriptsRepository } from './transcripts.repository.js';

/** Runs the job that applies TRANSCRIPT_RETENTION_DAYS: deletes what was said on voice calls, and keeps their verdicts. */
@Injectable()
export class TranscriptPruner {
  private readonly logger = new Logger('Runs');

  constructor(
    private readonly queue: Queue,
    private readonly repository: TranscriptsRepository,
    private readonly recordings: RecordingsService,
    private readonly webhooks: WebhooksService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    queue.handle(PRUNE_TRANSCRIPTS, (_, context) => this.prune(context));
  }

  /** Continues in another job when its time is over, so that other maintenance takes turns. */
  private async prune({ signal }: JobContext): Promise<void> {
    const days = this.settings.transcriptRetentionDays;
    if (days === 0) return;
    let calls = 0;
    const isComplete = await inBatches(async () => {
      const deleted = await this.repository.deleteExpired(
        days,
        async (callIds) => {
          calls += callIds.length;
          await this.recordings.deleteTexts(callIds);
        },
        (run) => this.webhooks.forgetReasons(run.agentId, run.id),
      );
      return deleted;
    }, signal);
    if (calls > 0)
      this.logger.log(`Deleted the texts of ${calls} voice calls of runs that ended more than ${days} days ago`);
    if (!isComplete) await this.queue.enqueue(PRUNE_TRANSCRIPTS, {}, { jobKey: PRUNE_TRANSCRIPTS.name });
  }
}
