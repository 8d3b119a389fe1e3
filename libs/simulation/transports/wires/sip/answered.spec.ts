import { OutboundClient } from '../../../../outbound-http/index.js';
import type { MediaAnswer } from '../../../../sip/index.js';
import { OtherSide } from '../../../other-side/other-side.js';
import type { CallFailure } from '../../../timeline/failure.js';
import { AnsweredCall } from './answered.js';

const [PUBLIC, PEER, LOCAL] = ['1.1.1.1', '8.8.8.8', '10.0.0.5'] as const;
const MEDIA = {
  rtcpPort: 9_001,
  rtcpMux: true,
  codec: 'PCMU',
  payloadType: 0,
  eventPayloadType: 96,
  hold: false,
} as const;

interface Given {
  readonly peer?: string;
  readonly address: string;
  readonly port: number;
  readonly rtcpPort?: number;
  readonly ports?: { readonly first: number; readonly last: number };
}

/** A call whose own media is at 10.0.0.5:40010, and at 1.1.1.1 for others. */
function call({ peer = PEER, ports }: Pick<Given, 'peer' | 'ports'>) {
  const client = new OutboundClient({ allowedNetworks: ['10.0.0.0/8'] });
  const answered = new AnsweredCall({ client, agent: new OtherSide('sip:agent', []), secrets: [] });
  answered.peer = peer;
  answered.own = { address: LOCAL, port: 40_010, publicAddress: PUBLIC, ...(ports && { ports }) };
  return answered;
}
const mediaOf = ({ address, port, rtcpPort = port + 1 }: Given): MediaAnswer => ({
  ...MEDIA,
  ...{ srtpKey: undefined, address, port, rtcpPort },
});

describe('the media address of the other side', () => {
  // sipwise/rtpengine#431: a 183 or 200 names the proxy's own address, and packets loop; but another program may share it.
  it.each<[string, Given]>([
    ['our public address', { address: PUBLIC, port: 9_000 }],
    ['our public address, written as IPv6', { address: `::ffff:${PUBLIC}`, port: 9_000 }],
    ['our own port', { address: LOCAL, port: 40_010 }],
    ['our own port of RTCP', { address: LOCAL, port: 9_000, rtcpPort: 40_011 }],
    ['a port of another call', { address: LOCAL, port: 40_198, ports: { first: 40_000, last: 40_199 } }],
    ['our own port at our public address, which is also theirs', { peer: PUBLIC, address: PUBLIC, port: 40_010 }],
  ])('is refused if it is %s', async (_what, given) => {
    const dialled = call(given).dialled({ media: mediaOf(given), answeredAt: 0 });
    const refused = await dialled.catch((error: CallFailure) => error.failure);
    expect(refused).toMatchObject({ code: 'address_refused', fault: 'infrastructure', retryable: false });
    const later = call(given);
    await later.dialled({ media: mediaOf({ address: PEER, port: 9_000 }), answeredAt: 0 });
    expect(later.events.media?.(mediaOf(given))).toBe(false);
  });

  it.each<[string, Given]>([
    ['of the other side', { address: PEER, port: 40_010 }],
    ['of another program of this machine', { address: LOCAL, port: 9_000 }],
    ['of another program behind our public address', { peer: PUBLIC, address: PUBLIC, port: 9_000 }],
  ])('is taken if it is that %s', async (_what, given) => {
    const { media } = await call(given).dialled({ media: mediaOf(given), answeredAt: 0 });
    expect(media?.expected[0]).toEqual({ address: given.address, port: given.port });
  });

  // pjsip/pjproject#563: 0.0.0.0 is an older form of a hold, with which a call may begin.
  it('is that of the peer while a call on hold names none', async () => {
    const held = { ...mediaOf({ address: '0.0.0.0', port: 9_000 }), hold: true };
    const { media } = await call({}).dialled({ media: held, answeredAt: 0 });
    expect(media?.expected[0]).toEqual({ address: PEER, port: 9_000 });
  });
});
