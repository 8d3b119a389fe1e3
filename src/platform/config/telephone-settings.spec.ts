import { readSettings } from './settings.js';

const TRUNK = 'sip:acme.pstn.twilio.com;transport=tls';

describe('the settings for telephone calls', () => {
  it('have a trunk for each provider, and where media arrives', () => {
    const { agentProviders, telephone } = readSettings({
      AGENT_PROVIDER_2_SIP_TRUNK: TRUNK,
      AGENT_PROVIDER_2_SIP_USER: 'acme',
      AGENT_PROVIDER_2_SIP_PASSWORD: 'secret',
      AGENT_PROVIDER_2_SIP_CALLER: '+390612345678',
      AGENT_PROVIDER_2_SIP_CHANNELS: '10',
      SIP_ALLOWED_PREFIXES: '+3906, +4930',
      SIP_CALLS_PER_SECOND: '5',
      SIP_CALLS_PER_DAY: '0',
      SIP_MINUTES_PER_DAY: '60',
      SIP_PUBLIC_ADDRESS: '203.0.113.7',
      SIP_MEDIA_PORTS: '40001-40199',
    });
    expect(agentProviders.AGENT_PROVIDER_1.sipTrunk).toBeUndefined();
    expect(agentProviders.AGENT_PROVIDER_2.sipTrunk).toEqual({
      address: TRUNK,
      credentials: { user: 'acme', password: 'secret' },
      caller: '+390612345678',
      channels: 10,
    });
    expect(telephone).toEqual({
      allowedPrefixes: ['+3906', '+4930'],
      callsPerSecond: 5,
      callsPerDay: 0,
      minutesPerDay: 60,
      media: { publicAddress: '203.0.113.7', ports: { first: 40_001, last: 40_199 } },
    });
  });

  it.each([
    ['SIP_ALLOWED_PREFIXES', '+39 06', /must be a comma-separated list of beginnings of numbers/],
    ['SIP_ALLOWED_PREFIXES', '+39,', /must be a comma-separated list/],
    ['SIP_ALLOWED_PREFIXES', '*', /must be a comma-separated list/],
    ['SIP_CALLS_PER_SECOND', '0', /must be a whole number from 1 to 100/],
    ['SIP_CALLS_PER_DAY', '-1', /must be a whole number from 0/],
    ['SIP_PUBLIC_ADDRESS', 'pbx.example.com', /must be an IP address/],
    ['SIP_MEDIA_PORTS', '40000', /must be a range of ports/],
    ['SIP_MEDIA_PORTS', '40001-40002', /must be a range of ports/],
    ['SIP_MEDIA_PORTS', '1000-2000', /must be a range of ports/],
    ['SIP_MEDIA_PORTS', '40000-70000', /must be a range of ports/],
    ['AGENT_PROVIDER_1_SIP_TRUNK', 'https://acme.pstn.twilio.com', /must begin with "sip:" or "sips:"/],
    ['AGENT_PROVIDER_1_SIP_TRUNK', 'sip:+390612345678@acme.example', /must not have a user/],
    ['AGENT_PROVIDER_1_SIP_TRUNK', 'sip:acme.example;transport=udp', /may only have the parameter "transport"/],
    ['AGENT_PROVIDER_1_SIP_TRUNK', 'sip:{assistantId}', /has no valid host/],
    ['AGENT_PROVIDER_1_SIP_CALLER', '0612345678', /must be a number such as/],
    ['AGENT_PROVIDER_1_SIP_CHANNELS', '4', /must be set together with AGENT_PROVIDER_1_SIP_TRUNK/],
    ['AGENT_PROVIDER_1_URL', 'sip:agent@{assistantId}.example', /must have placeholders in its user part only/],
    ['AGENT_PROVIDER_1_URL', 'sip:agent:secret@sip.example', /must not have a password/],
    ['AGENT_PROVIDER_1_URL', 'sip:agent@sip.example', /must begin with http:\/\/ or https:\/\/ for chat-completions/],
  ])('refuse %s=%s', (name, value, message) => {
    expect(() => readSettings({ [name]: value })).toThrow(message);
    expect(() => readSettings({ [name]: value })).toThrow(name);
  });

  it('need user and password together, and show neither password nor user of an address', () => {
    const trunk = { AGENT_PROVIDER_1_SIP_TRUNK: TRUNK };
    expect(() => readSettings({ ...trunk, AGENT_PROVIDER_1_SIP_USER: 'acme' })).toThrow(
      'AGENT_PROVIDER_1_SIP_USER must be set together with AGENT_PROVIDER_1_SIP_PASSWORD',
    );
    expect(() => readSettings({ ...trunk, AGENT_PROVIDER_1_SIP_PASSWORD: 'hunter2' })).toThrow(
      /^AGENT_PROVIDER_1_SIP_PASSWORD must be set together with AGENT_PROVIDER_1_SIP_USER$/,
    );
    const bad = () => readSettings({ AGENT_PROVIDER_1_URL: 'sip:agent:hunter2@sip.example' });
    expect(bad).toThrow(expect.not.objectContaining({ message: expect.stringContaining('hunter2') }));
  });
});
