import { comfortNoise, comfortNoiseLevel, isRtcp, readRtp, type RtpPacket, writeRtp } from './index.js';

const packet: RtpPacket = {
  marker: true,
  payloadType: 101,
  sequence: 0xfedc,
  timestamp: 0xfffffff0,
  ssrc: 0x80000001,
  csrcs: [1, 0xffffffff],
  extension: { profile: 0xbede, data: Buffer.from('10aa000012345678', 'hex') },
  payload: Buffer.from('sound'),
};
const hex = 'b2e5fedcfffffff08000000100000001ffffffffbede000210aa000012345678736f756e64000003';

describe('RTP packets', () => {
  it('are written and read with sources, extension and padding', () => {
    expect(writeRtp(packet, 3).toString('hex')).toBe(hex);
    expect(readRtp(Buffer.from(hex, 'hex'))).toEqual(packet);
    const plain = {
      marker: false,
      payloadType: 0,
      sequence: 0,
      timestamp: 0,
      ssrc: 0,
      csrcs: [],
      payload: Buffer.alloc(160),
    };
    expect(readRtp(writeRtp(plain))).toEqual(plain);
    expect(readRtp(writeRtp({ ...plain, payload: Buffer.alloc(0) }))).toMatchObject({ payload: Buffer.alloc(0) });
  });

  it.each([
    ['too_short', ''],
    ['too_short', '8000000100000000000000'],
    ['wrong_version', '400000010000000000000005ff'],
    ['truncated_csrc', '820000010000000000000005ffffffff'],
    ['truncated_extension', '900000010000000000000005ff'],
    ['truncated_extension', '900000010000000000000005bede0001ff'],
    ['wrong_padding', 'a00000010000000000000005ffff00'],
    ['wrong_padding', 'a00000010000000000000005ffff04'],
    ['too_long', `80${'00'.repeat(1_500)}`],
  ])('are refused as %s', (refusal, bytes) => {
    expect(readRtp(Buffer.from(bytes, 'hex'))).toEqual({ refusal });
  });

  it('differ from RTCP in the second byte, with and without marker (RFC 5761)', () => {
    const types = Array.from({ length: 256 }, (_, type) => type).filter((type) => isRtcp(Uint8Array.of(0x80, type)));
    expect(types).toEqual(Array.from({ length: 32 }, (_, n) => 192 + n));
    expect(isRtcp(new Uint8Array(1))).toBe(false);
  });

  it('carry comfort noise with a level from 0 to -127 dBov', () => {
    expect([0, -40, -127, -500, 3].map((level) => comfortNoiseLevel(comfortNoise(level)))).toEqual([
      0, -40, -127, -127, 0,
    ]);
    expect(comfortNoiseLevel(new Uint8Array(0))).toBeUndefined();
  });
});
