import { readFile } from 'node:fs/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { LineRate } from '../../../libs/audio/index.js';
import { PrioritySemaphore } from '../../../libs/concurrency/index.js';
import type { RecordingOmitted, RecordingSink } from '../../../libs/simulation/index.js';
import { type Caller, type Reader, readsWords } from '../../platform/access/caller.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page } from '../../platform/database/page.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { forbidden, notFound } from '../../platform/errors/domain-error.js';
import { withRetry } from '../../platform/queue/with-retry.js';
import type { RecordingReading, RecordingReadingsQuery } from './dto/recording-readings.dtos.js';
import { RecordingFiles, type RecordingPaths } from './recording-files.js';
import { type ReadingRow, RecordingReadingsRepository, type SentPart } from './recording-readings.repository.js';
import { RecordingUploadsService } from './recording-uploads.service.js';
import { RecordingWriter, type StoredPeaks, type WrittenRecording } from './recording-writer.js';
import { type RecordingKey, RecordingsRepository } from './recordings.repository.js';

export type { RecordingKey };

/** References that are written at once: many calls may end together, and requests need connections too. */
const MAX_WRITES = 4;

/** A complete recording. */
export interface StoredRecording {
  readonly id: string;
  readonly paths: RecordingPaths;
  /** Call it before sound is sent. @throws what prevents it */
  readonly beforeSending: (part: SentPart) => Promise<void>;
}

/** What was recorded of an attempt. */
export interface RecordingFacts {
  readonly seconds: number;
  readonly sampleRate: number;
  readonly channels: readonly ['caller', 'agent'];
  /** Length of the audio, without the header. */
  readonly bytes: number;
}

/** Makes and finds the recordings of calls, and deletes those of runs. There is a recording if its row exists (decision 106). */
@Injectable()
export class RecordingsService {
  private readonly logger = new Logger('Recordings');
  private readonly writes = new PrioritySemaphore(MAX_WRITES);

