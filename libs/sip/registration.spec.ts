import { end } from './end.js';
import { SipEndpoint } from './endpoint.js';
import type { CallHandle } from './handle.js';
import { IncomingCall } from './incoming.js';
import { Registration } from './registration.js';
import type { SessionEvents } from './session.js';
import { ANSWER, CONTACT, FarSide, requestIn, type Script } from './testing/far-side.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function registrar(script: Script) {
  const farSide = await FarSide.open(script);
  open.push(farSide);
  const endpoint = await SipEndpoint.open({ ...farSide.options, credentials: { user: 'u', password: 'p' } });
  open.push(endpoint);
  return { farSide, endpoint };
}

describe('a registration', () => {
  it('answers the challenge, ignores the Contacts of other devices, and removes only its own', async () => {
    const { farSide, endpoint } = await registrar((request, send) => {
      const { token } = endpoint;
      const contacts = `Contact: <sip:other@10.0.0.1>;expires=5, <sip:${token}@x>;expires=60`;
      const known = request.header('Authorization') !== '';
      send(
        known
          ? request.reply('200 OK', [contacts])
          : request.reply('401 X', ['WWW-Authenticate: Digest realm="r", nonce="n"']),
      );
    });
    const registration = await Registration.open(endpoint, { account: 'me' });
    if (!(registration instanceof Registration)) throw new Error(registration.reason);
    expect(registration.granted).toBe(60);
    await registration.end();
    const [, first, , last] = farSide.received;
    expect(first?.header('Contact')).toBe(`${endpoint.contact};expires=120`);
    expect(last?.header('Contact')).toBe(`${endpoint.contact};expires=0`);
    expect(last?.header('Call-ID')).toBe(first?.header('Call-ID'));
    expect(Number.parseInt(last?.header('CSeq') ?? '')).toBeGreaterThan(Number.parseInt(first?.header('CSeq') ?? ''));
  });

  // OpenSIPS/opensips#217 and versatica/JsSIP#482: the registrar grants less than was asked for, in one place or the other.
  it.each([
    ['in its Contact', (own: string) => [`Contact: ${own};expires=30`, 'Expires: 120'], 30],
    ['in quotes', (own: string) => [`Contact: ${own};+x="y";expires="30"`], 30],
    ['in Expires', (own: string) => [`Contact: ${own};reg-id=1`, 'Expires: 45'], 45],
    ['in short names', (own: string) => [`m:${own};Expires = 20`], 20],
    [
      'beside the Contacts of containers',
      (own: string) => [`Contact: <sip:PBX#1@agent_1>;expires=9, ${own};expires=30`],
      30,
    ],
  ])('lasts as long as the registrar says %s', async (_what, lines, granted) => {
    const { endpoint } = await registrar((request, send) =>
      send(request.reply('200 OK', lines(request.header('Contact').replace(/;expires.*/, '')))),
    );
    const registration = await Registration.open(endpoint, { account: 'me' });
    expect(registration).toMatchObject({ granted });
    if (registration instanceof Registration) await registration.end();
  });

  // versatica/JsSIP#105 and pjsip/pjproject#4038: the same time was asked for again.
  it('asks for the least time of the registrar', async () => {
    const { farSide, endpoint } = await registrar((request, send) => {
      const enough = Number(request.header('Expires')) >= 300;
      send(enough ? request.reply('200 OK') : request.reply('423 Interval Too Brief', ['Min-Expires: 300']));
    });
    expect(await Registration.open(endpoint, { account: 'me' })).toBeInstanceOf(Registration);
    expect(farSide.received.map((request) => request.header('Expires'))).toEqual(['120', '300']);
  });

  it.each([
    ['403 Forbidden', 'refused'],
    ['423 Interval Too Brief', 'refused'],
    ['503 Service Unavailable', 'unavailable'],
  ])('that is answered by %s is "%s"', async (status, failure) => {
    const { endpoint } = await registrar((request, send) => send(request.reply(status)));
    expect(await Registration.open(endpoint, { account: 'me' })).toMatchObject({ failure });
  });
});

