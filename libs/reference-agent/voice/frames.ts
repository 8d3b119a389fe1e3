/** Samples per second on the telephone. */
export const RATE = 8_000;
export const FRAME_MS = 20;
export const FRAME_SAMPLES = (RATE * FRAME_MS) / 1_000;
