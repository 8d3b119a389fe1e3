import { createHash } from 'node:crypto';
import { SipCall } from './call.js';
import { DigestAnswer } from './digest.js';
import { SipEndpoint } from './endpoint.js';
import { original } from './readable.js';
import { mediaOffer } from './sdp.js';
import { ANSWER, CONTACT, FarSide, requestIn } from './testing/far-side.js';

const OFFER = mediaOffer({ address: '127.0.0.1', port: 40_002, session: 7 });
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A call that is answered by this 200, and hung up. @returns what went to the other side, and how the call ended */
async function called(lines: readonly string[], change: (answer: string) => string = (answer) => answer) {
  const farSide = await FarSide.open((request, send) => {
    if (request.method === 'INVITE') send(change(request.reply('200 OK', lines, ANSWER)));
    if (request.method === 'BYE') send(request.reply('200 OK'));
  });
  open.push(farSide);
  const endpoint = await SipEndpoint.open(farSide.options);
  open.push(endpoint);
  const call = new SipCall(endpoint, { target: farSide.address, offer: OFFER });
  const result = await call.result;
  return { farSide, endpoint, result, ending: 'media' in result ? await call.hangUp() : undefined };
}

const contact = (uri: string) => [`Contact: <${uri}>`];
const routes = (...values: string[]) => [CONTACT, ...values.map((value) => `Record-Route: ${value}`)];
const FAR = 'sip:far@127.0.0.1:5099;transport=tcp';

