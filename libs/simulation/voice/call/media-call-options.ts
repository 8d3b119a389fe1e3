import type { HeardPiece } from '../facts/heard-piece.js';
import type { TurnQuestion } from '../facts/turn-question.js';
import type { RecordingSink } from '../wire/voice-transport.js';

export interface MediaCallOptions {
  /** Sends a message to the agent. */
  readonly send: (data: string | Uint8Array) => void;
  readonly recording?: RecordingSink;
  /** What happened between the answer and the start of the stream. */
  readonly prelude?: Prelude;
  /** Asks the caller what it does, if the plan says that it is asked; `answer` takes its answer. */
  readonly onTurn?: (question: TurnQuestion) => void;
  /** Takes audio of the agent for a recogniser, whose words then count; without it nothing is cut. */
  readonly onPiece?: ((piece: HeardPiece) => void) | undefined;
  /** The platform said the id of the call in its records. */
  readonly onIdentified?: (platformId: string) => void;
}

export interface Prelude {
  /** The answer, on the clock of the driver. */
  readonly answeredAt: number;
  /** What the platform played for the agent, at the rate of the line; times are milliseconds from the answer, in order. */
  readonly sounds: readonly { readonly atMs: number; readonly pcm: Int16Array }[];
}
