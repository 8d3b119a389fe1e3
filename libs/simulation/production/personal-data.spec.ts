import type { TimelineEntry } from '../timeline/timeline.js';
import { PersonalDataRedaction } from './personal-data.js';

const redact = (text: string) => new PersonalDataRedaction().text(text);

describe('PersonalDataRedaction', () => {
  it.each([
    ['You can reach me at 415-555-0142.', 'You can reach me at [phone number 1].'],
    ['+44 20 7946 0958 or (415) 555 0142', '[phone number 1] or [phone number 2]'],
    ['It is four one five, five five five, oh one four two.', 'It is [phone number 1].'],
    ['My card is 4111 1111 1111 1111, thanks', 'My card is [card number 1], thanks'],
    // The 2-series of Mastercard (data-privacy-stack/presidio#2075).
    ['2221000000000009', '[card number 1]'],
    ['Write to anna.rossi@example.com please', 'Write to [e-mail address 1] please'],
    ['anna dot rossi at example dot com', '[e-mail address 1]'],
    ['DE89 3704 0044 0532 0130 00', '[IBAN 1]'],
    // A number of a call is in the record of its caller, and in what the agent repeats.
    ['A table for two on 2026-11-29 at 19:00', 'A table for two on 2026-11-29 at 19:00'],
    ['Order 4471', 'Order 4471'],
    ['', ''],
  ])('redacts %j', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    // Spoken in words (CALLE-AI/awesome-phone-call-agents#237), also by pairs, and with the pauses that recognisers write.
    ['oh seven seven double zero nine hundred one two three', '[phone number 1]'],
    ['eight hundred five five five one two one two', '[phone number 1]'],
    ['It is four fifteen, five fifty five, oh one forty two.', 'It is [phone number 1].'],
    ['four one five. Five five five... oh one four two', '[phone number 1]'],
    ['4, 1, 5, 5, 5, 5, 0, 1, 4, 2', '[phone number 1]'],
    ['4 1 5. 5 5 5. 0 1 4 2.', '[phone number 1].'],
    ['415, 555, 0142', '[phone number 1]'],
    // In other languages (baekenough/second-brain#163).
    ['null eins sieben eins, zwei drei vier fünf sechs sieben acht', '[phone number 1]'],
    ['seis uno dos tres cuatro cinco seis siete ocho', '[phone number 1]'],
    ['zéro un deux trois quatre cinq six sept', '[phone number 1]'],
    ['tre tre otto uno due tre quattro cinque', '[phone number 1]'],
    ['nul zes een twee drie vier vijf', '[phone number 1]'],
    ['nove um dois três quatro cinco meia sete', '[phone number 1]'],
    // Formats beyond North America (entireio/cli#1909), and signs of other keyboards and scripts.
    ['+49 (0) 30 / 901820', '[phone number 1]'],
    ['0171/1234567, +33 6 12 34 56 78, +44 (0)7700 900 123', '[phone number 1], [phone number 2], [phone number 3]'],
    ['415–555–0142 and 415‑555‑0142', '[phone number 1] and [phone number 1]'],
    ['٠١٧١٢٣٤٥٦٧ or ４１５５５５０１４２', '[phone number 1] or [phone number 2]'],
    ['Phone:4155550142: that is mine', 'Phone:[phone number 1]: that is mine'],
    // Cards with pauses, and cards of which the recogniser misheard a digit.
    ['4111, 1111, 1111, 1111', '[card number 1]'],
    ['4111. 1111. 1111. 1111.', '[card number 1].'],
    ['4111 1111 1111 1112', '[phone number 1]'],
    [`four ${'one '.repeat(14)}two`, '[phone number 1]'],
    ['forty one eleven eleven eleven eleven eleven eleven eleven', '[card number 1]'],
    // IBANs in lower case (tinyhumansai/openhuman#4813), with dashes (data-privacy-stack/presidio#363), and words behind (#806).
    ['gb82west12345698765432', '[IBAN 1]'],
    ['DE89-3704-0044-0532-0130-00', '[IBAN 1]'],
    ['DE 89 3704 0044 0532 0130 00 for the booking', '[IBAN 1] for the booking'],
    [`d e eight nine ${'three seven zero four '.repeat(4)}`, 'd e [phone number 1] '],
    ['Call us at 415 555 0142 in the evening.', 'Call us at [phone number 1] in the evening.'],
    // Addresses as recognisers write them.
    ['john.doe at gmail dot com', '[e-mail address 1]'],
    ['doe at gmail.com', '[e-mail address 1]'],
    ['john.doe @ gmail.com', '[e-mail address 1]'],
    ['j o h n at gmail dot com', '[e-mail address 1]'],
    ['john dash doe ninety two at yahoo dot co dot uk', '[e-mail address 1]'],
    ['info at müller-bau dot de', '[e-mail address 1]'],
    ['anna punkt rossi ät gmail punkt com', '[e-mail address 1]'],
    ['ana arroba gmail punto com', '[e-mail address 1]'],
  ])('redacts %j as it was reported', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    // Parts of identifiers (data-privacy-stack/presidio#71, philterd/phileas#120).
    '110bcd25-a55d-453a-8046-1297901ea002',
    '{"sid":"CA5ef8732a3c49700934481addd5ce1659"}',
    // Times in milliseconds, with and without spaces, and as 14 digits (garrytan/gstack#2681).
    '{"at": 1748503543000, "since":1748503543011}',
    '20261129180211',
    // Dates beside other numbers (PostHog/posthog-js#4783), and spans of them.
    '2024-01-15 12 30',
    'from 2026-11-29 2026-11-30 or 29.11.2026-30.11.2026',
    // Coordinates in the result of a tool, which has to stay JSON.
    '{"lat":40.712776,"lng":-74.0059741,"box":[-74.0059741, 40.7127761]}',
    // Times, prices and years in words and figures.
    'nine thirty, ten thirty, eleven fifteen or twelve oh five',
    'nine oh five, ten oh five, eleven oh five',
    'one hundred, two hundred, three hundred, four hundred',
    'twenty twenty four, twenty twenty five, twenty twenty six',
    'The total is 1,234,567.89 dollars for 100, 200, 300 or 400 seats.',
    'Your code is four four seven one two, your order 4471.',
    'SW1A 1AA, zip 94105, on floor 1, 2, 3 and 4',
    'Visit us at bellavista.com.',
  ])('leaves %j', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('gives equal values equal numbers, however they are written and wherever they are', () => {
    const redaction = new PersonalDataRedaction();
    expect(redaction.text('415-555-0142, and 415 555 0199')).toBe('[phone number 1], and [phone number 2]');
    expect(redaction.text('(415) 555-0199?')).toBe('[phone number 2]?');
    expect(redaction.value({ phone: '4155550142', note: [{ call: '415 555 0199' }] })).toEqual({
      ...{ phone: '[phone number 1]', note: [{ call: '[phone number 2]' }] },
    });
  });

  it('redacts numbers and names of JSON, of arguments and results alike (onyx-dot-app/onyx#13826)', () => {
    const redaction = new PersonalDataRedaction();
    const value = { '415-555-0142': true, phone: 4_155_550_142, people: 4, ok: null };
    expect(redaction.value(value)).toEqual({
      ...{ '[phone number 1]': true, phone: '[phone number 1]', people: 4, ok: null },
    });
  });

  it('leaves times in milliseconds, which one time in ten look like a card (data-privacy-stack/presidio#1607)', () => {
    const times = Array.from({ length: 100 }, (_, index) => 1_748_503_543_000 + index);
    expect(new PersonalDataRedaction().value(times)).toEqual(times);
  });

  it('redacts an IBAN behind a code that begins like one', () => {
    expect(redact('Booking AB12 DE89370400440532013000, thanks')).toBe('Booking AB12 [IBAN 1], thanks');
    expect(redact('It is KZ86 125K ZT50 0410 0100')).toBe('It is [IBAN 1]');
  });

  it('leaves what was redacted, and kinds that are not asked for', () => {
    const redaction = new PersonalDataRedaction(['phone']);
    const once = redaction.text('415-555-0142 or anna@example.com');
    expect(once).toBe('[phone number 1] or anna@example.com');
    expect(redaction.text(once)).toBe(once);
  });

  it('redacts numbers in a text of JSON, as the results of tools are', () => {
    expect(redact('{"phone":4155550142,"guests":[2,4155550142]}')).toBe(
      '{"phone":"[phone number 1]","guests":[2,"[phone number 1]"]}',
    );
    expect(redact('{"at":1748503543000}')).toBe('{"at":1748503543000}');
    // As spreadsheets write them, and in JSON that is a text of JSON.
    expect(redact('{"phone":4155550142.0}')).toBe('{"phone":"[phone number 1]"}');
    expect(redact('{"body":"{\\"phone\\":4155550142}"}')).not.toContain('4155550142');
    expect(redact('{"order":9223372036854775807}')).toBe('{"order":9223372036854775807}');
  });

  it.each([
    ['spaces', ' '.repeat(40_000) + '1'],
    ['spaces after a quotation mark', `"${' '.repeat(40_000)}:`],
    ['words that begin like an IBAN', `AB12${'a'.repeat(40)} `.repeat(900)],
  ])('takes linear time for %s', (_, text) => {
    const before = process.cpuUsage();
    expect(redact(text)).toBe(text);
    const { user } = process.cpuUsage(before);
    expect(user / 1_000).toBeLessThan(1_000);
  });

  it('redacts a timeline and what was found in it, but for names, positions and the rest of a cut quote', async () => {
    const redaction = new PersonalDataRedaction();
    const times = { start: 1_000_000, end: 1_000_900, turn: 1 };
    const timeline: TimelineEntry[] = [
      { type: 'speech', speaker: 'caller', text: 'I am anna@example.com', ...times },
      { type: 'tool_call', name: 'note', arguments: { phone: 4_155_550_142 }, result: '415-555-0142', ...times },
    ];
    const entries = await redaction.entries(timeline, () => Promise.resolve());
    expect(entries).toEqual([
      { type: 'speech', speaker: 'caller', text: 'I am [e-mail address 1]', ...times },
      {
        type: 'tool_call',
        name: 'note',
        arguments: { phone: '[phone number 1]' },
        result: '[phone number 1]',
        ...times,
      },
    ]);
    const found = { name: 'Says 415-555-0142', detail: 'It said "415-555-0142"', at: 1_000_000 };
    expect(redaction.findings({ ...found, evidence: [{ entry: 0, quote: 'I am anna@exam…' }] }, entries)).toEqual({
      ...{ name: 'Says 415-555-0142', detail: 'It said "[phone number 1]"', at: 1_000_000 },
      evidence: [{ entry: 0, quote: 'I am [e-mail a…' }],
    });
  });
});
