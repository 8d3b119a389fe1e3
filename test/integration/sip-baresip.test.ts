import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { mediaOffer, parseSipAddress, SipCall, type SipConnect, SipEndpoint } from '../../libs/sip/index.js';
import { wavHeader } from '../../libs/audio/index.js';
import { Baresip } from '../support/baresip.js';
import { describeWith } from '../support/programs.js';
import { freePort } from '../support/sipp.js';

const says = Buffer.concat([
  wavHeader({ encoding: 'pcm16', rate: 8_000, channels: 1 }, 160_000),
  Buffer.alloc(160_000),
]);

describeWith('baresip', 'baresip', () => {
  let baresip: Baresip;
  afterEach(() => baresip.stop());

  const connection: SipConnect = ({ host, port, transport }) =>
    new Promise((resolve, reject) => {
      const socket: Socket =
        transport === 'tls'
          ? connectByTls(
              {
                host,
                port,
                ca: baresip.certificate,
                checkServerIdentity: () => undefined,
              },
              () => resolve(socket),
            )
          : connect(port, host, () => resolve(socket));
      socket.on('error', reject);
    });

  it.each([
    ['TCP', 0, 'tcp', '', undefined, 'Set audio encoder: PCMU'],
    ['TLS and SRTP', 1, 'tls', ';mediaenc=srtp-mand', randomBytes(30).toString('base64'), 'SRTP is Enabled'],
  ])('answers a call over %s, and ends it by our BYE', async (_, offset, transport, account, srtpKey, said) => {
    baresip = await Baresip.start({ says, account });
    const port = baresip.port + offset;
    const address = parseSipAddress(`sip:agent@127.0.0.1:${port};transport=${transport}`);
    const endpoint = await SipEndpoint.open({ connect: connection, address, userAgent: 'test' });
    const offer = mediaOffer({
      address: '127.0.0.1',
      port: await freePort(),
      session: 1,
      ...(srtpKey === undefined ? {} : { srtpKey }),
    });
    const call = new SipCall(endpoint, { target: address, offer, srtp: srtpKey !== undefined });
    expect(await call.result).toMatchObject({ media: { codec: 'PCMU', address: '127.0.0.1' } });
    expect(await call.hangUp()).toBe('ended');
    endpoint.close();
    expect(baresip.output).toContain(said);
  });

  it('refuses a call without SRTP if it requires it', async () => {
    baresip = await Baresip.start({ says, account: ';mediaenc=srtp-mand' });
    const address = parseSipAddress(`sip:agent@127.0.0.1:${baresip.port}`);
    const endpoint = await SipEndpoint.open({ connect: connection, address, userAgent: 'test' });
    const call = new SipCall(endpoint, {
      target: address,
      offer: mediaOffer({ address: '127.0.0.1', port: await freePort(), session: 1 }),
    });
    expect(await call.result).toMatchObject({ failure: 'codec_refused', status: 488 });
    endpoint.close();
  });
});
