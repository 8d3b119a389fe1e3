import type { LineRate } from '../../../audio/index.js';
import type { Arrival } from '../facts/facts.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import { Line } from '../facts/line.js';
import { HeardSounds } from './heard-sounds.js';
import { PieceCutter } from './piece-cutter.js';

/** The channel of one side in a recording, from the answer to the end of the call. */
export interface RecordedLane {
  readonly rate: LineRate;
  readonly pcm: Int16Array;
}

export interface HearingLane {
  /** Number of whole frames. */
  readonly frames: number;
  /** End of the call in milliseconds. */
  readonly endMs: number;
  /** Spans that were sent. The gate learns the noise of the line only from them. */
  readonly arrivals: readonly Arrival[];
  /** Called before each frame. */
  readonly before?: (heard: HeardSounds, frame: number) => void;
  /** Called after each frame with its end in milliseconds. */
  readonly after?: (heard: HeardSounds, untilMs: number) => void;
  /** Receives audio to transcribe. */
  readonly onPiece?: ((piece: HeardPiece) => void) | undefined;
}

/** Hears a channel of a recording frame by frame. */
export function hearLane({ rate, pcm }: RecordedLane, hearing: HearingLane): HeardSounds {
  const { frames, endMs, arrivals, before, after, onPiece } = hearing;
  const line = new Line(rate);
  const heard = new HeardSounds(line);
  const pieces = onPiece && new PieceCutter(line, heard, onPiece);
  const played = new Played(arrivals, line);
  for (let frame = 0; frame < frames; frame++) {
    before?.(heard, frame);
    const from = frame * line.frameSamples;
    // Frames missing at the end of the recording are silence.
    const samples = new Int16Array(line.frameSamples);
    samples.set(pcm.subarray(from, from + line.frameSamples));
    heard.push(samples, played.isWhole(from, from + line.frameSamples));
    pieces?.push(samples);
    after?.(heard, heard.readUntilMs);
  }
  const from = frames * line.frameSamples;
  const to = line.samplesOf(Math.max(heard.readUntilMs, endMs));
  const rest = pcm.slice(from, to);
  heard.finish(rest, played.isWhole(from, to), endMs);
  pieces?.push(rest);
  pieces?.finish();
  return heard;
}

/** Which parts of the playout were sent. Queries must be in order. */
class Played {
  private next = 0;
  private readonly spans: readonly (readonly [from: number, to: number])[];

  constructor(arrivals: readonly Arrival[], line: Line) {
    this.spans = arrivals.map(({ playedFromMs, playedToMs }) => [
      line.samplesOf(playedFromMs),
      line.samplesOf(playedToMs),
    ]);
  }

  /** Whether all samples of a span were sent. */
  isWhole(from: number, to: number): boolean {
    const { spans } = this;
    while (this.next < spans.length && spans[this.next]![1] <= from) this.next++;
    let played = 0;
    for (let index = this.next; index < spans.length && spans[index]![0] < to; index++) {
      played += Math.max(0, Math.min(spans[index]![1], to) - Math.max(spans[index]![0], from));
    }
    return played === to - from;
  }
}
