import type { MediaTiming } from '../facts/facts.js';

/** Step in which lateness is counted; the worst value is exact. */
const STEP_MS = 0.1;
/** Lateness beyond the last step counts as the last step, except for the worst value. */
const STEPS = 5_000;
/** A tick that is later than this is a stall. In an idle process, timers are up to 2 ms late. */
export const STALLED_MS = 25;
/** Audio of the caller that is later than this differs from the plan. */
export const LATE_SOUND_MS = 200;
const MAX_STALLS = 1_000;

/** How late the frames of one call were, and which stalls caused it. */
export class TickTiming {
  private readonly counts = new Uint32Array(STEPS);
  private readonly stalls: { at: number; ms: number }[] = [];
  /** Spans in which reading paused because the agent sent too much. */
  private pauses: { at: number; ms: number }[] = [];
  private frames = 0;
  private worst = 0;
  private sentAsPlanned = true;
  /** Frames up to here were due during the latest stall. */
  private stalledUntil = -Infinity;

  /**
   * Records a frame. @param dueMs when it was due, in call time @param lateMs how much later it was sent
   * @param hasSound whether the caller was heard in it
   */
  frame(dueMs: number, lateMs: number, hasSound: boolean): void {
    const late = Math.max(0, lateMs);
    const step = Math.min(STEPS - 1, Math.floor(late / STEP_MS));
    this.counts[step] = this.counts[step]! + 1;
    this.frames++;
    if (late > this.worst) this.worst = late;
    if (hasSound && late > LATE_SOUND_MS) this.sentAsPlanned = false;
    // All frames that a tick catches up with are late because of the same stall.
    if (late < STALLED_MS || dueMs < this.stalledUntil) return;
    this.stalledUntil = dueMs + late;
    if (this.stalls.length < MAX_STALLS) this.stalls.push({ at: dueMs, ms: tenth(late) });
  }

  /** Records a span in which reading from the agent paused. */
  paused(at: number, ms: number): void {
    if (this.pauses.length < MAX_STALLS) this.pauses.push({ at, ms: tenth(ms) });
  }

  /** The agent caused the pauses itself by sending more than it may. */
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
