import type { Clock } from './clock.js';

/** So long work may go on before others have their turn: latencies of other calls are measured meanwhile. */
const SLICE_MS = 15;

/** Lets other calls of this process go on during long work of one, which is itself part of no call's time. */
export class Breather {
  private since = performance.now();

  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {}

  /** To be called between steps that cannot be divided. @throws the signal's reason */
  async pause(): Promise<void> {
    if (performance.now() - this.since < SLICE_MS) return;
    await this.clock.outside(new Promise<void>((resolve) => void setImmediate(resolve)));
    this.signal.throwIfAborted();
    this.since = performance.now();
  }
}
