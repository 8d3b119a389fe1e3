import { setTimeout as sleep } from 'node:timers/promises';

/** More than one process can handle, so that it is never idle while turns wait. */
const TURNS_PER_MS = 3;

/**
 * Spaces out the turns of all calls of this process, so that responses are read in between. Without it, a hundred
 * callers that speak at once would delay reading the first response, which would count as latency (decision 61).
 */
export class Pacer {
  private readonly waiting: (() => void)[] = [];
  private isReleasing = false;

  /** Resolves when the turn may start: in the order of the calls, a few per millisecond. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (!this.isReleasing) void this.release();
    });
  }

  private async release(): Promise<void> {
    this.isReleasing = true;
    while (this.waiting.length > 0) {
      for (const start of this.waiting.splice(0, TURNS_PER_MS)) start();
      await sleep(1);
    }
    this.isReleasing = false;
  }
}
