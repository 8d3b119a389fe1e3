import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { encodeMulaw } from '../../libs/audio/index.js';
import { CallFailure, mediaThreads, requestThreads } from '../../libs/simulation/index.js';
import { callHere, planOf, speech } from '../../libs/simulation/testing/sip.js';
import { addressText } from '../../libs/sip/index.js';
import { ANSWER, CONTACT, FarSide, type Received, requestIn } from '../../libs/sip/testing/far-side.js';
import { rtp } from '../simulators/sip/packets.js';

/** A call lasts so long, unless the attack ends it. */
const PLAN = {
  plan: planOf(
    [
      { type: 'wait', ms: 1_500 },
      { type: 'end', reason: 'done' },
    ],
    { firstSpeaker: 'caller' },
  ),
};
const SOUND = encodeMulaw(speech(20));
const SILENCE = encodeMulaw(new Int16Array(160));

interface Attack {
  readonly far: FarSide;
  readonly invite: Received;
  readonly media: UdpSocket;
  readonly write: (text: string) => void;
  /** Sends a packet of RTP or RTCP from our media address, or from another port. */
  readonly packet: (bytes: Uint8Array, from?: UdpSocket) => void;
}

interface Script {
  /** The answer to INVITE; by default a usable 200. */
  readonly answer?: (invite: Received) => string;
  /** After our ACK. */
  readonly answered?: (attack: Attack) => void;
}

