/** So much may wait to be read, in bytes: more than any answer that is wanted whole. */
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;

/** A body as it arrives, for one reader. */
export class Body implements AsyncIterableIterator<Buffer, undefined> {
  private chunks: Buffer[] = [];
  private size = 0;
  private isOver = false;
  private error: Error | undefined;
  private reader:
    { resolve: (next: IteratorResult<Buffer, undefined>) => void; reject: (error: Error) => void } | undefined;

  /** @param leave is called when the reader wants no more, or has come to the end */
  constructor(private readonly leave: () => void) {}

  /** @returns false when more waits than may */
  push(chunk: Buffer): boolean {
    if (this.reader) {
      this.reader.resolve({ done: false, value: chunk });
      this.reader = undefined;
      return true;
    }
    this.chunks.push(chunk);
    this.size += chunk.length;
    return this.size <= MOST_UNREAD_BYTES;
  }

  /** No more comes. @param error why not, unless the body is complete */
  end(error?: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.error = error;
    const { reader } = this;
    this.reader = undefined;
    if (!reader) return;
    this.leave();
    if (error) reader.reject(error);
    else reader.resolve({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.chunks.length > 0) {
      // All together: of chunks of one byte each a step of its own would keep everybody else waiting.
      const value = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
      this.chunks = [];
      this.size = 0;
      return Promise.resolve({ done: false, value });
    }
    if (!this.isOver) return new Promise((resolve, reject) => (this.reader = { resolve, reject }));
    this.leave();
    const { error } = this;
    this.error = undefined;
    return error ? Promise.reject(error) : Promise.resolve({ done: true, value: undefined });
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.chunks = [];
    this.isOver = true;
    this.leave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
