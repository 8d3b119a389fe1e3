import { mediaAnswer, mediaOffer, readMedia } from './sdp.js';

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

describe('mediaAnswer', () => {
  const own = { address: '127.0.0.1', port: 4_000, session: 1 };

  it('takes the sound that they prefer with their payload types and refuses their video', () => {
    const offer = answer('m=video 9 RTP/AVP 31', 'm=audio 9 RTP/AVP 9 8 0 96', 'a=rtpmap:96 telephone-event/8000');
    const text = mediaAnswer(offer, own) as string;
    expect(text.split('\r\n').filter((line) => line.startsWith('m='))).toEqual([
      'm=video 0 RTP/AVP 31',
      'm=audio 4000 RTP/AVP 8 96',
    ]);
    expect(text).not.toContain('rtcp-mux');
    expect(readMedia(text, { srtp: false })).toMatchObject({ codec: 'PCMA', port: 4_000, eventPayloadType: 96 });
  });

  it('takes the sound with SRTP if it is offered both ways, by the tag of its key', () => {
    const plain = 'm=audio 9 RTP/AVP 0';
    const secure = ['m=audio 11 RTP/SAVP 0', SECURE.replace('_80', '_32'), SECURE.replace(':1 ', ':7 ')];
    const text = mediaAnswer(answer(plain, ...secure), { ...own, srtpKey: KEY }) as string;
    expect(text.split('\r\n').filter((line) => /^(m=|a=crypto)/.test(line))).toEqual([
      'm=audio 0 RTP/AVP 0',
      'm=audio 4000 RTP/SAVP 0',
      SECURE.replace(':1 ', ':7 '),
    ]);
    expect(readMedia(answer(plain, ...secure), { srtp: false })).toMatchObject({ port: 9, srtpKey: undefined });
  });

  it.each([
    ['sendonly', 'recvonly'],
    ['recvonly', 'sendonly'],
    ['inactive', 'inactive'],
    ['sendrecv', 'sendrecv'],
  ])('answers %s by %s', (theirs, ours) => {
    expect(mediaAnswer(answer('m=audio 9 RTP/AVP 0', `a=${theirs}`), own)).toContain(`a=${ours}\r\n`);
  });

  it('refuses an offer without SRTP if it is required', () => {
    expect(mediaAnswer(answer('m=audio 9 RTP/AVP 0'), { ...own, srtpKey: KEY })).toMatchObject({ refused: 'srtp' });
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
