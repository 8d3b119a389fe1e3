import type { TextModule, WireModule } from '../../modules/module.js';
import { variables } from '../../modules/common-options.js';
import { endCall } from '../sip/dial.js';
import { sip } from '../sip/index.js';
import type { SipState } from '../sip/state.js';
import { cureOf } from '../retell-api/api.js';
import { retellVersion } from './agent-version.js';
import { retellAssistants } from './assistants.js';
import { retellSession } from './dial.js';
import { VOICE_OPTIONS } from './options.js';
import { retellRecords } from '../retell-api/records.js';
import { retellTransport } from './text.js';
import { LACKING_IN_MOCKS } from './tool-mocks.js';

const ACCOUNT = {
  source: import.meta.url,
  schemes: ['https:', 'http:'],
  defaultUrl: 'https://api.retellai.com',
  reservedHeaders: [],
  assistants: retellAssistants,
  agentVersion: retellVersion,
  records: retellRecords,
} as const;

const STEPS = {
  resolved: 'The host name leads to an address that may be called',
  connected: 'The connection was established',
  secured: 'The connection is encrypted, and the certificate is valid',
};

/** A voice agent of Retell by telephone: registered with the key, then called over SIP. */
export const retell: WireModule<SipState> = {
  ...ACCOUNT,
  name: 'retell',
  title: 'Retell',
  twin: 'retell-text',
  medium: 'voice',
  bills: true,
  takes: { variables: true, assistantVersion: true },
  end: endCall,
  clock: 'line',
  firstSpeaker: null,
  provides: { words: false, toolCalls: 'seen', keys: true },
  options: VOICE_OPTIONS,
  findings: sip.findings,
  steps: {
    ...STEPS,
    accepted: 'The platform knows the key and the agent, and has registered a call',
    ready: 'The SIP server of the platform answered the call',
    media: 'Packets of the platform arrive',
    answered: 'The agent was heard',
  },
  lineRate: sip.lineRate,
  entry: sip.entry,
  session: retellSession,
};

/** The same agents, in turns of text. */
export const retellText: TextModule = {
  ...ACCOUNT,
  name: 'retell-text',
  title: 'Retell, text',
  twin: 'retell',
  medium: 'text',
  firstSpeaker: 'caller',
  provides: { words: true, toolCalls: 'answered', keys: false },
  options: { variables },
  takes: { variables: true, assistantVersion: true, history: true },
  runsTools: true,
  mocksTools: () => true,
  lackingInMocks: LACKING_IN_MOCKS,
  steps: {
    ...STEPS,
    accepted: 'The platform knows the key and the agent, and answered the request',
    answered: 'The agent said its first words',
  },
  cure: cureOf,
  transport: retellTransport,
};
