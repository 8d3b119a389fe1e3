import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { type ConnectionInput, ConnectionCheck, type StoredConnection } from './connection-rules.js';

/** A protocol over WebSocket with a public and a secret option. */
const PROTOCOL = {
  schemes: ['ws:', 'wss:'],
  options: {
    sampleRate: {
      isSecret: false,
      description: 'rate',
      violation: (value: unknown) => (value === 8_000 ? undefined : 'must be 8000'),
    },
    authToken: {
      isSecret: true,
      description: 'token',
      violation: (value: unknown) => (typeof value === 'string' ? undefined : 'must be a string'),
    },
  },
};
const URL = 'wss://voice.example.com/{callId}';
const STORED: StoredConnection = {
  url: URL,
  secrets: { headers: { 'X-Token': 'header-secret' }, options: { authToken: 'option-secret' } },
};

const check = (input: Partial<ConnectionInput>, stored?: StoredConnection) =>
  new ConnectionCheck({ url: URL, headers: {}, options: {}, ...input }, PROTOCOL, new OutboundClient(), stored);

const messagesOf = ({ issues }: ConnectionCheck) => issues.map(({ message }) => message);

describe('the rules of a connection', () => {
  it('follow the table of the protocol: schemes, and which options are secret', () => {
    const checked = check({ options: { sampleRate: 8_000, authToken: 'token-1' } });
    expect(checked.issues).toEqual([]);
    expect(checked.options).toEqual({ sampleRate: 8_000 });
    expect(checked.secrets.options).toEqual({ authToken: 'token-1' });
    expect(messagesOf(check({ url: 'https://voice.example.com/' }))).toEqual([
      'url must be an absolute address that begins with ws:// or wss://',
    ]);
    expect(messagesOf(check({ url: 'ws://10.0.0.1/' }))).toEqual([
      expect.stringMatching(/^url must not point to a private/),
    ]);
  });

  it('keep a secret only while each option that gets it stays the same', () => {
    const trigger = { isSecret: false, receivesSecrets: () => undefined, description: '', violation: () => undefined };
    const protocol = { ...PROTOCOL, options: { ...PROTOCOL.options, trigger } };
    const checked = (given: Record<string, unknown>) => {
      const input = { url: URL, headers: { 'X-Token': null }, options: { ...given, authToken: null } };
      const stored = { ...STORED, options: { trigger: 'https://hook.example.com' } };
      return messagesOf(new ConnectionCheck(input, protocol, new OutboundClient(), stored));
    };
    expect(checked({ trigger: 'https://hook.example.com' })).toEqual([]);
    expect(checked({})).toEqual([]);
    expect(checked({ trigger: 'https://elsewhere.example' })).toEqual([
      'headers.X-Token must be given again: a stored value is kept only while the option trigger stays the same',
      'options.authToken must be given again: a stored value is kept only while the option trigger stays the same',
    ]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['an unknown option', { colour: 'red' }, 'options.colour is not an option of the protocol'],
    ['a misspelt option', { samplerate: 8_000 }, 'is not an option of the protocol; did you mean sampleRate?'],
    ['a name of every object', { toString: 'x' }, 'options.toString is not an option of the protocol'],
    ['a wrong value', { sampleRate: 1 }, 'options.sampleRate must be 8000'],
    ['null for an option that is not a secret', { sampleRate: null }, 'options.sampleRate must be 8000'],
    ['a wrong secret', { authToken: 7 }, 'options.authToken must be a string'],
    ['a mask', { authToken: '••••en-1' }, 'options.authToken must not begin with ••••'],
    ['null without a stored secret', { authToken: null }, 'options.authToken must not be null'],
  ])('refuse %s', (_what, options, issue) => {
    expect(messagesOf(check({ options }))).toEqual([expect.stringContaining(issue)]);
  });

  it('name the field of each issue, so that vat can name the option', () => {
    const headers = { Host: 'x' };
    const { issues } = check({ url: 'ftp://x/', headers, options: { colour: 'red' } });
    expect(issues.map(({ field }) => field)).toEqual(['url', 'headers.Host', 'options.colour']);
    const tooMany = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`X-${n}`, 'x']));
    expect(check({ headers: tooMany }).issues).toEqual([{ field: 'headers', message: expect.any(String) as string }]);
  });

  const nulls = { headers: { 'x-token': null }, options: { authToken: null } };

  it('keep stored secrets for the same scheme, host and port only', () => {
    const kept = check({ ...nulls, url: 'wss://VOICE.example.com:443/other' }, STORED);
    expect(kept.issues).toEqual([]);
    expect(kept.secrets).toEqual({ headers: { 'x-token': 'header-secret' }, options: { authToken: 'option-secret' } });
    for (const url of [
      'ws://voice.example.com/',
      'wss://voice.example.com:8443/',
      'wss://voice.example.com.evil.test/',
    ]) {
      const refused = check({ ...nulls, url }, STORED);
      expect(messagesOf(refused)).toEqual([
        expect.stringMatching(/^headers\.x-token must be given again/),
        expect.stringMatching(/^options\.authToken must be given again/),
      ]);
      expect(JSON.stringify(refused.secrets)).not.toContain('secret');
    }
  });
});

