import type { AgentEvent, RequestRecord } from '../../conversation/transport.js';
import type { Stall } from '../../time/stalls.js';
import type { PeerMessage } from './peer.js';

/** What a task is about: a module of a protocol, and the URL of the file that exports it. */
export interface TaskModule {
  readonly source: string;
  readonly name: string;
}

/** To a request thread. */
export type RequestMessage =
  | { readonly type: 'open'; readonly id: number; readonly module: TaskModule }
  | { readonly type: 'peer'; readonly id: number; readonly message: PeerMessage }
  | { readonly type: 'close'; readonly id: number };

/** From a request thread. */
export type RequestReply =
  | { readonly type: 'peer'; readonly id: number; readonly message: PeerMessage }
  | { readonly type: 'closed'; readonly id: number };

/** What happened on the line of a text call. */
export interface LineReport {
  readonly events: readonly AgentEvent[];
  /** Of the request that goes on; `tokensAt` has the further ones only. */
  readonly record: RequestRecord | undefined;
  /** Of the thread, the further ones. */
  readonly stalls: readonly Stall[];
}
