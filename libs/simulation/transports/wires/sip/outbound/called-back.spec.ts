import { Webhook } from 'standardwebhooks';
import type { OutboundPlatforms } from '../../../../../../test/simulators/outbound/server.js';
import { connectByTcp } from '../../../../../sip/testing/far-side.js';
import { CallFailure } from '../../../../timeline/failure.js';
import type { JsonValue } from '../../../../timeline/text.js';
import type { AgentEndpoint } from '../../../modules/endpoint.js';
import { type CalledBackOptions, calledBack } from './called-back.js';
import { isFrom } from './expected-call.js';
import { ATTEMPT, type Invite, KEY, OURS, THEIRS, TrunkSide } from './testing/trunk-side.js';
import { endTriggered, fieldOf, TRIGGER_OPTIONS } from './triggers.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function world() {
  const side = await TrunkSide.open();
  open.push(side);
  const { platforms, farSide, placed } = side;
  const invite = (one?: Invite): void => side.invite(one);
  const run = async (endpoint: Partial<AgentEndpoint> = {}, more: Partial<CalledBackOptions> = {}) => {
    const back = await calledBack(side.endpoint(endpoint), side.call, {
      connect: connectByTcp,
      userAgent: 'test',
      signal: new AbortController().signal,
      failed: ({ failure, reason }) => new CallFailure('platform_refused', `${failure}: ${reason}`),
      expectedMs: 500,
      ...more,
    });
    open.push({ close: () => back.end() });
    return back;
  };
  return { side, platforms, farSide, invite, run, placed };
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: CallFailure) => error.failure,
  );
const lastOf = (platforms: OutboundPlatforms) => platforms.requests.at(-1)!;

