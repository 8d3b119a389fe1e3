import type { Wire } from '../wire/wire.js';

/** Interval of the calls to the wire while the caller thinks. */
const EVERY_MS = 1_000;

/** Lets a wire signal that the caller thinks: at the beginning, once a second, and at the end. */
export class ThinkingSign {
  private nextMs: number | undefined;

  constructor(private readonly wire: Pick<Wire, 'callerThinking'>) {}

  /** @param callMs end of the present frame: even if frames are late, the intervals stay exact */
  show(now: number, callMs: number, isThinking: boolean): void {
    if (!isThinking) {
      if (this.nextMs !== undefined) this.wire.callerThinking?.(now, false);
      this.nextMs = undefined;
    } else if (this.nextMs === undefined || callMs >= this.nextMs) {
      this.nextMs = (this.nextMs ?? callMs) + EVERY_MS;
      this.wire.callerThinking?.(now, true);
    }
  }
}
