import { understand } from './understand.js';

/** Friday, 4 December 2026. */
const NOW = Date.UTC(2026, 11, 4, 10);
const details = (text: string, asked?: Parameters<typeof understand>[1]) => understand(text, asked, NOW).details;

describe('understand', () => {
  it.each([
    ['On Friday, please.', '2026-12-11', 'Friday'],
    ['Saturday', '2026-12-05', 'Saturday'],
    ['tomorrow', '2026-12-05', 'Saturday'],
    ['the day after tomorrow', '2026-12-06', 'Sunday'],
    ['tonight', '2026-12-04', 'Friday'],
    ['on the 24th of December', '2026-12-24', 'Thursday'],
    ['on March 3rd', '2027-03-03', 'Wednesday'],
    ['on 3 March 2028', '2028-03-03', 'Friday'],
    ['2027-01-02', '2027-01-02', 'Saturday'],
  ])('extracts the day from %p', (text, date, weekday) => {
    expect(details(text, 'day')).toEqual({ day: { date, weekday } });
  });

  it.each(['on the 31st of June', '2027-13-01'])('ignores the non-existent day in %p', (text) => {
    expect(details(text, 'day').day).toBeUndefined();
  });

  it.each([
    ['At half past seven in the evening.', '19:30'],
    ['at 19:30', '19:30'],
    ['7:15 pm', '19:15'],
    ['seven thirty', '19:30'],
    ["eight o'clock", '20:00'],
    ['quarter to nine', '20:45'],
    ['at noon', '12:00'],
    ['at ten in the evening', '22:00'],
    ['at ten in the morning', '10:00'],
    ['12 a.m.', '00:00'],
    ['eight', '20:00'],
  ])('extracts the time from %p', (text, time) => {
    expect(details(text, 'time')).toEqual({ time });
  });

  it.each([
    ['Four of us.', 4],
    ['a table for two', 2],
    ['Just me', 1],
    ['we are sixteen', 16],
    ['make it five, please', 5],
    ['7', 7],
    ['five people, not four', 5],
    ['for five people instead of four people', 5],
  ])('extracts the number of people from %p', (text, people) => {
    expect(details(text, 'people')).toEqual({ people });
  });

  it.each([
    ['Rossi, with a double s.', 'name', { name: 'Rossi' }],
    ['it is anna keller', 'name', { name: 'Anna Keller' }],
    ['My name is Anna Keller.', undefined, { name: 'Anna Keller' }],
    ['Yes, 555 0142.', 'phone', { phone: '5550142' }],
    ['+44 20 7946-0000', 'phone', { phone: '+442079460000' }],
    ['five double five oh one four two', 'phone', { phone: '5550142' }],
    ['Sorry, what?', 'name', {}],
  ] as const)('takes who it is from %p', (text, asked, expected) => {
    expect(details(text, asked)).toEqual(expected);
  });

  it('extracts all details from one sentence', () => {
    expect(
      details("I'm Jo Lee, a table for 6 at 7 pm on 24 December 2026, call me at (555) 01-99 if need be."),
    ).toEqual({
      name: 'Jo Lee',
      people: 6,
      time: '19:00',
      day: { date: '2026-12-24', weekday: 'Thursday' },
      phone: '5550199',
    });
  });

  it('extracts no booking from a question that mentions a day', () => {
    expect(understand('Are you open on Monday at eight?', undefined, NOW)).toMatchObject({
      details: {},
      facts: ['hours'],
    });
  });

  it.each(['', '  ', '…', '[silence]', '(inaudible)'])('treats %p as silence', (text) => {
    expect(understand(text, undefined, NOW).isSilent).toBe(true);
  });

  it('treats words of any language as speech', () => {
    expect(understand('こんにちは', undefined, NOW).isSilent).toBe(false);
  });

  it.each([
    ['digits and blanks', '1 '.repeat(500_000)],
    ['opening brackets', '(['.repeat(500_000)],
    ['numbers in words', 'one '.repeat(250_000)],
    ['refusals', 'not '.repeat(250_000)],
    ['capitals', 'under A'.repeat(150_000)],
    ['cancellations', 'cancel '.repeat(150_000)],
  ])('processes a very long turn of %s quickly', (_name, text) => {
    const start = performance.now();
    understand(text, 'name', NOW);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
