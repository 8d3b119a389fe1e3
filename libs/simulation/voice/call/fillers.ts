import { Random } from '../../../audio/index.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import type { CallerActs } from '../speaking/caller-acts.js';

/** How long the caller thinks before it says a filler. */
const FILLER_AFTER_MS = 2_500;

/** Fillers of a caller that thinks for long: at most one before each of its lines. */
export class Fillers {
  private readonly sounds: NonNullable<VoiceCallPlan['fillers']>;
  private readonly random: Random;
  /** The latest turn with a filler, and when that ends. */
  private turn: number | undefined;
  private endMs = 0;

  constructor(
    { fillers = [], seed }: Pick<VoiceCallPlan, 'fillers' | 'seed'>,
    private readonly caller: Pick<CallerActs, 'sound'>,
  ) {
    this.sounds = fillers;
    this.random = new Random(seed, 'fillers');
  }

  /**
   * Begins a filler if it is due. @returns whether a filler is heard, for whose end the caller's line waits
   * @param turn the caller's turn that it thinks about @param earliestMs when a sound can begin
   */
  isHeard(turn: number, thinkingSinceMs: number, untilMs: number, earliestMs: number): boolean {
    const isDue = this.turn !== turn && untilMs >= thinkingSinceMs + FILLER_AFTER_MS;
    if (isDue && this.sounds.length > 0) {
      this.turn = turn;
      const { text: name, sound } = this.sounds[Math.floor(this.random.next() * this.sounds.length)]!;
      this.endMs = this.caller.sound({ type: 'filler', step: null, name, sound }, earliestMs);
    }
    return untilMs < this.endMs;
  }
}
