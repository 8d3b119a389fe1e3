import { misfitOf } from '../../../call/protocol-fit.js';
import { sip } from './index.js';
import { inviteHeaders, SIP_OPTIONS } from './options.js';
import { masked } from './masked.js';

const definition = {
  script: [{ end: 'Done' }],
  checks: [],
  criteria: [],
  history: [],
  toolResults: [],
} as never as Parameters<typeof misfitOf>[0];
const spoken = { languages: ['en'], cure: '' };

describe('variables over SIP', () => {
  it.each([
    ['customer name', 'Ann', 'cannot be the name of a header'],
    ['note', 'a\r\nContact: <sip:other>', 'has a control character'],
    ['X-Vat-Call', 'x', 'is a header that this service sets'],
    ['note', 'x'.repeat(2_000), 'makes a header of 2008 bytes'],
  ])('refuse %s before a run, with its name and the cause', (name, value, cause) => {
    const reason = misfitOf({ ...definition, agentVariables: { [name]: value } }, 'en', sip, spoken);
    expect(reason).toContain(`its variable "${name}" ${cause}`);
    expect(SIP_OPTIONS.variables.violation({ [name]: value })).toContain(cause);
    expect(() => inviteHeaders({}, { [name]: value }, 'c-1')).toThrow(name);
  });

  it('become headers of the INVITE, beside those of the connection and the attempt', () => {
    expect(inviteHeaders({ 'x-tenant': 't' }, { tier: 2, 'X-CALL-ID': 'a' }, 'c-1')).toEqual({
      ...{ 'x-tenant': 't', 'X-tier': '2', 'X-CALL-ID': 'a', 'X-Vat-Call': 'c-1' },
    });
    expect(() => inviteHeaders({ via: 'x' }, {}, 'c-1')).toThrow(
      'the header "via" of the connection does not begin with x-',
    );
  });
});

describe('the wire log of SIP', () => {
  it.each([
    ['INVITE sip:+4930123456@trunk.example.com SIP/2.0', 'INVITE sip:+********56@trunk.example.com SIP/2.0'],
    ['To: "030 123456" <sip:030123456@a.example>', 'To: "030 123456" <sip:*******56@a.example>'],
    ['From: "+1 (202) 555-0177" <tel:+1-202-555-0177>', undefined],
    ['Contact: <sip:token@192.168.100.200:5060>', 'Contact: <sip:token@192.168.100.200:5060>'],
    ['Call-ID: 843817637684230@998sdasdh09', 'Call-ID: 843817637684230@998sdasdh09'],
    ['Proxy-Authorization: Digest username="u", response="abc"', 'Proxy-Authorization: Digest ***'],
    ['a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:abcdef|2^20', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline: ***'],
  ])('has neither numbers nor credentials: %s', (line, shown) => {
    expect(masked(line)).not.toMatch(/55501|response|abcdef|30123456@/);
    if (shown !== undefined) expect(masked(line)).toBe(shown);
  });
});
