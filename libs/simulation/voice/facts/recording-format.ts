import { type LineRate, TELEPHONE_RATE, type WavFormat } from '../../../audio/index.js';

/** How calls of a line are recorded: left the caller as sent, right the agent as heard; as the telephone carries it. */
export const recordingFormat = (rate: LineRate): WavFormat => ({
  encoding: rate === TELEPHONE_RATE ? 'mulaw' : 'pcm16',
  rate,
  channels: 2,
});
