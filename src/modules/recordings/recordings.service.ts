import { readFile } from 'node:fs/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { notFound } from '../../platform/errors/domain-error.js';
import { PrioritySemaphore } from '../../platform/queue/priority-semaphore.js';
import { withRetry } from '../../platform/queue/with-retry.js';
import { RecordingFiles, type RecordingPaths } from './recording-files.js';
import { RecordingWriter, type StoredPeaks } from './recording-writer.js';
import { type RecordingKey, RecordingsRepository } from './recordings.repository.js';

/** References that are written at once: many calls may end together, and requests need connections too. */
const MAX_WRITES = 4;

/** A complete recording. */
export interface StoredRecording {
  readonly id: string;
  readonly paths: RecordingPaths;
}

/** Finds the recordings of calls, and deletes those of runs. */
@Injectable()
export class RecordingsService {
  private readonly logger = new Logger('Recordings');
  private readonly writes = new PrioritySemaphore(MAX_WRITES);

  constructor(
    private readonly repository: RecordingsRepository,
    private readonly files: RecordingFiles,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Starts the recording of an attempt; undefined if recordings are switched off (RECORDINGS), or cannot be written: a call is
   * worth more than its recording.
   */
  async begin(key: RecordingKey): Promise<RecordingWriter | undefined> {
    if (!this.settings.recordings) return undefined;
    try {
      await this.files.prepare(key);
      return await RecordingWriter.create(this.files.paths(key));
    } catch (error) {
      this.logger.error(`The call ${key.id} cannot be recorded: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * Completes the recording of an attempt that still has its claim.
   * @returns whether there is a recording
   */
  async store(key: RecordingKey, callId: string, writer: RecordingWriter): Promise<boolean> {
    try {
      const facts = await writer.finish();
      if (await withRetry(this.writes, () => this.repository.insert({ ...key, callId, ...facts }))) return true;
    } catch (error) {
      this.logger.error(`The recording of call ${callId} was not stored: ${messageOf(error)}`);
    }
    await this.withoutFailure(key, () => this.files.delete([key]));
    return false;
  }

  /** Deletes the recording of an attempt that has no sound or no result. */
  async discard(key: RecordingKey, writer: RecordingWriter): Promise<void> {
    await this.withoutFailure(key, () => writer.discard());
  }

  /**
   * What a report shows of the sound of a call; undefined without a recording.
   * @param wanted whether the sound is needed beside its levels
   */
  async sound(
    workspaceId: string,
    callId: string,
    wanted: { readonly wav: boolean },
  ): Promise<{ readonly peaks: StoredPeaks; readonly wav?: Uint8Array } | undefined> {
    const call = await this.repository.find(callId);
    if (call?.workspaceId !== workspaceId || call.id === null) return undefined;
    const paths = this.files.paths({ ...call, id: call.id });
    try {
      const peaks = JSON.parse(await readFile(paths.peaks, 'utf8')) as StoredPeaks;
      return { peaks, ...(wanted.wav && { wav: await readFile(paths.sound) }) };
    } catch (error) {
      // It was deleted in between, or the disk fails: the report is complete without it.
      this.logger.warn(`The recording of call ${callId} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * The recording of the call's attempt that counts.
   * @throws DomainError NOT_FOUND without one, or FORBIDDEN for another workspace's call
   */
  async get(caller: Pick<Caller, 'workspaceId'>, callId: string): Promise<StoredRecording> {
    const { id, ...call } = requireOwned(caller, await this.repository.find(uuidOrNotFound(callId)));
    if (id === null) throw notFound();
    return { id, paths: this.files.paths({ ...call, id }) };
  }

  /** Whether the call's attempt that counts has a recording that was not deleted. */
  async exists(callId: string): Promise<boolean> {
    return ((await this.repository.find(callId))?.id ?? null) !== null;
  }

  /** A failing disk must not cost the result of the call. The job finds what cannot be deleted now. */
  private async withoutFailure({ id }: RecordingKey, deleteFiles: () => Promise<void>): Promise<void> {
    try {
      await deleteFiles();
    } catch (error) {
      this.logger.warn(`The files of the recording ${id} could not be deleted: ${messageOf(error)}`);
    }
  }

  /** Deletes all files of a run whose recordings are deleted. What cannot be deleted now is found by the job. */
  async deleteRun(runId: string): Promise<void> {
    try {
      await this.files.deleteRun(runId);
    } catch (error) {
      this.logger.warn(`The recordings of run ${runId} could not be deleted: ${messageOf(error)}`);
    }
  }
}