describe('an agent that is asked to call', () => {
  it('is asked only when its number is registered, and its call rings', async () => {
    const { side, platforms, farSide, invite, run, placed } = await world();
    platforms.onCall = () => {
      expect(farSide.methods()).toContain('REGISTER');
      expect(side.expectedMs).toBe(150_000);
      invite();
    };
    const back = await run();
    expect((await farSide.until('180')).header('CSeq')).toBe('1 INVITE');
    expect(back.incoming.from).toContain(THEIRS);
    expect(placed).toEqual([{ triggered: back.triggered.id, credentials: { user: 'me', password: 'secret' } }]);
    expect(side.expectedMs).toBe(0);
    await back.end();
    const last = await farSide.until('REGISTER', 2);
    expect(last.header('Contact')).toBe(farSide.received[1]!.header('Contact').replace('=120', '=0'));
  });

  it.each([
    ['vapi', 'POST /call', { phoneNumberId: 'number-1', customer: { number: OURS } }],
    ['retell', 'POST /v2/create-phone-call', { from_number: THEIRS, to_number: OURS, override_agent_id: 'agent-1' }],
    ['elevenlabs', 'POST /v1/convai/sip-trunk/outbound-call', { agent_id: 'agent-1', to_number: OURS }],
  ])('is asked by the API of %s, with the key, its number and its variables', async (name, route, body) => {
    const { platforms, invite, run } = await world();
    const asked = new Promise((resolve) => {
      platforms.onCall = (call) => (resolve(call), invite());
    });
    await run({ phoneNumberId: 'number-1', options: { trigger: `${name}:${platforms.url}` } });
    const { method, path, headers, text } = lastOf(platforms);
    expect(`${method} ${path}`).toBe(route);
    expect(JSON.parse(text)).toMatchObject(body);
    expect(headers['xi-api-key'] ?? headers.authorization).toContain(KEY);
    const people = name === 'retell' ? '4' : 4;
    expect(await asked).toMatchObject({ to: OURS, from: THEIRS, variables: { name: 'Rossi', people } });
  });

  it('is asked by a signed POST without the key of the agent', async () => {
    const { platforms, invite, run, placed } = await world();
    platforms.onCall = () => invite();
    const triggerSecret = `whsec_${Buffer.from('0123456789abcdef').toString('base64')}`;
    await run({ options: { trigger: `${platforms.url}/call-me/?to=%2B49`, triggerSecret } });
    const { headers, text, url } = lastOf(platforms);
    expect(url).toBe('/call-me/?to=%2B49');
    const variables = { name: 'Rossi', people: 4 };
    const signed = headers as Record<string, string>;
    expect(new Webhook(triggerSecret).verify(text, signed)).toEqual({
      callId: ATTEMPT,
      to: OURS,
      from: THEIRS,
      variables,
    });
    expect(JSON.stringify(headers)).not.toContain(KEY);
    expect(placed).toMatchObject([{ triggered: `own-${ATTEMPT}` }]);
  });

  it.each([
    ['lost', { trigger: 'vapi' }],
    ['failed', { trigger: 'retell' }],
    // CALLE-AI/awesome-phone-call-agents#619: the first acknowledgement was lost, and the call was made.
    ['lost', { trigger: 'elevenlabs' }],
  ] as const)('is not asked again when the answer was %s, and its call is taken (%j)', async (fault, { trigger }) => {
    const { platforms, invite, run } = await world();
    platforms.fault = fault;
    platforms.onCall = () => void setTimeout(invite, 100);
    const back = await run({ phoneNumberId: 'number-1', options: { trigger: `${trigger}:${platforms.url}` } });
    expect(back.triggered).toMatchObject({ id: null });
    expect(platforms.requests).toHaveLength(1);
  });

  it('is an error without blame if it does not call, which says what the platform recorded', async () => {
    const { platforms, run } = await world();
    platforms.ended = 'dial_failed';
    expect(await failureOf(run())).toMatchObject({
      code: 'no_call_came',
      fault: 'infrastructure',
      said: 'dial_failed',
    });
    platforms.fault = 'lost';
    expect((await failureOf(run()))?.message).toContain('the answer to the request was lost');
  });

  it.each([
    // VapiAI/docs#1197: numbers of Vapi only take calls.
    ['vapi', 'number-vapi', 'none', 'platform_refused', 'call.start.error-get-transport'],
    ['vapi', 'number-9', 'none', 'platform_refused', 'Does Not Exist'],
    ['vapi', 'number-1', 'busy', 'platform_busy', 'concurrencyBlocked'],
    ['retell', '', 'busy', 'rate_limited', 'throttle'],
    // elevenlabs/elevenlabs-mcp#40.
    ['elevenlabs-twilio', 'number-1', 'none', 'platform_refused', 'missing some Twilio credentials'],
    ['elevenlabs', 'number-1', 'busy', 'platform_refused', '486 Busy Here'],
    ['elevenlabs', 'number-9', 'none', 'platform_refused', 'document_not_found'],
  ] as const)(
    'whose platform refuses (%s, %s, %s) is not waited for: %s',
    async (name, phoneNumberId, fault, code, said) => {
      const { platforms, run, farSide } = await world();
      platforms.fault = fault;
      const failed = await failureOf(
        run({ phoneNumberId, options: { trigger: `${name}:${platforms.url}` } }, { expectedMs: 60_000 }),
      );
      expect(failed).toMatchObject({ code, message: expect.stringContaining(said) as string });
      expect((await farSide.until('REGISTER', 2)).header('Expires')).toBe('0');
    },
  );

  it('is stopped before it calls where its platform can do that, and BYE alone ends calls elsewhere', async () => {
    const { platforms, side } = await world();
    const { client } = side.call;
    const common = { protocol: 'sip', url: 'sip:trunk.example', headers: {}, firstSpeaker: null, apiKey: KEY };
    const stop = (trigger: string, handle: JsonValue) =>
      endTriggered(handle, {
        endpoint: { ...common, options: { trigger } },
        client,
        signal: new AbortController().signal,
      });
    await stop(`retell:${platforms.url}`, 'call-1');
    await stop(`elevenlabs:${platforms.url}`, 'conv-1');
    await stop(`${platforms.url}/call-me`, 'own-1');
    await stop(`retell:${platforms.url}`, null);
    expect(platforms.stopped).toEqual(['call-1']);
    expect(platforms.requests).toHaveLength(1);
  });

  it('is waited for no longer than the run, and its number is unregistered', async () => {
    const { side, platforms, run, farSide } = await world();
    const abort = new AbortController();
    platforms.onCall = () => void setTimeout(() => abort.abort(new Error('cancelled')), 50);
    await expect(run({}, { signal: abort.signal, expectedMs: 60_000 })).rejects.toThrow('cancelled');
    expect(side.expectedMs).toBe(150_000);
    expect((await farSide.until('REGISTER', 2)).header('Expires')).toBe('0');
  });
});

