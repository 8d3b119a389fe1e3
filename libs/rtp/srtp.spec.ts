import { readRtp, SrtpReceiver, SrtpSender, writeRtp } from './index.js';
import { counterMode, sessionKeys } from './srtp.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
/** Master key and salt of RFC 3711, appendix B.3, which libsrtp's test vectors use as well. */
const MASTER = hex('E1F97A0D3E018BE0D64FA32C06DE4139 0EC675AD498AFEEBB6960B3AABE6');

const packet = (sequence: number, ssrc = 5): Buffer =>
  writeRtp({
    marker: false,
    payloadType: 0,
    sequence: sequence & 0xffff,
    timestamp: 160 * (sequence & 0xffff),
    ssrc,
    payload: Buffer.from('sound'),
  });

const received = (receiver: SrtpReceiver, bytes: Uint8Array): unknown => {
  const result = receiver.unprotect(bytes);
  return 'refusal' in result
    ? result.refusal
    : Buffer.from((readRtp(result) as { payload: Uint8Array }).payload).toString();
};

describe('SRTP', () => {
  it('has the key stream of RFC 3711, appendix B.2', () => {
    const key = hex('2B7E151628AED2A6ABF7158809CF4F3C');
    const stream = counterMode(key, hex('F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000'), Buffer.alloc(0xff02 * 16));
    expect(stream.subarray(0, 48)).toEqual(
      hex('E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0'),
    );
    expect(stream.subarray(-48)).toEqual(
      hex('EC8CDF7398607CB0F2D21675EA9EA1E4 362B7C3C6773516318A077D7FC5073AE 6A2CC3787889374FBEB4C81B17BA6C44'),
    );
  });

  it('derives the session keys of RFC 3711, appendix B.3', () => {
    expect(sessionKeys(MASTER, 0)).toEqual({
      cipher: hex('C61E7A93744F39EE10734AFE3FF7A087'),
      salt: hex('30CBBC08863D8C85D49DB34A9AE1'),
      authentication: hex('CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4'),
    });
    expect(() => new SrtpSender(MASTER.subarray(1))).toThrow(RangeError);
  });

  it("encrypts and decrypts libsrtp's reference packets", () => {
    const plain = hex(`800f1234 decafbad cafebabe ${'ab'.repeat(16)}`);
    const rtp = hex('800f1234 decafbad cafebabe 4e55dc4ce79978d88ca4d215949d2402 b78d6acc99ea179b8dbb');
    const plainReport = hex(`81c8000b cafebabe ${'ab'.repeat(16)}`);
    const rtcp = hex('81c8000b cafebabe 7128035be487b9bdbef89041f977a5a8 80000001 993e08cd54d6c1230798');
    const [sender, receiver] = [new SrtpSender(MASTER), new SrtpReceiver(MASTER)];
    expect(sender.protect(plain)).toEqual(rtp);
    expect(sender.protectRtcp(plainReport)).toEqual(rtcp);
    expect(receiver.unprotect(rtp)).toEqual(plain);
    expect(receiver.unprotectRtcp(rtcp)).toEqual(plainReport);
  });

  it('counts the rollover of the sequence number for each source (sipsorcery#1498, sipsorcery#1584)', () => {
    const [sender, receiver] = [new SrtpSender(MASTER), new SrtpReceiver(MASTER)];
    for (let n = 65_000; n < 200_000; n += 35) {
      expect(received(receiver, sender.protect(packet(n)))).toBe('sound');
      expect(received(receiver, sender.protect(packet(n / 5, 6)))).toBe('sound');
    }
  });

  it('counts one rollover for misordered packets around it (traviscross/libre#6, cisco/libsrtp#567)', () => {
    const [sender, receiver] = [new SrtpSender(MASTER), new SrtpReceiver(MASTER)];
    const sent = [65_533, 65_535, 65_536, 65_537, 65_534, 65_538].map((n) => sender.protect(packet(n)));
    expect(sent.map((bytes) => received(receiver, bytes))).toEqual(Array(6).fill('sound'));
    const late = [65_530, 65_540, 65_531].map((n) => sender.protect(packet(n)));
    expect(late.map((bytes) => received(receiver, bytes))).toEqual(Array(3).fill('sound'));
  });

  it('understands a sender whose sequence number began again before its first received packet', () => {
    const [sender, receiver] = [new SrtpSender(MASTER), new SrtpReceiver(MASTER)];
    sender.protect(packet(65_535));
    expect(received(receiver, sender.protect(packet(65_536)))).toBe('sound');
    expect(received(receiver, sender.protect(packet(65_537)))).toBe('sound');
  });

  it('refuses repeated packets and those older than 64', () => {
    const [sender, receiver] = [new SrtpSender(MASTER), new SrtpReceiver(MASTER)];
    const sent = Array.from({ length: 100 }, (_, n) => sender.protect(packet(n)));
    expect(received(receiver, sent[50]!)).toBe('sound');
    expect(
      [sent[50]!, sent[49]!, sent[49]!, sent[99]!, sent[36]!, sent[35]!].map((bytes) => received(receiver, bytes)),
    ).toEqual(['replayed', 'sound', 'replayed', 'sound', 'sound', 'replayed']);
    const report = sender.protectRtcp(Buffer.from('80c9000100000005', 'hex'));
    expect(receiver.unprotectRtcp(report)).toEqual(Buffer.from('80c9000100000005', 'hex'));
    expect(receiver.unprotectRtcp(report)).toEqual({ refusal: 'replayed' });
  });

  it('refuses every changed bit, and stays usable', () => {
    const [sender, receiver] = [new SrtpSender(MASTER), new SrtpReceiver(MASTER)];
    const sent = sender.protect(packet(1));
    for (let bit = 16; bit < 8 * sent.length; bit++) {
      const changed = Buffer.from(sent);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(receiver.unprotect(changed)).toEqual({ refusal: 'wrong_tag' });
    }
    expect(new SrtpReceiver(Buffer.alloc(30)).unprotect(sent)).toEqual({ refusal: 'wrong_tag' });
    expect(received(receiver, sent)).toBe('sound');
  });

  it('keeps counters of at most 20 sources', () => {
    const [sender, receiver] = [new SrtpSender(MASTER), new SrtpReceiver(MASTER)];
    const results = Array.from({ length: 22 }, (_, n) => received(receiver, sender.protect(packet(1, n))));
    expect(results).toEqual([...Array<string>(20).fill('sound'), 'too_many_sources', 'too_many_sources']);
  });
});
