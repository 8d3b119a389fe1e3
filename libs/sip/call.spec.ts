import { type CallEvents, SipCall, type CallOptions } from './call.js';
import { end } from './end.js';
import { SipEndpoint } from './endpoint.js';
import type { CallHandle } from './handle.js';
import { mediaOffer } from './sdp.js';
import { ANSWER, CONTACT, FarSide, requestIn, type Script } from './testing/far-side.js';

const OFFER = mediaOffer({ address: '127.0.0.1', port: 40_002, session: 7 });
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function callTo(script: Script, events: CallEvents = {}, options: Partial<CallOptions> = {}, more = {}) {
  const farSide = await FarSide.open(script);
  open.push(farSide);
  const endpoint = await SipEndpoint.open({ ...farSide.options, ...more });
  open.push(endpoint);
  const call = new SipCall(endpoint, { target: farSide.address, offer: OFFER, ...options }, events);
  return { farSide, endpoint, call };
}

/** Answers INVITE with these responses, and everything else with 200. */
const answering =
  (...responses: [status: string, lines?: string[], body?: string, toTag?: string][]): Script =>
  (request, send) => {
    if (request.method === 'INVITE') for (const response of responses) send(request.reply(...response));
    else if (request.method !== 'ACK' && !/^\d/.test(request.method)) send(request.reply('200 OK'));
  };

const ANSWERED = ['200 OK', [CONTACT], ANSWER] as [string, string[], string];

