import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { decodeAudio, type LineRate, peaks, type WavFormat, wavHeader } from '../../../libs/audio/index.js';
import { recordingFormat, type RecordingSink } from '../../../libs/simulation/index.js';
import { syncDirectory } from '../../platform/sync-directory.js';
import { AppendedFile } from './appended-file.js';
import type { RecordingPaths } from './recording-files.js';
import type { NewRecording } from './recordings.repository.js';

const compressed = promisify(gzip);

/** Points of the picture in a second. */
const POINTS = 50;

/** Lengths of a recording that was written. */
export type WrittenRecording = Omit<NewRecording, 'id' | 'callId'>;

/** Levels of a recording for drawing: lowest and highest sample of each 20 ms in turn. */
export interface StoredPeaks {
  readonly caller: readonly number[];
  readonly agent: readonly number[];
}

/** Writes what was observed of a call beside its recording. @returns the length of the file */
export async function writeFacts({ facts }: Pick<RecordingPaths, 'facts'>, json: string): Promise<number> {
  const file = await compressed(json);
  await writeFile(facts, file, { mode: 0o600 });
  return file.length;
}

/**
 * Writes a recording while its call goes on, to files that are not served: `finish` completes and renames them. Each file is
 * either whole or not there under its name, whenever the process dies.
 */
export class RecordingWriter implements RecordingSink {
  private bytes = 0;
  private wireBytes = 0;
  private factsJson: string | undefined;
  private readonly levels: { caller: number[]; agent: number[] } = { caller: [], agent: [] };
  /** Audio since the latest whole point. */
  private rest: Uint8Array = new Uint8Array();
  /** Bytes of both channels in one point of the picture. */
  private readonly pointBytes: number;
  private readonly bytesPerSecond: number;

  private constructor(
    private readonly format: WavFormat,
    private readonly paths: RecordingPaths,
    private readonly audioFile: AppendedFile,
    private readonly messages: AppendedFile,
  ) {
    const bytesPerSample = format.encoding === 'pcm16' ? 2 : 1;
    this.bytesPerSecond = format.rate * format.channels * bytesPerSample;
    this.pointBytes = this.bytesPerSecond / POINTS;
  }

  /** The folder must exist. */
  static async create(paths: RecordingPaths, rate: LineRate): Promise<RecordingWriter> {
    const format = recordingFormat(rate);
    const audioFile = await AppendedFile.create(paths.audioPart);
    try {
      const messages = await AppendedFile.create(paths.wirePart);
      audioFile.append(wavHeader(format, 0));
      return new RecordingWriter(format, paths, audioFile, messages);
    } catch (error) {
      await audioFile.abandon();
      await rm(paths.audioPart, { force: true });
      throw error;
    }
  }

  /** Whether it has no audio so far. */
  get isEmpty(): boolean {
    return this.bytes === 0;
  }

  /** Ends when the disk has what was passed so far, for audio that comes faster than that of a call. */
  get written(): Promise<void> | undefined {
    return this.audioFile.written;
  }

  audio(interleaved: Uint8Array): void {
    this.bytes += interleaved.length;
    this.audioFile.append(interleaved);
    this.addLevels(interleaved);
  }

  wire(lines: readonly string[]): void {
    const written = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    this.wireBytes += written.length;
    this.messages.append(written);
  }

  facts(json: string): void {
    this.factsJson = json;
  }

  /**
   * Completes the files and gives them their names, the audio last.
   * @returns lengths of the audio and of the other files
   * @throws the error of any write; then nothing is left
   */
  async finish(): Promise<WrittenRecording> {
    const { paths, bytes, wireBytes, format } = this;
    this.addPoints(this.rest);
    const picture = JSON.stringify(this.levels satisfies StoredPeaks);
    let factsBytes = 0;
    try {
      await Promise.all([this.audioFile.finish(wavHeader(format, bytes)), this.messages.finish()]);
      await writeFile(paths.peaks, picture, { mode: 0o600 });
      factsBytes = await this.writeFacts();
      await rename(paths.wirePart, paths.wire);
      await rename(paths.audioPart, paths.audio);
      await syncDirectory(path.dirname(paths.audio));
    } catch (error) {
      await this.remove();
      throw error;
    }
    // All of it is ASCII.
    const peaksBytes = picture.length;
    return { seconds: bytes / this.bytesPerSecond, sampleRate: format.rate, bytes, peaksBytes, wireBytes, factsBytes };
  }

  /** Deletes what was written. */
  async discard(): Promise<void> {
    await Promise.all([this.audioFile.abandon(), this.messages.abandon()]);
    await this.remove();
  }

  /** @returns the length of the file; 0 without facts */
  private async writeFacts(): Promise<number> {
    if (this.factsJson === undefined) return 0;
    return writeFacts(this.paths, this.factsJson);
  }

  private async remove(): Promise<void> {
    await Promise.all(Object.values(this.paths).map((file) => rm(file, { force: true })));
  }

  private addLevels(interleaved: Uint8Array): void {
    const all = this.rest.length === 0 ? interleaved : Buffer.concat([this.rest, interleaved]);
    const whole = all.length - (all.length % this.pointBytes);
    this.addPoints(all.subarray(0, whole));
    this.rest = all.slice(whole);
  }

  private addPoints(interleaved: Uint8Array): void {
    const { channels, rate } = this.format;
    const pcm = decodeAudio(this.format, interleaved);
    for (const [channel, name] of (['caller', 'agent'] as const).entries()) {
      const lane = new Int16Array(Math.floor(pcm.length / channels));
      for (let n = 0; n < lane.length; n++) lane[n] = pcm[channels * n + channel]!;
      this.levels[name].push(...peaks(lane, rate / POINTS));
    }
  }
}
