import type { Failure } from '../../timeline/failure.js';
import type { Span, SpokenWord } from './facts.js';

/** What a recogniser understood of the agent's audio. Plain data. */
export interface RecognisedFact {
  readonly model: string | null;
  /** What was transcribed, in order. */
  readonly pieces: readonly RecognisedPiece[];
  /** The same audio, cut in another way and transcribed a second time; absent if it was heard once. */
  readonly again?: readonly RecognisedPiece[];
}

/** A part of the agent's audio that was transcribed by itself; from its first to its last audible sample. */
export interface RecognisedPiece extends Span {
  /** Null: it was audible, and its words are not known. */
  readonly text: string | null;
  /** The words of the text with the recogniser's times; absent if it gave none. */
  readonly words?: readonly SpokenWord[];
  /** Present if the recogniser gave no answer. */
  readonly failure?: Failure;
}

/** Audio of the agent as heard, for a recogniser; its margins hold no voice. Plain data. */
export interface HeardPiece extends Span {
  readonly pcm: Int16Array;
  readonly rate: number;
  /** Where its voice begins and ends. */
  readonly voice: Span;
}
