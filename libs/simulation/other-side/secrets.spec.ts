import { sentSecrets } from './secrets.js';

describe('secrets that are sent to an agent', () => {
  const of = (headers: Record<string, string>) => sentSecrets([], headers, []);

  it.each([
    ['the token after a scheme', { authorization: 'Bearer tok-1' }, ['Bearer tok-1', 'tok-1']],
    ['a value without a scheme', { 'x-tenant': 'bella-vista' }, ['bella-vista']],
    [
      'user name and password',
      { authorization: `Basic ${Buffer.from('operator:s3same').toString('base64')}` },
      ['operator:s3same', 's3same'],
    ],
    ['the values of cookies', { cookie: 'sid=hunter22; theme="darkness"' }, ['hunter22', 'darkness']],
    ['the values of parameters', { authorization: 'Digest username="anna", response="0a4f113b"' }, ['0a4f113b']],
  ])('are %s', (_what, headers, parts) => {
    expect(of(headers).all).toEqual(expect.arrayContaining(parts));
  });

  it.each([
    ['long', { 'x-note': 'the table by the window' }, ['the table by the window']],
    ['of letters and digits', { 'x-note': 'window07' }, ['window07']],
    ['in a header with a telling name', { 'x-api-key': 'sesame' }, ['sesame']],
    ['in a header with a scheme', { 'x-note': 'Bearer sesame' }, ['sesame']],
  ])('are removed from the transcript if they are %s', (_what, headers, spoken) => {
    expect(of(headers).spoken).toEqual(expect.arrayContaining(spoken));
  });

  it('are not removed from the transcript if they may be words that the agent has to say', () => {
    expect(of({ 'x-tenant': 'bella-vista', accept: 'application/json', 'x-api-key': 'key' }).spoken).toEqual([
      'application/json',
    ]);
    expect(sentSecrets(['welcome'], {}, ['restaurant']).spoken).toEqual([]);
  });
});
