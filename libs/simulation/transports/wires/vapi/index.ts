import path from 'node:path';
import { lineRateOf } from '../../modules/common-options.js';
import type { TextModule, WireModule } from '../../modules/module.js';
import { vapiChatVersion, vapiVersion } from './agent-version.js';
import { vapiAssistants } from './assistants.js';
import { endCall, findCall } from './calls.js';
import { vapiChatTransport } from './chat.js';
import { vapiSession } from './dial.js';
import { VAPI_FINDINGS } from './findings.js';
import { TEXT_OPTIONS, VOICE_OPTIONS } from './options.js';
import { vapiRecords } from './records.js';
import { cureOf } from './refusals.js';
import type { VapiState } from './wire.js';

const ACCOUNT = {
  schemes: ['https:', 'http:'],
  defaultUrl: 'https://api.vapi.ai',
  provides: { words: true, toolCalls: 'seen', keys: false },
  reservedHeaders: [],
  assistants: vapiAssistants,
  records: vapiRecords,
} as const;

const STEPS = {
  resolved: 'The host name leads to an address that may be called',
  connected: 'The connection was established',
  secured: 'The connection is encrypted, and the certificate is valid',
};

/** A voice call of an assistant of Vapi. */
export const vapi: WireModule<VapiState> = {
  ...ACCOUNT,
  name: 'vapi',
  source: import.meta.url,
  title: 'Vapi',
  twin: 'vapi-chat',
  medium: 'voice',
  bills: true,
  takes: { variables: true, assistantVersion: true },
  end: endCall,
  find: findCall,
  agentVersion: vapiVersion,
  clock: 'heard',
  firstSpeaker: null,
  options: VOICE_OPTIONS,
  findings: VAPI_FINDINGS,
  steps: {
    ...STEPS,
    accepted: 'The platform knows the key and the assistant, and has created a call',
    websocket: 'The platform accepted the WebSocket',
    ready: 'The call began',
    answered: 'The agent was heard',
    words: 'The platform reports what the agent says',
  },
  lineRate: lineRateOf,
  entry: new URL(`./wire${path.extname(import.meta.url)}`, import.meta.url),
  session: vapiSession,
};

/** The same assistants, in turns of text. */
export const vapiChat: TextModule = {
  ...ACCOUNT,
  name: 'vapi-chat',
  source: import.meta.url,
  title: 'Vapi, chat',
  twin: 'vapi',
  medium: 'text',
  takes: { variables: true },
  agentVersion: vapiChatVersion,
  firstSpeaker: 'caller',
  options: TEXT_OPTIONS,
  steps: {
    ...STEPS,
    accepted: 'The platform knows the key and the assistant',
    answered: 'The agent said its first words',
  },
  cure: cureOf,
  transport: vapiChatTransport,
};
