import type { PreparedStep } from '../facts/plan.js';
import type { SayStep, SoundStep } from '../speaking/caller-acts.js';

/** A step that is spoken or heard during the agent's turn. */
export type ArmedStep =
  (SayStep & { readonly bargeIn: { readonly afterMs: number } }) | (SoundStep & { afterMs: number });

export const isArmed = (step: PreparedStep): step is ArmedStep =>
  step.type === 'say' ? step.bargeIn !== undefined : 'afterMs' in step && step.afterMs !== undefined;

export const afterMsOf = (step: ArmedStep): number => (step.type === 'say' ? step.bargeIn.afterMs : step.afterMs);
