import type { LineRate } from '../../../audio/index.js';
import type { CallExchange } from '../../other-side/call-exchange.js';
import type { SentSecrets } from '../../other-side/secrets.js';
import type { RecognisedPiece, VoiceFacts } from '../facts/facts.js';
import type { Clock } from '../../time/clock.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import type { TurnAnswer, TurnQuestion } from '../facts/turn-question.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import type { VoiceMeasures } from '../facts/results.js';

/** Parts of the recording and wire log, in order, as the call goes on; what is passed is final. */
export interface RecordingSink {
  /** Interleaved samples: left the caller as sent, right the agent as heard. Mu-law on a telephone line, else PCM16. */
  audio(interleaved: Uint8Array): void;
  /** Lines of JSON, without line ends. */
  wire(lines: readonly string[]): void;
  /** What was observed, without secrets, when the call is over: JSON with which `RecordedCall` judges it again. */
  facts?(json: string): void;
}

/** A call that took place: it is judged again from what was stored of it. */
export interface RecordedCall {
  readonly name: string;
  readonly clock: VoiceMeasures['clock'];
  readonly facts: VoiceFacts;
  /** The agent's audio a second time; by default what was heard the second time when it took place. */
  readonly listenAgain?: () => Promise<readonly RecognisedPiece[] | undefined>;
  /** What was sent to the agent and came back. */
  readonly exchange: CallExchange | null;
}

export interface VoiceCallOptions {
  readonly plan: VoiceCallPlan;
  readonly recording?: RecordingSink;
  /**
   * Speaks what the platform itself says for the agent, such as `<Say>`: 16-bit mono at the rate of the line. Without it such
   * words take their estimated time and are not heard.
   */
  readonly speak?: (text: string) => Promise<Int16Array>;
  /** Asks the caller what it does, if the plan says that it is asked. */
  readonly onTurn?: (question: TurnQuestion, answer: (answer: TurnAnswer) => void) => void;
  /** Takes audio of the agent for a recogniser while the call goes on; the words of its wire then do not count. */
  readonly onPiece?: (piece: HeardPiece) => void;
  /** Time in which the caller answers; a call on virtual time follows it. */
  readonly clock?: Clock;
  /** Ends the call; `call` then rejects with its reason. */
  readonly signal: AbortSignal;
  /** What was observed of a call that the signal ended; called before `call` rejects. */
  readonly onAborted?: (facts: VoiceFacts) => void;
  /** The platform said the id of the call in its records. */
  readonly onIdentified?: (platformId: string) => void;
  /** The stream has begun. @param at when, on the clock of `performance` */
  readonly onStarted?: (at: number) => void;
  /** The line is free: the agent or the caller has hung up, though the result may need more time. */
  readonly onHangUp?: () => void;
}

/** How a caller with a voice reaches an agent. Counterpart of `Transport`. */
export interface VoiceTransport {
  readonly name: string;
  /** On which clock its calls are measured. */
  readonly clock: VoiceMeasures['clock'];
  readonly lineRate: LineRate;
  /** Whether its wire reports the agent's words; false if absent. */
  readonly providesWords?: boolean;
  /** Whether its wire shows the agent's tool calls; true if absent. */
  readonly providesToolCalls?: boolean;
  readonly identity?: { readonly protocol: string; readonly url: string; readonly callId: string };
  readonly secrets?: SentSecrets;
  /** @throws CallFailure if there was no call; the signal's reason */
  call(options: VoiceCallOptions): Promise<VoiceFacts>;
}
