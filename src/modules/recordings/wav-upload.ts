import type { FileHandle } from 'node:fs/promises';
import {
  AUDIO_RATES,
  LINE_RATES,
  type LineRate,
  TELEPHONE_RATE,
  type WavLayout,
  wavLayout,
} from '../../../libs/audio/index.js';
import { recordingFormat } from '../../../libs/simulation/index.js';

/** Whose audio is in the left and in the right channel. */
export const CHANNEL_ORDERS = ['caller-agent', 'agent-caller'] as const;
export type ChannelOrder = (typeof CHANNEL_ORDERS)[number];

/** Audio must begin within this many bytes; before it there may be notes on the file. */
const BEGINNING = 1024 * 1024;

/** Where the audio of a WAV file is. @throws WavError */
export async function layoutOf(file: FileHandle): Promise<WavLayout> {
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(new Uint8Array(Math.min(BEGINNING, size)), 0, undefined, 0);
  return wavLayout(buffer.subarray(0, bytesRead), size);
}

const bytesPerSample = ({ encoding }: Pick<WavLayout, 'encoding'>): number => (encoding === 'pcm16' ? 2 : 1);

/** Length of the audio. */
export const secondsOf = (layout: WavLayout): number =>
  layout.length / (layout.rate * layout.channels * bytesPerSample(layout));

/** The rate of a line that is nearest to that of a file. */
export const lineRateOf = (rate: number): LineRate =>
  LINE_RATES.reduce((best, one) => (Math.abs(one - rate) < Math.abs(best - rate) ? one : best), TELEPHONE_RATE);

/** Bytes of the audio as it is recorded. */
export function recordedBytes(layout: WavLayout): number {
  const { encoding, rate, channels } = recordingFormat(lineRateOf(layout.rate));
  return Math.ceil(secondsOf(layout) * rate * channels * bytesPerSample({ encoding }));
}

/** Why a file cannot be imported, as the rest of a sentence about it; undefined if it can. */
export function layoutIssue(layout: WavLayout): string | undefined {
  const { channels, rate } = layout;
  if (channels !== 2) {
    return `must have two channels, the caller in one and the agent in the other; it has ${channels}`;
  }
  if (!AUDIO_RATES.some((one) => one === rate)) {
    const known = [...AUDIO_RATES].sort((a, b) => a - b).join(', ');
    return `must have one of ${known} samples per second; it has ${rate}`;
  }
  return secondsOf(layout) < 1 / rate ? 'must have audio; it has none' : undefined;
}
