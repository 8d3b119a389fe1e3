import type { PersonalDataKind } from '../../../evaluation-definition/index.js';
import type { JsonValue } from '../../timeline/text.js';
import type { TranscriptEntry } from '../../voice/imported/transcript.js';
import type { PlatformRequest } from './endpoint.js';

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

/** A call of a list, by its id in the records of the platform. */
export interface ListedCall {
  readonly id: string;
  /** Unix milliseconds; null if it cannot be read. */
  readonly endedAt: number | null;
  /** As in its record, if the list says it. */
  readonly attemptId: string | null;
}

/**
 * Which calls of an agent are listed: those that were answered and ended in it, in Unix milliseconds. A platform that lists by
 * something else lists more.
 */
export interface RecordsWindow {
  readonly assistantId: string;
  readonly from: number;
  readonly until: number;
}

/** Calls of a window, each id once. */
export interface ListedCalls {
  readonly items: readonly ListedCall[];
  /** Entries without an id. */
  readonly malformed: number;
  /** Until when the list is complete: before the end of the window if it has many calls. */
  readonly until: number;
  /** More calls ended at `until` than the platform can list: the others are missing. */
  readonly isCut?: boolean;
}

export interface RecordsRequest extends PlatformRequest {
  /** Awaited before each request, so that a credential does not send too many. */
  readonly turn: () => Promise<void>;
}

/** Takes a part of a recording. What it throws ends the reading. */
export type TakeSound = (part: Uint8Array) => void | Promise<void>;

/**
 * The records that a platform keeps of an agent's calls. All of it throws a CallFailure in the words of the platform, such as
 * `bad_response` for what cannot be read, with the status of a refusal; or the signal's reason.
 */
export interface Records {
  readonly list: (window: RecordsWindow, request: RecordsRequest) => Promise<ListedCalls>;
  /** @returns null for a call that goes on, was not answered, or is not in the records */
  readonly get: (id: string, request: RecordsRequest) => Promise<ProductionCall | null>;
  /**
   * Reads the recording that has a channel for each side; absent if the platform has none. What it is, only its bytes say.
   * @returns `awaited` and `none` as for a call
   */
  readonly recording?: (id: string, request: RecordsRequest, take: TakeSound) => Promise<'taken' | 'awaited' | 'none'>;
}

/** An agent whose production calls are judged. */
export interface MonitoredAgent {
  readonly id: string;
  readonly workspaceId: string;
  /** By default no criteria are judged, and all kinds are redacted. */
  readonly judging?: ProductionJudging;
}

/** How production calls are judged. */
export interface ProductionJudging {
  /** Whether criteria are sent to the language model, with the redacted words. */
  readonly judge: boolean;
  /** Calls of a day (UTC) whose criteria are judged. */
  readonly maxJudgedPerDay: number;
  /** What is redacted. */
  readonly redact: readonly PersonalDataKind[];
}

/** What became of a call: it is judged, was judged before, fits no evaluation, is one too many, or goes on until its sound is there. */
export type TakenCall = 'judged' | 'known' | 'not_applicable' | 'over_limit' | 'awaited';

/** The recording of a call, or why its words decide, as a sentence without full stop. */
export type CallSound =
  { readonly call: ProductionCall; readonly file: string; readonly isKept: boolean } | { readonly unmeasured: string };

/** Judges the calls that are fetched from the records of platforms, or brought by somebody. */
export interface ProductionCalls {
  /** Prepares the evaluations of an agent whose calls begin to be fetched. @throws for a deleted agent */
  begin(agent: MonitoredAgent): Promise<void>;
  /**
   * Takes a call, once for each of its ids.
   * @param isAwaited whether its recording is; then what its words decide is preliminary until `end`
   * @throws if nothing was stored, so that it can be given again
   */
  take(agent: MonitoredAgent, call: ProductionCall, isAwaited?: boolean): Promise<TakenCall>;
  /** Ends a call whose recording was awaited. Nothing if it was deleted, or has ended. @throws as `take` does */
  end(agent: MonitoredAgent, id: string, sound: CallSound): Promise<void>;
}
