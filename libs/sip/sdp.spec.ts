import { mediaOffer, readMedia } from './sdp.js';

const KEY = Buffer.alloc(30, 7).toString('base64');
const answer = (...lines: string[]): string =>
  ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0', ...lines].join('\r\n');
const SECURE = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`;

describe('mediaOffer', () => {
  it('can be read as an answer', () => {
    const offer = mediaOffer({ address: '2001:db8::1', port: 4_000, session: 1, srtpKey: KEY });
    expect(readMedia(offer, { srtp: true })).toEqual({
      address: '2001:db8::1',
      port: 4_000,
      rtcpPort: 4_001,
      rtcpMux: true,
      codec: 'PCMU',
      payloadType: 0,
      eventPayloadType: 101,
      hold: false,
      srtpKey: KEY,
    });
  });
});

describe('readMedia', () => {
  it.each([
    ['payload types without names', ['m=audio 9 RTP/AVP 8 0'], { codec: 'PCMA', payloadType: 8 }],
    [
      'names for payload types',
      ['m=audio 9 RTP/AVP 9 96', 'a=rtpmap:96 pcmu/8000/1'],
      { codec: 'PCMU', payloadType: 96 },
    ],
    ['no payload type for keys', ['m=audio 9 RTP/AVP 0'], { eventPayloadType: undefined }],
    [
      'keys of 8,000 Hz only',
      ['m=audio 9 RTP/AVP 0 97 98', 'a=rtpmap:97 telephone-event/48000', 'a=rtpmap:98 telephone-event/8000'],
      { eventPayloadType: 98 },
    ],
    ['an address in the media', ['m=audio 9 RTP/AVP 0', 'c=IN IP4 198.51.100.7'], { address: '198.51.100.7' }],
    ['a port for RTCP', ['m=audio 8 RTP/AVP 0', 'a=rtcp:53020 IN IP4 192.0.2.9'], { rtcpPort: 53_020 }],
    ['video that was refused before the sound', ['m=video 0 RTP/AVP 31', 'm=audio 9 RTP/AVP 0'], { port: 9 }],
    ['hold', ['m=audio 9 RTP/AVP 0', 'a=sendonly'], { hold: true }],
    ['hold of the session', ['a=inactive', 'm=audio 9 RTP/AVP 0'], { hold: true }],
    ['hold of the old form', ['m=audio 9 RTP/AVP 0', 'c=IN IP4 0.0.0.0'], { hold: true }],
    ['a listener', ['m=audio 9 RTP/AVP 0', 'a=recvonly'], { hold: false }],
  ])('reads %s', (_, lines, expected) => {
    expect(readMedia(answer(...lines), { srtp: false, mayHold: true })).toMatchObject(expected);
  });

  it.each([
    ['unreadable', ''],
    ['unreadable', answer(...Array<string>(1_000).fill('m=audio 9 RTP/AVP 0'))],
    ['unreadable', answer('m=audio 99999 RTP/AVP 0')],
    ['unreadable', answer('m=audio 9 TCP/TLS 0')],
    ['no_g711', answer('m=audio 0 RTP/AVP 0')],
    ['no_g711', answer('m=video 9 RTP/AVP 31')],
    ['no_g711', answer('m=audio 9 RTP/AVP 9 111')],
    ['no_g711', answer('m=audio 9 RTP/AVP 0', 'a=rtpmap:0 L16/44100')],
    ['address', answer('m=audio 9 RTP/AVP 0', 'c=IN IP4 0.0.0.0')],
    ['address', answer('m=audio 9 RTP/AVP 0', 'c=IN IP4 224.2.1.1/127')],
    ['address', answer('m=audio 9 RTP/AVP 0', 'c=IN IP4 255.255.255.255')],
    ['address', answer('m=audio 9 RTP/AVP 0', 'c=IN IP6 ff02::1')],
    ['address', answer('m=audio 9 RTP/AVP 0', 'c=IN IP6 ::')],
    ['address', 'v=0\r\nm=audio 9 RTP/AVP 0'],
    ['srtp', answer('m=audio 9 RTP/SAVP 0', SECURE)],
  ])('refuses as "%s" what cannot be used', (refused, sdp) => {
    expect(readMedia(sdp, { srtp: false })).toMatchObject({ refused });
  });

  it.each([
    ['no SRTP', answer('m=audio 9 RTP/AVP 0')],
    ['another suite', answer('m=audio 9 RTP/SAVP 0', SECURE.replace('_80', '_32'))],
    ['an MKI', answer('m=audio 9 RTP/SAVP 0', `${SECURE}|2^20|1:4`)],
    ['a short key', answer('m=audio 9 RTP/SAVP 0', SECURE.replace(KEY, 'AAAA'))],
  ])('refuses an answer with %s if SRTP is required', (_, sdp) => {
    expect(readMedia(sdp, { srtp: true })).toMatchObject({ refused: 'srtp' });
  });

  it('ignores the lifetime of a key', () => {
    const sdp = answer('m=audio 9 RTP/SAVP 0', `${SECURE}|2^31`);
    expect(readMedia(sdp, { srtp: true })).toMatchObject({ srtpKey: KEY });
  });
});
