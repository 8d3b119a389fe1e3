import type { BargeIn, Hesitation } from '../../evaluation-definition/index.js';
import type { ScriptSource, SoundEntry } from '../timeline/timeline.js';

export type CallerLine = readonly (string | Hesitation)[];

/** A sound that a script may ask for, or keys. */
export type ScriptedSound = Pick<SoundEntry, 'name'> & { readonly kind: Exclude<SoundEntry['kind'], 'filler'> };

/** What the caller does in its turn. */
export type CallerAction =
  | {
      readonly type: 'speak';
      /** What it says, with its pauses; `lineText` has the words alone. */
      readonly line: CallerLine;
      readonly script?: ScriptSource;
      /** The line is meant to be spoken over the agent. */
      readonly bargeIn?: BargeIn;
    }
  /** A sound or keys, which need a voice call. */
  | ({
      readonly type: 'sound';
      readonly script: ScriptSource;
      /** Audible milliseconds of the agent's turn before it; absent for a sound at the caller's own turn. */
      readonly afterMs?: number;
    } & ScriptedSound)
  | { readonly type: 'wait'; readonly ms: number; readonly script: ScriptSource }
  | {
      readonly type: 'hang_up';
      readonly code: 'script_over' | 'caller_done' | 'no_answer' | 'agent_repeats';
      readonly reason: string;
      readonly script?: ScriptSource;
    };

export interface AgentReply {
  /** The agent's latest words; empty before it has said anything. */
  readonly answer: string;
  /** Whether the agent did not answer the caller's last words. */
  readonly isSilent: boolean;
  /** What the caller said of its latest line, if the agent spoke before it could say the rest. */
  readonly spoken?: string;
  /** Present if the caller has interrupted the agent: what was heard before, and with which words. `answer` came after. */
  readonly interrupted?: { readonly heard: string; readonly said: string };
}

/** The simulated caller, over text and voice. The conversation decides when it acts; the caller decides what it does. */
export interface Caller {
  readonly kind: 'scripted' | 'generated';
  /** @throws CallerUnusable, CallFailure */
  next(heard: AgentReply, signal: AbortSignal): CallerAction | Promise<CallerAction>;
  /** What it does after that, whatever the agent answers; undefined if that depends on the answer. */
  ahead(): CallerAction | undefined | Promise<CallerAction | undefined>;
  /** The latest `next`, and `ahead` after it, were not carried out: as if they had not been asked. Not while one is asked. */
  retract(): void;
}

/** The simulated caller could not continue: the call is `invalid`. */
export class CallerUnusable extends Error {
  override readonly name = 'CallerUnusable';
}
