import { encodeAudio, type LineRate, resample, tone, wavHeader } from '../../libs/audio/index.js';

const RATE: LineRate = 8_000;
const LEVEL_DBFS = -20;

/** A sound that stands for speech: when it begins, and how long it lasts. */
export type Sound = readonly [startMs: number, ms: number];

export interface WavOptions {
  readonly encoding?: 'pcm16' | 'mulaw' | 'alaw';
  readonly rate?: number;
  readonly channels?: readonly Int16Array[];
}

/** A channel of a recording with these sounds. */
export function channelOf(lengthMs: number, sounds: readonly Sound[]): Int16Array {
  const pcm = new Int16Array((lengthMs * RATE) / 1_000);
  for (const [startMs, ms] of sounds) {
    pcm.set(tone([440], { rate: RATE, ms, dbfs: LEVEL_DBFS }), (startMs * RATE) / 1_000);
  }
  return pcm;
}

/** A call of ten seconds: a greeting, a question, and an answer 1,200 ms after it. */
export const CALL = {
  caller: channelOf(10_000, [[2_500, 1_500]]),
  agent: channelOf(10_000, [
    [500, 1_000],
    [5_200, 2_000],
  ]),
} as const;

/** The latency of the answer in `CALL`. */
export const LATENCY_MS = 1_200;

/** A WAV file. */
export function wavOf({
  encoding = 'pcm16',
  rate = RATE,
  channels = [CALL.caller, CALL.agent],
}: WavOptions = {}): Buffer<ArrayBuffer> {
  const lanes = channels.map((pcm) => (rate === RATE ? pcm : resample(pcm, RATE, rate)));
  const interleaved = new Int16Array(lanes.length * (lanes[0]?.length ?? 0));
  for (const [channel, pcm] of lanes.entries())
    pcm.forEach((value, n) => (interleaved[n * lanes.length + channel] = value));
  const data = encodeAudio({ encoding }, interleaved);
  const format = { encoding: encoding === 'alaw' ? ('mulaw' as const) : encoding, rate, channels: lanes.length };
  const file = Buffer.concat([wavHeader(format, data.length), data]);
  if (encoding === 'alaw') file.writeUInt16LE(6, 20);
  return file;
}
