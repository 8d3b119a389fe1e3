import type { Transport } from '../transport.js';
import type { VoiceTransport } from '../voice/media.js';
import { chatCompletions } from './chat-completions.js';
import type { AgentCall, AgentEndpoint, FirstSpeaker, ProtocolName, ProtocolOption } from './endpoint.js';
import { TWILIO_OPTIONS } from './twilio/options.js';
import { twilioMediaStreams } from './twilio/transport.js';

interface ProtocolBase {
  /** Schemes of its addresses, with colon; `ws:` and `wss:` are those of WebSocket. */
  readonly schemes: readonly string[];
  /** Null: whichever side speaks. */
  readonly firstSpeaker: FirstSpeaker | null;
  readonly options: Readonly<Record<string, ProtocolOption>>;
  /** What the protocol says of the agent by itself, without a speech recogniser. */
  readonly brings: { readonly words: boolean; readonly toolCalls: boolean };
}

export interface TextProtocol extends ProtocolBase {
  readonly medium: 'text';
  readonly transport: (endpoint: AgentEndpoint, call: AgentCall) => Transport;
}

export interface SoundProtocol extends ProtocolBase {
  readonly medium: 'sound';
  readonly transport: (endpoint: AgentEndpoint, call: AgentCall) => VoiceTransport;
}

/** One protocol. A further one is one more entry of `PROTOCOLS`. */
export type Protocol = TextProtocol | SoundProtocol;

/** The protocols that are built, by the name that settings and connections use. */
export const PROTOCOLS = {
  'chat-completions': {
    medium: 'text',
    schemes: ['http:', 'https:'],
    firstSpeaker: 'caller',
    brings: { words: true, toolCalls: true },
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
  'twilio-media-streams': {
    medium: 'sound',
    schemes: ['https:', 'http:', 'wss:', 'ws:'],
    firstSpeaker: null,
    brings: { words: false, toolCalls: false },
    options: TWILIO_OPTIONS,
    transport: (endpoint, call) => twilioMediaStreams(endpoint, call),
  },
} as const satisfies Readonly<Record<ProtocolName, Protocol>>;

/** Reaches an agent over the protocol of its endpoint. Only a `VoiceTransport` has `call`. */
export const transportTo = (endpoint: AgentEndpoint, call: AgentCall): Transport | VoiceTransport =>
  PROTOCOLS[endpoint.protocol].transport(endpoint, call);
