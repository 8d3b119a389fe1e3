import type { Span } from './facts.js';

/** Audio of the agent as heard, for a recogniser; its margins hold no voice. Plain data. */
export interface HeardPiece extends Span {
  readonly pcm: Int16Array;
  readonly rate: number;
  /** Where its voice begins and ends. */
  readonly voice: Span;
}