describe('a call that is made', () => {
  it.each([
    ['486 Busy Here', 'busy'],
    ['600 Busy Everywhere', 'busy'],
    ['480 Temporarily Unavailable', 'no_answer'],
    ['408 Request Timeout', 'no_answer'],
    ['404 Not Found', 'no_such_user'],
    ['410 Gone', 'no_such_user'],
    ['484 Address Incomplete', 'no_such_user'],
    ['604 Does Not Exist Anywhere', 'no_such_user'],
    ['403 Forbidden', 'refused'],
    ['407 Proxy Authentication Required', 'refused'],
    ['603 Decline', 'refused'],
    ['488 Not Acceptable Here', 'codec_refused'],
    ['606 Not Acceptable', 'codec_refused'],
    ['500 Server Internal Error', 'unavailable'],
    ['503 Service Unavailable', 'unavailable'],
    ['504 Server Time-out', 'unavailable'],
    ['302 Moved Temporarily', 'redirected'],
  ])('names %s "%s" and acknowledges it', async (status, failure) => {
    const { call, farSide } = await callTo(answering([status]));
    expect(await call.result).toEqual({
      failure,
      status: Number(status.slice(0, 3)),
      reason: status.slice(4),
      mayBeOpen: false,
    });
    await farSide.until('ACK');
  });

  it('gives the reason in the words of the other side, and caps Retry-After', async () => {
    const lines = [
      'X-Twilio-Error: 32202 bad password',
      'Reason: Q.850;cause=17;text="User busy"',
      'Retry-After: 999999999',
    ];
    const { call } = await callTo(answering(['503 Service Unavailable', lines]));
    expect(await call.result).toMatchObject({ reason: '32202 bad password; User busy', retryAfter: 60 });
  });

  it('is answered: early media, ACK, BYE from here', async () => {
    const progress = jest.fn();
    const handles: CallHandle[] = [];
    const handle = (one: CallHandle): Promise<void> => Promise.resolve(void handles.push(one));
    const route = 'Record-Route: <sip:10.0.0.1;lr>,<sip:10.0.0.2;lr>';
    const { call, farSide } = await callTo(
      answering(['100 Trying'], ['183 Session Progress', [CONTACT], ANSWER], ['200 OK', [CONTACT, route], ANSWER]),
      { progress, handle },
    );
    expect(await call.result).toMatchObject({ media: { codec: 'PCMU', port: 40_000, eventPayloadType: 96 } });
    expect(progress).toHaveBeenCalledWith(183, 'Session Progress', expect.objectContaining({ port: 40_000 }));
    expect(handles).toHaveLength(2);
    expect(handles[0]).not.toHaveProperty('toTag');
    expect(handles[0]?.branch).toMatch(/^z9hG4bK/);
    expect(handles[1]).toMatchObject({ toTag: 'far', routeSet: ['<sip:10.0.0.2;lr>', '<sip:10.0.0.1;lr>'] });
    expect(JSON.parse(JSON.stringify(handles[1]))).toEqual(handles[1]);
    expect(await call.hangUp()).toBe('ended');
    expect(farSide.methods()).toEqual(['INVITE', 'ACK', 'BYE']);
    expect((await farSide.until('BYE')).text).toContain('Route: <sip:10.0.0.2;lr>\r\nRoute: <sip:10.0.0.1;lr>');
  });

  // baresip/re#1028, pjsip/pjproject#2066: 1xx without Contact, 183 without To tag.
  it('counts a 1xx without To tag and Contact as ringing', async () => {
    const progress = jest.fn();
    const { call } = await callTo(answering(['180 Ringing', [], '', ''], ['183 Progress', [], ANSWER, ''], ANSWERED), {
      progress,
    });
    await call.result;
    expect(progress.mock.calls.map(([status]) => status as number)).toEqual([180, 183]);
  });

  // AlticeLabsPublic/asterisk-i#89 and asterisk/asterisk#1711 (no Contact), RestComm/jain-sip#167 (no To tag).
  it.each([
    ['a Contact', ['200 OK', [], ANSWER] as const],
    ['a To tag', ['200 OK', [CONTACT], ANSWER, ''] as const],
    ['headers that can be read in time', ['200 OK', [`Contact: ${'<sip:a>,'.repeat(1_900)}<sip:a>`], ANSWER] as const],
    [
      'headers that are short together',
      ['200 OK', Array<string>(3).fill(`Contact: <sip:${'a'.repeat(1_500)}>`), ANSWER] as const,
    ],
    ['a Contact that can be read', ['200 OK', ['Contact: <<>'], ANSWER] as const],
  ])('is broken by a 200 without %s', async (_, [status, lines, body, tag]) => {
    const { call } = await callTo(answering([status, [...lines], body, tag]));
    expect(await call.result).toMatchObject({ failure: 'broken', mayBeOpen: true });
  });

  it.each([
    ['codec_refused', ANSWER.replace('RTP/AVP 0 96', 'RTP/AVP 9')],
    ['broken', ANSWER.replace('c=IN IP4 127.0.0.1', 'c=IN IP4 224.0.0.5')],
    ['broken', ''],
  ])('is "%s", acknowledged and ended if the answer cannot be used', async (failure, body) => {
    const { call, farSide } = await callTo(answering(['200 OK', [CONTACT], body]));
    expect(await call.result).toMatchObject({ failure, mayBeOpen: false });
    expect(farSide.methods()).toEqual(['INVITE', 'ACK', 'BYE']);
  });

  // pjsip/pjproject#3234: the second 200 must be acknowledged before it is ended.
  it('acknowledges and ends the second 200 of a fork', async () => {
    const { call, farSide } = await callTo(
      answering(['200 OK', [CONTACT], ANSWER, 'one'], ['200 OK', [CONTACT], ANSWER, 'two']),
    );
    const bye = await farSide.until('BYE');
    expect(bye.header('To')).toContain('tag=two');
    expect(await farSide.until('ACK', 2)).toHaveProperty('method');
    expect(await call.result).toMatchObject({ handle: { toTag: 'one' } });
  });

  // drachtio/drachtio-srf#87: the same 200 comes again when ACK did not arrive.
  it('sends ACK and BYE to the Contact if the same 200 comes a third time again', async () => {
    const otherNextHop = jest.fn();
    const hop = await FarSide.open((request, send) => void (request.method === 'BYE' && send(request.reply('200 OK'))));
    open.push(hop);
    const contact = `Contact: <sip:far@127.0.0.1:${hop.address.port};transport=tcp>`;
    const { call } = await callTo(
      (request, send) => {
        const answer = request.reply('200 OK', [contact], ANSWER);
        for (const ms of [0, 50, 100, 150]) if (request.method === 'INVITE') setTimeout(() => send(answer), ms);
      },
      { otherNextHop },
    );
    await call.result;
    await hop.until('ACK');
    expect(await call.hangUp()).toBe('ended');
    expect(otherNextHop).toHaveBeenCalledWith({ ...hop.address, user: undefined });
  });

  it('sends CANCEL when nobody answers in time', async () => {
    let invite: Parameters<Script>[0] | undefined;
    const { call, farSide } = await callTo(
      (request, send) => {
        if (request.method === 'INVITE') send((invite = request).reply('180 Ringing', [CONTACT]));
        if (request.method !== 'CANCEL') return;
        send(request.reply('200 OK'));
        send(invite?.reply('487 Request Terminated') ?? '');
      },
      {},
      { ringMs: 50 },
    );
    expect(await call.result).toMatchObject({ failure: 'no_answer', mayBeOpen: false });
    const [one, two] = [await farSide.until('INVITE'), await farSide.until('CANCEL')];
    expect(two.header('Via')).toBe(one.header('Via'));
  });

  it('acknowledges and ends a 200 that crosses CANCEL', async () => {
    let invite: Parameters<Script>[0] | undefined;
    const { call, farSide } = await callTo(
      (request, send) => {
        if (request.method === 'INVITE') send((invite = request).reply('180 Ringing', [CONTACT]));
        if (request.method === 'CANCEL') send(invite?.reply(...ANSWERED) ?? '');
        if (request.method === 'BYE') send(request.reply('200 OK'));
      },
      {},
      { ringMs: 50 },
    );
    expect(await call.result).toMatchObject({ failure: 'no_answer', mayBeOpen: false });
    expect(farSide.methods()).toEqual(['INVITE', 'CANCEL', 'ACK', 'BYE']);
  });

  // The answer comes after 59.9 s, and CANCEL is due after 60 s: whichever is first, no call is left open.
  it.each([70, 90, 95, 98, 100, 102, 105, 110])(
    'is answered or ended if the 200 comes after %i ms, and CANCEL is due after 100 ms',
    async (ms) => {
      const { call, farSide } = await callTo(
        (request, send) => {
          if (request.method === 'INVITE') setTimeout(() => send(request.reply(...ANSWERED)), ms);
          else if (request.method !== 'ACK' && !/^\d/.test(request.method)) send(request.reply('200 OK'));
        },
        { handle: () => new Promise((resolve) => setTimeout(resolve, 5)) },
        { ringMs: 100 },
      );
      const result = await call.result;
      expect(await call.hangUp()).toBe('ended');
      if (!('media' in result)) expect(result).toMatchObject({ failure: 'no_answer', mayBeOpen: false });
      expect(farSide.methods().filter((method) => method === 'ACK' || method === 'BYE')).toEqual(['ACK', 'BYE']);
    },
  );

  // RFC 3261, 16.7: a forking proxy passes on every 200, also after another final response.
  it('acknowledges and ends a 200 that comes after another final response', async () => {
    const { call, farSide } = await callTo(answering(['486 Busy Here', [], '', 'one'], ANSWERED));
    expect(await call.result).toMatchObject({ failure: 'busy' });
    expect((await farSide.until('BYE')).header('To')).toContain('tag=far');
    expect((await farSide.until('ACK', 2)).header('To')).toContain('tag=far');
  });

  it('is answered if the answer comes in time, however long its handle is stored', async () => {
    const handle = ({ toTag }: CallHandle): Promise<void> =>
      new Promise((resolve) => setTimeout(resolve, toTag === undefined ? 0 : 150));
    const { call, farSide } = await callTo(answering(ANSWERED), { handle }, { ringMs: 100 });
    expect(await call.result).toHaveProperty('media');
    expect(farSide.methods()).not.toContain('CANCEL');
  });

  it('that is hung up while its handle is stored is acknowledged before it is ended', async () => {
    let hungUp: Promise<string> | undefined;
    const { call, farSide } = await callTo(answering(ANSWERED), {
      handle: async ({ toTag }) => {
        if (toTag === undefined) return;
        hungUp = call.hangUp();
        await new Promise((resolve) => setTimeout(resolve, 50));
      },
    });
    expect(await call.result).toHaveProperty('media');
    expect(await hungUp).toBe('ended');
    expect(farSide.methods()).toEqual(['INVITE', 'ACK', 'BYE']);
  });

  it('that the other side ends before our ACK is answered first, and ended then', async () => {
    const order: string[] = [];
    const { call, farSide } = await callTo(
      (request, send) => {
        if (request.method === 'INVITE') send(request.reply(...ANSWERED) + requestIn(request, 'BYE', 1));
      },
      { ended: () => void order.push('ended'), handle: () => new Promise((resolve) => setTimeout(resolve, 20)) },
    );
    order.push('media' in (await call.result) ? 'answered' : 'failed');
    await farSide.until('ACK');
    expect(await call.hangUp()).toBe('ended');
    expect(order).toEqual(['answered', 'ended']);
    expect(farSide.methods()).not.toContain('BYE');
  });

  it('does not call if its handle cannot be stored', async () => {
    const { call, farSide } = await callTo(answering(ANSWERED), {
      handle: () => Promise.reject(new Error('no database')),
    });
    expect(await call.result).toMatchObject({ failure: 'cancelled', reason: 'no database', mayBeOpen: false });
    expect(farSide.methods()).toEqual([]);
  });

  it('stays cancelled when the connection ends before the answer to CANCEL', async () => {
    const { call } = await callTo(
      (request, send, socket) => {
        if (request.method === 'INVITE') send(request.reply('180 Ringing', [CONTACT]));
        if (request.method === 'CANCEL') socket.destroy();
      },
      {},
      { ringMs: 50 },
    );
    expect(await call.result).toMatchObject({ failure: 'no_answer', mayBeOpen: true });
  });

  it('is disconnected when the connection ends', async () => {
    const { call } = await callTo((_request, _send, socket) => void socket.destroy());
    expect(await call.result).toMatchObject({ failure: 'disconnected', mayBeOpen: true });
  });

  // pjsip/pjproject#2408 and #2712: SHA-256 first; SIPp/sipp#652.
  it.each([
    ['MD5 after an unknown algorithm', ['algorithm=SHA-512-256', 'algorithm=MD5'], /algorithm=MD5/],
    ['MD5 before an unknown algorithm', ['algorithm=MD5', 'algorithm=SHA-512-256'], /algorithm=MD5/],
    ['SHA-256 if it comes first', ['algorithm=SHA-256', 'algorithm=MD5'], /algorithm=SHA-256/],
    ['a quoted algorithm', ['algorithm="md5"'], /algorithm=MD5/],
    ['a challenge without an algorithm', ['opaque="x"'], /opaque="x"/],
  ])('answers %s', async (_, challenges, expected) => {
    const lines = challenges.map((one) => `WWW-Authenticate: Digest realm="r", nonce="n", qop="auth,auth-int", ${one}`);
    const { call, farSide } = await callTo(
      (request, send) => {
        const known = request.header('Authorization') !== '';
        if (request.method === 'INVITE')
          send(known ? request.reply(...ANSWERED) : request.reply('401 Unauthorized', lines));
      },
      {},
      {},
      { credentials: { user: 'u', password: 'p' } },
    );
    expect(await call.result).toHaveProperty('media');
    expect((await farSide.until('INVITE', 2)).header('Authorization')).toMatch(expected);
  });
});

