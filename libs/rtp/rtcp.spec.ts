import { readRtcp, type RtcpPacket, RtcpSession, type RtpPacket, writeRtcp } from './index.js';

const sent = { timestamp: 1_600, packets: 10, octets: 1_600 };
const rtp = (sequence: number, timestamp: number): RtpPacket => {
  return {
    marker: false,
    payloadType: 0,
    sequence: sequence & 0xffff,
    timestamp,
    ssrc: 2,
    payload: new Uint8Array(160),
  };
};
const read = (bytes: Uint8Array): readonly RtcpPacket[] => readRtcp(bytes) as readonly RtcpPacket[];
const block = {
  ssrc: 7,
  fractionLost: 64,
  lost: -3,
  highestSequence: 0x0001ffff,
  jitter: 88,
  lastReport: 0xb7052000,
  delay: 0x54000,
};

describe('RTCP', () => {
  it('reads what it writes: reports, description and BYE of one compound packet', () => {
    const packets = [
      {
        type: 'report',
        ssrc: 1,
        sender: { ntp: 0xb44db705_20000000n, ...sent },
        blocks: [block, { ...block, lost: 8_388_607 }],
      },
      { type: 'report', ssrc: 1, blocks: [] },
      { type: 'description', ssrc: 1, cname: 'nämé' },
      { type: 'bye', ssrcs: [1, 2], reason: 'over' },
      { type: 'bye', ssrcs: [] },
    ] as const;
    expect(read(writeRtcp(packets))).toEqual(packets);
    expect(read(Buffer.from('81cc000100000005', 'hex'))).toEqual([{ type: 'other', payloadType: 204 }]);
  });

  it.each([
    ['too_short', ''],
    ['too_short', '80c900'],
    ['wrong_version', '00c9000100000001'],
    ['truncated_packet', '80c9000200000001'],
    ['truncated_packet', '81c9000100000001'],
    ['truncated_packet', '80c8000100000001'],
    ['truncated_packet', '82cb000100000001'],
    ['truncated_packet', '80c900010000000180'],
    ['wrong_padding', 'a0c9000100000000'],
    ['wrong_padding', 'a0c9000100000009'],
    ['too_long', '80'.repeat(1_501)],
  ])('refuses a packet as %s', (refusal, bytes) => {
    expect(readRtcp(Buffer.from(bytes, 'hex'))).toEqual({ refusal });
  });

  it('computes the round trip of the example in RFC 3550, section 6.4.1', () => {
    const session = new RtcpSession(7, 'name');
    const atMs = (0xb705_2000 / 65_536) * 1_000;
    session.report(atMs, sent);
    session.receive([{ type: 'report', ssrc: 2, blocks: [block] }], (0xb710_8000 / 65_536) * 1_000);
    expect(session.roundTripMs).toBe(6_125);
  });

  it('takes no round trip from a report that answers nothing of ours, or for another source', () => {
    const session = new RtcpSession(7, 'name');
    session.report(1_000, sent);
    const lastReport = 65_536;
    const answer = { ...block, lastReport, delay: 0 };
    session.receive(
      [
        {
          type: 'report',
          ssrc: 2,
          blocks: [
            { ...answer, lastReport: 5 },
            { ...answer, ssrc: 8 },
          ],
        },
      ],
      1_100,
    );
    session.receive([{ type: 'report', ssrc: 2, blocks: [{ ...answer, delay: 65_536 * 5 }] }], 1_100);
    expect(session.roundTripMs).toBeUndefined();
    session.receive([{ type: 'report', ssrc: 2, blocks: [answer] }], 1_100);
    expect(session.roundTripMs).toBeCloseTo(100, 1);
  });

  it('gives two sessions the round trip of the line between them', () => {
    const [one, two] = [new RtcpSession(1, 'a'), new RtcpSession(2, 'b')];
    one.count(rtp(1, 0), 0);
    for (let ms = 1_000; ms < 10_000; ms += 1_000) {
      two.receive(read(one.report(ms, sent)), ms + 35);
      one.receive(read(two.report(ms + 500, sent)), ms + 545);
    }
    expect(one.roundTripMs).toBeUndefined();
    two.count({ ...rtp(1, 0), ssrc: 1 }, 0);
    two.receive(read(one.report(20_000, sent)), 20_035);
    one.receive(read(two.report(20_500, sent)), 20_545);
    expect(one.roundTripMs).toBeCloseTo(80, 1);
  });

  it('reports loss, jitter and the sequence number across its rollover (RFC 3550, appendix A)', () => {
    const session = new RtcpSession(1, 'a');
    for (let n = 0; n < 100; n++) if (n % 4 !== 1) session.count(rtp(65_500 + n, 160 * n), 20 * n + (n % 2) * 5);
    const [first] = read(session.report(2_000, { ...sent, packets: 0 }));
    expect(first).toMatchObject({
      type: 'report',
      blocks: [{ lost: 25, fractionLost: 64, highestSequence: 65_599, lastReport: 0 }],
    });
    expect(first).not.toHaveProperty('sender');
    for (let n = 100; n < 200; n++) session.count(rtp(65_500 + n, 160 * n), 20 * n);
    expect(read(session.report(4_000, sent))[0]).toMatchObject({ blocks: [{ lost: 25, fractionLost: 0, jitter: 0 }] });
  });

  it('ends with a report, a description and BYE', () => {
    const packets = read(new RtcpSession(1, 'a').bye(0, sent));
    expect(packets.map(({ type }) => type)).toEqual(['report', 'description', 'bye']);
  });
});
