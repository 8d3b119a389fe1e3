import type { Clock } from './clock.js';

/** Longest time of uninterrupted work: it delays other calls, whose latencies are being measured. */
const SLICE_MS = 15;

/** To be awaited between the steps of long work. @throws the signal's reason */
export type YieldToEventLoop = () => Promise<void>;

/** Lets other calls of this process continue during long work of one call. No call's time includes the pauses. */
export function eventLoopYielder(clock: Clock, signal: AbortSignal): YieldToEventLoop {
  let sliceStart = performance.now();
  return async () => {
    if (performance.now() - sliceStart < SLICE_MS) return;
    await clock.awaitExternal(new Promise<void>((resolve) => void setImmediate(resolve)));
    signal.throwIfAborted();
    sliceStart = performance.now();
  };
}