describe('the rules of a SIP address', () => {
  const SIP = { schemes: ['sip:', 'sips:'], options: {} };
  const violations = (url: string, stored?: StoredConnection, networks: readonly string[] = []) =>
    messagesOf(
      new ConnectionCheck(
        { url, headers: stored ? { 'X-Token': null } : {}, options: {} },
        SIP,
        new OutboundClient({ allowedNetworks: networks }),
        stored,
      ),
    );

  it.each([
    'sip:proj_1@sip.api.openai.com;transport=tls',
    'sip:{assistantId}@sip.vapi.ai',
    'sip:+{phoneNumber}@sip.rtc.elevenlabs.io:5060;transport=tcp',
    'sips:room%20{callId}@[2606:4700::1111]:5070',
    'SIP:93.184.216.34',
  ])('allow %s', (url) => expect(violations(url)).toEqual([]));

  it.each([
    ['sip:agent:secret@sip.example.com', 'url must not have a password'],
    ['sip:agent@sip.example.com?X-A=1', 'url must not have headers ("?")'],
    ['sip:agent@sip.example.com;maddr=10.0.0.1', 'url may only have the parameter "transport", with "tcp" or "tls"'],
    ['sip:agent@sip.example.com;transport=udp', 'url may only have the parameter "transport", with "tcp" or "tls"'],
    ['sip:agent@{assistantId}', 'url must have placeholders in its user part only, before the @'],
    ['sip:agent@sip.example.com:{phoneNumber}', 'url must have placeholders in its user part only, before the @'],
    ['sip:agent@sip.example.com;transport={callId}', 'url must have placeholders in its user part only, before the @'],
    ['sip:{number}@sip.example.com', 'url must have no placeholder except {assistantId}, {phoneNumber} and {callId}'],
    ['sip:agent@999.1.1.1', 'url has no valid host'],
    ['sip://agent@sip.example.com', 'url must not have slashes after its scheme'],
    ['sip:agent@evil.example@sip.example.com', 'url has a character in the user that is not allowed'],
    ['tel:+390612345678', 'url must be an address such as sip:agent@sip.example.com;transport=tls'],
    ['https://sip.example.com/', 'url must be an address such as sip:agent@sip.example.com;transport=tls'],
  ])('refuse %s', (url, issue) => expect(violations(url)).toEqual([issue]));

  it.each([
    'sip:a@127.0.0.1',
    'sip:a@127.1',
    'sip:a@0x7f.1',
    'sip:a@2130706433',
    'sip:a@017700000001',
    'sip:a@127.0.0.1.',
    'sip:a@0',
    'sip:a@10.0.0.1:5061;transport=tls',
    'sip:a@169.254.169.254',
    'sip:a@224.0.1.75',
    'sip:a@255.255.255.255',
    'sip:a@[::1]',
    'sip:a@[::]',
    'sip:a@[::ffff:10.0.0.1]',
    'sip:a@[::ffff:7f00:1]',
    'sip:a@[fe80::1]',
    'sip:a@[ff02::1]',
    'sip:a@[64:ff9b::7f00:1]',
    'sip:93.184.216.34@192.168.1.1',
  ])('refuse %s, which is not public', (url) => {
    expect(violations(url)).toEqual([expect.stringMatching(/^url must not point to a private or reserved network/)]);
  });

  it('keep a secret for other users of the same host, port and transport only', () => {
    const stored = { url: 'sip:a@sip.example.com', secrets: { headers: { 'X-Token': 'secret' }, options: {} } };
    expect(violations('sip:b@SIP.example.com:5060;transport=tcp', stored)).toEqual([]);
    for (const other of [
      'sip:a@sip.example.com:5070',
      'sips:a@sip.example.com',
      'sip:a@sip.example.org',
      'sip:sip.example.com@evil.example',
    ]) {
      expect(violations(other, stored)).toEqual([expect.stringMatching(/^headers.X-Token must be given again/)]);
    }
  });
});
