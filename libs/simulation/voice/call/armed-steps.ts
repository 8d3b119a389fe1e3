import type { AgentTurns } from '../hearing/agent-turns.js';
import type { CallerActs, SayStep, SoundStep } from '../speaking/caller-acts.js';
import type { PreparedStep, VoiceCallPlan } from '../facts/plan.js';
import { Interruptions, isInterruption } from './interruptions.js';
import type { ScriptPort } from './script-port.js';

type BargeInStep = SayStep & { readonly bargeIn: { readonly afterMs: number } };

/** A step during the agent's turn. */
type ArmedStep = BargeInStep | (SoundStep & { afterMs: number });

export const isArmed = (step: PreparedStep): step is ArmedStep =>
  step.type === 'say' ? step.bargeIn !== undefined : 'afterMs' in step && step.afterMs !== undefined;

const afterMsOf = (step: ArmedStep): number => (step.type === 'say' ? step.bargeIn.afterMs : step.afterMs);

/** Pending steps: what the caller does during the agent's current or next turn, after hearing it for long enough. */
export class ArmedSteps {
  private readonly interruptions: Interruptions;
  private steps: ArmedStep[] = [];

  constructor(
    private readonly script: Pick<ScriptPort, 'next' | 'take'>,
    private readonly caller: Pick<CallerActs, 'leaveOut'>,
    plan: Pick<VoiceCallPlan, 'interruptions' | 'seed'>,
  ) {
    this.interruptions = new Interruptions(plan);
  }

  /** The script's pending barge-in. */
  get bargeIn(): BargeInStep | undefined {
    return this.steps.find((step): step is BargeInStep => step.type === 'say' && !isInterruption(step));
  }

  /** Makes the next steps pending, up to the one at the caller's turn. A barge-in begins a turn, so it is the last. */
  arm(): void {
    for (let step = this.script.next(); step && step !== 'asked' && isArmed(step); step = this.script.next()) {
      this.steps.push(step);
      this.script.take();
      if (step.type === 'say') return;
    }
  }

  /** Schedules the generated caller's interruption of the next answer, if one is due. */
  armInterruption(): void {
    const step = this.script.next() === 'asked' ? this.interruptions.next() : undefined;
    if (step) this.steps.push(step);
  }

  /** Takes the first step that is due. */
  takeDue(turns: Pick<AgentTurns, 'whenAudible'>, untilMs: number): { step: ArmedStep; atMs: number } | undefined {
    const due = this.steps
      .map((step) => ({ step, atMs: turns.whenAudible(afterMsOf(step)) }))
      .filter((one): one is { step: ArmedStep; atMs: number } => one.atMs !== undefined && one.atMs <= untilMs)
      .sort((a, b) => a.atMs - b.atMs)[0];
    if (!due) return undefined;
    this.steps = this.steps.filter((step) => step !== due.step);
    if (due.step.type === 'say' && isInterruption(due.step)) this.interruptions.happened();
    return due;
  }

  /** The agent's turn is over: drops the steps that were pending for it. */
  leaveOut(atMs: number): void {
    for (const step of this.steps) if (step.type !== 'say') this.caller.leaveOut(step, atMs);
    this.steps = [];
  }
}