  constructor(
    private readonly repository: RecordingsRepository,
    private readonly files: RecordingFiles,
    private readonly uploads: RecordingUploadsService,
    private readonly sent: RecordingReadingsRepository,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Records an attempt at a call. Its recording is stored if the attempt has a result, some audio and still its claim.
   * @param rate of its line
   * @param execute the attempt; without a sink if recordings are switched off (RECORDINGS), the workspace keeps as much as it
   *   may (RECORDINGS_BYTES_PER_WORKSPACE) or they cannot be written: a call is worth more than its recording
   * @returns its result, with the reason if there is no recording because of one of these
   */
  async record<T extends object>(
    key: RecordingKey,
    callId: string,
    rate: LineRate,
    execute: (sink: RecordingSink | undefined) => Promise<T>,
  ): Promise<T & { readonly recordingOmitted?: RecordingOmitted }> {
    const writer = await this.begin(key, rate);
    if (typeof writer === 'string') return { ...(await execute(undefined)), recordingOmitted: writer };
    let result: T | undefined;
    let isStored = true;
    try {
      result = await execute(writer);
    } finally {
      if (result && !writer.isEmpty) isStored = await this.store(key, callId, writer);
      else await this.withoutFailure(key, () => writer.discard());
    }
    return isStored ? result : { ...result, recordingOmitted: 'disk' };
  }

  /**
   * Keeps the recording of a call that was recorded elsewhere; the workspace's share was checked when it arrived.
   * @param write writes its files to the given paths; without paths if recordings are switched off (RECORDINGS)
   * @returns what `write` returns, with the reason if there is no recording
   */
  async keep<T extends { readonly written: WrittenRecording | null }>(
    key: RecordingKey,
    callId: string,
    write: (paths: RecordingPaths | undefined) => Promise<T>,
  ): Promise<T & { readonly recordingOmitted?: RecordingOmitted }> {
    if (!this.settings.recordings) return { ...(await write(undefined)), recordingOmitted: 'off' };
    await this.files.prepare(key);
    let isStored = false;
    try {
      const result = await write(this.files.paths(key));
      if (!result.written) return { ...result, recordingOmitted: 'disk' };
      isStored = await withRetry(this.writes, () => this.repository.insert({ ...key, callId, ...result.written! }));
      return result;
    } finally {
      if (!isStored) await this.withoutFailure(key, () => this.files.delete([key]));
    }
  }

  /**
   * Whether a workspace may keep this many more bytes in DATA_DIR (RECORDINGS_BYTES_PER_WORKSPACE), beside what its imported
   * calls will take.
   */
  async hasRoom(workspaceId: string, bytes: number): Promise<boolean> {
    const { recordingsBytesPerWorkspace: quota } = this.settings;
    return quota === undefined || (await this.repository.storedBytes(workspaceId)) + bytes <= quota;
  }

  /**
   * What a report shows of the audio of a call; undefined without a recording.
   * @param wanted whether the audio is needed beside its levels
   */
  async audio(
    reader: Reader,
    callId: string,
    wanted: { readonly wav: boolean },
  ): Promise<{ readonly peaks: StoredPeaks; readonly wav?: Uint8Array } | undefined> {
    const call = await this.repository.find(callId);
    if (call?.workspaceId !== reader.workspaceId || call.id === null) return undefined;
    const paths = this.files.paths({ ...call, id: call.id });
    try {
      const peaks = JSON.parse(await readFile(paths.peaks, 'utf8')) as StoredPeaks;
      if (!wanted.wav) return { peaks };
      const wav = await readFile(paths.audio);
      await this.noteReading(reader, callId, call.origin, { start: 0, end: wav.length - 1, size: wav.length });
      return { peaks, wav };
    } catch (error) {
      // It was deleted in between, the disk fails, or its reading is not noted: the report is complete without it.
      this.logger.warn(`The recording of call ${callId} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * The recording of the call's attempt that counts.
   * @throws DomainError NOT_FOUND without one, or FORBIDDEN for another workspace's call, and for a reader who does not get words
   */
  async get(reader: Reader, callId: string): Promise<StoredRecording> {
    const { id, origin, ...call } = requireOwned(reader, await this.repository.find(uuidOrNotFound(callId)));
    if (!readsWords(reader, origin)) throw forbidden('The sound of production calls requires an EDITOR key');
    if (id === null) throw notFound();
    const beforeSending = (part: SentPart) => this.noteReading(reader, callId, origin, part);
    return { id, paths: this.files.paths({ ...call, id }), beforeSending };
  }

  /** Notes who is sent sound of a production call. @throws DomainError NOT_FOUND if the call was deleted */
  private async noteReading(reader: Reader, callId: string, origin: string, part: SentPart): Promise<void> {
    if (origin === 'production' && !(await this.sent.note(reader, callId, part))) throw notFound();
  }

  /** Who was sent sound of the production calls of a workspace. */
  readings({ workspaceId }: Caller, query: RecordingReadingsQuery): Promise<Page<RecordingReading>> {
    return listPage(query, toReading, (rows) => this.sent.page(workspaceId, query, rows));
  }

  /** Forgets what the calls of an agent that is being erased were called where they were recorded. */
  eraseAgent(agentId: string): Promise<void> {
    return this.sent.eraseAgent(agentId);
  }

  /** Where the files of a recording are, unless they were deleted. */
  pathsOf(recording: RecordingKey): RecordingPaths {
    return this.files.paths(recording);
  }

  /**
   * Deletes what was said on calls from their recordings: wire logs and what was observed. The audio stays. In the transaction of
   * the caller, which is rolled back if a file cannot be deleted.
   */
  async deleteTexts(callIds: readonly string[]): Promise<void> {
    for (const key of await this.repository.forgetTexts(callIds)) await this.files.deleteTexts(key);
  }

  /** Deletes all files of a run whose recordings are deleted. What cannot be deleted now is found by the job. */
  async deleteRun(runId: string): Promise<void> {
    try {
      await this.files.deleteRun(runId);
      await this.uploads.delete(runId);
    } catch (error) {
      this.logger.warn(`The recordings of run ${runId} could not be deleted: ${messageOf(error)}`);
    }
  }

  private async begin(key: RecordingKey, rate: LineRate): Promise<RecordingWriter | RecordingOmitted> {
    const { recordings, recordingsBytesPerWorkspace: quota } = this.settings;
    if (!recordings) return 'off';
    try {
      if (quota !== undefined && (await this.repository.storedBytes(key.workspaceId)) >= quota) return 'quota';
      await this.files.prepare(key);
      return await RecordingWriter.create(this.files.paths(key), rate);
    } catch (error) {
      this.logger.error(`The call ${key.id} cannot be recorded: ${messageOf(error)}`);
      return 'disk';
    }
  }

  /** @returns false if it could not be written; true also for an attempt that has lost its claim, which counts for nothing */
  private async store(key: RecordingKey, callId: string, writer: RecordingWriter): Promise<boolean> {
    let isWritten = true;
    try {
      const facts = await writer.finish();
      if (await withRetry(this.writes, () => this.repository.insert({ ...key, callId, ...facts }))) return true;
    } catch (error) {
      isWritten = false;
      this.logger.error(`The recording of call ${callId} was not stored: ${messageOf(error)}`);
    }
    await this.withoutFailure(key, () => this.files.delete([key]));
    return isWritten;
  }

  /** A failing disk must not cost the result of the call. The job finds what cannot be deleted now. */
  private async withoutFailure({ id }: RecordingKey, deleteFiles: () => Promise<void>): Promise<void> {
    try {
      await deleteFiles();
    } catch (error) {
      this.logger.warn(`The files of the recording ${id} could not be deleted: ${messageOf(error)}`);
    }
  }
}

const toReading = ({ total: _, createdAt, updatedAt, ...row }: ReadingRow): RecordingReading => ({
  ...row,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});