describe('a call to software whose SIP is odd', () => {
  it.each([
    ['the name of a container (SIP.js#737)', 'sip:far@agent_1:5060;transport=tcp'],
    ['the name of a container alone', 'sip:agent_1:5060'],
    [
      'the id of a container that begins with a digit (versatica/JsSIP#938, SIP.js#1055)',
      'sip:asterisk@1af019b2ba08:5060',
    ],
    ['# in its user (versatica/JsSIP#687)', 'sip:*#9240@192.168.11.155:5060;transport=udp'],
    ['other characters in its user', 'sip:a[1]{2}|3^`"%@127.0.0.1:5099'],
    ['= and ; in its user (signalwire/freeswitch#2824)', 'sip:+49;phone-context=x&y@127.0.0.1:5099;user=phone'],
    ['an escaped % in its user', 'sip:a%25b%c3%a4@127.0.0.1:5099'],
    ['quoted parameters (SIP.js#419)', 'sip:127.0.0.1:443;transport=wss;thinfo="VG8+PoIUYHSD/sWAZZw/BCEaSdGA="'],
    ['maddr', 'sip:far@host.example;maddr=192.0.2.1;lr'],
    ['capitals', 'sip:Far@Host.Example:5060;Transport=TCP;OB'],
    ['a number', 'tel:+4930123'],
    ['headers', 'sip:far@127.0.0.1:5099?Replaces=x'],
    ['two @', 'sip:far@b@127.0.0.1:5099'],
    ['no port after its colon', 'sip:far@127.0.0.1:'],
    ['IPv6', 'sip:far@[2001:db8::1]:5099'],
  ])('sends ACK and BYE to its Contact with %s as it is', async (_what, uri) => {
    const { farSide, ending } = await called(contact(uri));
    expect(ending).toBe('ended');
    expect((await farSide.until('ACK')).text.split(' ')[1]).toBe(uri);
    expect((await farSide.until('BYE')).text.split(' ')[1]).toBe(uri);
  });

  it.each([
    [
      'underscores (SIP.js#996)',
      routes('<sip:_sip_server_:5060;r2=on;lr;ftag=a>'),
      FAR,
      ['<sip:_sip_server_:5060;r2=on;lr;ftag=a>'],
    ],
    [
      'lr=true and lr=on (erlnets/nksip#71)',
      routes('<sip:a;lr=true>, <sip:b;lr=on>'),
      FAR,
      ['<sip:b;lr=on>', '<sip:a;lr=true>'],
    ],
    [
      'no brackets (SIP.js#319)',
      routes('sip:a:5054;transport=tcp;lr;service=scscf'),
      FAR,
      ['<sip:a:5054;transport=tcp;lr;service=scscf>'],
    ],
    ['no lr (eigger/hass-sip#39)', routes('<sip:a:5060>'), 'sip:a:5060', [`<${FAR}>`]],
    [
      'lrx, which is not lr (eigger/hass-sip#40)',
      routes('<sip:b;lr>', '<sip:a;lrx=1>'),
      'sip:a;lrx=1',
      ['<sip:b;lr>', `<${FAR}>`],
    ],
    [
      'a strict router behind a loose one (kamailio/kamailio#267)',
      routes('<sip:b;pgw-call=1>', '<sip:a;lr=on>'),
      FAR,
      ['<sip:a;lr=on>', '<sip:b;pgw-call=1>'],
    ],
  ])('sends ACK and BYE over its routes with %s', async (_what, lines, target, expected) => {
    const { farSide, ending } = await called(lines);
    expect(ending).toBe('ended');
    for (const method of ['ACK', 'BYE']) {
      const { text } = await farSide.until(method);
      expect(text.split(' ')[1]).toBe(target);
      expect([...text.matchAll(/^Route: (.*)\r$/gm)].map(([, route]) => route)).toEqual(expected);
    }
  });

  const compact = (text: string, letters: readonly string[]): string =>
    ['Via', 'From', 'To', 'Call-ID', 'Contact', 'Content-Type', 'Content-Length'].reduce(
      (changed, name, index) => changed.replace(`\r\n${name}:`, `\r\n${letters[index]}:`),
      text,
    );

  it.each([
    ['no type of its description', (text: string) => text.replace(/Content-Type.*\r\n/, '')],
    [
      'parameters of that type (drachtio/drachtio-siprec-recording-server#16)',
      (text: string) => text.replace('application/sdp', 'application/SDP;charset=ISO-10646'),
    ],
    [
      'a name without quotes (davehorton/sofia-sip#3)',
      (text: string) => text.replace('To: ', 'To: Virtuális kolléga No. 1 (x) '),
    ],
    ['another host in To', (text: string) => text.replace(/^To: .*;/m, 'To: <sip:agent@agent_1>;')],
    ['another From', (text: string) => text.replace(/^From: .*?;/m, 'From: <sip:anonymous@anonymous.invalid>;')],
    ['short names', (text: string) => compact(text, 'v f t i m c l'.split(' '))],
    ['short names in capitals', (text: string) => compact(text, 'V F T I M C L'.split(' '))],
    [
      'names in capitals',
      (text: string) => compact(text, ['VIA', 'FROM', 'TO', 'CALL-ID', 'CONTACT', 'CONTENT-TYPE', 'CONTENT-LENGTH']),
    ],
    [
      'spaces before colons',
      (text: string) =>
        compact(text, ['Via ', 'From\t', 'To ', 'Call-ID ', 'Contact ', 'Content-Type ', 'Content-Length ']),
    ],
    [
      'folded lines',
      (text: string) => text.replace('Contact: ', 'Contact:\r\n ').replace(';tag=far', '\r\n\t;tag=far'),
    ],
    ['brackets in its reason (SIP.js#996)', (text: string) => text.replace('200 OK', '200 OK [call 50% "done"]')],
    ['no reason (irontec/sngrep#116)', (text: string) => text.replace('200 OK', '200 ')],
    ['no space after its status', (text: string) => text.replace('200 OK', '200')],
    [
      'methods in small letters',
      (text: string) => text.replace('Contact', 'Allow: invite, ack,bye\r\nSupported: TIMER\r\nContact'),
    ],
    [
      'headers that nothing asked for',
      (text: string) =>
        text.replace(
          'Contact',
          'Require: timer\r\nSession-Expires: 1800;refresher=UAC\r\nServer: Ü ☎\r\nSupported:\r\nContact',
        ),
    ],
    ['several parts', (text: string) => multipart(text)],
  ])('takes an answer with %s', async (_what, change) => {
    const { result, ending } = await called([CONTACT], change);
    expect(result).toMatchObject({ media: { port: 40_000 } });
    expect(ending).toBe('ended');
  });

  it('names a failure whose reason has brackets (SIP.js#996)', async () => {
    const { result } = await called([], (text) =>
      text.replace('200 OK', '480 Temporarily Unavailable [call Processing Released]'),
    );
    expect(result).toMatchObject({ failure: 'no_answer', reason: 'Temporarily Unavailable call Processing Released' });
  });

  it.each([
    [
      'c=IN IP4 0.0.0.0',
      (text: string) =>
        text.replace('c=IN IP4 127.0.0.1', 'c=IN IP4   0.0.0.0').replace('IP4   ', 'IP4 ').replace('s=-', 's=---'),
    ],
    [
      'a=inactive',
      (text: string) =>
        text
          .replace('m=audio', 'a=inactive\r\nm=audio')
          .replace(/(Content-Length: )(\d+)/, (_, name: string, length: string) => `${name}${Number(length) + 12}`),
    ],
  ])('is answered on hold by %s', async (_what, change) => {
    const { result, ending } = await called([CONTACT], change);
    expect(result).toMatchObject({ media: { hold: true, port: 40_000 } });
    expect(ending).toBe('ended');
  });

  it('answers a BYE whose Via and From name a container, with both as they are', async () => {
    const farSide = await FarSide.open((request, send) => {
      if (request.method === 'INVITE') send(request.reply('200 OK', [CONTACT], ANSWER));
    });
    open.push(farSide);
    const endpoint = await SipEndpoint.open(farSide.options);
    open.push(endpoint);
    await new SipCall(endpoint, { target: farSide.address, offer: OFFER }).result;
    const bye = requestIn(await farSide.until('INVITE'), 'BYE', 1)
      .replace('127.0.0.1:5060;', 'agent_1:5060;')
      .replace(/^From: .*;/m, 'From: Agent Nº 1 <sip:agent@agent_1>;');
    farSide.sockets[0]?.write(bye);
    const { text } = await farSide.until('200');
    expect(text).toContain('Via: SIP/2.0/TCP agent_1:5060;');
    expect(text).toContain('<sip:agent@agent_1>;tag=far');
  });

  it('puts nothing into its messages that the other side hid in an address', async () => {
    const hidden = `odd-${Buffer.from('x\r\nInjected: 1').toString('hex')}-odd`;
    const { farSide } = await called(contact(`sip:${hidden}@127.0.0.1:5099`));
    expect((await farSide.until('BYE')).text).not.toContain('Injected');
    expect(original(hidden)).toBe(hidden);
  });

  // RFC 3261, 22.3: the proxy and the server behind it may each ask.
  it.each([
    ['407 Proxy', '401 Unauthorized'],
    ['401 Unauthorized', '407 Proxy'],
  ])('answers %s and then %s, each once', async (first, second) => {
    const challenge = (status: string) =>
      `${status.startsWith('401') ? 'WWW' : 'Proxy'}-Authenticate: Digest realm="${status}", nonce="n", qop="auth"`;
    const farSide = await FarSide.open((request, send) => {
      if (request.method !== 'INVITE') return;
      const status = [first, second][farSide.methods().filter((method) => method === 'INVITE').length - 1] ?? second;
      const isKnown = request.header('Authorization') !== '' && request.header('Proxy-Authorization') !== '';
      send(isKnown ? request.reply('200 OK', [CONTACT], ANSWER) : request.reply(status, [challenge(status)]));
    });
    open.push(farSide);
    const endpoint = await SipEndpoint.open({ ...farSide.options, credentials: { user: 'u', password: 'p' } });
    open.push(endpoint);
    expect(await new SipCall(endpoint, { target: farSide.address, offer: OFFER }).result).toHaveProperty('media');
    expect(farSide.methods().filter((method) => method === 'INVITE')).toHaveLength(3);
  });

  const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

  it.each([
    [
      'escapes in its realm and nonce',
      String.raw`realm="a \"b\" \\c", nonce="n\"\\"`,
      String.raw`realm="a \"b\" \\c", nonce="n\"\\"`,
    ],
    ['a list of qop', 'realm="r", nonce="n", qop="auth-int , auth"', 'qop=auth,'],
    ['qop without quotes', 'realm="r", nonce="n", qop=auth', 'qop=auth,'],
    ['MD5-sess', 'realm="r", nonce="n", algorithm=MD5-sess, qop="auth"', 'algorithm=MD5-sess,'],
    ['an empty opaque, stale and domain', 'domain="sip:x", realm="r", nonce="n", opaque="", stale=FALSE', 'nonce="n"'],
  ])('answers a challenge with %s', async (_what, challenge, expected) => {
    const farSide = await FarSide.open((request, send) => {
      if (request.method !== 'INVITE') return;
      const isKnown = request.header('Authorization') !== '';
      send(
        isKnown
          ? request.reply('200 OK', [CONTACT], ANSWER)
          : request.reply('401 X', [`WWW-Authenticate: Digest ${challenge}`]),
      );
    });
    open.push(farSide);
    const endpoint = await SipEndpoint.open({ ...farSide.options, credentials: { user: 'u', password: 'p' } });
    open.push(endpoint);
    expect(await new SipCall(endpoint, { target: farSide.address, offer: OFFER }).result).toHaveProperty('media');
    const invite = await farSide.until('INVITE', 2);
    const answer = `${invite.header('Authorization')},`;
    expect(answer).toContain(expected);
    const part = (name: string): string =>
      new RegExp(`${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^,]+))`).exec(answer)?.slice(1).find(Boolean) ?? '';
    const secret = md5(`u:${part('realm')}:p`);
    const session = part('algorithm') === 'MD5-sess' ? md5(`${secret}:${part('nonce')}:${part('cnonce')}`) : secret;
    const proof = part('qop') === '' ? '' : `${part('nc')}:${part('cnonce')}:${part('qop')}:`;
    expect(part('response')).toBe(md5(`${session}:${part('nonce')}:${proof}${md5(`INVITE:${part('uri')}`)}`));
  });

  it('computes a digest over the address as it is sent', () => {
    const digest = new DigestAnswer({ user: 'u', password: 'p' });
    const ruri = { toRaw: () => `sip:odd-${Buffer.from('agent_1').toString('hex')}-odd` };
    digest.authenticate({ method: 'BYE', ruri } as never, { realm: 'r', nonce: 'n' });
    expect(digest.toString()).toContain('uri="sip:agent_1"');
  });
});

function multipart(text: string): string {
  const [head = '', sdp = ''] = text.split('\r\n\r\n');
  const body = [
    '--x',
    'Content-Type: application/sdp',
    '',
    sdp,
    '--x',
    'Content-Type: text/plain',
    '',
    'a',
    '--x--',
    '',
  ].join('\r\n');
  const typed = head.replace('application/sdp', 'multipart/mixed;boundary=x');
  return `${typed.replace(/(Content-Length: )\d+/, `$1${Buffer.byteLength(body)}`)}\r\n\r\n${body}`;
}
