import { parseSipAddress } from '../../../../sip/index.js';
import { variables } from '../../modules/common-options.js';
import type { AgentEndpoint } from '../../modules/endpoint.js';
import type { ProtocolOption } from '../../modules/module.js';
import { SIP_OPTIONS } from '../sip/options.js';

const SERVER = 'sip:sip.retellai.com;transport=tls';

const sipServer: ProtocolOption = {
  isSecret: false,
  description: `the SIP server at which registered calls are dialled, without a user; \`${SERVER}\` by default`,
  violation: (value) => {
    if (typeof value !== 'string') return 'must be an address such as sip:sip.example.com;transport=tls';
    try {
      return parseSipAddress(value).user === undefined ? undefined : 'must not have a user: it is the id of the call';
    } catch (error) {
      return (error as Error).message;
    }
  },
};

/** Options of voice calls. */
export const VOICE_OPTIONS = { variables, srtp: SIP_OPTIONS.srtp, sipServer } as const;

export const sipServerOf = ({ sipServer: server }: AgentEndpoint['options']) =>
  parseSipAddress(typeof server === 'string' ? server : SERVER);