/** Hostile programs on the other side of a call, over real sockets. */
describe('A call over SIP whose other side attacks', () => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
  afterAll(() => Promise.all([mediaThreads.close(), requestThreads.close()]));

  async function attacked({ answer, answered }: Script) {
    const media = createSocket('udp4');
    await new Promise<void>((resolve) => media.bind(0, '127.0.0.1', resolve));
    open.push(() => media.close());
    const usable = ANSWER.replace('40000', String(media.address().port));
    let invite: Received | undefined;
    const far = await FarSide.open((request, send, socket) => {
      if (request.method === 'INVITE')
        send(answer?.((invite = request)) ?? (invite = request).reply('200 OK', [CONTACT], usable));
      if (request.method === 'BYE') send(request.reply('200 OK'));
      if (request.method !== 'ACK' || !answered || far.methods().filter((one) => one === 'ACK').length > 1) return;
      const port = Number(/^m=audio (\d+)/m.exec(invite!.text)?.[1]);
      const packet = (bytes: Uint8Array, from = media) => from.send(bytes, port, '127.0.0.1');
      answered({ far, invite: invite!, media, packet, write: (text) => void socket.write(text) });
    });
    open.push(() => far.close());
    const { facts, stored } = callHere(addressText(far.address), PLAN);
    const result = await facts.catch((error: unknown) => {
      if (error instanceof CallFailure) return { failure: error.failure };
      throw error;
    });
    const codes = 'wireFindings' in result ? result.wireFindings.map(({ code }) => code) : [];
    return { result, codes, far, stored };
  }

  /** A packet in 20 ms: sound, and then silence. */
  const stream = (packet: Attack['packet'], ssrcOf: (n: number) => number) => {
    let n = 0;
    const timer = setInterval(() => {
      const [ssrc, payload] = [ssrcOf(n), n < 10 ? SOUND : SILENCE];
      packet(rtp({ payloadType: 0, marker: false, sequence: n, timestamp: 160 * n++, ssrc, payload }));
    }, 20);
    open.push(() => clearInterval(timer));
  };

  it('by another SSRC in each packet has a finding, and goes on', async () => {
    const { result, codes } = await attacked({ answered: ({ packet }) => stream(packet, (n) => n) });
    expect(result).toMatchObject({ end: { by: 'caller' } });
    expect(result).not.toHaveProperty('failure.code');
    expect(codes).toContain('too_many_sources');
  });

  // sipsorcery-org/sipsorcery#536: calls were closed by a BYE of RTCP.
  it('by a BYE of RTCP from its own and from another port goes on', async () => {
    const bye = Buffer.from([0x81, 203, 0, 1, 0, 0, 0, 7]);
    const { result, codes } = await attacked({
      answered: ({ packet }) => {
        const other = createSocket('udp4');
        open.push(() => other.close());
        stream(packet, () => 7);
        for (const from of [undefined, other])
          packet(Buffer.concat([Buffer.from([0x80, 201, 0, 1, 0, 0, 0, 7]), bye]), from);
      },
    });
    expect(result).toMatchObject({ end: { by: 'caller' } });
    expect(codes).toEqual([]);
  });

  it('by 1 MB after a valid Content-Length loses its signalling, and is ended over another connection', async () => {
    const { result, codes, far, stored } = await attacked({
      answered: ({ invite, write, packet }) => {
        stream(packet, () => 7);
        write(requestIn(invite, 'INFO', 1) + 'x'.repeat(1_000_000));
      },
    });
    expect(result).toMatchObject({ end: { by: 'caller' } });
    expect(codes).toContain('signalling_lost');
    await far.until('BYE');
    expect(far.sockets).toHaveLength(2);
    expect(stored.at(-1)).toMatchObject({ ended: true });
  });

  // The first description is shorter than 16 KiB, the second one is not.
  it.each(['m=a 1 a 0', 'm=audio 9 RTP/AVP 0'])(
    'by 1,000 lines "%s" is broken_sip, and not left open',
    async (line) => {
      const body = ANSWER.replace(/m=audio.*/s, `${line}\r\n`.repeat(1_000));
      const { result, far } = await attacked({ answer: (invite) => invite.reply('200 OK', [CONTACT], body) });
      expect(result).toMatchObject({ failure: { code: 'broken_sip', fault: 'infrastructure' } });
      if (line.length < 16) await far.until('BYE');
    },
  );

  // restsend/rustpbx#242: a BYE of an unknown call was not answered.
  it('by requests of other calls, and by 1,000 media lines within its own, refuses them and goes on', async () => {
    const lines = ANSWER.replace(/m=audio.*/s, 'm=a 1 a 0\r\n'.repeat(1_000));
    const { result, far } = await attacked({
      answered: ({ invite, write, packet }) => {
        stream(packet, () => 7);
        write(requestIn(invite, 'BYE', 1).replace('Call-ID: ', 'Call-ID: other'));
        write(requestIn(invite, 'BYE', 2).replace(';tag=far', ';tag=foreign'));
        write(requestIn(invite, 'BYE', 3).replace(/^(To: .*;tag=)\w+/m, '$1guessed'));
        write(requestIn(invite, 'INVITE', 4, [CONTACT], lines));
      },
    });
    expect(result).toMatchObject({ end: { by: 'caller' } });
    expect(far.methods().filter((method) => method === '481')).toHaveLength(3);
    expect(far.methods()).toContain('488');
  });

  // pjsip/pjproject#798: far sides also send BYE before their answer.
  it.each(['REFER', 'BYE'])('by %s while it rings is neither transferred nor ended', async (method) => {
    const { result, far } = await attacked({
      answer: (invite) => {
        const early = requestIn(invite, method, 1, [CONTACT, 'Refer-To: <sip:+19005550100@example.org>']);
        return invite.reply('180 Ringing', [CONTACT]) + early + invite.reply('200 OK', [CONTACT], ANSWER);
      },
    });
    expect(result).toMatchObject({ end: { by: 'caller' } });
    expect(JSON.stringify(result)).not.toContain('transfer');
    expect(far.methods()).toContain('BYE');
  });

  it('by Retry-After: 999999999 is tried again after a minute', async () => {
    const lines = ['Retry-After: 999999999'];
    const { result } = await attacked({ answer: (invite) => invite.reply('503 Service Unavailable', lines) });
    expect(result).toMatchObject({ failure: { code: 'platform_busy', retryAfterMs: 60_000 } });
  });
});
