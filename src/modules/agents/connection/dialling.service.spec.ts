import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { readSettings } from '../../../platform/config/settings.js';
import { ALL_PREFIXES, hostileAddresses, hostileNumbers } from '../../../../test/support/hostile-targets.js';
import type { CalledEndpoint } from './called-endpoint.js';
import { DiallingService } from './dialling.service.js';

const CREDENTIALS = { user: 'acme', password: 'secret' };
const TRUNK = {
  AGENT_PROVIDER_1_SIP_TRUNK: 'sip:acme.pstn.example;transport=tls',
  AGENT_PROVIDER_1_SIP_USER: CREDENTIALS.user,
  AGENT_PROVIDER_1_SIP_PASSWORD: CREDENTIALS.password,
  AGENT_PROVIDER_1_SIP_CALLER: '+390698765432',
};
const ALLOWED = { SIP_ALLOWED_PREFIXES: '+3906,+4930,7', ...TRUNK };
const OWN_ADDRESS = 'sip:{assistantId}@sip.platform.example';
const NUMBER = '+390612345678';

const serviceOf = (env: NodeJS.ProcessEnv = ALLOWED) => new DiallingService(new OutboundClient(), readSettings(env));

interface Given {
  readonly url: string;
  readonly phoneNumber?: string;
  readonly ownNumber?: string | null;
  readonly env?: NodeJS.ProcessEnv;
  readonly options?: CalledEndpoint['options'];
}

function dial({ url, phoneNumber = '', ownNumber = null, env = ALLOWED, options = { srtp: 'off' } }: Given) {
  const service = serviceOf(env);
  const reached = service.reach('AGENT_PROVIDER_1', url)!;
  const endpoint: CalledEndpoint = {
    ...{ provider: 'AGENT_PROVIDER_1', protocol: 'sip', ownNumber, transcription: 'auto', firstSpeaker: null },
    ...{ headers: { 'x-token': 'header-secret' }, options, apiKey: 'key' },
    ...reached,
  };
  return service.dial(endpoint, { assistantId: 'agent-7', phoneNumber, callId: 'c1' });
}

