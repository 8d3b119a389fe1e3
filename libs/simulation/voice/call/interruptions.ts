import { Random } from '../../../audio/index.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import type { SayStep } from '../speaking/caller-acts.js';

/** Audible milliseconds of the agent's answer before the interruption. */
const AFTER_MS = { least: 800, most: 1_800, step: 20 } as const;
/** The caller first interrupts one of the first `FIRST` answers, and leaves at least `APART` between two interruptions. */
const FIRST = 2;
const APART = 2;

/** How long the agent may take to stop, from the onset of the interruption; then the caller continues over it. */
export const STOPPING_MS = 2_000;

/** A line over the agent, after which the caller is asked how it continues. */
export type InterruptionStep = SayStep & { readonly bargeIn: { readonly afterMs: number }; readonly interrupts: true };

export const isInterruption = (step: SayStep | undefined): step is InterruptionStep => step?.interrupts === true;

/** Chooses the answers of the agent that the caller interrupts, by the seed of the call. */
export class Interruptions {
  private readonly lines: NonNullable<VoiceCallPlan['interruptions']>;
  private readonly random: Random;
  /** Number of answers before the next interruption. */
  private spared: number;

  constructor({ interruptions = [], seed }: Pick<VoiceCallPlan, 'interruptions' | 'seed'>) {
    this.lines = interruptions;
    this.random = new Random(seed, 'interruptions');
    this.spared = this.below(FIRST);
  }

  /** The interruption of the next answer; undefined if none is due. */
  next(): InterruptionStep | undefined {
    if (this.lines.length === 0 || this.spared-- > 0) return undefined;
    this.spared = 0;
    const { text, sound } = this.lines[this.below(this.lines.length)]!;
    const afterMs = AFTER_MS.least + this.below((AFTER_MS.most - AFTER_MS.least) / AFTER_MS.step + 1) * AFTER_MS.step;
    return { type: 'say', step: null, text, parts: [sound], bargeIn: { afterMs }, interrupts: true };
  }

  /** Schedules the next interruption after one took place. If an answer was too short for it, the next answer is interrupted. */
  happened(): void {
    this.spared = APART + this.below(FIRST);
  }

  private below(count: number): number {
    return Math.floor(this.random.next() * count);
  }
}
