import { OutboundClient } from '../../../../outbound-http/index.js';
import type { Failure } from '../../../timeline/failure.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import { StubClient } from '../testing/stub-client.js';
import { retell } from './index.js';
import { RetellServer, type RetellServerOptions } from '../../../../../test/simulators/retell/server.js';
import type { TelephoneFaults } from '../../../../../test/simulators/retell/telephone.js';

const KEY = 'key_1234567890abcdef';
const ATTEMPT = '0b7f8a52-77d1-4a0e-8b5e-1f8d0a6c9e21';
const BODY = {
  agent_id: 'agent_01',
  direction: 'inbound',
  metadata: { 'vat-call': ATTEMPT },
  retell_llm_dynamic_variables: {},
};

const endpointOf = (more: Partial<AgentEndpoint> = {}): AgentEndpoint => ({
  ...{
    protocol: 'retell',
    url: retell.defaultUrl!,
    headers: {},
    firstSpeaker: null,
    options: {},
    apiKey: KEY,
    ...more,
  },
});
const callOf = (client: OutboundClient, more: Partial<AgentCall> = {}): AgentCall => ({
  ...{ client, assistantId: 'agent_01', phoneNumber: '', workspaceId: 'w-1', callId: ATTEMPT, ...more },
});

describe('A call to an agent of Retell', () => {
  const doubles: RetellServer[] = [];
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop();
  });

  /** Dials, and hangs up what was answered. */
  async function dialled(
    options: RetellServerOptions = {},
    faults: TelephoneFaults = {},
    more: Partial<AgentCall> = {},
  ) {
    const voice = { say: () => new Uint8Array(8_000) };
    const recogniser = { recognise: () => ({ type: 'sound' as const, name: 'noise' }) };
    const double = await RetellServer.start({
      ...{
        apiKey: KEY,
        agentId: 'agent_01',
        voice: () => Promise.resolve({ today: 0, voice, recogniser }),
        ...options,
      },
    });
    doubles.push(double);
    Object.assign(double.telephone.faults, faults);
    const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
    const variables = { customer_name: 'Anna Rossi', people: 4, vip: true };
    const endpoint = endpointOf({ url: double.url, options: { variables, sipServer: double.telephone.url } });
    const session = retell.session(endpoint, callOf(client, more));
    const steps: string[] = [];
    const result = await session
      .dial({
        signal: new AbortController().signal,
        onStep: (step) => steps.push(step),
        bindMedia: () => Promise.resolve(40_000),
      })
      .then(
        () => undefined,
        (error: { failure: Failure }) => error.failure,
      );
    await session.hangUp!();
    return { double, session, steps, result };
  }

  it('is registered without anything that alters the agent, and its INVITE has neither key nor variables', async () => {
    const { double, result, steps } = await dialled();
    expect(result).toBeUndefined();
    const variables = { customer_name: 'Anna Rossi', people: '4', vip: 'true' };
    expect(double.telephone.registered).toEqual([{ ...BODY, retell_llm_dynamic_variables: variables }]);
    const [invite] = double.telephone.invited;
    expect(invite!.user).toMatch(/^call_\w+$/);
    expect(invite!.header('X-Vat-Call')).toBe(ATTEMPT);
    expect(invite!.header('X-customer_name')).toBe('');
    expect([...new Set(steps)]).toEqual(['resolved', 'connected', 'accepted']);
  });

  it('is in the ledger by the id of its record, with what ends it in SIP', async () => {
    const placed: unknown[][] = [];
    const ledger = {
      placed: (...given: unknown[]) => Promise.resolve(void placed.push(given)),
      identified: () => Promise.resolve(),
      paid: () => Promise.resolve(),
    };
    const { double } = await dialled({}, {}, { ledger });
    const id = double.telephone.invited[0]!.user;
    expect(placed.length).toBeGreaterThan(1);
    for (const [handle, of] of placed)
      expect([of, handle]).toEqual([id, expect.objectContaining({ callId: expect.any(String) as unknown })]);
    expect(placed.at(-1)![0]).toMatchObject({ ended: true });
  });

  it.each([
    ['3', 3],
    ['prod', 'prod'],
  ])('asks for version %s of the agent', async (assistantVersion, version) => {
    const { double, result } = await dialled({ versions: [3, 'prod'] }, {}, { assistantVersion });
    expect(result).toBeUndefined();
    expect(double.telephone.registered).toMatchObject([{ agent_version: version }]);
  });

  it.each<[string, RetellServerOptions, TelephoneFaults, Partial<AgentCall>, object]>([
    ['with a wrong key', { apiKey: 'another' }, {}, {}, { code: 'platform_refused', status: 401 }],
    ['to an unknown agent', { agentId: 'another' }, {}, {}, { code: 'platform_refused', status: 422 }],
    [
      'to an unknown version',
      { versions: [1] },
      {},
      { assistantVersion: '7' },
      { code: 'platform_refused', status: 400 },
    ],
    [
      'while all calls of the account are in use',
      { concurrency: { current: 20, limit: 20 } },
      {},
      {},
      { code: 'platform_busy', retryable: true },
    ],
    // docs.retellai.com/api-references/register-phone-call: "The timeout is 5 minutes."
    [
      'whose id has expired',
      {},
      { validMs: 0 },
      {},
      { code: 'platform_refused', message: expect.stringContaining('SIP 404') as unknown },
    ],
    // community.retellai.com/t/799: INVITEs are "immediately rejected with SIP 486".
    ['that is busy', {}, { refusesWith: '486 Busy Here' }, {}, { code: 'busy', retryable: true }],
    // Another host than that of the account (jambonz/retell-sip-integration-example dials one of LiveKit).
    ['at a server of others', {}, { refusesWith: '480 Temporarily Unavailable' }, {}, { code: 'no_answer' }],
    // docs.retellai.com/deploy/custom-telephony: PCMU, PCMA and G.722.
    ['without a codec in common', {}, { refusesWith: '488 Not Acceptable Here' }, {}, { code: 'codec_refused' }],
  ])("%s is an error that is not the agent's", async (_what, options, faults, call, failure) => {
    const { result } = await dialled(options, faults, call);
    expect(result).toMatchObject({ fault: 'infrastructure', ...failure });
    expect(JSON.stringify(result)).not.toContain(KEY);
  });

  // Codes of the agent's own errors are its failure if they are repeated.
  it.each([500, 501, 503, 504])("is not the agent's failure if the platform answers HTTP %d", async (status) => {
    const client = new StubClient('{"message":"Internal error"}', status);
    const dial = retell
      .session(endpointOf(), callOf(client))
      .dial({ signal: new AbortController().signal, onStep: () => undefined });
    await expect(dial).rejects.toMatchObject({ failure: { code: 'http_status', retryable: true } });
  });

  const OTHER = { recordFields: { call_id: 'call_of_others' } };
  // elevenlabs/elevenlabs-python#351: platforms answer with 500 for minutes.
  const REFUSALS = Array.from({ length: 9 }, () => ({ status: 500 }));
  it.each<[string, TelephoneFaults, { readonly status: number }[], boolean]>([
    ['has the record of its id', {}, REFUSALS.slice(0, 1), true],
    ['does not have the record of another call', OTHER, [], false],
    ['has no record while the platform answers with 500', {}, REFUSALS, false],
  ])('%s', async (_what, faults, refusals, isFound) => {
    const { double, session } = await dialled({}, faults);
    double.kept.faults.refusals = [...refusals];
    const found = session.recorded!(AbortSignal.timeout(6_000)).then(
      (record) => record?.attemptId,
      () => undefined,
    );
    expect(await found).toBe(isFound ? ATTEMPT : undefined);
  });

  it('can be made once with an id', async () => {
    const { double, result } = await dialled({}, {});
    expect(result).toBeUndefined();
    expect(double.telephone.waitingFor(double.telephone.invited[0]!.user)).toBeUndefined();
  });

  it.each([
    ['none', undefined],
    ['a telephone number', '+4930123456'],
    ['digits alone', '112'],
    ['an address of others', 'x@evil.example.com'],
    ['parameters', 'call_1;transport=udp'],
    ['a line of its own', 'call_1\r\nX-Evil: 1'],
    ['enormous length', `call_${'a'.repeat(5_000)}`],
    ['an object', { id: 'call_1' }],
  ])('is not dialled if its id is %s', async (_what, call_id) => {
    const client = new StubClient(JSON.stringify({ call_id }), 201);
    const dial = retell
      .session(endpointOf(), callOf(client))
      .dial({ signal: new AbortController().signal, onStep: () => undefined });
    await expect(dial).rejects.toMatchObject({ failure: { code: 'bad_response' } });
    expect(client.requests.map(({ url }) => url)).toEqual([
      'https://api.retellai.com/get-concurrency',
      'https://api.retellai.com/v2/register-phone-call',
    ]);
  });

  it('has advice for refusals of the API and of the SIP server', async () => {
    const { session, result } = await dialled({}, { validMs: 0 });
    expect(session.cure!('ready', result!)).toContain('sipServer');
    const { session: refused, result: key } = await dialled({ apiKey: 'another' });
    expect(refused.cure!('accepted', key!)).toContain('apiKey');
  });
});

describe('The option sipServer', () => {
  const { violation } = retell.options['sipServer']!;

  it.each([
    ['sip:sip.retellai.com;transport=tcp', undefined],
    ['sips:sip.retellai.com', undefined],
    ['sip:127.0.0.1:5060', undefined],
    ['sip:call_1@sip.retellai.com', 'must not have a user'],
    ['sip:sip.retellai.com;transport=udp', 'transport'],
    ['https://sip.retellai.com', 'must begin with'],
    [7, 'must be an address'],
  ])('%s', (value, expected) => {
    const found = violation(value);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(expected);
  });
});
