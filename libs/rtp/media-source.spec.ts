import { bindPortPair, MediaSource } from './index.js';

const at = (address: string, port = 4_000): { address: string; port: number } => ({ address, port });
const source = (...expected: ReturnType<typeof at>[]): MediaSource =>
  new MediaSource(expected, 0, (address) => address !== '10.0.0.1');

describe('MediaSource', () => {
  it('sends to the port from which an expected host sends (baresip/baresip#3720), and stays there', () => {
    const media = source(at('1.1.1.1', 10_014), at('2.2.2.2'));
    expect(media.target).toEqual(at('1.1.1.1', 10_014));
    expect(media.accept(at('2.2.2.2', 34_379), 10, 1)).toBe('accepted');
    expect(media.accept(at('1.1.1.1', 9), 20, 1)).toBe('accepted');
    expect(media.target).toEqual(at('2.2.2.2', 34_379));
  });

  it('takes another address once, after two seconds without the expected one', () => {
    const media = source(at('1.1.1.1'));
    expect(media.accept(at('3.3.3.3'), 1_999, 1)).toBe('foreign_address');
    expect(media.accept(at('1.1.1.1'), 2_000, 1)).toBe('accepted');
    expect(media.accept(at('3.3.3.3'), 3_999, 1)).toBe('foreign_address');
    expect(media.accept(at('10.0.0.1'), 4_000, 1)).toBe('refused_address');
    expect(media.accept(at('3.3.3.3', 4_001), 4_000)).toBe('foreign_address');
    expect(media.accept(at('3.3.3.3'), 4_000, 1)).toBe('changed');
    expect(media.accept(at('3.3.3.3'), 4_020, 1)).toBe('accepted');
    expect(media.target).toEqual(at('3.3.3.3'));
    expect(media.accept(at('4.4.4.4'), 9_000, 1)).toBe('foreign_address');
  });

  it('does not take another address while the expected one sends RTCP in a silence', () => {
    const media = source(at('1.1.1.1'));
    media.accept(at('1.1.1.1'), 0, 1);
    media.accept(at('1.1.1.1', 4_001), 5_000);
    expect(media.accept(at('3.3.3.3'), 6_000, 1)).toBe('foreign_address');
    expect(media.target).toEqual(at('1.1.1.1'));
  });

  it('begins again with the address of a new SDP, not with a repeated one', () => {
    const media = source(at('1.1.1.1'));
    media.accept(at('1.1.1.1', 5), 10, 1);
    media.expect([at('1.1.1.1')], 20);
    expect(media.target).toEqual(at('1.1.1.1', 5));
    media.expect([at('5.5.5.5')], 30);
    expect(media.target).toEqual(at('5.5.5.5'));
    expect(media.accept(at('1.1.1.1', 5), 40, 1)).toBe('foreign_address');
  });

  // bluenviron/gortsplib#687 and sipwise/rtpengine#2166: senders change their SSRC again and again.
  it('takes any number of sources that follow one another', () => {
    const media = source(at('1.1.1.1'));
    const results = Array.from({ length: 100 }, (_, ssrc) => media.accept(at('1.1.1.1'), 2_000 * ssrc, ssrc));
    expect(new Set(results)).toEqual(new Set(['accepted']));
  });

  it('refuses the 21st source', () => {
    const media = source(at('1.1.1.1'));
    const results = Array.from({ length: 1_000 }, (_, ssrc) => media.accept(at('1.1.1.1'), ssrc, ssrc));
    expect(results.filter((result) => result === 'accepted')).toHaveLength(20);
    expect(results[20]).toBe('too_many_sources');
    expect(media.accept(at('1.1.1.1'), 1_000, 0)).toBe('accepted');
  });

  it('sends 250 packets to an address that does not answer, and any number after RTP or RTCP came', () => {
    const media = source(at('1.1.1.1'));
    expect(Array.from({ length: 300 }, () => media.maySend()).filter(Boolean)).toHaveLength(250);
    media.accept(at('6.6.6.6'), 10, 1);
    expect(media.maySend()).toBe(false);
    media.accept(at('1.1.1.1', 4_001), 20);
    expect(Array.from({ length: 300 }, () => media.maySend())).not.toContain(false);
    expect(media.target).toEqual(at('1.1.1.1'));
    expect(source().maySend()).toBe(false);
  });
});

describe('bindPortPair', () => {
  it('binds an even port and the next one, of a range too, and names the range that is taken', async () => {
    const any = await bindPortPair('127.0.0.1');
    expect(any.port % 2).toBe(0);
    expect(any.rtcp.address().port).toBe(any.port + 1);
    const range = { first: any.port - 1, last: any.port + 2 };
    await expect(bindPortPair('127.0.0.1', range)).rejects.toThrow(`from ${range.first} to ${range.last}`);
    any.rtcp.close();
    await expect(bindPortPair('127.0.0.1', range)).rejects.toThrow('is free');
    await new Promise<void>((resolve) => any.rtp.close(() => resolve()));
    const again = await bindPortPair('127.0.0.1', range);
    expect(again.port).toBe(any.port);
    again.rtp.close();
    again.rtcp.close();
  });

  it('says why an address cannot be bound', async () => {
    await expect(bindPortPair('203.0.113.1')).rejects.toThrow('EADDRNOTAVAIL');
  });
});
