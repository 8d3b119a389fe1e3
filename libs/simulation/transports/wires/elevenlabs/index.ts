import path from 'node:path';
import { lineRateOf } from '../../modules/common-options.js';
import type { AgentEndpoint } from '../../modules/endpoint.js';
import type { TextModule, WireModule } from '../../modules/module.js';
import { elevenlabsVersion } from './agent-version.js';
import { elevenlabsAssistants } from './assistants.js';
import { elevenlabsSession } from './dial.js';
import { ELEVENLABS_FINDINGS } from './findings.js';
import { TEXT_OPTIONS, VOICE_OPTIONS } from './options.js';
import { elevenlabsRecords } from './records.js';
import { cureOf } from './refusals.js';
import { elevenlabsTransport } from './text.js';
import type { ElevenLabsState } from './wire.js';

const ACCOUNT = {
  schemes: ['https:', 'http:'],
  defaultUrl: 'https://api.elevenlabs.io',
  provides: { words: true, toolCalls: 'answered', keys: false },
  reservedHeaders: ['xi-api-key'],
  bills: true,
  takes: { variables: true, ownVariables: 'system__', assistantVersion: true },
  runsTools: true,
  hasOwnMocks: true,
  mocksTools: ({ mockTools }: AgentEndpoint['options']) => mockTools === true,
  assistants: elevenlabsAssistants,
  agentVersion: elevenlabsVersion,
  records: elevenlabsRecords,
} as const;

const STEPS = {
  resolved: 'The host name leads to an address that may be called',
  connected: 'The connection was established',
  secured: 'The connection is encrypted, and the certificate is valid',
  accepted: 'The platform knows the key and the agent, and has signed an address',
};

/** A voice call of an agent of ElevenLabs Agents. */
export const elevenlabs: WireModule<ElevenLabsState> = {
  ...ACCOUNT,
  name: 'elevenlabs',
  source: import.meta.url,
  title: 'ElevenLabs Agents',
  twin: 'elevenlabs-text',
  medium: 'voice',
  clock: 'heard',
  firstSpeaker: null,
  options: VOICE_OPTIONS,
  findings: ELEVENLABS_FINDINGS,
  steps: {
    ...STEPS,
    websocket: 'The platform accepted the WebSocket',
    ready: 'The platform began the conversation',
    answered: 'The agent was heard',
    words: 'The platform reports what the agent says',
  },
  lineRate: lineRateOf,
  entry: new URL(`./wire${path.extname(import.meta.url)}`, import.meta.url),
  session: elevenlabsSession,
};

/** The same agents, in turns of text. */
export const elevenlabsText: TextModule = {
  ...ACCOUNT,
  name: 'elevenlabs-text',
  source: import.meta.url,
  title: 'ElevenLabs Agents, text only',
  twin: 'elevenlabs',
  medium: 'text',
  firstSpeaker: 'agent',
  options: TEXT_OPTIONS,
  steps: { ...STEPS, answered: 'The agent said its first words' },
  cure: cureOf,
  transport: elevenlabsTransport,
};
