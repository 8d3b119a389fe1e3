import { Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { notFound } from '../../platform/errors/domain-error.js';
import { RecordingFiles, type RecordingPaths } from './recording-files.js';
import { RecordingsRepository } from './recordings.repository.js';

/** A complete recording. */
export interface StoredRecording {
  readonly id: string;
  readonly paths: RecordingPaths;
}

/** Finds the recordings of calls, and deletes those of runs. */
@Injectable()
export class RecordingsService {
  private readonly logger = new Logger('Recordings');

  constructor(
    private readonly repository: RecordingsRepository,
    private readonly files: RecordingFiles,
  ) {}

  /**
   * The recording of the call's attempt that counts.
   * @throws DomainError NOT_FOUND without one, or FORBIDDEN for another workspace's call
   */
  async get(caller: Pick<Caller, 'workspaceId'>, callId: string): Promise<StoredRecording> {
    const { id, ...call } = requireOwned(caller, await this.repository.find(uuidOrNotFound(callId)));
    if (id === null) throw notFound();
    return { id, paths: this.files.paths({ ...call, id }) };
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
