import { NumberRules } from './number-rules.js';

const EVERYWHERE = new NumberRules(['+', ...'0123456789']);

describe('NumberRules', () => {
  it('allow no number without SIP_ALLOWED_PREFIXES', () => {
    expect(new NumberRules([]).check('+390612345678', true)).toEqual({
      violation: 'is not dialled: SIP_ALLOWED_PREFIXES is not set',
    });
  });

  it('allow numbers with one of the prefixes', () => {
    const rules = new NumberRules(['+3906', '+4930', '7']);
    expect(rules.check('+390612345678', true)).toEqual({ number: '+390612345678' });
    expect(rules.check('712', false)).toEqual({ number: '712' });
    for (const other of ['+390212345678', '+12025550162', '390612345678', '0039 0612345678'.replace(' ', '')]) {
      expect(rules.check(other, false)).toEqual({ violation: 'has none of the prefixes of SIP_ALLOWED_PREFIXES' });
    }
    expect(new NumberRules(['39']).check('+390612345678', false)).toHaveProperty('violation');
  });

  it('dial the number without the prefix for calls within the country, which people write in brackets', () => {
    expect(EVERYWHERE.check('+49030123456', true)).toEqual({ number: '+4930123456' });
    expect(EVERYWHERE.check('+390612345678', true)).toEqual({ number: '+390612345678' });
    // A prefix applies to both forms.
    expect(new NumberRules(['+490']).check('+49030123456', true)).toHaveProperty('violation');
  });

  it.each([
    ['Germany', '+499001234567'],
    ['Germany, with the prefix for calls within the country', '+4909001234567'],
    ['the United Kingdom', '+449098790000'],
    // catamphetamine/libphonenumber-js#52: a shared-cost number of a hotel.
    ['the United Kingdom, shared cost', '+448444156790'],
    ['the United Kingdom, personal numbers', '+447012345678'],
    ['the United States', '+19005551234'],
    ['France', '+33899123456'],
    ['Italy', '+39899123456'],
    ['Australia', '+611900123456'],
    ['no country, premium', '+979123456789'],
    ['no country, shared cost', '+80812345678'],
  ])('never dial premium-rate numbers of %s (%s)', (_where, number) => {
    expect(EVERYWHERE.check(number, true)).toHaveProperty('violation', expect.stringContaining('never dialled'));
    const digits = number.slice(1);
    for (const form of [digits, `00${digits}`, `011${digits}`]) {
      expect(EVERYWHERE.check(form, false)).toHaveProperty('violation', expect.stringContaining('never dialled'));
    }
  });

  it.each(['112', '911', '999', '000', '110', '15', '0112', '9911', '116123', '08'])('never dial %s', (number) => {
    expect(EVERYWHERE.check(number, false)).toEqual({ violation: 'may be an emergency number: it is never dialled' });
  });

  // daviddrysdale/python-phonenumbers#50: short premium numbers of France are in no table of numbers.
  it.each(['+39112', '+44999', '+1911', '+33118712', '+333639', '+490110', '+8111012345', '+999123456789', '+39113x'])(
    'never dial %s, which is not a number of a subscriber',
    (number) => {
      expect(EVERYWHERE.check(number, false)).toHaveProperty('violation');
    },
  );

  // catamphetamine/libphonenumber-js#431 and google/libphonenumber#2057: real numbers are missing in the tables for years.
  it.each(['+61493512345', '+15551234567', '+88213300655', '+390612345678'])('dial %s', (number) => {
    expect(EVERYWHERE.check(number, true)).toEqual({ number });
  });

  it.each([
    '390612345678',
    '00390612345678',
    '+3906123',
    '+1234567890123456',
    '112',
    '+39061234567\n',
    '+39 0612345678',
  ])('dial only "+" and 8 to 15 digits by a trunk, not %j', (number) => {
    expect(EVERYWHERE.check(number, true)).toEqual({ violation: 'must be "+" and 8 to 15 digits for a trunk' });
  });

  it.each(['', '+', '39+06', '\u0661\u0661\u0662', '12345678901234567890123456', '+3906x'])(
    'dial no text such as %j',
    (text) => {
      expect(EVERYWHERE.check(text, false)).toEqual({ violation: 'is not a telephone number' });
    },
  );
});
