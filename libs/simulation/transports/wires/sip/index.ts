import path from 'node:path';
import { TELEPHONE_RATE } from '../../../../audio/index.js';
import type { WireModule } from '../../modules/module.js';
import { endCall, SipSession } from './dial.js';
import { SIP_FINDINGS } from './findings.js';
import { SIP_OPTIONS, variableFault } from './options.js';
import { endOutbound, isOutbound, OutboundSession } from './outbound/session.js';
import { fieldOf, TRIGGER_OPTIONS } from './outbound/triggers.js';
import { RECORDS_OPTION, recordsOf } from './records.js';
import type { SipState } from './state.js';

/** An agent at an address of SIP, or at a telephone number behind a trunk. */
export const sip: WireModule<SipState> = {
  name: 'sip',
  source: import.meta.url,
  title: 'SIP',
  medium: 'voice',
  bills: true,
  takes: { variables: true, variableFault },
  end: (handle, request) => (isOutbound(handle) ? endOutbound(handle, request) : endCall(handle, request)),
  calledBy: fieldOf,
  clock: 'line',
  schemes: ['sip:', 'sips:'],
  firstSpeaker: null,
  provides: { words: false, toolCalls: 'none', keys: true },
  providedWith: (options) => ({ words: false, toolCalls: recordsOf(options) ? 'seen' : 'none', keys: true }),
  options: { ...SIP_OPTIONS, ...TRIGGER_OPTIONS, records: RECORDS_OPTION },
  reservedHeaders: [],
  findings: SIP_FINDINGS,
  steps: {
    resolved: 'The host name leads to an address that may be called',
    connected: 'The connection was established',
    secured: 'The connection is encrypted, and the certificate is valid',
    accepted: 'The other side answered the call',
    media: 'Packets of the other side arrive',
    answered: 'The agent was heard',
  },
  lineRate: () => TELEPHONE_RATE,
  entry: new URL(`./wire${path.extname(import.meta.url)}`, import.meta.url),
  session: (endpoint, call) =>
    call.answersAt ? new OutboundSession(endpoint, call, call.answersAt) : new SipSession(endpoint, call),
};
