import type { BargeIn } from '../../evaluation-definition/index.js';
import type { ScriptSource, SoundEntry } from '../timeline/timeline.js';

/** What the caller does in its turn. */
export type CallerAction =
  | {
      readonly type: 'speak';
      readonly text: string;
      readonly script?: ScriptSource;
      /** The line is meant to be spoken over the agent. */
      readonly bargeIn?: BargeIn;
    }
  /** A sound or keys, which need a voice call. */
  | ({ readonly type: 'sound'; readonly script: ScriptSource } & Pick<SoundEntry, 'kind' | 'name'>)
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'hang_up'; readonly code: 'script_over' | 'caller_done' | 'no_answer'; readonly reason: string };

export interface AgentReply {
  /** The agent's latest words; empty before it has said anything. */
  readonly answer: string;
  /** Whether the agent did not answer the caller's last words. */
  readonly isSilent: boolean;
}

/** The simulated caller. The conversation decides when it acts; the caller decides what it does. */
export interface Caller {
  readonly kind: 'scripted' | 'generated';
  /** @throws CallerUnusable, CallFailure */
  next(heard: AgentReply, signal: AbortSignal): CallerAction | Promise<CallerAction>;
}

/** The simulated caller could not continue: the call is `invalid`. */
export class CallerUnusable extends Error {
  override readonly name = 'CallerUnusable';
}
