import { FRAME_MS, TELEPHONE_RATE } from '../../../../libs/audio/index.js';

export { FRAME_MS, TELEPHONE_RATE as RATE };
export const FRAME_SAMPLES = (TELEPHONE_RATE * FRAME_MS) / 1_000;
