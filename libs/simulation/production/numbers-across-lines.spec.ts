import type { TimelineEntry } from '../timeline/timeline.js';
import { PersonalDataRedaction } from './personal-data.js';

/** Lines of the caller, and of the agent with a dash before them. Parts of a number are in angle brackets. */
const PHONES = [
  'My number is <0171> / <123 45 67>',
  'My number is <0171>. / <123 45 67>.',
  'My number is <0171>, / <1234567>',
  'My number is <0171> / - Mm-hmm. / <123 45 67>',
  'My number is <0171> / - Yes? / <123 45 67>',
  'My number is <0171> / - Go on. / <1234567> / - Thank you, I have that.',
  'It is <415> / <555> / <0142>',
  'It is <415> / - Okay. / <555> / - Okay. / <0142>',
  'It is <(415)> / <555-0142>',
  'It is <415-555> / <0142>',
  '<415> / <555 0142>',
  '<415> / <555-0142> is where you reach me',
  'You reach me at <415> / and <555 0142>',
  'You reach me at <415> / uh, <555> / um <0142>',
  'Call +44 / <20 7946 0958>',
  'Call <+49> / <171> / <1234567>',
  'Call <+33 6> / <12 34 56 78>',
  '<06> / <12> / <34> / <56> / <78>',
  '<06 12> / <34 56 78>',
  'My number: <4> / <1> / <5> / <5> / <5> / <5> / <0> / <1> / <4> / <2>',
  'It is <four one five> / <five five five oh one four two>',
  'It is <four one five> / <five five five> / <oh one four two>',
  'It is <four one five>, / and <five five five, oh one four two>.',
  '<double five> / <five oh one four two> / <four one five>',
  'My mobile is <415 55> / <501 42>',
  'My mobile is <5550> / <142>',
  'It ends with what I say now <0142> / <415 555>',
  'Write down <030> / <12345678> / - And your name?',
  'Write down <030>… / <1234> / <5678>',
  '"<0171>" / "<123 45 67>"',
  'Mine is <0171> /  / <123 45 67>',
  'I have two: <415> / <5550142> and that is my office',
  'Ring <212> / then <736> / then <5000>',
  'Fax <1> / <800> / <555> / <0199>',
  'My cell is <650> / - Yes. / <555> / - Right. / <0100> / - And how many people?',
  'So <0800> / <123123>',
  'Under <07700> / <900123>',
  'Under <07700> / - Okay, / <900> / - Okay, / <123>',
  'My number is <0171> / <1234567>, for two people',
  'Number <98765> / <43210>',
];

const CARDS = [
  'My card is <4111> / <1111> / <1111> / <1111>',
  'My card is <4111 1111> / <1111 1111>',
  'My card is <4111 1111 1111> / <1111>',
  'My card is <4111> / - Okay. / <1111> / - Okay. / <1111> / - Okay. / <1111>',
  '<4111-1111> / <1111-1111>, it is a Visa',
  'It is <2221> / <0000> / <0000> / <0009>',
  'It is <3782> / <822463> / <10005>',
  '<5555 5555> / <5555 4444>',
  'The number is <4111 1111> / and <1111> / <1111>',
  '<four one one one> / <one one one one> / <one one one one> / <one one one one>',
];

const NEITHER = [
  'A table for 4 / at 19 30',
  'A table for 4 / 19 30',
  'For 4 / 19:30',
  'For 12 / 2026',
  'On 29 11 / 19 30',
  'On 29 11 / at 19 30',
  'On 29.11.2026 / 19 30',
  '29 11 2026 / 19 30',
  '1930 / 2026',
  'Room 415 / for 2 nights',
  'Room 415 / 2 nights',
  'Order 4471 / 2 of them',
  'Order 4471 / - What is your zip code? / 10115',
  '4471 / - And your zip code? / 10115',
  '4471 / - Zip code? / 10115',
  '0171 / - How many of you are there? / 12',
  'The zip code is 10115 / 19 30',
  'Between 18 / and 20',
  'At 7 / 8 is fine, too',
  'I have 3 children / 4, 7 and 9',
  'It costs 12.50 / 13.50 with a drink',
  'A table for two / seven thirty',
  'For two / at seven',
  'For four / one of us is a child',
  'For two / three / maybe four',
  '4 / 5',
  '4 / 5 / 6',
  '4 / - Four. / 19 30',
  '10115 / Berlin',
  '10115 Berlin / 030 is the area code',
  'I was there in 1999 / 2004 and 2010',
  'From 1999 / 2004',
  'My flight is LH 400 / 1234 is the code',
  'Gate B 22 / 14 10',
  'Article 12345 / version 2',
  'The code is 4711 / 12',
  'The code is 471 / 12',
  'Twenty / thirty',
  'Call 112 / 110',
  'Call 911 / 2 people are hurt',
  'I am 45 / 1 m 80 tall',
  'Bus 100 / 200 or 300',
];
/** A number that is whole beside what it does not belong to. */
const WHOLE = [
  'A table for 4 / <0171 1234567>',
  'A table for 4 / <555-0142>',
  'At 19 30 / <415 555 0142>',
  '<415 555 0142> / 4',
  '<415 555 0142> / 19 30',
  'Room 415 / <+49 171 1234567>',
];

