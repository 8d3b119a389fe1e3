import { setTimeout as sleep } from 'node:timers/promises';

/** So many begin at once; the others one by one, so many milliseconds apart. */
const AT_ONCE = 100;
const APART_MS = 3;

/**
 * Lets the lanes of this process begin one by one. A thousand calls that began in the same moment would speak in the same
 * moments for as long as they last, to the agent's and to this process's loss (decision 61).
 */
export class Ramp {
  private next = 0;

  constructor(
    private readonly atOnce = AT_ONCE,
    private readonly apartMs = APART_MS,
  ) {}

  async turn(): Promise<void> {
    const now = performance.now();
    this.next = Math.max(this.next + this.apartMs, now - (this.atOnce - 1) * this.apartMs);
    if (this.next > now) await sleep(this.next - now);
  }
}
