import { createHash } from 'node:crypto';
import { URI, type OutgoingRequestMessage } from 'sip.js/lib/core/index.js';
import { DigestAnswer, withOneChallenge } from './digest.js';

const request = {
  method: 'INVITE',
  ruri: new URI('sip', 'B', 'Example.org'),
  body: 'v=0',
} as unknown as OutgoingRequestMessage;
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

function parameters(answer: DigestAnswer): Record<string, string> {
  const found = answer.toString().matchAll(/(\w+)=(?:"([^"]*)"|([^,]+))/g);
  return Object.fromEntries([...found].map(([, key, quoted, bare]) => [key, quoted ?? bare]));
}

describe('DigestAnswer', () => {
  it('computes SHA-256 as RFC 8760 says, over the Request-URI as it is sent', () => {
    const answer = new DigestAnswer({ user: 'u', password: 'p' });
    answer.authenticate(request, { algorithm: 'SHA-256', realm: 'r', nonce: 'n', qop: ['auth-int'] });
    const { cnonce, nc, response, uri, qop } = parameters(answer);
    expect([uri, nc, qop]).toEqual(['sip:B@Example.org', '00000001', 'auth-int']);
    const about = sha(`INVITE:sip:B@Example.org:${sha('v=0')}`);
    expect(response).toBe(sha(`${sha('u:r:p')}:n:00000001:${cnonce}:auth-int:${about}`));
  });

  it('counts the uses of a nonce', () => {
    const answer = new DigestAnswer({ user: 'u', password: 'p' });
    const uses = ['n', 'n', 'other'].map((nonce) => {
      answer.authenticate(request, { realm: 'r', nonce, qop: ['auth'] });
      return parameters(answer)['nc'];
    });
    expect(uses).toEqual(['00000001', '00000002', '00000001']);
  });

  it('does not answer an unknown algorithm', () => {
    const answer = new DigestAnswer({ user: 'u', password: 'p' });
    expect(answer.authenticate(request, { algorithm: 'SHA-512-256', realm: 'r', nonce: 'n' })).toBe(false);
  });
});

describe('withOneChallenge', () => {
  const response = (...challenges: string[]): string =>
    [
      'SIP/2.0 401 Unauthorized',
      ...challenges.map((one) => `WWW-Authenticate: ${one}`),
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n');

  // sip.linphone.org in pjsip/pjproject#2712 and embox/embox#1965; creytiv/re#139: unknown ones are to be ignored.
  it.each([
    [
      'Digest realm="r", nonce="n", algorithm=MD5',
      ['Digest realm="r", nonce="n", algorithm=AKAv1-MD5', 'Digest nonce="n",realm="r"'],
    ],
    [
      'Digest realm="r", nonce="n", algorithm=SHA-256',
      ['Digest realm="r",\r\n nonce="n", algorithm=sha-256', 'Digest realm="r", nonce="m"'],
    ],
    [
      'Digest realm="r", nonce="n", algorithm=MD5, qop="auth"',
      ['Basic realm="r"', 'Digest realm="r", nonce="n", qop=auth, x=,y'],
    ],
  ])('keeps %s', (kept, challenges) => {
    expect(withOneChallenge(response(...challenges))).toBe(response(kept));
  });

  it('keeps none that cannot be answered', () => {
    expect(withOneChallenge(response('Digest realm="r", nonce="n", qop="auth-conf"', 'Negotiate'))).toBe(response());
  });
});