const linesOf = (row: string) =>
  row.split(' / ').map((said) => ({
    speaker: said.startsWith('- ') ? ('agent' as const) : ('caller' as const),
    text: said.replace(/^- /, '').replaceAll(/[<>]/g, ''),
  }));
const redacted = (row: string) => new PersonalDataRedaction().lines(linesOf(row)).map(({ text }) => text);
const expected = (row: string, name: string) =>
  linesOf(row.replaceAll(/<[^>]+>/g, `[${name} number 1]`)).map(({ text }) => text);

describe('numbers that are said in several lines', () => {
  it.each(PHONES)('are redacted in each of them when they are of a telephone: %s', (row) => {
    expect(redacted(row)).toEqual(expected(row, 'phone'));
  });

  it.each(CARDS)('are redacted in each of them when they are of a card: %s', (row) => {
    expect(redacted(row)).toEqual(expected(row, 'card'));
  });

  it.each(WHOLE)('are redacted without quantities and times before and after them: %s', (row) => {
    expect(redacted(row)).toEqual(expected(row, 'phone'));
  });

  it.each(NEITHER)('are not made of quantities, times, dates and codes: %s', (row) => {
    expect(redacted(row)).toEqual(linesOf(row).map(({ text }) => text));
  });

  it.each(['1', '0'.repeat(19), '415', 'oh', '1 '.repeat(5_000)])(
    'are found in 10,000 lines of %.20j in less than six times what these take alone',
    (text) => {
      const lines = Array.from({ length: text.length > 100 ? 100 : 10_000 }, () => ({ speaker: 'caller', text }));
      const duration = (redact: (redaction: PersonalDataRedaction) => unknown) => {
        const start = performance.now();
        redact(new PersonalDataRedaction());
        return performance.now() - start;
      };
      const alone = duration((redaction) => lines.map((line) => redaction.text(line.text)));
      expect(duration((redaction) => redaction.lines(lines))).toBeLessThan(6 * alone);
    },
  );

  it('are redacted in a timeline, what was found in it, and arguments, and only of the kinds that are asked for', async () => {
    const times = { start: 1_000_000, end: 1_000_900, turn: 1 };
    const said = (text: string) => ({ type: 'speech' as const, speaker: 'caller' as const, text, ...times });
    const timeline: TimelineEntry[] = [
      said('I am 01711234568. My number is 0171'),
      { type: 'tool_call', name: 'note', arguments: { phone: '01711234567', area: '0171' }, ...times },
      said('1234567'),
      said('For 2'),
    ];
    const redaction = new PersonalDataRedaction();
    const entries = await redaction.entries(timeline, () => Promise.resolve());
    expect(entries).toEqual([
      said('I am [phone number 1]. My number is [phone number 2]'),
      { ...timeline[1], arguments: { phone: '[phone number 2]', area: '[phone number 2]' } },
      said('[phone number 2]'),
      said('For 2'),
    ]);
    const found = {
      detail: 'The caller said "My number is 0171".',
      evidence: [{ entry: 0, quote: 'My number is 0171' }],
    };
    expect(redaction.findings(found, entries)).toEqual({
      detail: 'The caller said "My number is [phone number 2]".',
      evidence: [{ entry: 0, quote: 'My number is [phone number 2]' }],
    });
    expect(await new PersonalDataRedaction(['card']).entries(timeline, () => Promise.resolve())).toEqual(timeline);
    const again = await new PersonalDataRedaction().entries(entries, () => Promise.resolve());
    expect(again).toEqual(entries);
  });
});
