import { readSync } from 'node:fs';
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

/** Smaller differences change no verdict. */
const NOTED_SECONDS = 0.05;
/** Streams declare such lengths, because they do not know theirs. */
const PLACEHOLDER = 2_000_000_000;

/** Where the audio of a WAV file is. @throws WavError */
export async function layoutOf(file: FileHandle): Promise<WavLayout> {
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(new Uint8Array(Math.min(BEGINNING, size)), 0, undefined, 0);
  return wavLayout(buffer.subarray(0, bytesRead), size, (from, to) => {
    const part = new Uint8Array(to - from);
    return part.subarray(0, readSync(file.fd, part, 0, part.length, from));
  });
}

const bytesPerSample = ({ encoding }: Pick<WavLayout, 'encoding'>): number => (encoding === 'pcm16' ? 2 : 1);

/** Length of the audio. */
export const secondsOf = (layout: WavLayout): number =>
  layout.length / (layout.rate * layout.channels * bytesPerSample(layout));

/** What to know of a file whose header declares another length than it has; undefined if it does not. */
export function lengthNote(layout: WavLayout): string | undefined {
  const [declared, seconds] = [secondsOf({ ...layout, length: layout.declared }), secondsOf(layout)];
  if (Math.abs(declared - seconds) < NOTED_SECONDS || layout.declared >= PLACEHOLDER) return undefined;
  return `The header of the recording declares ${declared.toFixed(1)} s of audio; all ${seconds.toFixed(1)} s in the file were read`;
}

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
