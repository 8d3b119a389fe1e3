import type { Failure } from '../../timeline/failure.js';
import type { Span, ThinkingReason } from './facts.js';
import type { LineRest, PreparedStep } from './plan.js';

/** What the agent was heard to say in one go: the words of one item within one of its sounds. */
export interface AgentUtterance extends Span {
  /** Number of the caller's turn that it follows; 0 for the greeting. */
  readonly turn: number;
  /** Absent if its words are not known. */
  readonly item?: number;
  /** The words that were heard, also those that are uncertain; null: it was audible, and its words are not known. */
  readonly text: string | null;
}

/** At its turn the caller is asked what it does. Plain data. */
export interface TurnQuestion {
  /** 1-based turn number; several questions may share a turn. */
  readonly turn: number;
  /** From 1: the agent spoke before the line of the attempt before had begun. */
  readonly attempt: number;
  /** Whether the agent did not answer the caller's line. */
  readonly isSilent: boolean;
  /** What was spoken of the caller's line, if the agent took the turn before the rest of it was ready. */
  readonly spoken?: string;
  /** The line with which the caller interrupted the agent, and its turn: utterances of earlier ones were before it. */
  readonly interruption?: { readonly text: string; readonly turn: number };
  /** All utterances of the agent since the caller's line (that before an interruption), in order. Asked with the same attempt again, when words arrive. */
  readonly utterances: readonly AgentUtterance[];
}

/** Plain data. One for another turn or attempt than the present one is ignored. */
export type TurnAnswer = Pick<TurnQuestion, 'turn' | 'attempt'> & {
  readonly reason: ThinkingReason;
} & (
    | {
        readonly steps: readonly PreparedStep[];
        /** Whether nothing follows these steps. */
        readonly isComplete: boolean;
      }
    /** Follows an answer whose line has a rest. */
    | { readonly rest: LineRest }
    | { readonly failure: Failure }
    /** The simulated caller could not continue. */
    | { readonly unusable: string }
  );
