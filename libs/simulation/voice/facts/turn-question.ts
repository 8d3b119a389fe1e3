import type { Failure } from '../../timeline/failure.js';
import type { AgentUtterance } from '../words/utterances.js';
import type { PreparedStep } from './plan.js';

/** What took the caller the time before its line. */
export const THINKING_REASONS = ['words', 'model', 'speech'] as const;
export type ThinkingReason = (typeof THINKING_REASONS)[number];

/** At its turn the caller is asked what it does. Plain data. */
export interface TurnQuestion {
  /** Number of the question's turn; from 1, also where several are asked before one line. */
  readonly turn: number;
  /** From 1: the agent spoke before the line of the attempt before had begun. */
  readonly attempt: number;
  /** Whether the agent did not answer the caller's line. */
  readonly isSilent: boolean;
  /** All utterances of the agent since the caller's line, in order. Asked with the same attempt again, when words arrive. */
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
    | { readonly failure: Failure }
    /** The simulated caller could not continue. */
    | { readonly unusable: string }
  );
