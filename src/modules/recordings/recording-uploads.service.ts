import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { isUuid } from '../../platform/database/ids.js';
import { DomainError } from '../../platform/errors/domain-error.js';
import { WavError } from '../../../libs/audio/index.js';
import { syncDirectory } from '../../platform/sync-directory.js';
import { layoutIssue, layoutOf, recordedBytes, secondsOf } from './wav-upload.js';

export { CHANNEL_ORDERS, type ChannelOrder } from './wav-upload.js';

/** A file that arrived. */
export interface Upload {
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 in hex. */
  readonly hash: string;
}

/** The audio of a file. */
export interface UploadedAudio {
  readonly seconds: number;
  /** What it takes as the recording of a call. */
  readonly bytes: number;
}

/** A younger file may still arrive, or belong to a run that is being written. */
const MAX_AGE_MS = 30 * 60_000;
const PART = '.part';
const WHOLE = '.upload';

/**
 * Recordings that were sent to the service, until their call has ended: `DATA_DIR/recordings/uploads/<run>.upload`. They are
 * never in memory as a whole.
 */
@Injectable()
export class RecordingUploadsService {
  private readonly folder: string;

  constructor(@Inject(SETTINGS) { dataDir }: Settings) {
    this.folder = path.resolve(dataDir, 'recordings', 'uploads');
  }

  /** @throws DomainError SERVICE_UNAVAILABLE if it cannot be written; what `blocks` throws */
  async receive(runId: string, blocks: AsyncIterable<Buffer>): Promise<Upload> {
    const hash = createHash('sha256');
    let bytes = 0;
    const { path: file } = await this.write(runId, async (take) => {
      for await (const chunk of blocks) {
        hash.update(chunk);
        bytes += chunk.length;
        await take(chunk);
      }
    });
    return { path: file, bytes, hash: hash.digest('hex') };
  }

  /**
   * Writes what `source` passes on to a file that nothing reads yet. Without a result nothing is left.
   * @throws DomainError SERVICE_UNAVAILABLE if it cannot be written; what `source` throws
   */
  async write<T>(
    id: string,
    source: (take: (part: Uint8Array) => Promise<void>) => Promise<T>,
  ): Promise<{ readonly path: string; readonly found: T }> {
    const file = this.part(id);
    try {
      const handle = await onDisk(() => this.create(file));
      try {
        const found = await source((part) => onDisk(() => handle.writeFile(part)));
        await onDisk(() => handle.sync());
        return { path: file, found };
      } finally {
        await handle.close();
      }
    } catch (error) {
      await remove(file);
      throw error;
    }
  }

  /** What a file holds, or the rest of a sentence about a file that cannot be imported. */
  async describe({ path: file }: Upload): Promise<UploadedAudio | string> {
    const handle = await open(file, 'r');
    try {
      const layout = await layoutOf(handle);
      return layoutIssue(layout) ?? { seconds: secondsOf(layout), bytes: recordedBytes(layout) };
    } catch (error) {
      if (error instanceof WavError) return `cannot be read: ${error.message.replace(/\.$/, '')}`;
      throw error;
    } finally {
      await handle.close();
    }
  }

  /** Gives a file that arrived its name. @throws DomainError SERVICE_UNAVAILABLE */
  async keep(runId: string): Promise<void> {
    await onDisk(async () => {
      await rename(this.part(runId), this.pathOf(runId));
      await syncDirectory(this.folder);
    });
  }

  /** Where the file of a run is that was kept. */
  pathOf(runId: string): string {
    return path.join(this.folder, `${runId}${WHOLE}`);
  }

  /** Deletes a file that was not kept. */
  async discard(runId: string): Promise<void> {
    await remove(this.part(runId));
  }

  async delete(runId: string): Promise<void> {
    await Promise.all([this.part(runId), this.pathOf(runId)].map(remove));
  }

  /**
   * Deletes files that processes which died have left behind.
   * @param open which of these runs have not ended
   * @returns the number of deleted files
   */
  async deleteUnused(open: (runIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<number> {
    const old: string[] = [];
    for (const name of await this.names()) {
      const { mtimeMs } = await stat(path.join(this.folder, name)).catch(() => ({ mtimeMs: Infinity }));
      if (Date.now() - mtimeMs > MAX_AGE_MS) old.push(name);
    }
    const kept = await open(old.filter((name) => name.endsWith(WHOLE)).map(runOf));
    const unused = old.filter((name) => name.endsWith(PART) || !kept.has(runOf(name)));
    for (const name of unused) await remove(path.join(this.folder, name));
    return unused.length;
  }

  private part(runId: string): string {
    return path.join(this.folder, `${runId}${PART}`);
  }

  private async create(file: string) {
    // A recorded voice is personal data: no other user of the machine may read it.
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    return open(file, 'wx', 0o600);
  }

  private async names(): Promise<string[]> {
    try {
      return (await readdir(this.folder)).filter((name) => isUuid(runOf(name)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

/** What cannot be deleted now is found by the job. */
const remove = (file: string): Promise<void> => rm(file, { force: true }).catch(() => undefined);

const runOf = (name: string): string => name.slice(0, 36);

/** @throws DomainError SERVICE_UNAVAILABLE in place of the disk's error */
async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const issue = 'recording cannot be stored: the disk of the service is full or fails';
    throw new DomainError('SERVICE_UNAVAILABLE', undefined, [issue], { cause });
  }
}
