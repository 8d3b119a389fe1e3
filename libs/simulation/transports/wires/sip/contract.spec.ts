import { sipContractDouble } from '../../../../../test/simulators/sip/contract.js';
import type { WireModule } from '../../modules/module.js';
import { wireContract } from '../testing/wire-contract.js';
import { SipSession } from './dial.js';
import { sip } from './index.js';

/** The module, whose call was answered already: an INVITE would go out. */
const answered: WireModule = {
  ...sip,
  session: (endpoint, call) =>
    Object.assign(new SipSession(endpoint, call), {
      dial: () => {
        const { all } = new SipSession(endpoint, call).secrets;
        const media = { codec: 'PCMU', payloadType: 0, eventPayloadType: 101 } as const;
        const state = { answeredAt: null, media, messages: [], isTest: false, secrets: all };
        return Promise.resolve({ state, sounds: [], found: { findings: [], events: [] } });
      },
    }),
};

describe('sip, as every wire', () => {
  wireContract(answered, sipContractDouble, 'sip:agent@sip.example.com;transport=tls');
});
