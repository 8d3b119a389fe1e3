import { credentialOf } from './capacity.service.js';

describe('the credential whose capacity calls use', () => {
  const endpoint = {
    ...{
      protocol: 'sip',
      url: 'sip:agent@sip.example.com;transport=tls',
      headers: {},
      firstSpeaker: null,
      options: {},
    },
    apiKey: 'key-1',
  };
  const trunk = { ...endpoint, number: '{phoneNumber}', line: { credentials: { user: 'acme', password: 'a' } } };

  it('is that of the trunk for all agents that it calls', () => {
    const other = { ...trunk, url: 'sip:+390612345678@SIP.example.com:5061;transport=tls', number: '+390612345678' };
    expect(credentialOf({ ...other, apiKey: 'key-2', headers: { 'x-a': '1' } })).toBe(credentialOf(trunk));
    const otherUser = { ...trunk, line: { credentials: { user: 'other', password: 'a' } } };
    expect(credentialOf(otherUser)).not.toBe(credentialOf(trunk));
  });

  it('is that of host, port, transport and key for other addresses of SIP', () => {
    expect(credentialOf({ ...endpoint, url: 'sips:{assistantId}@sip.example.com' })).toBe(credentialOf(endpoint));
    for (const change of [
      { url: 'sip:agent@sip.example.com' },
      { url: 'sips:a@sip.example.org' },
      { apiKey: 'key-2' },
    ]) {
      expect(credentialOf({ ...endpoint, ...change })).not.toBe(credentialOf(endpoint));
    }
    expect(credentialOf(endpoint)).not.toBe(credentialOf(trunk));
  });
});
