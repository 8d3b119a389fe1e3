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
  type WavLayout,
} from '../../../../libs/audio/index.js';
import { serveTasks } from '../../../../libs/concurrency/index.js';
import {
  type HeardPiece,
  type ImportedCall,
  importedFacts,
  recordingFormat,
  type VoiceFacts,
} from '../../../../libs/simulation/index.js';
import type { RecordingPaths } from '../recording-files.js';
import { RecordingWriter, type WrittenRecording } from '../recording-writer.js';
import { type ChannelOrder, layoutOf, lengthNote, lineRateOf, secondsOf } from '../wav-upload.js';

export interface ImportTask extends Pick<ImportedCall, 'transcript' | 'turnEndMs'> {
  /** Path of the file as it was sent. */
  readonly upload: string;
  readonly channels: ChannelOrder;
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

/** Bytes that are read at once. */
const BLOCK = 1024 * 1024;

async function imported(task: ImportTask): Promise<ImportOutcome> {
  const { upload, channels, isHeard, paths, transcript, turnEndMs } = task;
  const file = await open(upload, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (!file) return { refusal: 'it was deleted' };
  try {
    const layout = await layoutOf(file);
    const rate = lineRateOf(layout.rate);
    const recorder = await Recorder.create(paths, rate);
    const [caller, agent] = await convert(file, layout, { rate, channels }, (audio) => recorder.audio(audio));
    const pieces: HeardPiece[] = [];
    const facts = importedFacts({
      ...{ caller: { rate, pcm: caller }, agent: { rate, pcm: agent }, note: lengthNote(layout) },
      ...{ transcript, turnEndMs },
      ...(isHeard && { onPiece: (piece) => pieces.push(piece) }),
    });
    return { facts, pieces, written: await recorder.finish() };
  } finally {
    await file.close();
  }
}

serveTasks(imported, (outcome) =>
  'pieces' in outcome ? outcome.pieces.map(({ pcm }) => pcm.buffer as ArrayBuffer) : [],
);

/**
 * Converts a file to the recording of a call, in parts.
 * @returns what is heard of the caller and of the agent: the audio as it is recorded
 */
async function convert(
  file: FileHandle,
  layout: WavLayout,
  { rate, channels }: { readonly rate: LineRate; readonly channels: ChannelOrder },
  onAudio: (interleaved: Uint8Array) => Promise<void>,
): Promise<readonly [caller: Int16Array, agent: Int16Array]> {
  const { encoding, rate: from, start, length } = layout;
  const format = recordingFormat(rate);
  const decoder = new AudioDecoder({ encoding });
  const resamplers = [new StreamResampler(from, rate), new StreamResampler(from, rate)];
  // Rounded up, like the result of a resampler.
  const most = Math.ceil(secondsOf(layout) * rate) + 1;
  const lanes: [Lane, Lane] = [new Lane(most), new Lane(most)];
  const take = async (parts: readonly Int16Array[]) => {
    const bytes = encodeAudio(format, interleave(channels === 'caller-agent' ? parts : parts.toReversed()));
    deinterleave(decodeAudio(format, bytes), 2).forEach((part, index) => lanes[index]!.push(part));
    await onAudio(bytes);
  };
  // A sample of the left channel whose right one is in the next block.
  let odd = new Int16Array();
  for (let at = 0; at < length;) {
    const { bytesRead, buffer } = await file.read(new Uint8Array(BLOCK), 0, Math.min(BLOCK, length - at), start + at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const samples = joined(odd, decoder.push(buffer.subarray(0, bytesRead)));
    const whole = samples.length - (samples.length % 2);
    odd = samples.slice(whole);
    await take(deinterleave(samples.subarray(0, whole), 2).map((part, index) => resamplers[index]!.push(part)));
  }
  await take(resamplers.map((resampler) => resampler.flush()));
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

/** Writes the recording of the call, if it is kept: a call is worth more than its recording. */
class Recorder {
  private constructor(
    private writer: RecordingWriter | undefined,
    private readonly paths: RecordingPaths | undefined,
  ) {}

  static async create(paths: RecordingPaths | undefined, rate: LineRate): Promise<Recorder> {
    const writer = paths && (await RecordingWriter.create(paths, rate).catch(() => undefined));
    return new Recorder(writer, paths);
  }

  async audio(interleaved: Uint8Array): Promise<void> {
    if (interleaved.length > 0) this.writer?.audio(interleaved);
    await this.writer?.written;
  }

  /** @returns null if it could not be written */
  async finish(): Promise<WrittenRecording | null> {
    try {
      const written = await this.writer?.finish();
      // There were no messages.
      if (this.paths) await rm(this.paths.wire, { force: true });
      return written ?? null;
    } catch {
      return null;
    }
  }
}
