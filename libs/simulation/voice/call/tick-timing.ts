import type { MediaTiming } from '../facts/facts.js';

/** Lateness is counted in steps of this size; the worst one is exact. */
const STEP_MS = 0.1;
/** Lateness beyond the last step counts as the last one, except for the worst. */
const STEPS = 5_000;
/** A later tick is a stall. Timers are up to 2 ms late in an idle process. */
export const STALLED_MS = 25;
/** Sound of the caller that is sent later than this is not what was planned. */
export const LATE_SOUND_MS = 200;
const MAX_STALLS = 1_000;

/** How late the frames of one call were, and which stalls caused it. */
export class TickTiming {
  private readonly counts = new Uint32Array(STEPS);
  private readonly stalls: { at: number; ms: number }[] = [];
  /** Times in which a flood of the agent was not read. */
  private pauses: { at: number; ms: number }[] = [];
  private frames = 0;
  private worst = 0;
  private sentAsPlanned = true;
  /** Frames up to here were due during the stall that was noted last. */
  private stalledUntil = -Infinity;

  /**
   * Notes a frame. @param dueMs when it should have been sent, in call time @param lateMs how much later it was
   * @param hasSound whether the caller was heard in it
   */
  frame(dueMs: number, lateMs: number, hasSound: boolean): void {
    const late = Math.max(0, lateMs);
    const step = Math.min(STEPS - 1, Math.floor(late / STEP_MS));
    this.counts[step] = this.counts[step]! + 1;
    this.frames++;
    if (late > this.worst) this.worst = late;
    if (hasSound && late > LATE_SOUND_MS) this.sentAsPlanned = false;
    // The frames that are caught up after a stall are late because of the same stall.
    if (late < STALLED_MS || dueMs < this.stalledUntil) return;
    this.stalledUntil = dueMs + late;
    if (this.stalls.length < MAX_STALLS) this.stalls.push({ at: dueMs, ms: tenth(late) });
  }

  /** Notes a time in which the agent was not read. */
  paused(at: number, ms: number): void {
    if (this.pauses.length < MAX_STALLS) this.pauses.push({ at, ms: tenth(ms) });
  }

  /** The agent itself caused the pauses by more than it may send. */
  forgetPauses(): void {
    this.pauses = [];
  }

  result(): MediaTiming {
    const worst = tenth(this.worst);
    const { sentAsPlanned } = this;
    const stalls = [...this.stalls, ...this.pauses].sort((a, b) => a.at - b.at);
    return {
      ...(this.frames > 0 && {
        frameLatenessMs: { p50: this.percentile(0.5), p99: this.percentile(0.99), worst },
      }),
      stalls,
      sentAsPlanned,
    };
  }

  private percentile(share: number): number {
    const rank = Math.ceil(this.frames * share);
    let seen = 0;
    for (const [step, count] of this.counts.entries()) {
      seen += count;
      if (seen >= rank) return Math.min(tenth(step * STEP_MS), tenth(this.worst));
    }
    return 0;
  }
}

const tenth = (ms: number): number => Math.round(ms * 10) / 10;
