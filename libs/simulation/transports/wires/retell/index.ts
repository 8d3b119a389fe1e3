import type { TextModule } from '../../modules/module.js';
import { variables } from '../../modules/common-options.js';
import { cureOf } from './api.js';
import { retellVersion } from './agent-version.js';
import { retellAssistants } from './assistants.js';
import { retellRecords } from './records.js';
import { retellTransport } from './text.js';
import { LACKING_IN_MOCKS } from './tool-mocks.js';

/** A voice agent of Retell, in turns of text. Its voice has no audio socket, so there is no twin. */
export const retellText: TextModule = {
  name: 'retell-text',
  source: import.meta.url,
  title: 'Retell, text',
  medium: 'text',
  schemes: ['https:', 'http:'],
  defaultUrl: 'https://api.retellai.com',
  firstSpeaker: 'caller',
  provides: { words: true, toolCalls: 'answered', keys: false },
  options: { variables },
  reservedHeaders: [],
  takes: { variables: true, assistantVersion: true, history: true },
  runsTools: true,
  mocksTools: () => true,
  lackingInMocks: LACKING_IN_MOCKS,
  steps: {
    resolved: 'The host name leads to an address that may be called',
    connected: 'The connection was established',
    secured: 'The connection is encrypted, and the certificate is valid',
    accepted: 'The platform knows the key and the agent, and answered the request',
    answered: 'The agent said its first words',
  },
  cure: cureOf,
  transport: retellTransport,
  assistants: retellAssistants,
  agentVersion: retellVersion,
  records: retellRecords,
};