describe('an answered call', () => {
  async function answered(events: CallEvents = {}) {
    const all = await callTo(answering(ANSWERED), events);
    await all.call.result;
    const invite = await all.farSide.until('INVITE');
    await all.farSide.until('ACK');
    const send = (text: string): void => void all.farSide.sockets[0]?.write(text);
    return { ...all, invite, send };
  }

  it('ends by the BYE of the other side, with its reason', async () => {
    const ended = jest.fn();
    const { send, invite, farSide } = await answered({ ended });
    send(requestIn(invite, 'BYE', 1, ['Reason: Q.850;cause=16;text="Normal call clearing"']));
    await farSide.until('200');
    expect(ended).toHaveBeenCalledWith('other side', 'Normal call clearing');
  });

  // livekit/sip#280, davehorton/simple-sip-proxy#7: BYE with another Request-URI.
  it('accepts a BYE whose Request-URI is not our Contact', async () => {
    const ended = jest.fn();
    const { send, invite, farSide } = await answered({ ended });
    send(requestIn(invite, 'BYE', 1).replace(/^BYE \S+/, 'BYE sips:elsewhere@127.0.0.1'));
    await farSide.until('200');
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['UPDATE', [], '405'],
    ['OPTIONS', [], '200'],
    ['INFO', [], '200'],
    ['INFO', ['Info-Package: x'], '469'],
    ['PUBLISH', [], '405'],
    ['INFO', ['Require: 100rel'], '420'],
  ])('answers %s with %j by %s', async (method, lines, status) => {
    const { send, invite, farSide } = await answered();
    send(requestIn(invite, method, 1, lines));
    expect((await farSide.until(status)).header('CSeq')).toBe(`1 ${method}`);
  });

  it('refuses a media address that is not wanted', async () => {
    const { send, invite, farSide } = await answered({ media: () => false });
    send(requestIn(invite, 'INVITE', 1, [CONTACT], ANSWER.replace('c=IN IP4 127.0.0.1', 'c=IN IP4 10.0.0.1')));
    expect((await farSide.until('488')).header('CSeq')).toBe('1 INVITE');
  });

  it('accepts a transfer, reports it as done, and names its target', async () => {
    const transfer = jest.fn();
    const { send, invite, farSide } = await answered({ transfer });
    send(requestIn(invite, 'REFER', 1, [CONTACT, 'Refer-To: <sip:+4930@example.org>']));
    await farSide.until('202');
    const notice = await farSide.until('NOTIFY');
    expect(notice.header('Event')).toBe('refer');
    expect(notice.header('Subscription-State')).toBe('terminated;reason=noresource');
    expect(notice.text).toMatch(/SIP\/2\.0 200 OK\r\n$/);
    expect(transfer).toHaveBeenCalledWith('<sip:+4930@example.org>');
  });

  it('is ended by its handle over another connection', async () => {
    const { call, farSide } = await answered();
    const result = await call.result;
    if (!('handle' in result)) throw new Error(result.reason);
    expect(await end(farSide.options, result.handle)).toBe('ended');
    const [invite, bye] = [await farSide.until('INVITE'), await farSide.until('BYE')];
    expect(farSide.sockets).toHaveLength(2);
    expect(bye.header('Call-ID')).toBe(invite.header('Call-ID'));
    expect(bye.header('To')).toContain('tag=far');
  });
});

describe('a call that another process made', () => {
  it('is cancelled by its handle, and ended if its answer crosses', async () => {
    let invite: Parameters<Script>[0] | undefined;
    let handle: CallHandle | undefined;
    const { farSide } = await callTo(
      (request, send) => {
        if (request.method === 'INVITE') send((invite = request).reply('180 Ringing', [CONTACT]));
        if (request.method === 'CANCEL') send(request.reply('200 OK') + (invite?.reply(...ANSWERED) ?? ''));
        if (request.method === 'BYE') send(request.reply('200 OK'));
      },
      { handle: (one) => Promise.resolve(void (handle ??= one)) },
    );
    await farSide.until('INVITE');
    if (handle === undefined) throw new Error('no handle');
    expect(await end(farSide.options, handle)).toBe('ended');
    expect(farSide.methods()).toEqual(['INVITE', 'CANCEL', 'ACK', 'BYE']);
    expect((await farSide.until('CANCEL')).header('Via')).toContain(
      (await farSide.until('INVITE')).header('Via').split(';')[0],
    );
  });
});
