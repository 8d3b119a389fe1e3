/** With them, only the other rules refuse a number. */
export const ALL_PREFIXES = '+1,+3,+4,0,1,2,3,4,5,6,7,8,9';

/** Numbers that must never be dialled, and addresses with more than a user, host and port. @param host a permitted one */
export function hostileNumbers(host: string): string[] {
  return [
    ...['+19005551234', '+449098790000', '+4909001234567', `+390612345678@${host}`, '112', '+39112', '00390612345678'],
    ...[
      '+19005551234',
      '%2B19005551234',
      '1%2D900%2D555%2D1234',
      '0019005551234',
      '+1(900)5551234;phone-context=x',
    ].map(at),
    ...['%252B19005551234', '112', '*112%23', '9112', '%31%31%32', '%EF%BC%91%EF%BC%91%EF%BC%92', '1%001%002'].map(at),
    ...['%ff112', '+390612345678x'].map(at),
    ...[
      `sip:a@${host}?Route=10.0.0.1`,
      `sip:a@${host};maddr=10.0.0.1`,
      `sip:a\r\nX-Y: 1@${host}`,
      `sips:{other}@${host}`,
    ],
    'sip:a@x.example:99999',
  ];

  function at(user: string): string {
    return `sip:${user}@${host}`;
  }
}

/** Addresses of networks that are not permitted, in several notations. */
export const hostileAddresses = (port: number): string[] =>
  ['127.1', '2130706433', '[::ffff:7f00:1]', '169.254.169.254', '224.0.1.75', '0.0.0.0', '255.255.255.255'].map(
    (address) => `sip:a@${address}:${port}`,
  );
