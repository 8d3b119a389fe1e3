/** Entry of the threads of `RecordingImportsService`. It imports nothing of the framework, so that a thread starts quickly. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import {
  AudioDecoder,
  deinterleave,
  decodeAudio,
  encodeAudio,
  interleave,
  type LineRate,
  StreamResampler,
  WavError,
  type WavLayout,
} from '../../../../libs/audio/index.js';
import { serveTasks } from '../../../../libs/concurrency/index.js';
import {
  callerChannel,
  type HeardPiece,
  type ImportedCall,
  importedFacts,
  type RecordedLane,
  recordingFormat,
  type VoiceFacts,
} from '../../../../libs/simulation/index.js';
import type { RecordingPaths } from '../recording-files.js';
import { RecordingWriter, type WrittenRecording } from '../recording-writer.js';
import { type ChannelOrder, layoutIssue, layoutOf, lengthNote, lineRateOf, secondsOf } from '../wav-upload.js';

export interface ImportTask extends Pick<ImportedCall, 'transcript' | 'turnEndMs'> {
  /** Path of the file as it was sent. */
  readonly upload: string;
  /** `by_transcript`: the times of the transcript show which channel is whose. */
  readonly channels: ChannelOrder | 'by_transcript';
  /** Length of the call, whose recording may go on after it; absent if it is that of the recording. */
  readonly callMs?: number;
  /** Whether a recogniser is to hear the agent. */
  readonly isHeard: boolean;
  /** Where its recording is written; absent if it is not kept. */
  readonly paths?: RecordingPaths;
}

export type ImportOutcome =
  | {
      readonly facts: VoiceFacts;
      /** What a recogniser is to transcribe. */
      readonly pieces: readonly HeardPiece[];
      /** Without the facts; null if it could not be written. */
      readonly written: WrittenRecording | null;
    }
  | { readonly refusal: string };

/** Bytes that are read, and samples that are written at once. */
const BLOCK = 1024 * 1024;
/** So far the end of a call is from that of its recording. */
const CLOCKS_MS = 1_000;
const NOT_TOLD =
  'which channel of the recording has the caller cannot be told by the times of the transcript: both voices are in one channel, words are missing, or the times are not those of the recording';

async function imported(task: ImportTask): Promise<ImportOutcome> {
  const { upload, channels, callMs = Infinity, isHeard, paths, transcript, turnEndMs } = task;
  const file = await open(upload, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (!file) return { refusal: 'it was deleted' };
  try {
    const layout = await layoutOf(file);
    const issue = layoutIssue(layout);
    if (issue !== undefined) return { refusal: `the recording ${issue}` };
    const rate = lineRateOf(layout.rate);
    const [left, right] = await convert(file, layout, rate);
    const most = ((callMs + CLOCKS_MS) * rate) / 1_000;
    const lanes = [
      { rate, pcm: left.subarray(0, most) },
      { rate, pcm: right.subarray(0, most) },
    ] as const;
    const at =
      channels === 'by_transcript' ? callerChannel(lanes, transcript ?? []) : channels === 'caller-agent' ? 0 : 1;
    if (at === undefined) return { refusal: NOT_TOLD };
    const [caller, agent] = [lanes[at], lanes[1 - at]!];
    const pieces: HeardPiece[] = [];
    const facts = importedFacts({
      ...{ caller, agent, note: lengthNote(layout), transcript, turnEndMs },
      ...(isHeard && { onPiece: (piece) => pieces.push(piece) }),
    });
    return { facts, pieces, written: paths ? await written(paths, caller, agent) : null };
  } catch (error) {
    if (error instanceof WavError) return { refusal: `the recording cannot be read: ${error.message}` };
    throw error;
  } finally {
    await file.close();
  }
}

serveTasks(imported, (outcome) =>
  'pieces' in outcome ? outcome.pieces.map(({ pcm }) => pcm.buffer as ArrayBuffer) : [],
);

/** The audio of both channels of a file, read in parts, as it is recorded. */
async function convert(
  file: FileHandle,
  layout: WavLayout,
  rate: LineRate,
): Promise<readonly [left: Int16Array, right: Int16Array]> {
  const { encoding, rate: from, start, length } = layout;
  const format = recordingFormat(rate);
  const decoder = new AudioDecoder({ encoding });
  const resamplers = [new StreamResampler(from, rate), new StreamResampler(from, rate)];
  // Rounded up, like the result of a resampler.
  const most = Math.ceil(secondsOf(layout) * rate) + 1;
  const lanes: [Lane, Lane] = [new Lane(most), new Lane(most)];
  const take = (parts: readonly Int16Array[]) =>
    parts.forEach((part, index) => lanes[index]!.push(decodeAudio(format, encodeAudio(format, part))));
  // A sample of the left channel whose right one is in the next block.
  let odd = new Int16Array();
  for (let at = 0; at < length;) {
    const { bytesRead, buffer } = await file.read(new Uint8Array(BLOCK), 0, Math.min(BLOCK, length - at), start + at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const samples = joined(odd, decoder.push(buffer.subarray(0, bytesRead)));
    const whole = samples.length - (samples.length % 2);
    odd = samples.slice(whole);
    take(deinterleave(samples.subarray(0, whole), 2).map((part, index) => resamplers[index]!.push(part)));
  }
  take(resamplers.map((resampler) => resampler.flush()));
  return [lanes[0].pcm, lanes[1].pcm];
}

function joined(first: Int16Array, second: Int16Array): Int16Array<ArrayBuffer> {
  const all = new Int16Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Audio that arrives in parts. */
class Lane {
  private readonly buffer: Int16Array;
  private length = 0;

  /** @param samples the most that it gets */
  constructor(samples: number) {
    this.buffer = new Int16Array(samples);
  }

  push(part: Int16Array): void {
    this.buffer.set(part, this.length);
    this.length += part.length;
  }

  get pcm(): Int16Array {
    return this.buffer.subarray(0, this.length);
  }
}

/** Writes the recording of the call. @returns null if it could not be written: a call is worth more than its recording */
async function written(
  paths: RecordingPaths,
  caller: RecordedLane,
  agent: RecordedLane,
): Promise<WrittenRecording | null> {
  const format = recordingFormat(caller.rate);
  try {
    const writer = await RecordingWriter.create(paths, caller.rate);
    for (let at = 0; at < caller.pcm.length; at += BLOCK) {
      writer.audio(encodeAudio(format, interleave([caller, agent].map(({ pcm }) => pcm.subarray(at, at + BLOCK)))));
      await writer.written;
    }
    return await writer.finish();
  } catch {
    return null;
  } finally {
    // There were no messages.
    await rm(paths.wire, { force: true }).catch(() => undefined);
  }
}