describe('DiallingService', () => {
  it('dials the address of the connection, also with the number of the agent', () => {
    for (const phoneNumber of ['', NUMBER]) {
      const dialled = dial({ url: OWN_ADDRESS, phoneNumber, ownNumber: NUMBER });
      expect(dialled).toMatchObject({
        endpoint: { url: 'sip:agent-7@sip.platform.example', headers: { 'x-token': 'header-secret' }, apiKey: 'key' },
        isOther: false,
      });
      expect(dialled).not.toHaveProperty('number');
      expect(dialled).not.toHaveProperty('endpoint.line.credentials');
    }
  });

  it.each([
    ['the number of the agent', '{phoneNumber}', { phoneNumber: NUMBER, ownNumber: NUMBER }, false],
    ['a number as people write it', '{phoneNumber}', { phoneNumber: '+39 06 1234-5678', ownNumber: NUMBER }, true],
    ['the number of the connection', NUMBER, {}, false],
    ['the number of an evaluation', OWN_ADDRESS, { phoneNumber: NUMBER, ownNumber: '+4930123456' }, true],
    ['the number of an evaluation of an agent without one', '{phoneNumber}', { phoneNumber: NUMBER }, true],
  ])('dials %s by the trunk, with its credentials', (_what, url, numbers, isOther) => {
    expect(dial({ url, ...numbers })).toMatchObject({
      endpoint: {
        url: `sip:${NUMBER}@acme.pstn.example:5061;transport=tls`,
        shownUrl: 'AGENT_PROVIDER_1_SIP_TRUNK',
        line: { credentials: CREDENTIALS, caller: '+390698765432', media: {} },
      },
      number: NUMBER,
      isOther,
      trunk: 'sip:acme.pstn.example:5061;transport=tls acme',
    });
  });

  it('puts the number of an evaluation where the address has {phoneNumber}', () => {
    const url = 'sip:{phoneNumber}@sip.platform.example';
    const dialled = dial({ url, phoneNumber: NUMBER, ownNumber: '+4930123456' });
    expect(dialled).toMatchObject({ endpoint: { url: `sip:${NUMBER}@sip.platform.example` }, number: NUMBER });
    expect(dialled).not.toHaveProperty('endpoint.line.credentials');
  });

  it('gives no secrets of the connection or the trunk to the address of an evaluation', () => {
    for (const url of [OWN_ADDRESS, '{phoneNumber}']) {
      const dialled = dial({ url, phoneNumber: 'sip:other@acme.pstn.example;transport=tls' });
      expect(dialled).toMatchObject({ endpoint: { url: 'sip:other@acme.pstn.example;transport=tls', headers: {} } });
      expect(JSON.stringify(dialled)).not.toMatch(/secret|"key"/);
    }
  });

  it.each(['sip:other@sip.platform.example', NUMBER])(
    'keeps the key with which the record of a call to %s is read',
    (phoneNumber) => {
      const options = { records: 'vapi', triggerSecret: 'option-secret' };
      const dialled = dial({ url: OWN_ADDRESS, phoneNumber, options });
      expect(dialled).toMatchObject({
        endpoint: { apiKey: 'key', headers: {}, options: { records: 'vapi' } },
        isOther: true,
      });
      expect(JSON.stringify(dialled)).not.toMatch(/(header|option)-secret/);
    },
  );

  it('gives no secrets of the connection to the trunk', () => {
    const dialled = dial({ url: OWN_ADDRESS, phoneNumber: NUMBER });
    expect(dialled).toMatchObject({ endpoint: { headers: {}, line: { credentials: CREDENTIALS } } });
    expect(dialled).not.toHaveProperty('endpoint.apiKey');
  });

  it.each<[string, Given, string | RegExp]>([
    [
      'a number without an allowed prefix',
      { url: OWN_ADDRESS, phoneNumber: '+12025550162' },
      'vendorCallPhoneNumber has none of the prefixes of SIP_ALLOWED_PREFIXES',
    ],
    [
      'any number by default',
      { url: '{phoneNumber}', phoneNumber: NUMBER, ownNumber: NUMBER, env: TRUNK },
      'the address of the agent is not dialled: SIP_ALLOWED_PREFIXES is not set',
    ],
    [
      'a number without a trunk',
      { url: OWN_ADDRESS, phoneNumber: NUMBER, env: { SIP_ALLOWED_PREFIXES: '+39' } },
      'vendorCallPhoneNumber must not be a telephone number, or left out, because AGENT_PROVIDER_1_SIP_TRUNK is not set',
    ],
    ['no number', { url: '{phoneNumber}' }, 'the address of the agent is its phoneNumber, and it has none'],
    [
      'no number in an address',
      { url: 'sip:{phoneNumber}@sip.platform.example' },
      'the address of the agent is its phoneNumber, and it has none',
    ],
    ['a text', { url: OWN_ADDRESS, phoneNumber: 'reception' }, /must be "\+" and 8 to 15 digits for a trunk$/],
    ['an address with a password', { url: OWN_ADDRESS, phoneNumber: 'sip:a:b@x.example' }, /must not have a password$/],
    [
      'a trunk that is not public',
      { url: NUMBER, env: { SIP_ALLOWED_PREFIXES: '+39', AGENT_PROVIDER_1_SIP_TRUNK: 'sip:10.0.0.1' } },
      /private or reserved network/,
    ],
    [
      'an address that is not public',
      { url: OWN_ADDRESS, phoneNumber: 'sip:a@10.0.0.1' },
      /private or reserved network/,
    ],
  ])('refuses %s', (_what, given, refusal) => {
    const dialled = dial(given) as { refusal: string };
    if (typeof refusal === 'string') expect(dialled).toEqual({ refusal });
    else expect(dialled.refusal).toMatch(refusal);
  });

  it.each([...hostileNumbers('sip.platform.example'), ...hostileAddresses(5060)])(
    'dials nothing for the hostile %j',
    (phoneNumber) => {
      const env = { ...ALLOWED, SIP_ALLOWED_PREFIXES: ALL_PREFIXES };
      for (const url of [OWN_ADDRESS, '{phoneNumber}'])
        expect(dial({ url, phoneNumber, env })).toHaveProperty('refusal');
    },
  );

  it('dials nothing for a hostile phoneNumber or assistantId in the address of the agent', () => {
    const url = 'sip:{phoneNumber}@sip.platform.example';
    for (const phoneNumber of [
      '+1 900 555 1234',
      '112',
      'x@evil.example;transport=tls#',
      'sip:a@10.0.0.1',
      '1\u0661\u0662',
    ]) {
      const dialled = dial({ url, phoneNumber, ownNumber: phoneNumber });
      if ('refusal' in dialled) continue;
      expect(dialled.endpoint.url).toMatch(/^sip:[^@;]*@sip\.platform\.example$/);
      expect(dialled).not.toHaveProperty('number');
    }
  });
});
