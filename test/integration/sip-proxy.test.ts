import {
  type CallHandle,
  end,
  type EndpointOptions,
  IncomingCall,
  mediaOffer,
  Registration,
  SipCall,
  SipEndpoint,
} from '../../libs/sip/index.js';
import { connectByTcp } from '../../libs/sip/testing/far-side.js';
import { type Kamailio, startKamailio } from '../support/kamailio.js';
import { describeWith } from '../support/programs.js';

/** A registrar and proxy with digest and Record-Route. */
const configuration = (algorithm: string): string => `
modparam("auth", "algorithm", "${algorithm}")
request_route {
  if (has_totag()) { if (loose_route()) { t_relay(); } else if (!is_method("ACK")) { sl_send_reply("404", "No route"); } exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) { t_relay(); } else { sl_send_reply("481", "None"); } exit; }
  if (is_method("OPTIONS")) { sl_send_reply("200", "OK"); exit; }
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("kamailio", "secret", "0")) { www_challenge("kamailio", "1"); exit; }
    save("location");
    exit;
  }
  if (!is_method("INVITE")) { exit; }
  if (!pv_proxy_authenticate("kamailio", "secret", "0")) { proxy_challenge("kamailio", "1"); exit; }
  consume_credentials();
  record_route();
  if (!lookup("location")) { sl_send_reply("404", "Nobody here"); exit; }
  t_relay();
}
`;

const OWN = { address: '127.0.0.1', port: 40_002, session: 1 };
const OFFER = mediaOffer(OWN);

describeWith('kamailio', 'Kamailio', () => {
  const open: { close(): unknown }[] = [];
  let kamailio: Kamailio;
  let options: EndpointOptions;

  async function start(algorithm: string): Promise<void> {
    kamailio = await startKamailio(configuration(algorithm));
    const { port } = kamailio;
    const address = { user: undefined, host: '127.0.0.1', port, transport: 'tcp' as const };
    options = { connect: connectByTcp, address, userAgent: 'test', credentials: { user: 'me', password: 'secret' } };
  }

  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
    await kamailio.stop();
  });

  async function endpoint(): Promise<SipEndpoint> {
    const opened = await SipEndpoint.open(options);
    open.push(opened);
    await opened.learnContact();
    return opened;
  }

  /** Registers, and calls itself over the proxy. */
  async function call(
    answer: (incoming: IncomingCall) => void,
    handle: (handle: CallHandle) => void = () => undefined,
  ) {
    const callee = await endpoint();
    const registration = await Registration.open(callee, { account: 'me' });
    if (!(registration instanceof Registration)) throw new Error(registration.reason);
    callee.listener = { invited: (request) => answer(new IncomingCall(callee, request)) };
    const caller = await endpoint();
    const target = { ...options.address, user: 'me' };
    const events = { handle: (one: CallHandle) => Promise.resolve(handle(one)) };
    return { caller, registration, call: new SipCall(caller, { target, caller: 'me', offer: OFFER }, events) };
  }

  it.each(['MD5', 'SHA-256'])(
    'registers us with %s, and passes a call and our BYE over the registered connection',
    async (algorithm) => {
      await start(algorithm);
      const ended = jest.fn();
      const all = await call((incoming) => {
        incoming.ring(() => undefined);
        incoming.answer(OWN, { ended });
      });
      expect(await all.call.result).toMatchObject({ handle: { routeSet: [expect.stringContaining('lr')] } });
      expect(await all.call.hangUp()).toBe('ended');
      expect(ended).toHaveBeenCalledTimes(1);
    },
  );

  it('passes no call after the registration has ended', async () => {
    await start('MD5');
    const all = await call((incoming) => incoming.refuse(486));
    expect(await all.call.result).toMatchObject({ failure: 'busy' });
    await all.registration.end();
    const again = new SipCall(await endpoint(), { target: { ...options.address, user: 'me' }, offer: OFFER });
    expect(await again.result).toMatchObject({ failure: 'no_such_user', reason: 'Nobody here' });
  });

  it('ends an answered call by its handle over another connection', async () => {
    await start('SHA-256');
    const ended = jest.fn();
    const all = await call((incoming) => void incoming.answer(OWN, { ended }));
    const result = await all.call.result;
    if (!('handle' in result)) throw new Error(result.reason);
    all.caller.close();
    expect(await end(options, result.handle)).toBe('ended');
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('ends a ringing call by its handle over another connection', async () => {
    await start('MD5');
    let handle: CallHandle | undefined;
    const gone = new Promise<void>((resolve) => {
      void call(
        (incoming) => incoming.ring(resolve),
        (one) => (handle = one),
      ).then(async ({ caller }) => {
        await new Promise((wait) => setTimeout(wait, 500));
        caller.close();
        if (handle !== undefined) await end(options, handle);
      });
    });
    expect(await gone).toBeUndefined();
  });

  it('refuses a wrong password', async () => {
    await start('SHA-256');
    options = { ...options, credentials: { user: 'me', password: 'wrong' } };
    expect(await Registration.open(await endpoint(), { account: 'me' })).toMatchObject({
      failure: 'refused',
      status: 401,
    });
  });
});
