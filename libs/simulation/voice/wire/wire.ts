import type { AudioFormat } from '../../../audio/index.js';
import type { Failure } from '../../timeline/failure.js';
import type { JsonValue } from '../../timeline/text.js';
import type { PlatformEvent, SpokenWord, VoiceFacts, WireFinding } from '../facts/facts.js';

/** The platform's audio in both directions; the core resamples between it and the line. */
export interface WireFormats {
  readonly toAgent: AudioFormat;
  readonly fromAgent: AudioFormat;
}

/** Item of the agent's audio; ascending in order of generation. */
export type Item = number;

/**
 * One voice call in the protocol of a platform: converts between its messages and PCM (16-bit mono). It has no socket, thread
 * or timer and reports what the platform says; the core decides what it means. `now` is the driver's clock in milliseconds.
 */
export interface Wire {
  /**
   * How much later than it is heard the agent's sound is played, in milliseconds and whole frames, so that jitter moves nothing: sound
   * that is heard at `t` is passed to `play` with `t + lagMs`. Stream time 0 is then `lagMs` after the answer.
   */
  readonly lagMs?: number;
  /** The connection is open: sends the first messages. */
  open(now: number): void;
  /** Time has passed, at most 20 ms since the last tick; also before the platform is ready. */
  tick?(now: number): void;
  /** What came of a platform that did not become ready, in a few words; undefined: nothing. */
  received?(): string | undefined;
  /** 20 ms of the caller's audio at the rate of `toAgent`; frame n was spoken in [n * 20, n * 20 + 20) of stream time. */
  frame(now: number, pcm: Int16Array, frameNumber: number): void;
  /** A frame that the line lost: not sent, but counted. */
  lostFrame?(now: number, frameNumber: number): void;
  /** A key that the caller presses. */
  key?(now: number, digit: string): void;
  /**
   * The caller thinks about what to say: when it begins (`on`), once a second from then on, and when it is over. For platforms
   * with a message that keeps the agent from asking whether the caller is still there.
   */
  callerThinking?(now: number, on: boolean): void;
  /** A message of the platform: text, or the bytes of a binary message. */
  message(now: number, data: string | Uint8Array): void;
  /** What the signalling of the call says, in the words of the wire's session. */
  signal?(now: number, message: JsonValue): void;
  /** The connection refused packets, or the other side's address changed. @param what a code of the connection */
  noted?(now: number, what: string): void;
  /** The result of a tool that the platform waits for, as JSON; with `isError` as `{"error":"…"}`. */
  toolResult?(now: number, id: string, json: string, isError?: true): void;
  /**
   * The other side closed the connection. The wire may say who hung up and why (`hangUp`, `failed`); otherwise the close code
   * decides (RFC 6455, section 7.4.1).
   */
  closed?(now: number, code: number, reason: string): void;
  /** The caller hangs up: sends the last messages. Called once. */
  stop(now: number): void;
  /** Spans of which the line lost the agent's sound, in call time, when the call is over. */
  lineGaps?(): readonly { readonly at: number; readonly ms: number }[];
  /** Findings that can only be made when the call is over, such as a missing reaction. */
  review?(facts: Omit<VoiceFacts, 'wireFindings'>): readonly WireFinding[];
}

/**
 * What a wire may do to the call. Times are those of the driver's clock. Never calls back into the wire synchronously.
 */
export interface WireSide {
  send(data: string | Uint8Array): void;
  /**
   * The platform is ready for audio: stream time 0 is `now`. Without formats both are PCM at the rate of the line. Called again, it
   * changes the formats.
   */
  ready(now: number, formats?: WireFormats): void;
  /** Audio of the agent at the rate of `fromAgent`: appended to the playout buffer. */
  play(now: number, pcm: Int16Array, item?: Item): void;
  /** Audio that is missing at this time of the past, at most 500 ms ago: for recording and recogniser, not for the caller. */
  late(now: number, pcm: Int16Array): void;
  /**
   * Drops what is in the playout buffer, all of it or items up to and including one, also those that arrive later; marks with
   * nothing left before them fire at once. @returns milliseconds that were dropped
   */
  clear(now: number, upTo?: Item): number;
  /** Calls `onPlayed` when everything before has been played, at once if nothing is buffered. */
  mark(now: number, onPlayed: (now: number) => void): void;
  /** Milliseconds of audio in the playout buffer. */
  bufferedMs(now: number): number;
  /** Milliseconds of an item that were played. */
  heardOfItem(item: Item, now: number): number;
  /**
   * Words that the agent generated. `words`: their places in the audio of the item, in milliseconds from its first sample.
   * `ahead`: they are those of the whole item, most of whose audio is still to come. `by`: the message that has them,
   * where the platform has several.
   */
  said(
    now: number,
    text: string,
    of?: {
      readonly item?: Item;
      readonly final?: boolean;
      readonly ahead?: boolean;
      readonly words?: readonly SpokenWord[];
      readonly by?: string;
    },
  ): void;
  /** The platform's transcript of the caller: shown, never judged. */
  heardCaller(now: number, text: string): void;
  /**
   * @param call `json`: its arguments; the answer follows by `toolResult` if the wire has it. Null: the platform runs the tool
   * itself, and does not tell the arguments
   */
  toolCall(now: number, call: { readonly id: string; readonly name: string; readonly json: string | null }): void;
  /** The id of the call in the records of the platform, if it was not known before. */
  identified(now: number, id: string): void;
  /** The agent said that its turn ends with the audio sent so far. */
  turnEnded(now: number): void;
  /** The agent or its platform ended the call. @param code `connection_closed`: perhaps without meaning to */
  hangUp(now: number, reason: string, code?: 'agent_hung_up' | 'connection_closed'): void;
  /** The platform reported an error that ends the call. */
  failed(now: number, failure: Failure): void;
  /** Recorded once for each code, with the number of times (`WireFindings`). */
  finding(now: number, finding: Omit<WireFinding, 'atMs'>): void;
  event(now: number, event: Omit<PlatformEvent, 'atMs'>): void;
  /** Adds a message to the wire log; audio is replaced by its length and hash beforehand. */
  log(now: number, direction: 'sent' | 'received', message: unknown): void;
  /** Whether there is a wire log; without one, audio need not be hashed. */
  readonly isLogged: boolean;
}

export type WireFactory = (side: WireSide) => Wire;

/**
 * What `dial` passes to the wire in the media thread: survives `structuredClone` and lists its secrets, which are removed from
 * what is logged or reported of the other side.
 */
export interface WireState {
  readonly secrets: readonly string[];
}

/** The default export of a wire's `wire.ts`, which the media thread loads. */
export type WireEntry<State extends WireState = WireState> = (state: State) => WireFactory;
