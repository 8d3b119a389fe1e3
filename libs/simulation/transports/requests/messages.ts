import type { OutboundClient } from '../../../outbound-http/index.js';
import type { AgentEvent, LineOptions, RequestRecord } from '../../conversation/transport.js';
import type { Stall } from '../../time/stalls.js';
import type { PlatformAccount } from '../modules/assistants.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { Dialled, DialOptions, WireSession } from '../modules/module.js';
import type { PeerMessage } from './peer.js';

/** A call without what only the main thread has. */
export type PlainCall = Omit<AgentCall, 'client' | 'ledger'> & { readonly hasLedger: boolean };

export type RequestTask =
  /** The line of a text call. */
  | {
      readonly type: 'line';
      readonly endpoint: AgentEndpoint;
      readonly call: PlainCall;
      readonly options: Pick<LineOptions, 'toolResults' | 'isTest'>;
    }
  /** The requests before, after and beside a voice call. */
  | { readonly type: 'session'; readonly endpoint: AgentEndpoint; readonly call: PlainCall }
  /** Requests about an account, or calls of other processes. */
  | { readonly type: 'platform'; readonly account: AgentEndpoint | Omit<PlatformAccount, 'client'> };

/** What a request thread has open: plain data. */
export interface OpenedTask {
  /** URL of the module that exports the protocol, and the protocol's name. */
  readonly source: string;
  readonly protocol: string;
  /** Of the client, which looks names up in the main thread. */
  readonly client: OutboundClient['settings'];
  readonly task: RequestTask;
}

/** `DialOptions` as plain data. */
export interface DialSettings extends Pick<DialOptions, 'maxMs'> {
  readonly speaks: boolean;
}

export interface SessionDialled extends Pick<WireSession, 'stream'> {
  readonly dialled: Dialled;
}

/** To a request thread. */
export type RequestMessage =
  | { readonly type: 'open'; readonly id: number; readonly opened: OpenedTask; readonly timeOrigin: number }
  | { readonly type: 'peer'; readonly id: number; readonly message: PeerMessage }
  | { readonly type: 'close'; readonly id: number }
  | { readonly type: 'memory' }
  /** For tests: blocks or ends the thread. */
  | { readonly type: 'block'; readonly ms: number }
  | { readonly type: 'crash' };

/** From a request thread. */
export type RequestReply =
  | { readonly type: 'peer'; readonly id: number; readonly message: PeerMessage }
  | { readonly type: 'closed'; readonly id: number }
  | { readonly type: 'memory'; readonly bytes: number };

/** What happened on the line of a text call. All times are those of the main thread's clock. */
export interface LineReport {
  readonly events: readonly AgentEvent[];
  /** Of the request that goes on; `tokensAt` has the further ones only. */
  readonly record: RequestRecord | undefined;
  /** Of the thread, the further ones. */
  readonly stalls: readonly Stall[];
}
