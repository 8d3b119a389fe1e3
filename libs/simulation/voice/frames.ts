import { LINE_RATE } from './plan.js';

/** Length of a frame on the telephone line. */
export const FRAME_MS = 20;
export const FRAME_SAMPLES = (LINE_RATE * FRAME_MS) / 1_000;
const SAMPLES_PER_MS = LINE_RATE / 1_000;

/** The number of samples that is nearest to a duration. */
export const samplesOf = (ms: number): number => Math.round(ms * SAMPLES_PER_MS);

export const msOf = (samples: number): number => samples / SAMPLES_PER_MS;

/** A moment on the grid of samples, so that clocks with fractions lead to exact times. */
export const onSample = (ms: number): number => msOf(samplesOf(ms));
