import type { WireState } from '../../../voice/wire/wire.js';

/** What both sides agreed on: plain data. */
export interface SipMedia {
  readonly codec: 'PCMU' | 'PCMA';
  /** Of their sound. */
  readonly payloadType: number;
  /** Theirs for keys; null: they take none. */
  readonly eventPayloadType: number | null;
}

/** A message of SIP as it is kept. */
export interface LoggedMessage {
  /** Milliseconds since the epoch, with fractions. */
  readonly at: number;
  readonly direction: 'sent' | 'received';
  readonly text: string;
}

export interface SipState extends WireState {
  /** In milliseconds since the epoch, with fractions; null: when the connection is open. */
  readonly answeredAt: number | null;
  /** After the INVITE, in milliseconds; absent if the agent has called. */
  readonly answeredAfterMs?: number;
  readonly media: SipMedia;
  /** Those until the answer. */
  readonly messages: readonly LoggedMessage[];
  /** Whether it is a connection test, which does not wait for packets as long as a call does. */
  readonly isTest: boolean;
}

/** What signalling says of a call that was answered. */
export type SipSignal =
  | { readonly type: 'ended' | 'lost' | 'disconnected'; readonly reason: string }
  | { readonly type: 'transfer'; readonly target: string }
  | { readonly type: 'media'; readonly hold: boolean; readonly isElsewhere: boolean; readonly media: SipMedia }
  | { readonly type: 'next_hop'; readonly address: string }
  | { readonly type: 'message'; readonly direction: LoggedMessage['direction']; readonly text: string };
