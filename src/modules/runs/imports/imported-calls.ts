import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ThreadPool } from '../../../../libs/concurrency/index.js';
import {
  type CallResult,
  executeImportedCall,
  failure,
  type ImportedCallOptions,
  unstartedCall,
} from '../../../../libs/simulation/index.js';
import { RecordingUploads } from '../../recordings/recording-uploads.js';
import { RecordingsService } from '../../recordings/recordings.service.js';
import type { ClaimedCall } from '../execution/execution.repository.js';
import { abortable } from '../remeasure/recorded-calls.js';
import { CallImportsRepository } from './call-imports.repository.js';
import type { ImportOutcome, ImportTask } from './import-thread.js';

/** One at a time: the processor is needed for calls, and nobody waits for a single call. */
const THREADS = 1;
/** Several times what the longest recording needs, whose audio is outside of the heap. */
const HEAP_MIB = 1_024;
/** Several times what the longest recording takes, in milliseconds. */
const TIMEOUT_MS = 600_000;
const IDLE_MS = 30_000;

/** Measures calls that were recorded elsewhere, in a thread: the latencies of text calls must not contain it. */
@Injectable()
export class ImportedCalls implements OnApplicationShutdown {
  private readonly pool = new ThreadPool<ImportTask, ImportOutcome>({
    entry: new URL('./import-thread.js', import.meta.url),
    threads: THREADS,
    heapMiB: HEAP_MIB,
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
  });

  constructor(
    private readonly repository: CallImportsRepository,
    private readonly uploads: RecordingUploads,
    private readonly recordings: RecordingsService,
  ) {}

  /**
   * The result of an imported call, with its recording. Without the file that was sent the result is the failure
   * `not_imported`.
   * @throws the signal's reason
   */
  async execute(
    { id, claimId, runId, workspaceId }: ClaimedCall,
    options: Omit<ImportedCallOptions, 'facts' | 'callId' | 'signal'>,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const source = await this.repository.source(id);
    if (!source) return notImported('it was deleted');
    const { channels, transcript } = source;
    const { turnEndMs } = options.definition;
    const task = { upload: this.uploads.pathOf(runId), channels, turnEndMs, ...(transcript && { transcript }) };
    const key = { id: claimId, runId, workspaceId };
    const { recordingOmitted, ...outcome } = await this.recordings.keep(key, id, async (paths) => {
      const found = await abortable(this.pool.run({ ...task, ...(paths && { paths }) }), signal);
      return 'facts' in found ? found : { ...found, written: null };
    });
    if ('refusal' in outcome) return notImported(outcome.refusal);
    const result = await executeImportedCall({ ...options, facts: outcome.facts, callId: claimId, signal });
    return { ...result, ...(recordingOmitted && { recordingOmitted }) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }
}

const notImported = (why: string): CallResult => unstartedCall('none', failure('not_imported', why));
