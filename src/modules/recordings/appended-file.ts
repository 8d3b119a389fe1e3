import { type FileHandle, open } from 'node:fs/promises';

/** Bytes that are collected before they are written: a second of two channels of the telephone has 16,000. */
const WRITE_BYTES = 64 * 1024;
/** Bytes that may wait for the disk. A disk that is further behind fails the file instead of filling the memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** A file that grows at its end. Writes are collected and never overlap. */
export class AppendedFile {
  private waiting: Uint8Array[] = [];
  private waitingBytes = 0;
  private writing: Promise<void> | undefined;
  private error: unknown;

  private constructor(private readonly handle: FileHandle) {}

  /** @throws if the file exists */
  static async create(path: string): Promise<AppendedFile> {
    return new AppendedFile(await open(path, 'wx', 0o600));
  }

  /** Whether the file cannot be completed. */
  get hasFailed(): boolean {
    return this.error !== undefined;
  }

  /** Never rejects; undefined if nothing is being written. */
  get written(): Promise<void> | undefined {
    return this.writing;
  }

  append(bytes: Uint8Array): void {
    if (this.hasFailed) return;
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.waitingBytes > MAX_WAITING_BYTES) this.fail(new Error('The disk is too slow'));
    else if (this.waitingBytes >= WRITE_BYTES) this.writing ??= this.write();
  }

  /**
   * Writes what is left, replaces the beginning of the file, and makes it durable.
   * @throws the error of any write
   */
  async finish(beginning?: Uint8Array): Promise<void> {
    try {
      await this.writing;
      await this.write();
      if (this.hasFailed) throw this.error;
      if (beginning) await this.handle.write(beginning, 0, beginning.length, 0);
      await this.handle.sync();
    } finally {
      await this.handle.close();
    }
  }

  /** Closes the file as it is. */
  async abandon(): Promise<void> {
    this.fail(new Error('The file was abandoned'));
    await this.writing;
    await this.handle.close();
  }

  /** Never rejects: the error is kept for `finish`. */
  private async write(): Promise<void> {
    try {
      while (this.waiting.length > 0) {
        const chunk = Buffer.concat(this.waiting);
        this.waiting = [];
        this.waitingBytes = 0;
        await this.writeWhole(chunk);
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.writing = undefined;
    }
  }

  private async writeWhole(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length;) at += (await this.handle.write(chunk, at)).bytesWritten;
  }

  private fail(error: unknown): void {
    this.error ??= error;
    this.waiting = [];
    this.waitingBytes = 0;
  }
}
