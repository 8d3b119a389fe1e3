/** A time in which this process could not react to anything, in milliseconds of a clock. */
export interface Stall {
  readonly start: number;
  readonly end: number;
}

/** How far the tester kept up with a call. */
export interface Reliability {
  /** Whether no stall was longer than `RELIABLE_MS`. */
  readonly reliable: boolean;
  /** In call time; the longest ones, at most `MAX_STALLS`, in order of their start. */
  readonly stalls: readonly { readonly atMs: number; readonly ms: number }[];
  readonly worstStallMs: number;
  /** Of a voice call: how much later than planned its frames were sent. */
  readonly frameLatenessMs?: { readonly p50: number; readonly p99: number; readonly worst: number };
  /** Of a voice call: by how much the agent's audio may have been heard late, because the lag of a stall stayed. Absent if 0. */
  readonly lagMs?: number;
}

/** Longer stalls make the times of a call unreliable. */
const RELIABLE_MS = 200;
const MAX_STALLS = 50;

/** Whether what was measured during a stall of this length can be relied on. */
export const isReliable = (stallMs: number): boolean => stallMs <= RELIABLE_MS;

export function reliabilityOf(stalls: readonly Stall[]): Reliability {
  const found = stalls.map(({ start, end }) => ({ atMs: tenths(start), ms: tenths(end - start) }));
  const longest = found.toSorted((a, b) => b.ms - a.ms).slice(0, MAX_STALLS);
  const worstStallMs = longest[0]?.ms ?? 0;
  return {
    reliable: isReliable(worstStallMs),
    stalls: longest.sort((a, b) => a.atMs - b.atMs),
    worstStallMs,
  };
}

/** Between stalls that are closer, in milliseconds, what had arrived may not have been read. */
export const UNREAD_MS = 40;

/** In order of their start; those between which nothing may have been read are one. */
export function joined(stalls: readonly Stall[]): Stall[] {
  const all: Stall[] = [];
  for (const stall of stalls.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (!last || stall.start - last.end >= UNREAD_MS) all.push(stall);
    else all[all.length - 1] = { start: last.start, end: Math.max(last.end, stall.end) };
  }
  return all;
}

/** Sum of the stalls within a span: times measured in it may be off by as much. @param stalls as `joined` gives them */
export function stalledMs(stalls: readonly Stall[], start: number, end: number): number {
  let sum = 0;
  for (const stall of stalls) sum += Math.max(0, Math.min(stall.end, end) - Math.max(stall.start, start));
  return tenths(sum);
}

/** Rounds to a tenth of a millisecond, the precision of the timeline. */
export const tenths = (ms: number): number => Math.round(ms * 10) / 10;

const TICK_MS = 10;
/** A longer time between two ticks is a stall. Timers are up to 2 ms late in an idle process. */
const STALLED_MS = 25;
/** Of all calls together; older ones are dropped. */
const MAX_RECORDED = 10_000;

/**
 * Detects stalls of this process by a timer that should fire every `TICK_MS`: long synchronous work, garbage collection,
 * a machine without a free processor. Runs only while something is watched.
 */
export class StallMonitor {
  private readonly recorded: Stall[] = [];
  private watchers = 0;
  private timer: NodeJS.Timeout | undefined;
  private lastTick = 0;

  /** Starts watching. @returns a function that stops it; to be called once */
  watch(): () => void {
    if (this.watchers++ === 0) {
      this.lastTick = performance.now();
      this.timer = setInterval(this.tick, TICK_MS);
      this.timer.unref();
    }
    return () => {
      if (--this.watchers > 0) return;
      this.tick();
      clearInterval(this.timer);
    };
  }

  /** The stalls since a time of `performance.now()`, including one that has just ended. */
  since(time: number): Stall[] {
    if (this.watchers > 0) this.tick();
    const first = this.recorded.findLastIndex(({ end }) => end <= time) + 1;
    return this.recorded.slice(first);
  }

  private readonly tick = (): void => {
    const now = performance.now();
    if (now - this.lastTick >= STALLED_MS) {
      this.recorded.push({ start: this.lastTick, end: now });
      if (this.recorded.length > MAX_RECORDED) this.recorded.splice(0, MAX_RECORDED / 2);
    }
    this.lastTick = now;
  };
}
