import type { OutboundClient } from '../../outbound-http/index.js';
import type { Transport } from '../transport.js';
import { chatCompletions } from './chat-completions.js';

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

/** One protocol. A further one is one more entry of `PROTOCOLS`. */
export interface Protocol {
  /** Schemes of its addresses, with colon; `ws:` and `wss:` are those of WebSocket. */
  readonly schemes: readonly string[];
  /** Null: whichever side speaks. */
  readonly firstSpeaker: FirstSpeaker | null;
  readonly options: Readonly<Record<string, ProtocolOption>>;
  readonly transport: (endpoint: AgentEndpoint, call: AgentCall) => Transport;
}

/** The protocols that are built, by the name that settings and connections use. */
export const PROTOCOLS = {
  'chat-completions': {
    schemes: ['http:', 'https:'],
    firstSpeaker: 'caller',
    options: {},
    transport: ({ url, shownUrl, headers, apiKey, firstSpeaker }, call) =>
      chatCompletions({
        ...call,
        url,
        headers,
        agentSpeaksFirst: firstSpeaker === 'agent',
        ...(shownUrl !== undefined && { shownUrl }),
        ...(apiKey !== undefined && { apiKey }),
      }),
  },
} as const satisfies Readonly<Record<string, Protocol>>;

export type ProtocolName = keyof typeof PROTOCOLS;

/** Reaches an agent over the protocol of its endpoint. */
export const transportTo = (endpoint: AgentEndpoint, call: AgentCall): Transport =>
  PROTOCOLS[endpoint.protocol].transport(endpoint, call);