describe('a call that comes while one is expected', () => {
  it('is refused with 486 if its number is another one, and the expected call is still taken', async () => {
    const { platforms, invite, run, farSide } = await world();
    platforms.onCall = () => {
      invite({ from: '<sip:+4930777777@carrier.example>' });
      invite();
      invite();
    };
    const back = await run();
    expect(back.incoming.from).toContain(THEIRS);
    const busy = () => farSide.received.filter(({ method }) => method === '486').map((one) => one.header('Call-ID'));
    await farSide.until('486', 2);
    expect(busy()).toEqual(['call-1', 'call-3']);
  });

  it('says at the end who else called, without the number', async () => {
    const { platforms, invite, run } = await world();
    platforms.onCall = () => invite({ from: '<sip:+4930777777@carrier.example>' });
    const message = (await failureOf(run()))?.message ?? '';
    expect(message).toContain('calls from …777 are not of its phoneNumber');
    expect(message).not.toContain('4930777777');
  });

  it('is refused with 404 if it is to another Contact, so that a late call of an earlier registration is not taken', async () => {
    const { platforms, invite, run, farSide } = await world();
    platforms.onCall = () => invite({ user: '0123456789abcdef01' });
    expect(await failureOf(run())).toMatchObject({ code: 'no_call_came' });
    expect((await farSide.until('404')).header('Call-ID')).toBe('call-1');
  });

  // juha-h/baresip-studio#654: Telnyx calls the number over the registered connection, not the Contact.
  it.each(['4930100001', '+4930100001', '%2B4930100001'])('is taken if the trunk calls our number %s', async (user) => {
    const { platforms, invite, run } = await world();
    platforms.onCall = () => invite({ user });
    expect((await run()).incoming.from).toContain(THEIRS);
  });

  it('ends the wait if more than five of them come in a second, after which the connection is closed', async () => {
    const { platforms, invite, run } = await world();
    platforms.onCall = () => {
      for (let index = 0; index < 8; index += 1) invite({ from: '<sip:1@carrier.example>' });
    };
    expect((await failureOf(run({}, { expectedMs: 60_000 })))?.message).toContain('disconnected');
  });
});

describe('the number of a caller', () => {
  it.each([
    ['sip:+4930900001@carrier.example', true],
    // livekit/sip#329: carriers leave the sign out.
    ['sip:4930900001@carrier.example', true],
    ['sip:004930900001@10.0.0.1:5060', true],
    ['sip:+49-30-900001@carrier.example;user=phone', true],
    ['tel:+4930900001', true],
    // RFC 3323, and wazo-platform/wazo-platform.org#703.
    ['sip:anonymous@anonymous.invalid', true],
    ['sip:Anonymous@carrier.example', true],
    ['sip:Restricted@carrier.example', true],
    ['sip:carrier.example', true],
    ['sip:+4930900002@carrier.example', false],
    ['sip:0309000010@carrier.example', false],
    // jambonz/retell-sip-integration-example#15: trunks that put an id of theirs into From.
    ['sip:1234567e0@sipgate.de', false],
    ['sip:not-used@carrier.example', false],
  ])('%s is the agent or withheld: %s', (from, expected) => {
    expect(isFrom(from, THEIRS)).toBe(expected);
  });
});

describe('the option trigger', () => {
  it.each([
    ['vapi', 'phoneNumberId'],
    ['vapi:https://api.eu.vapi.ai', 'phoneNumberId'],
    ['retell', 'phoneNumber'],
    ['elevenlabs', 'phoneNumberId'],
    ['elevenlabs-twilio:https://api.eu.residency.elevenlabs.io', 'phoneNumberId'],
    ['https://example.com/call?tenant=1', 'phoneNumber'],
    ['http://10.0.0.1:8080/call', 'phoneNumber'],
  ])('%s calls by the %s of the agent', (trigger, field) => {
    expect(TRIGGER_OPTIONS.trigger.violation(trigger)).toBeUndefined();
    expect(fieldOf({ trigger })).toBe(field);
  });

  it.each([
    ...['', 'twilio', 'Vapi', 'vapi:', 'vapi:ftp://x', 'constructor', 'https://', 'https://user:pass@example.com/'],
    ...['https://example.com/#x', 'https://exa mple.com', 'vapi:https://a b', 7, null, {}],
  ])('%j is refused', (trigger) => {
    expect(TRIGGER_OPTIONS.trigger.violation(trigger)).toMatch(/^must be vapi, /);
    expect(fieldOf({ trigger })).toBeUndefined();
  });
});
