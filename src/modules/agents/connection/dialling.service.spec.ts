import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { readSettings } from '../../../platform/config/settings.js';
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
}

function dial({ url, phoneNumber = '', ownNumber = null, env = ALLOWED }: Given) {
  const service = serviceOf(env);
  const reached = service.reach('AGENT_PROVIDER_1', url)!;
  const endpoint: CalledEndpoint = {
    ...{ provider: 'AGENT_PROVIDER_1', protocol: 'sip', ownNumber, transcription: 'auto', firstSpeaker: null },
    ...{ headers: { 'x-token': 'header-secret' }, options: { srtp: 'off' }, apiKey: 'key' },
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

  it.each([
    ...[
      '+19005551234',
      '+449098790000',
      '+4909001234567',
      '+390612345678@evil.example',
      '112',
      '+39112',
      '00390612345678',
    ],
    ...['sip:+19005551234@sip.platform.example', 'sip:%2B19005551234@sip.platform.example'],
    ...['sip:1%2D900%2D555%2D1234@sip.platform.example', 'sip:0019005551234@sip.platform.example'],
    ...['sip:+1(900)5551234;phone-context=x@sip.platform.example', 'sip:%252B19005551234@sip.platform.example'],
    ...['sip:112@sip.platform.example', 'sip:*112%23@sip.platform.example', 'sip:9112@sip.platform.example'],
    ...['sip:%31%31%32@sip.platform.example', 'sip:%EF%BC%91%EF%BC%91%EF%BC%92@sip.platform.example'],
    ...[
      'sip:1%001%002@sip.platform.example',
      'sip:%ff112@sip.platform.example',
      'sip:+390612345678x@sip.platform.example',
    ],
    ...['sip:a@127.1', 'sip:a@2130706433', 'sip:a@[::ffff:7f00:1]', 'sip:a@169.254.169.254', 'sip:a@224.0.1.75'],
    ...['sip:a@0.0.0.0', 'sip:a@255.255.255.255', 'sip:a@x.example?Route=10.0.0.1', 'sip:a@x.example;maddr=10.0.0.1'],
    ...['sip:a\r\nX-Y: 1@x.example', 'sips:{other}@x.example', 'sip:a@x.example:99999'],
  ])('dials nothing for the hostile %j', (phoneNumber) => {
    const env = { ...ALLOWED, SIP_ALLOWED_PREFIXES: '+1,+3,+4,0,1,2,3,4,5,6,7,8,9' };
    for (const url of [OWN_ADDRESS, '{phoneNumber}']) expect(dial({ url, phoneNumber, env })).toHaveProperty('refusal');
  });

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
