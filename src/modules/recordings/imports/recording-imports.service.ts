import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { abortable, ThreadPool } from '../../../../libs/concurrency/index.js';
import type { HeardPiece, RecordingOmitted, RecordingSink, VoiceFacts } from '../../../../libs/simulation/index.js';
import type { RecordingPaths } from '../recording-files.js';
import { writeFacts, type WrittenRecording } from '../recording-writer.js';
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
export type ImportSource = Pick<ImportTask, 'channels' | 'callMs' | 'isHeard' | 'transcript' | 'turnEndMs'> & {
  /** Path of the file; by default it is the upload of the run. */
  readonly upload?: string;
  /** Whether the recording is kept, if recordings are: true by default. */
  readonly isKept?: boolean;
};

/** What a recording shows of a call. */
export interface ImportedRecording {
  readonly facts: VoiceFacts;
  /** What a recogniser is to transcribe of the agent. */
  readonly pieces: readonly HeardPiece[];
  /** Takes the facts that are stored beside the recording. */
  readonly recording: Required<Pick<RecordingSink, 'facts'>>;
}

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
   * @param judge what it shows of the call
   * @returns the result of `judge`, with the reason if there is no recording, or why there is nothing to judge
   * @throws the signal's reason; what `judge` throws
   */
  async import<T extends object>(
    key: RecordingKey,
    callId: string,
    { isKept = true, ...source }: ImportSource,
    judge: (imported: ImportedRecording) => Promise<T>,
    signal: AbortSignal,
  ): Promise<(T & { readonly recordingOmitted?: RecordingOmitted }) | { readonly refusal: string }> {
    const task = { upload: this.uploads.pathOf(key.runId), ...source };
    const write = async (paths: RecordingPaths | undefined) => {
      const imported = await abortable(this.pool.run({ ...task, ...(paths && { paths }) }), signal);
      if ('refusal' in imported) return { judged: imported, written: null };
      const { facts, pieces, written } = imported;
      let json: string | undefined;
      const recording = { facts: (stored: string) => void (json = stored) };
      const result = await judge({ facts, pieces, recording });
      return { judged: result, written: written && paths ? await withFacts(written, paths, json) : null };
    };
    if (!isKept) return (await write(undefined)).judged;
    const { judged, recordingOmitted } = await this.recordings.keep(key, callId, write);
    return { ...judged, ...(recordingOmitted && { recordingOmitted }) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }
}

/** @returns null if they could not be written: a call is worth more than its recording */
async function withFacts(
  written: WrittenRecording,
  paths: RecordingPaths,
  json: string | undefined,
): Promise<WrittenRecording | null> {
  if (json === undefined) return written;
  return writeFacts(paths, json).then(
    (factsBytes) => ({ ...written, factsBytes }),
    () => null,
  );
}
