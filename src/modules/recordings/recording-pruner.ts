import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import type { JobContext } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { PRUNE_RECORDINGS } from './prune-job.js';
import { RecordingFiles } from './recording-files.js';
import { RecordingReadingsRepository } from './recording-readings.repository.js';
import { RecordingUploadsService } from './recording-uploads.service.js';
import { RecordingsRepository } from './recordings.repository.js';

/** After this time the claims of a process that died before this one started have certainly been released. */
const CLAIMS_RELEASED_MS = 45_000;

/** Runs the prune job: applies RECORDING_RETENTION_DAYS and removes what processes that died have left behind. */
@Injectable()
export class RecordingPruner implements OnApplicationBootstrap {
  private readonly logger = new Logger('Recordings');

  constructor(
    private readonly queue: Queue,
    private readonly repository: RecordingsRepository,
    private readonly files: RecordingFiles,
    private readonly uploads: RecordingUploadsService,
    private readonly readings: RecordingReadingsRepository,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    queue.handle(PRUNE_RECORDINGS, (_, context) => this.prune(context));
  }

  /** A second time later: until then the calls of a process that died count as in progress. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.settings.role === 'api' || !(await this.files.exist())) return;
    const later = new Date(Date.now() + CLAIMS_RELEASED_MS);
    await this.queue.enqueue(PRUNE_RECORDINGS, {}, { jobKey: `${PRUNE_RECORDINGS.name}:start` });
    await this.queue.enqueue(PRUNE_RECORDINGS, {}, { jobKey: `${PRUNE_RECORDINGS.name}:later`, runAt: later });
  }

  private async prune({ signal }: JobContext): Promise<void> {
    const uploads = await this.uploads.deleteUnused((runIds) => this.repository.openRuns(runIds));
    if (uploads > 0) this.logger.log(`Deleted ${uploads} uploads of calls that were never imported`);
    const isComplete =
      (await this.deleteExpired(signal)) &&
      (await this.deleteUnused(signal)) &&
      (await inBatches(() => this.readings.deleteExpired(), signal));
    if (!isComplete) await this.queue.enqueue(PRUNE_RECORDINGS, {}, { jobKey: PRUNE_RECORDINGS.name });
  }

  private async deleteExpired(signal: AbortSignal): Promise<boolean> {
    const days = this.settings.recordingRetentionDays;
    if (days === 0) return true;
    let count = 0;
    const isComplete = await inBatches(async () => {
      const deleted = await this.repository.deleteExpired(days, (keys) => this.files.delete(keys));
      count += deleted;
      return deleted;
    }, signal);
    if (count > 0) this.logger.log(`Deleted ${count} recordings that are older than ${days} days`);
    return isComplete;
  }

  /** Deletes files without a row that no call in progress writes. */
  private async deleteUnused(signal: AbortSignal): Promise<boolean> {
    const folders = this.files.runs();
    let count = 0;
    const isComplete = await inBatches(async () => {
      const next = await folders.next();
      if (next.done === true) return 0;
      const folder = next.value;
      // After the folder was read: what is complete by now has its row.
      const unused = await this.repository.findUnused(folder);
      await this.files.delete([...unused].map((id) => ({ ...folder, id })));
      count += unused.size;
      return 1;
    }, signal);
    if (count > 0) this.logger.log(`Deleted the files of ${count} recordings that were never completed`);
    return isComplete;
  }
}
