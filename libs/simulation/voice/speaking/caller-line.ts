import { type AudioFormat, StreamResampler } from '../../../audio/index.js';
import type { Line } from '../facts/line.js';
import { LineConditionsFilter } from './line-conditions.js';
import type { Wire } from '../wire/wire.js';
import type { VoiceCallPlan } from '../facts/plan.js';

interface DelayedFrame {
  readonly dueMs: number;
  readonly frameNumber: number;
  /** Null if the line lost it. */
  readonly pcm: Int16Array | null;
}

/** The line from the caller to the agent: its conditions change, lose and delay the frames. */
export class CallerLine {
  private readonly conditions: LineConditionsFilter;
  /** Frames that the line delays, in order. */
  private readonly delayed: DelayedFrame[] = [];
  private readonly silence: Int16Array;
  private resampler: StreamResampler | undefined;

  /** @throws Error if the plan has no babble although its conditions need it */
  constructor(
    { conditions, backgroundNoise, seed, babble }: VoiceCallPlan,
    private readonly line: Line,
    private readonly wire: Pick<Wire, 'frame' | 'lostFrame'>,
  ) {
    this.silence = new Int16Array(line.frameSamples);
    this.conditions = new LineConditionsFilter(conditions, {
      rate: line.rate,
      backgroundNoise,
      seed,
      ...(babble && { babble }),
    });
  }

  /** What the platform takes, if that is another rate than the line's. */
  set format({ rate }: AudioFormat) {
    this.resampler = rate === this.line.rate ? undefined : new StreamResampler(this.line.rate, rate);
  }

  /** When the next delayed frame is due, in call time. */
  get nextDueMs(): number {
    return this.delayed[0]?.dueMs ?? Infinity;
  }

  /**
   * Sends a frame, or keeps it until its delay is over.
   * @param clean null in silence @param heard what was heard of the agent at the same time, for its echo
   * @returns what the agent gets; null if the line lost it
   */
  pass(
    now: number,
    dueMs: number,
    frameNumber: number,
    clean: Int16Array | null,
    heard: Int16Array,
  ): Int16Array | null {
    const left = this.conditions.apply(clean ?? this.silence, heard);
    const pcm = this.conditions.isLost(frameNumber) ? null : left;
    const frame = { frameNumber, pcm, dueMs: dueMs + this.conditions.delayMs(frameNumber) };
    if (this.delayed.length === 0 && frame.dueMs <= dueMs) this.send(now, frame);
    // The samples are valid until the next frame.
    else this.delayed.push({ ...frame, pcm: pcm && pcm.slice() });
    return pcm;
  }

  /** Sends the delayed frames that are due. */
  sendDue(now: number, untilMs: number): void {
    while (this.delayed.length > 0 && this.nextDueMs <= untilMs) this.send(now, this.delayed.shift()!);
  }

  private send(now: number, { pcm, frameNumber }: DelayedFrame): void {
    // The filter of the resampler also sees what the line lost, so that times do not move.
    const sent = this.resampler ? this.resampler.push(pcm ?? this.silence) : pcm;
    if (pcm && sent) this.wire.frame(now, sent, frameNumber);
    else this.wire.lostFrame?.(now, frameNumber);
  }
}
