import type { JsonValue } from '../../timeline/text.js';
import type { TranscriptEntry } from '../../voice/imported/transcript.js';
import type { PlatformRequest } from './module.js';

/** A call of a tool of the agent, as the platform recorded it. */
export interface ProductionToolCall {
  readonly name: string;
  /** Null: they are not an object of JSON. */
  readonly arguments: { readonly [name: string]: JsonValue } | null;
  /** Null: the record has none. */
  readonly result: string | null;
  /** Milliseconds from the start of the call. */
  readonly startMs: number;
}

/**
 * A call that an agent has had with a real caller, as its platform recorded it. Plain data that can be stored: texts are
 * `sanitizeText`, times are finite, not negative and within the call.
 */
export interface ProductionCall {
  /** In the records of the platform. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** What both sides said, in order; times in milliseconds from the start of the call. Null: the record does not have it, or not yet. */
  readonly said: readonly TranscriptEntry[] | null;
  /** Null as for `said`. */
  readonly toolCalls: readonly ProductionToolCall[] | null;
  /** In the platform's words. */
  readonly endedReason: string | null;
  /** What the platform measured, in milliseconds: for each kind, such as `turn`, its values in the order of the call. */
  readonly latencies: Readonly<Record<string, readonly number[]>>;
  /** `awaited`: it may still come. `none`: it never does. */
  readonly recording: 'available' | 'awaited' | 'none';
  /** Id of the attempt of a call of this service, by its mark; null: it has no mark. */
  readonly attemptId: string | null;
  /** As the platform writes it; null: it does not say, or there was no telephone. */
  readonly callerNumber: string | null;
}

/** A call of the list. */
export interface ListedCall {
  readonly id: string;
  /** Unix milliseconds. */
  readonly endedAt: number;
}

/** What is listed: calls of an agent that were answered and have ended, by their end in Unix milliseconds. */
export interface RecordsWindow {
  readonly assistantId: string;
  readonly from: number;
  readonly until: number;
}

/** Calls of a window, each id once. */
export interface ListedCalls {
  readonly items: readonly ListedCall[];
  /** Entries of the list that cannot be read, such as ones without an id. */
  readonly malformed: number;
}

/** Takes a part of a recording; the next one follows when it is done. */
export type TakeSound = (part: Uint8Array) => Promise<void>;

/**
 * The records that a platform keeps of an agent's calls. All of it throws a CallFailure in the words of the platform:
 * `bad_response` for what is not a record, `platform_refused` for a key that may not read records; or the signal's reason.
 */
export interface Records {
  /** How much longer than the window the list must reach into the past, because it lists by the start of the calls. */
  readonly lateMs: number;
  readonly list: (window: RecordsWindow, request: PlatformRequest) => Promise<ListedCalls>;
  /** @returns null for a call that goes on, was not answered, or is not in the records */
  readonly get: (id: string, request: PlatformRequest) => Promise<ProductionCall | null>;
  /**
   * Reads the recording with a channel for each side; absent if the platform has none.
   * @returns which side is in the first channel; `awaited` or `none` if nothing was taken
   */
  readonly recording?: (
    id: string,
    request: PlatformRequest,
    take: TakeSound,
  ) => Promise<'caller-agent' | 'agent-caller' | 'awaited' | 'none'>;
}

/** An agent whose production calls are judged. */
export interface MonitoredAgent {
  readonly id: string;
  readonly workspaceId: string;
}

/** What became of a call: it is judged, was judged before, fits no evaluation, or is one too many. */
export type TakenCall = 'judged' | 'known' | 'not_applicable' | 'over_limit';

/** Judges the calls that are fetched from the records of platforms, or brought by somebody. */
export interface ProductionCalls {
  /** Takes a call, once for each of its ids. @throws if nothing was stored, so that it can be given again */
  take(agent: MonitoredAgent, call: ProductionCall): Promise<TakenCall>;
}
