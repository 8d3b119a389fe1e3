/** Length of a frame of a line. */
export const FRAME_MS = 20;

/** Samples per second on the telephone (G.711). */
export const TELEPHONE_RATE = 8_000;

/** Rates of a call's line, in samples per second. */
export const LINE_RATES = [TELEPHONE_RATE, 16_000, 24_000] as const;
export type LineRate = (typeof LINE_RATES)[number];

/** Rates at which platforms send and expect audio. */
export const AUDIO_RATES = [...LINE_RATES, 22_050, 44_100, 48_000] as const;
export type AudioRate = (typeof AUDIO_RATES)[number];
