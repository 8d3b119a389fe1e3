import { Random } from '../../../audio/index.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import type { SayStep } from '../speaking/caller-acts.js';

/** Audible milliseconds of the agent's answer before that. */
const AFTER_MS = { least: 800, most: 1_800, step: 20 } as const;
/** The first answer that is interrupted is one of the first `FIRST`, and between two of them lie at least `APART`. */
const FIRST = 2;
const APART = 2;

/** From the beginning of the interruption the agent has this long to stop; then the caller goes on over it. */
export const STOPPING_MS = 2_000;

/** A line that is begun over the agent, and after which the caller is asked how it goes on. */
export type InterruptionStep = SayStep & { readonly bargeIn: { readonly afterMs: number }; readonly interrupts: true };

export const isInterruption = (step: SayStep | undefined): step is InterruptionStep => step?.interrupts === true;

/** Which answers of the agent the caller interrupts, by the seed of the call. */
export class Interruptions {
  private readonly lines: NonNullable<VoiceCallPlan['interruptions']>;
  private readonly random: Random;
  /** Answers that are left alone before the next interruption. */
  private spared: number;

  constructor({ interruptions = [], seed }: Pick<VoiceCallPlan, 'interruptions' | 'seed'>) {
    this.lines = interruptions;
    this.random = new Random(seed, 'interruptions');
    this.spared = this.below(FIRST);
  }

  /** With what the caller interrupts the answer for which it now waits; undefined if it does not. */
  next(): InterruptionStep | undefined {
    if (this.lines.length === 0 || this.spared-- > 0) return undefined;
    this.spared = 0;
    const { text, sound } = this.lines[this.below(this.lines.length)]!;
    const afterMs = AFTER_MS.least + this.below((AFTER_MS.most - AFTER_MS.least) / AFTER_MS.step + 1) * AFTER_MS.step;
    return { type: 'say', step: null, text, parts: [sound], bargeIn: { afterMs }, interrupts: true };
  }

  /** The caller has interrupted an answer. An answer that was too short leaves it to the next one. */
  happened(): void {
    this.spared = APART + this.below(FIRST);
  }

  private below(count: number): number {
    return Math.floor(this.random.next() * count);
  }
}
