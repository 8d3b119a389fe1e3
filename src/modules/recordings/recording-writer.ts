import { open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { decodeMulaw, peaks, wavHeader } from '../../../libs/audio/index.js';
import type { RecordingSink } from '../../../libs/simulation/index.js';
import { AppendedFile } from './appended-file.js';
import type { RecordingPaths } from './recording-files.js';

const RATE = 8_000;
const CHANNELS = 2;
const FORMAT = { encoding: 'mulaw', rate: RATE, channels: CHANNELS } as const;
/** Part of a sound that is one point of its picture: 20 ms. */
const SAMPLES_PER_POINT = RATE / 50;

/** Levels of a recording for drawing: lowest and highest sample of each 20 ms in turn. */
export interface StoredPeaks {
  readonly caller: readonly number[];
  readonly agent: readonly number[];
}

/**
 * Writes a recording while its call goes on, to files that are not served: `finish` completes and renames them. Each file is
 * either whole or not there under its name, whenever the process dies.
 */
export class RecordingWriter implements RecordingSink {
  private bytes = 0;
  private readonly levels: { caller: number[]; agent: number[] } = { caller: [], agent: [] };
  /** Sound since the latest whole point. */
  private rest: Uint8Array = new Uint8Array();

  private constructor(
    private readonly paths: RecordingPaths,
    private readonly sound: AppendedFile,
    private readonly messages: AppendedFile,
  ) {}

  /** The folder must exist. */
  static async create(paths: RecordingPaths): Promise<RecordingWriter> {
    const sound = await AppendedFile.create(paths.soundPart);
    try {
      const messages = await AppendedFile.create(paths.wirePart);
      sound.append(wavHeader(FORMAT, 0));
      return new RecordingWriter(paths, sound, messages);
    } catch (error) {
      await sound.abandon();
      await rm(paths.soundPart, { force: true });
      throw error;
    }
  }

  audio(interleaved: Uint8Array): void {
    this.bytes += interleaved.length;
    this.sound.append(interleaved);
    this.addLevels(interleaved);
  }

  wire(lines: readonly string[]): void {
    this.messages.append(Buffer.from(lines.map((line) => `${line}\n`).join('')));
  }

  /**
   * Completes the files and gives them their names, the sound last.
   * @returns length of the sound
   * @throws the error of any write; then nothing is left
   */
  async finish(): Promise<{ readonly seconds: number; readonly sampleRate: number; readonly bytes: number }> {
    const { paths, bytes } = this;
    this.addPoints(this.rest);
    try {
      await Promise.all([this.sound.finish(wavHeader(FORMAT, bytes)), this.messages.finish()]);
      await writeFile(paths.peaks, JSON.stringify(this.levels satisfies StoredPeaks), { mode: 0o600 });
      await rename(paths.wirePart, paths.wire);
      await rename(paths.soundPart, paths.sound);
      await syncFolder(path.dirname(paths.sound));
    } catch (error) {
      await this.remove();
      throw error;
    }
    return { seconds: bytes / CHANNELS / RATE, sampleRate: RATE, bytes };
  }

  /** Deletes what was written. */
  async discard(): Promise<void> {
    await Promise.all([this.sound.abandon(), this.messages.abandon()]);
    await this.remove();
  }

  private async remove(): Promise<void> {
    await Promise.all(Object.values(this.paths).map((file) => rm(file, { force: true })));
  }

  private addLevels(interleaved: Uint8Array): void {
    const all = this.rest.length === 0 ? interleaved : Buffer.concat([this.rest, interleaved]);
    const whole = all.length - (all.length % (CHANNELS * SAMPLES_PER_POINT));
    this.addPoints(all.subarray(0, whole));
    this.rest = all.slice(whole);
  }

  private addPoints(interleaved: Uint8Array): void {
    for (const [channel, name] of (['caller', 'agent'] as const).entries()) {
      const lane = new Uint8Array(Math.floor(interleaved.length / CHANNELS));
      for (let n = 0; n < lane.length; n++) lane[n] = interleaved[CHANNELS * n + channel]!;
      this.levels[name].push(...peaks(decodeMulaw(lane), SAMPLES_PER_POINT));
    }
  }
}

/** Makes the names of files durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
