import type { OutboundClient } from '../../outbound-http/index.js';

export const PROTOCOL_NAMES = ['chat-completions', 'twilio-media-streams'] as const;
/** The protocols that are built, as settings and connections call them. */
export type ProtocolName = (typeof PROTOCOL_NAMES)[number];

export const FIRST_SPEAKERS = ['caller', 'agent'] as const;
/** Which side says the first words of a call. */
export type FirstSpeaker = (typeof FIRST_SPEAKERS)[number];

/** Where an agent is reached, and with which credentials. */
export interface AgentEndpoint {
  readonly protocol: ProtocolName;
  /** With the optional placeholders `{assistantId}`, `{phoneNumber}` and `{callId}`. */
  readonly url: string;
  /** What results show instead of the URL, such as the name of its setting. */
  readonly shownUrl?: string;
  /** With lower-case names; secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: as the protocol does by default. */
  readonly firstSpeaker: FirstSpeaker | null;
  /** Those of the protocol's table, secret ones included. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly apiKey?: string;
}

/** What distinguishes one call from other calls of the same agent. */
export interface AgentCall {
  readonly client: OutboundClient;
  readonly assistantId: string;
  readonly phoneNumber: string;
  /** New for each attempt. */
  readonly callId: string;
}

export interface ProtocolOption {
  /** Encrypted where it is stored, and never shown. */
  readonly isSecret: boolean;
  /** What is wrong with a value, as the rest of a sentence about the option; undefined if nothing is. */
  readonly violation: (value: unknown) => string | undefined;
}
