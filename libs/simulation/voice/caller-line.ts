import { encodeMulaw, MULAW_SILENCE } from '../../audio/index.js';
import { FRAME_SAMPLES } from './frames.js';
import { LineConditionsFilter } from './line-conditions.js';
import type { MediaProtocol } from './media.js';
import type { VoiceCallPlan } from './plan.js';

interface DelayedFrame {
  readonly dueMs: number;
  readonly frameNumber: number;
  /** Null if the line lost it. */
  readonly payload: Uint8Array | null;
}

const SILENT_PCM = new Int16Array(FRAME_SAMPLES);
const SILENT_MULAW = new Uint8Array(FRAME_SAMPLES).fill(MULAW_SILENCE);

/** The line from the caller to the agent: its conditions change, lose and delay the frames. */
export class CallerLine {
  private readonly conditions: LineConditionsFilter;
  /** Frames that the line delays, in order. */
  private readonly delayed: DelayedFrame[] = [];

  /** @throws Error if the plan has no babble although its conditions need it */
  constructor(
    { conditions, backgroundNoise, seed, babble }: VoiceCallPlan,
    private readonly protocol: Pick<MediaProtocol, 'frame' | 'lostFrame'>,
  ) {
    this.conditions = new LineConditionsFilter(conditions, { backgroundNoise, seed, ...(babble && { babble }) });
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
  ): Uint8Array | null {
    const pcm = this.conditions.apply(clean ?? SILENT_PCM, heard);
    const sound = pcm === SILENT_PCM ? SILENT_MULAW : encodeMulaw(pcm);
    const payload = this.conditions.isLost(frameNumber) ? null : sound;
    const frame = { frameNumber, payload, dueMs: dueMs + this.conditions.delayMs(frameNumber) };
    if (this.delayed.length === 0 && frame.dueMs <= dueMs) this.send(now, frame);
    else this.delayed.push(frame);
    return payload;
  }

  /** Sends the delayed frames that are due. */
  sendDue(now: number, untilMs: number): void {
    while (this.delayed.length > 0 && this.nextDueMs <= untilMs) this.send(now, this.delayed.shift()!);
  }

  private send(now: number, { payload, frameNumber }: DelayedFrame): void {
    if (payload) this.protocol.frame(now, payload, frameNumber);
    else this.protocol.lostFrame(now, frameNumber);
  }
}
