import type { HeardPiece } from '../facts/heard-piece.js';
import type { TurnQuestion } from '../facts/turn-question.js';
import type { RecordingSink } from '../wire/voice-transport.js';

export interface MediaCallOptions {
  /** Sends a message to the agent. */
  readonly send: (data: string | Uint8Array) => void;
  readonly recording?: RecordingSink;
  /** Events between the answer and the start of the stream. */
  readonly prelude?: Prelude;
  /** Asks the caller what it does, if the plan does not decide that; `answer` receives the answer. */
  readonly onTurn?: (question: TurnQuestion) => void;
  /** Receives audio of the agent to transcribe. Its transcription then counts; without this, no audio is cut. */
  readonly onPiece?: ((piece: HeardPiece) => void) | undefined;
  /** The platform reported its id of the call. */
  readonly onIdentified?: (platformId: string) => void;
}

export interface Prelude {
  /** Time of the answer on the driver's clock. */
  readonly answeredAt: number;
  /** Audio that the platform played for the agent, at the rate of the line, in order; times are milliseconds from the answer. */
  readonly sounds: readonly { readonly atMs: number; readonly pcm: Int16Array }[];
}
