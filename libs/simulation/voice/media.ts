import type { SentSecrets } from '../secrets.js';
import type { VoiceCallPlan } from './plan.js';
import type { PlatformEvent, VoiceFacts, WireFinding } from './facts.js';

/**
 * A protocol of calls with sound: it converts between its messages and sound at the line's rate. It has no socket, thread
 * or timer; `now` is the clock of the driver in milliseconds. One object per call.
 */
export interface MediaProtocol {
  /** The connection is open: sends the protocol's first messages. Stream time 0 is `now`. */
  open(now: number): void;
  /** One frame (20 ms, 160 bytes of mu-law) of the caller; frame n was spoken in [n * 20, n * 20 + 20) of stream time. */
  frame(now: number, payload: Uint8Array, frameNumber: number): void;
  /** A frame that the line lost: not sent, but counted. */
  lostFrame(now: number, frameNumber: number): void;
  /** A key that the caller presses. */
  key(now: number, digit: string): void;
  /** A message of the agent: text, or bytes of a binary message. */
  message(now: number, data: string | Uint8Array): void;
  /** The caller hangs up: sends the last messages. */
  stop(now: number): void;
  /** Findings that can only be made when the call is over, such as a missing reaction. */
  review?(facts: Omit<VoiceFacts, 'wireFindings'>): readonly WireFinding[];
}

/** What a protocol may do to the call; times are those of the driver's clock. */
export interface MediaSide {
  send(data: string | Uint8Array): void;
  /** Sound of the agent: appended to the playout buffer. */
  play(now: number, mulaw: Uint8Array): void;
  /** Empties the playout buffer; marks that are still pending fire at once. */
  clear(now: number): void;
  /** Calls `onPlayed` when everything before has been played, at once if nothing is buffered. */
  mark(now: number, onPlayed: (now: number) => void): void;
  /** Milliseconds of sound in the playout buffer. */
  bufferedMs(now: number): number;
  /** Recorded once for each code, with the number of times (`WireFindings`). */
  finding(now: number, finding: Omit<WireFinding, 'atMs'>): void;
  event(now: number, event: Omit<PlatformEvent, 'atMs'>): void;
  /** Adds a message to the wire log; sound is replaced by its length and hash beforehand. */
  log(now: number, direction: 'sent' | 'received', message: unknown): void;
  /** Whether there is a wire log; without one, sound need not be hashed. */
  readonly isLogged: boolean;
  /** The agent said that its turn ends with the sound sent so far, in protocols that have such a message. */
  turnEnded(now: number): void;
}

export type MediaProtocolFactory = (side: MediaSide) => MediaProtocol;

/** Parts of the recording and wire log, in order, as the call goes on; what is passed is final. */
export interface RecordingSink {
  /** Interleaved mu-law: left the caller as sent, right the agent as heard. */
  audio(interleaved: Uint8Array): void;
  /** Lines of JSON, without line ends. */
  wire(lines: readonly string[]): void;
}

export interface VoiceCallOptions {
  readonly plan: VoiceCallPlan;
  readonly recording?: RecordingSink;
  /**
   * Speaks what the platform itself says for the agent, such as `<Say>`: 16-bit mono at `LINE_RATE`. Without it such words take
   * their estimated time and are not heard.
   */
  readonly speak?: (text: string) => Promise<Int16Array>;
  /** Ends the call; `call` then rejects with its reason. */
  readonly signal: AbortSignal;
  /** What was observed of a call that the signal ended; called before `call` rejects. */
  readonly onAborted?: (facts: VoiceFacts) => void;
  /** The line is free: the agent or the caller has hung up, though the result may need more time. */
  readonly onHangUp?: () => void;
}

/** How a caller with sound reaches an agent. Counterpart of `Transport`. */
export interface VoiceTransport {
  readonly name: string;
  readonly identity?: { readonly protocol: string; readonly url: string; readonly callId: string };
  readonly secrets?: SentSecrets;
  /** @throws CallFailure if there was no call; the signal's reason */
  call(options: VoiceCallOptions): Promise<VoiceFacts>;
}
