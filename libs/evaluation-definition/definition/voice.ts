import type { EventMatcher, OfKind, ValueSource } from './events.js';

export const LINE_NOISES = ['white', 'pink', 'brown', 'hum', 'babble'] as const;

/** Conditions of the line between caller and agent. */
export interface LineConditions {
  /** Noise on the caller's side, at this ratio to its active speech. */
  readonly noise?: { readonly type: (typeof LINE_NOISES)[number]; readonly snrDb: number };
  /** Change of the caller's level. */
  readonly gainDb?: number;
  /** Level of the agent's own voice that comes back to it, relative to what was played. */
  readonly echoDb?: number;
  readonly packetLossPercent?: number;
  readonly jitterMs?: number;
  readonly band?: 'telephone' | 'wide';
  /** The same seed gives the same noise, loss and jitter. */
  readonly seed?: number;
}

/** The agent stops speaking within this time when the caller barges in. */
export type YieldsSpec = { readonly type: 'yields_within_ms'; readonly ms: number };
/** The agent is not interrupted by any backchannel or noise of the script. */
export type KeepsSpeakingSpec = { readonly type: 'keeps_speaking' };
export type MaxInterruptionsSpec = { readonly type: 'max_interruptions'; readonly count: number };
export type MaxOverlapSpec = { readonly type: 'max_overlap_ms'; readonly ms: number };
/** Words of the agent per minute of its speech. */
export type SpeakingRateSpec = { readonly type: 'speaking_rate'; readonly minWpm?: number; readonly maxWpm?: number };
/** Level of the agent's active speech, and share of its samples in runs at full scale. */
export type AudioLevelSpec = {
  readonly type: 'audio_level';
  readonly minDbfs?: number;
  readonly maxDbfs?: number;
  readonly maxClippedPercent?: number;
};
/** Gaps inside the agent's speech because its audio came too late. */
export type MaxChoppinessSpec = { readonly type: 'max_choppiness'; readonly perMinute: number };
/** No deviation of severity `error` from the protocol. */
export type CleanProtocolSpec = { readonly type: 'clean_protocol' };
/** The agent passes the call on; `true` for any target, or words of the target, such as its number. */
export interface TransferMatcher {
  readonly transfer: true | string;
}
export type HearsKeysSpec = {
  readonly type: 'hears_keys';
  /** As in a `press` step, without `w`. */
  readonly keys: string;
  /** What the agent does after the last key, before the caller acts again; absent: it says anything or transfers the call. */
  readonly then?: EventMatcher | TransferMatcher;
};
/** What the caller said arrives in the arguments of tools. */
export type UnderstoodSpec = { readonly type: 'understood'; readonly values: readonly ValueSource[] } & OfKind;

/** Checks that voice calls alone can decide. */
export type SoundCheckSpec =
  | YieldsSpec
  | KeepsSpeakingSpec
  | MaxInterruptionsSpec
  | MaxOverlapSpec
  | SpeakingRateSpec
  | AudioLevelSpec
  | MaxChoppinessSpec
  | CleanProtocolSpec
  | HearsKeysSpec;
