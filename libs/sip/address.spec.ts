import { addressText, numberOf, originOf, parseSipAddress } from './address.js';

describe('parseSipAddress', () => {
  it.each([
    ['sip:proj_1@sip.api.example.com;transport=tls', 'sip:proj_1@sip.api.example.com:5061;transport=tls'],
    ['sip:+4930@sip.example.org:5060;transport=TCP', 'sip:+4930@sip.example.org:5060;transport=tcp'],
    ['SIPS:name@Example.ORG', 'sip:name@example.org:5061;transport=tls'],
    ['sips:name@example.org;transport=tcp', 'sip:name@example.org:5061;transport=tls'],
    ['sip:example.org', 'sip:example.org:5060;transport=tcp'],
    ['sip:a;x=1%40b@[2001:db8::1]:5070', 'sip:a;x=1%40b@[2001:db8::1]:5070;transport=tcp'],
  ])('reads %s', (text, expected) => {
    expect(addressText(parseSipAddress(text))).toBe(expected);
  });

  it.each([
    ['tel:+4930', 'must begin with "sip:" or "sips:"'],
    ['sip:user:secret@example.org', 'must not have a password'],
    ['sip:us er@example.org', 'has a character in the user that is not allowed'],
    ['sip:a%2@example.org', 'has a character in the user that is not allowed'],
    ['sip:a\r\nX=1@example.org', 'has a character in the user that is not allowed'],
    ['sip:a@example.org?X-A=1', 'must not have headers ("?")'],
    ['sip:a@example.org;transport=udp', 'may only have the parameter "transport", with "tcp" or "tls"'],
    ['sip:a@example.org;transport=tls;lr', 'may only have the parameter "transport", with "tcp" or "tls"'],
    ['sip:a@example.org:0', 'has no valid port'],
    ['sip:a@example.org:70000', 'has no valid port'],
    ['sip:a@', 'has no valid host'],
    ['sip:a@exa_mple.org', 'has no valid host'],
  ])('refuses %j: %s', (text, message) => {
    expect(() => parseSipAddress(text)).toThrow(message);
  });

  it('gives the origin without the user', () => {
    expect(originOf(parseSipAddress('sips:secret@example.org'))).toBe('sip:example.org:5061;transport=tls');
  });

  it.each([
    ['+49-30(123)', '+4930123'],
    ['%2B4930', '+4930'],
    ['%252B4930', '+4930'],
    ['112;phone-context=x', '112'],
    ['%31%31%32', '112'],
    ['9%2C%2C112', '9112'],
    ['*112#', '112'],
    ['%ff112', '112'],
    ['1%001%002', '112'],
    ['%EF%BC%91%EF%BC%91%EF%BC%92', '112'],
    ['+49_30~123', '+4930123'],
    ['+4930x1', '+4930x1'],
    ['%D9%A1%D9%A1%D9%A2', '\u0661\u0661\u0662'],
  ])('takes the user %s for the number %s', (user, number) => {
    expect(numberOf(user)).toBe(number);
  });

  it.each(['agent7', '7agent', 'proj_68c1', '%', '+agent', '-', '%31agent'])('takes the user %s for a name', (user) => {
    expect(numberOf(user)).toBeUndefined();
  });
});