describe('the Contact', () => {
  // livekit/sip#597: BYEs went to an address inside the container.
  it('has the address that the first answer of any kind names', async () => {
    const { endpoint } = await registrar((request, send) =>
      send(request.reply('403 Forbidden').replace(/;rport/, ';rport=4321;received=203.0.113.5')),
    );
    await endpoint.learnContact();
    expect(endpoint.contact).toBe(`<sip:${endpoint.token}@203.0.113.5:4321;transport=tcp>`);
  });

  it('has the local address if OPTIONS is not answered', async () => {
    const { endpoint } = await registrar(() => undefined);
    await endpoint.learnContact();
    expect(endpoint.contact).toBe(`<sip:${endpoint.token}@${endpoint.via};transport=tcp>`);
  });
});

describe('an INVITE on the connection', () => {
  /** Sends this many INVITEs in answer to REGISTER. */
  async function invited(count: number, answer: (call: IncomingCall) => void) {
    const all = await registrar((request, send) => {
      if (request.method !== 'REGISTER') return;
      send(request.reply('200 OK'));
      for (let index = 0; index < count; index += 1) {
        const text = requestIn(request, 'INVITE', 1, [CONTACT], ANSWER);
        send(
          text
            .replaceAll('z9hG4bKfar', `z9hG4bK${index}`)
            .replace(/^(To: [^\r]*);tag=\w+/m, '$1')
            .replace('Call-ID: ', `Call-ID: ${index}`),
        );
      }
    });
    all.endpoint.listener = { invited: (request) => answer(new IncomingCall(all.endpoint, request)) };
    await Registration.open(all.endpoint, { account: 'me' });
    return all;
  }

  const OWN = { address: '127.0.0.1', port: 4_000, session: 1 };

  /** Answers an INVITE, and gives what can be done with the call. */
  async function answered(events: SessionEvents = {}) {
    let call: IncomingCall | undefined;
    let hangUp: (() => Promise<string>) | undefined;
    const all = await invited(1, (incoming) => {
      call = incoming;
      incoming.ring(() => undefined);
      hangUp = incoming.answer(OWN, events);
    });
    const accepted = await all.farSide.until('200');
    if (call === undefined || hangUp === undefined) throw new Error('no call came');
    const acknowledge = async (): Promise<unknown> =>
      all.farSide.sockets[0]?.write(
        requestIn(await all.farSide.until('REGISTER'), 'ACK', 1)
          .replace('Call-ID: ', 'Call-ID: 0')
          .replace(/^To: .*$/m, `To: ${accepted.header('To')}`),
      );
    return { ...all, call, hangUp, accepted, acknowledge };
  }

  it('is answered with their codec, and BYE waits for their ACK', async () => {
    const { farSide, call, hangUp, accepted, acknowledge } = await answered();
    expect(call.media).toMatchObject({ port: 40_000 });
    expect(accepted.text).toContain('m=audio 4000 RTP/AVP 0 96\r\n');
    const ending = hangUp();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(farSide.methods()).not.toContain('BYE');
    await acknowledge();
    farSide.sockets[0]?.write((await farSide.until('BYE')).reply('200 OK'));
    expect(await ending).toBe('ended');
  });

  it('is ended by its handle over another connection', async () => {
    const { farSide, call, accepted, acknowledge } = await answered();
    await acknowledge();
    const handle = JSON.parse(JSON.stringify(call.handle)) as CallHandle;
    const ending = end(farSide.options, handle);
    const bye = await farSide.until('BYE');
    expect(bye.header('From')).toBe(accepted.header('To'));
    expect(bye.header('To')).toBe(accepted.header('From'));
    expect(bye.header('Call-ID')).toBe(accepted.header('Call-ID'));
    expect(bye.text).toMatch(/^BYE sip:far@127.0.0.1:5099/);
    farSide.sockets[1]?.write(bye.reply('200 OK'));
    expect(await ending).toBe('ended');
  });

  it('ends if no ACK comes in 32 s', async () => {
    const real = setTimeout;
    const fast = (run: () => void, ms = 0): NodeJS.Timeout => real(run, ms / 100);
    const clock = jest.spyOn(global, 'setTimeout').mockImplementation(fast);
    try {
      const reason = await new Promise((resolve) => void answered({ ended: (_by, why) => resolve(why) }));
      expect(reason).toBe('no ACK in time');
    } finally {
      clock.mockRestore();
    }
  });

  it('closes the connection after five in a second', async () => {
    const { endpoint } = await invited(8, (call) => call.refuse(404));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(endpoint.closed).toBe(true);
  });
});
