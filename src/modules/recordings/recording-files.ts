import { type Dirent } from 'node:fs';
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { isUuid } from '../../platform/database/ids.js';
import type { RecordingKey } from './recordings.repository.js';

/** How the name of each file of a recording ends, after the id of the recording and a dot. */
const ENDINGS = {
  /** The audio as WAV. */
  audio: 'wav',
  /** The messages of the protocol as lines of JSON. */
  wire: 'ndjson',
  /** Levels for drawing, as JSON. */
  peaks: 'peaks.json',
  /** What was observed, compressed: with the audio, all that judging the call again needs. */
  facts: 'facts.json.gz',
  /** Audio and messages while the call goes on. */
  audioPart: 'part',
  wirePart: 'ndjson.part',
} as const;

export type RecordingPaths = Readonly<Record<keyof typeof ENDINGS, string>>;

/** Files of a run's folder, by recording. */
export interface RunFolder {
  readonly workspaceId: string;
  readonly runId: string;
  readonly ids: readonly string[];
}

/** The id at the beginning of a file's name; undefined for files of others. */
function idIn(name: string): string | undefined {
  const [id, ending] = [name.slice(0, 36), name.slice(37)];
  return isUuid(id) && Object.values<string>(ENDINGS).includes(ending) ? id : undefined;
}

/** Where recordings are on disk: `DATA_DIR/recordings/<workspace>/<run>/<recording>.<ending>`. */
@Injectable()
export class RecordingFiles {
  private readonly root: string;

  constructor(@Inject(SETTINGS) { dataDir }: Settings) {
    this.root = path.resolve(dataDir, 'recordings');
  }

  paths(key: RecordingKey): RecordingPaths {
    const base = path.join(this.folder(key), key.id);
    const { audio, wire, peaks, facts, audioPart, wirePart } = ENDINGS;
    return {
      audio: `${base}.${audio}`,
      wire: `${base}.${wire}`,
      peaks: `${base}.${peaks}`,
      facts: `${base}.${facts}`,
      audioPart: `${base}.${audioPart}`,
      wirePart: `${base}.${wirePart}`,
    };
  }

  /** Creates the folder of the run. */
  async prepare(key: RecordingKey): Promise<void> {
    // A recorded voice is personal data: no other user of the machine may read it.
    await mkdir(this.folder(key), { recursive: true, mode: 0o700 });
  }

  /** Deletes the files of these recordings, and folders that are empty then. */
  async delete(keys: readonly RecordingKey[]): Promise<void> {
    for (const key of keys) {
      await Promise.all(Object.values(this.paths(key)).map((file: string) => rm(file, { force: true })));
    }
    for (const folder of new Set(keys.map((key) => this.folder(key)))) await this.removeIfEmpty(folder);
  }

  /** Deletes the files of a recording that have words: messages and what was observed. */
  async deleteTexts(key: RecordingKey): Promise<void> {
    const { wire, facts } = this.paths(key);
    await Promise.all([wire, facts].map((file) => rm(file, { force: true })));
  }

  /** Deletes all files of a run. */
  async deleteRun(runId: string): Promise<void> {
    for (const workspaceId of await namesIn(this.root, isFolder)) {
      const workspace = path.join(this.root, workspaceId);
      await rm(path.join(workspace, runId), { recursive: true, force: true });
      await removeEmpty(workspace);
    }
  }

  async exist(): Promise<boolean> {
    return (await namesIn(this.root, isFolder)).length > 0;
  }

  /** The folders of all runs. Files that are not named like ours are left out. */
  async *runs(): AsyncGenerator<RunFolder, void> {
    for (const workspaceId of await namesIn(this.root, isFolder)) {
      for (const runId of await namesIn(path.join(this.root, workspaceId), isFolder)) {
        const names = await namesIn(path.join(this.root, workspaceId, runId), (entry) => entry.isFile());
        const ids = names.flatMap((name) => idIn(name) ?? []);
        yield { workspaceId, runId, ids: [...new Set(ids)] };
      }
    }
  }

  private async removeIfEmpty(folder: string): Promise<void> {
    if (await removeEmpty(folder)) await removeEmpty(path.dirname(folder));
  }

  private folder({ workspaceId, runId }: RecordingKey): string {
    return path.join(this.root, workspaceId, runId);
  }
}

const isFolder = (entry: Dirent): boolean => entry.isDirectory() && isUuid(entry.name);

/** @returns nothing if the folder does not exist (any more) */
async function namesIn(folder: string, wanted: (entry: Dirent) => boolean): Promise<string[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).filter(wanted).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** @returns whether the folder was removed */
async function removeEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch {
    // It has files, or another process was faster.
    return false;
  }
}
