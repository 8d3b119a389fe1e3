import { Logger } from '@nestjs/common';
import { messageOf } from '../errors/message-of.js';
import { type WindowCount, WindowCounter } from './window-counter.js';

/** Counts with the primary process, and in this process while the primary one does not respond. */
export class FallbackCounter extends WindowCounter {
  private readonly logger = new Logger('RateLimits');
  private isShared = true;

  /**
   * @param shared rejects when the primary process does not respond in time
   * @param local never rejects
   */
  constructor(
    private readonly shared: WindowCounter,
    private readonly local: WindowCounter,
  ) {
    super();
  }

  increment(key: string, windowMs: number): Promise<WindowCount> {
    return this.run((counter) => counter.increment(key, windowMs));
  }

  read(key: string): Promise<WindowCount | undefined> {
    return this.run((counter) => counter.read(key));
  }

  private async run<T>(count: (counter: WindowCounter) => Promise<T>): Promise<T> {
    try {
      const result = await count(this.shared);
      this.isShared = true;
      return result;
    } catch (error) {
      if (this.isShared) {
        this.logger.warn(
          `The primary process is unavailable (${messageOf(error)}): this process counts rate limits by itself until it is back`,
        );
      }
      this.isShared = false;
      return count(this.local);
    }
  }
}
