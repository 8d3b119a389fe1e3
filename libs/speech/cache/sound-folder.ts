import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Sound } from '../sound.js';
import { decodeSound, encodeSound } from './sound-file.js';

const EXTENSION = '.sound';
const PART = '.part';
/** A file that is still partial after this time was left behind by a process that was killed. */
const ABANDONED_MS = 60 * 60 * 1_000;
/** Looking at all files takes longer than writing one, so it happens after this share of the limit has been written. */
const SWEEP_SHARE = 0.05;
/** A sweep leaves room for the next files. */
const FULL_SHARE = 0.9;

interface Entry {
  readonly file: string;
  readonly bytes: number;
  readonly usedAt: number;
}

/**
 * Sounds in a folder, one file per key, limited in size: the least recently used ones are removed. Several processes may
 * share the folder. A damaged file counts as missing and is replaced.
 */
export class SoundFolder {
  /** Infinity: the first write looks at what earlier processes left. */
  private writtenSinceSweep = Infinity;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly folder: string,
    private readonly maxBytes: number,
  ) {}

  async read(key: string): Promise<Sound | undefined> {
    const file = this.fileOf(key);
    try {
      const sound = decodeSound(await readFile(file));
      // The time of modification is that of the last use; many file systems do not keep the time of access.
      if (sound) await utimes(file, new Date(), new Date());
      return sound;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** The file appears complete or not at all. */
  async write(key: string, sound: Sound): Promise<void> {
    const bytes = encodeSound(sound);
    await mkdir(this.folder, { recursive: true });
    const part = path.join(this.folder, `${key}.${randomUUID()}${PART}`);
    try {
      await writeFile(part, bytes, { flush: true });
      await rename(part, this.fileOf(key));
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    this.writtenSinceSweep += bytes.length;
    if (this.writtenSinceSweep <= this.maxBytes * SWEEP_SHARE) return;
    this.writtenSinceSweep = 0;
    this.sweeping = this.sweeping.catch(() => undefined).then(() => this.sweep());
    await this.sweeping;
  }

  private fileOf(key: string): string {
    return path.join(this.folder, key + EXTENSION);
  }

  private async sweep(): Promise<void> {
    const entries = await this.entries();
    const abandoned = entries.filter(({ file, usedAt }) => file.endsWith(PART) && usedAt < Date.now() - ABANDONED_MS);
    const sounds = entries.filter(({ file }) => file.endsWith(EXTENSION)).sort((a, b) => a.usedAt - b.usedAt);
    let bytes = sounds.reduce((sum, entry) => sum + entry.bytes, 0);
    const isFull = bytes > this.maxBytes;
    for (const { file } of abandoned) await rm(file, { force: true });
    for (const entry of isFull ? sounds : []) {
      if (bytes <= this.maxBytes * FULL_SHARE) break;
      await rm(entry.file, { force: true });
      bytes -= entry.bytes;
    }
  }

  private async entries(): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (const name of await readdir(this.folder)) {
      const file = path.join(this.folder, name);
      try {
        const { size, mtimeMs } = await stat(file);
        entries.push({ file, bytes: size, usedAt: mtimeMs });
      } catch (error) {
        // Another process removed it.
        if (!isMissing(error)) throw error;
      }
    }
    return entries;
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
