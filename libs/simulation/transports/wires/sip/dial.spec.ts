import { OutboundClient } from '../../../../outbound-http/index.js';
import { addressText } from '../../../../sip/index.js';
import { FarSide } from '../../../../sip/testing/far-side.js';
import { CallFailure } from '../../../timeline/failure.js';
import type { AgentCall } from '../../modules/endpoint.js';
import { SipSession } from './dial.js';

describe('a call over SIP that its ledger does not take', () => {
  it('fails as the ledger says, sends no INVITE, and leaves no connection', async () => {
    const farSide = await FarSide.open(() => undefined);
    const refused = new CallFailure('dial_limit', 'the calls of today are used');
    const call: AgentCall = {
      client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
      ...{ assistantId: 'a-1', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
      ledger: {
        placed: () => Promise.reject(refused),
        identified: () => Promise.resolve(),
        paid: () => Promise.resolve(),
      },
    };
    const url = addressText(farSide.address);
    const endpoint = { protocol: 'sip', url, headers: {}, firstSpeaker: 'agent', options: {} } as const;
    const session = new SipSession(endpoint, call);
    const dialled = session.dial({
      signal: new AbortController().signal,
      onStep: () => undefined,
      maxMs: 1_000,
      bindMedia: () => Promise.resolve(40_000),
    });
    await expect(dialled).rejects.toBe(refused);
    await session.hangUp();
    expect(farSide.methods()).toEqual([]);
    await new Promise((resolve) =>
      farSide.sockets[0]!.destroyed ? resolve(0) : farSide.sockets[0]!.once('close', resolve),
    );
    await farSide.close();
  });
});
