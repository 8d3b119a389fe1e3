import { readFileSync } from 'node:fs';
import path from 'node:path';
import { TWILIO_FINDINGS } from './findings.js';
import { TWILIO_OPTIONS } from './options.js';
import { otherPortForm, twilioSignature } from '../../twiml/signature.js';

const guide = readFileSync(path.resolve(__dirname, '../../../../../docs/guides/twilio.md'), 'utf8');
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the guide to Twilio Media Streams', () => {
  it('lists every finding of Twilio with severity, meaning and source', () => {
    const listed = rows.filter(([, code]) => /^`\w+_\w+`$/.test(code ?? '')).map((row) => row.slice(1, 5));
    expect(listed).toEqual(
      Object.entries(TWILIO_FINDINGS).map(([code, { severity, meaning, source }]) => [
        `\`${code}\``,
        severity,
        meaning,
        source,
      ]),
    );
  });

  it('lists every option', () => {
    for (const name of Object.keys(TWILIO_OPTIONS)) {
      expect(rows.some(([, cell = '']) => cell.includes(`\`${name}\``))).toBe(true);
    }
  });
});

describe('twilioSignature', () => {
  it('agrees with the example of Twilio’s documentation', () => {
    const form = {
      To: '+18005551212',
      From: '+14158675309',
      Digits: '1234',
      Caller: '+14158675309',
      CallSid: 'CA1234567890ABCDE',
    };
    expect(twilioSignature('12345', 'https://mycompany.com/myapp.php?foo=1&bar=2', form)).toBe(
      'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
    );
  });

  it.each([
    ['https://a.example/x?y=1', 'https://a.example:443/x?y=1'],
    ['https://a.example:8443/x', 'https://a.example/x'],
    ['http://a.example', 'http://a.example:80'],
    ['wss://a.example/m', 'wss://a.example:443/m'],
    ['no address', undefined],
  ])('is also tried over the other form of %s', (url, other) => expect(otherPortForm(url)).toBe(other));
});
