import type { Wire } from '../wire/wire.js';

/** While the caller thinks, the wire is called at this interval. */
const EVERY_MS = 1_000;

/** Lets a wire say that the caller thinks: when it begins, once a second, and when it is over. */
export class ThinkingSign {
  private nextMs: number | undefined;

  constructor(private readonly wire: Pick<Wire, 'callerThinking'>) {}

  /** @param callMs end of the present frame; frames may be late, and the times between two signs are not */
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
