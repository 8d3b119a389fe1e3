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
