import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { abortable, ThreadPool } from '../../../../libs/concurrency/index.js';
import type { RecordingOmitted, VoiceFacts } from '../../../../libs/simulation/index.js';
import { type RecordingKey, RecordingsService } from '../recordings.service.js';
import type { ImportOutcome, ImportTask } from './import-thread.js';
import { RecordingUploadsService } from '../recording-uploads.service.js';

/** One at a time: the processor is needed for calls, and nobody waits for a single call. */
const THREADS = 1;
/** Several times what the longest recording needs, whose audio is outside of the heap. */
const HEAP_MIB = 1_024;
/** Several times what the longest recording takes, in milliseconds. */
const TIMEOUT_MS = 600_000;
const IDLE_MS = 30_000;

/** What was sent with a recording. */
export type ImportSource = Pick<ImportTask, 'channels' | 'transcript' | 'turnEndMs'>;

export type ImportedRecording =
  { readonly facts: VoiceFacts; readonly recordingOmitted?: RecordingOmitted } | { readonly refusal: string };

/** Turns recordings that were sent into those of calls, in a thread: the latencies of text calls must not contain it. */
@Injectable()
export class RecordingImportsService implements OnApplicationShutdown {
  private readonly pool = new ThreadPool<ImportTask, ImportOutcome>({
    entry: new URL('./import-thread.js', import.meta.url),
    threads: THREADS,
    heapMiB: HEAP_MIB,
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
  });

  constructor(
    private readonly uploads: RecordingUploadsService,
    private readonly recordings: RecordingsService,
  ) {}

  /**
   * Stores the recording of a call, if recordings are kept.
   * @returns what it shows of the call, or why there is nothing
   * @throws the signal's reason
   */
  async import(
    key: RecordingKey,
    callId: string,
    source: ImportSource,
    signal: AbortSignal,
  ): Promise<ImportedRecording> {
    const task = { ...source, upload: this.uploads.pathOf(key.runId) };
    return this.recordings.keep(key, callId, async (paths) => {
      const outcome = await abortable(this.pool.run({ ...task, ...(paths && { paths }) }), signal);
      return 'facts' in outcome ? outcome : { ...outcome, written: null };
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }
}
