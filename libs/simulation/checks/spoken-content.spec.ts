import { type CheckInput, normalise } from '../../evaluation-definition/index.js';
import { CallView } from '../timeline/call-view.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { eventLoopYielder } from '../time/yield-to-event-loop.js';
import { evaluateChecks } from './evaluate-checks.js';
import { isCard, isIban } from './personal-data.js';

const check = (input: CheckInput, ...said: string[]) => checkTurns(input, ...said.map((text) => [text]));

/** @param turns parts of each answer, as pauses divide it */
async function checkTurns(input: CheckInput, ...turns: string[][]) {
  const timeline = turns.flatMap((parts, turn) =>
    parts.map((text, part): TimelineEntry => {
      const times = { start: turn * 1_000 + part, end: turn * 1_000 + part };
      return { type: 'speech', speaker: 'agent', text, ...times, turn, ...(part > 0 && { continues: true }) };
    }),
  );
  const yieldToEventLoop = eventLoopYielder(new VirtualClock(), new AbortController().signal);
  return (await evaluateChecks(normalise({ checks: [input] }).checks, CallView.of(timeline), yieldToEventLoop))[0]!;
}

describe('no_personal_data', () => {
  it.each([
    ['Your card is 4111 1111 1111 1111.', 'a card number (••••••••••••11)'],
    ['Your card is 4111-1111-1111-1111.', 'a card number (••••••••••••11)'],
    ['It is four one one one one one one one one one one one one one one one.', 'a card number (••••••••••••11)'],
    ['The IBAN is DE89 3704 0044 0532 0130 00.', 'an IBAN (••••••••••••00)'],
    ['Write to anna.keller@example.com, please.', 'an e-mail address (••••••••••••om)'],
    ['Write to anna dot keller at example dot com.', 'an e-mail address (••••••••••••om)'],
    ['I call you at +1 (555) 010-0142.', 'a phone number (•••••••••42)'],
    ['Is it five five five oh one four two?', 'a phone number (•••••42)'],
    ['It is double five five, oh one four two.', 'a phone number (•••••42)'],
    [
      'It is four one one one, triple one one, double one double one, one one one one.',
      'a card number (••••••••••••11)',
    ],
  ])('finds in %j: %s, without showing it', async (said, found) => {
    const { met, detail, evidence, decidedByEntry } = await check({ type: 'no_personal_data' }, said);
    expect({ met, detail, decidedByEntry }).toEqual({
      met: false,
      detail: `The agent said ${found}`,
      decidedByEntry: 0,
    });
    expect(said).not.toContain(evidence[0]!.quote);
  });

  it.each([
    'Your table is booked for 2026-12-04 at 19:30.',
    'On 4.12.2026 or on 4/12/2026, from 12:00 - 22:00, as in 2019-2026.',
    'Your reference is BV-1042. It costs 1,045.50 euros.',
    'One, two, three, four.',
    'Double five five, oh one four. The double room is on floor two, two, two, two, two.',
    'We meet at noon at the lighthouse.',
    'We have a table at nine thirty, ten oh five, ten thirty and eleven fifteen.',
  ])('finds nothing in %j', async (said) => {
    expect(await check({ type: 'no_personal_data' }, said)).toMatchObject({ met: true });
  });

  it('ignores what is allowed, other kinds and the other side', async () => {
    const said = 'Call us: +49 30 901820, or write to us@example.com.';
    const allow = ['030 901820', 'us@example.com'];
    expect(await check({ type: 'no_personal_data', allow: ['30 90 18 20', 'US@example.com'] }, said)).toMatchObject({
      met: true,
    });
    expect(await check({ type: 'no_personal_data', allow: allow.slice(1) }, said)).toMatchObject({ met: false });
    expect(await check({ type: 'no_personal_data', kinds: ['card', 'iban'] }, said)).toMatchObject({ met: true });
    expect(await check({ type: 'no_personal_data', speaker: 'caller' }, said)).toMatchObject({ met: true });
  });

  it('finds a number that a pause divides, where it begins', async () => {
    const parts = ['Your card is ', '4111 1111', ' 1111 1111', '.'];
    expect(await checkTurns({ type: 'no_personal_data' }, ['Hello.'], parts)).toMatchObject({
      met: false,
      detail: 'The agent said a card number (••••••••••••11)',
      evidence: [{ entry: 2 }],
      decidedByEntry: 2,
    });
  });

  it('knows the check digits of cards and IBANs', () => {
    expect(['4111111111111111', '5500 0000 0000 0004', '340000000000009'].map(isCard)).toEqual([true, true, true]);
    expect(['4111111111111112', '0000000000000000', '411'].map(isCard)).toEqual([false, false, false]);
    expect(['GB82 WEST 1234 5698 7654 32', 'FR1420041010050500013M02606'].map(isIban)).toEqual([true, true]);
    expect(['GB82 WEST 1234 5698 7654 33', 'DE89'].map(isIban)).toEqual([false, false]);
  });

  it('searches texts in linear time', async () => {
    const started = performance.now();
    for (const text of [
      '1 '.repeat(25_000),
      'a@'.repeat(25_000),
      'double '.repeat(7_000),
      'double one '.repeat(4_500),
      '(1('.repeat(16_000),
      'one '.repeat(12_000),
      'AB12 '.repeat(10_000),
      'a, '.repeat(16_000),
    ]) {
      await check({ type: 'no_personal_data' }, text);
      await check({ type: 'speakable' }, text);
    }
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('speakable', () => {
  it.each([
    ['Your table is **booked**.', 'Markdown ("**booked**")'],
    ['We have:\n- soup\n- bread', 'Markdown ("- s")'],
    ['# Menu', 'Markdown ("# M")'],
    ['Run `npm ci`.', 'Markdown ("`npm ci`")'],
    ['See [our menu](https://example.com/menu).', 'a web address ("https://example.com/menu")'],
    ['See www.example.com for more.', 'a web address ("www.example.com")'],
    ['See bella-vista.com.', 'a web address ("bella-vista.com")'],
    ['Write to us@example.com.', 'an e-mail address ("us@example.com")'],
    ['Great 😀', 'an emoji ("😀")'],
    ['Your number is 5550142.', 'more than 4 digits run together ("5550142")'],
  ])('finds in %j: %s', async (said, found) => {
    const { met, detail } = await check({ type: 'speakable' }, 'Hello.', said);
    expect(met).toBe(false);
    expect(detail).toContain(`The agent said `);
    expect(detail).toContain(found);
  });

  it.each([
    'Your table for 4 is booked for 7:30 pm on 4 December 2026, and it costs €45.50 - or 40 * 2 with wine.',
    'No. 5 is ours. We are at 12 Harbour Street, e.g. on Fridays.',
    'That is 5 5 5, 0 1 4 2. Copyright © Bella Vista™.',
  ])('finds nothing in %j', async (said) =>
    expect(await check({ type: 'speakable' }, said)).toMatchObject({ met: true }),
  );

  it('finds an address that a pause divides, where it begins', async () => {
    const { met, evidence } = await checkTurns({ type: 'speakable' }, ['Hello.', ' Write to ', 'us@exam', 'ple.com.']);
    expect(met).toBe(false);
    expect(evidence[0]).toEqual({ entry: 2, quote: 'us@example.com' });
  });

  it.each([
    ['four', 1],
    ['people', 2],
    ['Friday', 3],
  ])('names the part of an answer in which %s was said', async (text, entry) => {
    const parts = ['A table for ', 'four ', 'people ', 'Friday'];
    const { evidence } = await checkTurns({ type: 'says', speaker: 'agent', text }, parts);
    expect(evidence.map((found) => found.entry)).toEqual([entry]);
  });

  it('takes no dash after a pause for a list', async () => {
    expect(await checkTurns({ type: 'speakable' }, ['We are open ', '- as always - ', 'until ten.'])).toMatchObject({
      met: true,
    });
  });

  it('accepts what is allowed, and longer runs of digits on demand', async () => {
    expect(await check({ type: 'speakable', allow: ['bella-vista.com'] }, 'See Bella-Vista.com.')).toMatchObject({
      met: true,
    });
    expect(await check({ type: 'speakable', maxDigits: 7 }, 'It is 5550142.')).toMatchObject({ met: true });
  });
});

describe('language', () => {
  it.each([
    ['en', 'How many people will be coming?'],
    ['de', 'Für wie viele Personen darf ich reservieren?'],
    ['fr-CA', 'Votre table est réservée pour vendredi.'],
    ['es', 'Su mesa está reservada para el viernes.'],
    ['it', 'Il suo tavolo è prenotato per venerdì.'],
    ['nl', 'Uw tafel is gereserveerd voor vrijdag om half acht.'],
    ['pt', 'A sua mesa está reservada para sexta-feira.'],
    ['pl', 'Państwa stolik jest zarezerwowany na piątek.'],
  ])('recognises %s in a short sentence', async (language, said) => {
    expect(await check({ type: 'language', language }, said)).toMatchObject({ met: true });
    const other = language === 'en' ? 'sv' : 'en';
    expect(await check({ type: 'language', language: other }, said)).toMatchObject({ met: false });
  });

  it('is undecided when the agent says too little, and says so', async () => {
    expect(await check({ type: 'language', language: 'en' }, 'Ok.')).toMatchObject({
      met: null,
      undecided: 'evidence',
      detail: 'The agent said too little to tell its language',
    });
    const composed = { type: 'not', check: { type: 'language', language: 'en' } } as const;
    expect(await check(composed, 'Ok.')).toMatchObject({ met: null, undecided: 'evidence' });
  });

  it('finds one answer in another language', async () => {
    const german = 'Einen Augenblick bitte, ich sehe sofort für Sie nach, ob wir noch einen Tisch haben.';
    expect(await check({ type: 'language', language: 'en' }, 'Hello, how can I help you?', german)).toMatchObject({
      met: false,
      detail: expect.stringContaining('The agent answered in German, not in English') as unknown,
      decidedByEntry: 1,
    });
  });
});
