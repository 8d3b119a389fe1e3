import type { Failure } from '../failure.js';
import type { VoiceFacts } from './facts.js';
import type { VoiceCallPlan } from './plan.js';

/** A call for the media thread: plain data. */
export interface MediaTask<Connection = unknown> {
  readonly plan: VoiceCallPlan;
  /** Whether sound and messages are passed on as the call goes on. */
  readonly isRecorded: boolean;
  /** How to reach the agent, for the module that the thread runs. */
  readonly connection: Connection;
}

/** To the media thread. */
export type MediaRequest<Connection = unknown> =
  | { readonly type: 'call'; readonly id: number; readonly task: MediaTask<Connection> }
  | { readonly type: 'abort'; readonly id: number }
  /** For tests: blocks the thread. */
  | { readonly type: 'block'; readonly ms: number };

/** From the media thread. */
export type MediaReply =
  | { readonly type: 'ready' }
  | { readonly type: 'audio'; readonly id: number; readonly interleaved: Uint8Array }
  | { readonly type: 'wire'; readonly id: number; readonly lines: readonly string[] }
  | { readonly type: 'hung_up'; readonly id: number }
  /** As asked for; `facts` is null if the call had not begun. */
  | { readonly type: 'aborted'; readonly id: number; readonly facts: VoiceFacts | null }
  | { readonly type: 'facts'; readonly id: number; readonly facts: VoiceFacts }
  | { readonly type: 'failed'; readonly id: number; readonly failure: Failure };
