import { inputViolations } from '../index.js';
import { defaultTimezone } from '../definition/timezone.js';
import { DATE_FORMS, dateOrigin, datesFrom } from './dates.js';
import { withVariables } from './variables.js';

const from = (at: string, timezone = 'UTC', language = 'en-US') => datesFrom({ at, timezone, language });
/** A Sunday. */
const NOW = '2026-11-29T12:00:00Z';

describe('dates', () => {
  it.each([
    ['today', '2026-11-29'],
    ['tomorrow', '2026-11-30'],
    ['+7d', '2026-12-06'],
    ['-1d', '2026-11-28'],
    ['+0d', '2026-11-29'],
    ['+365d', '2027-11-29'],
    ['monday', '2026-11-30'],
    ['friday', '2026-12-04'],
    ['saturday', '2026-12-05'],
    // The next one, never today.
    ['sunday', '2026-12-06'],
  ])('%s is the day %s', (name, expected) => {
    expect(from(NOW)(name, 'iso')).toBe(expected);
    expect(from(NOW)(`${name} | iso`, 'spoken')).toBe(expected);
    expect(from(NOW)(`${name}|iso`, 'spoken')).toBe(expected);
  });

  it.each([
    'Friday',
    ' today',
    'today ',
    '+366d',
    '-999d',
    '+7',
    '7d',
    'yesterday',
    'today | long',
    'today | iso | iso',
    '',
  ])('"%s" is not one', (name) => expect(from(NOW)(name, 'iso')).toBeUndefined());

  it.each([
    ['the end of a month', '2026-04-30T12:00:00Z', 'tomorrow', '2026-05-01'],
    ['the end of a year', '2026-12-31T12:00:00Z', 'tomorrow', '2027-01-01'],
    ['a leap day', '2028-02-28T12:00:00Z', 'tomorrow', '2028-02-29'],
    ['no leap day', '2027-02-28T12:00:00Z', 'tomorrow', '2027-03-01'],
    ['a year with a leap day', '2027-12-31T12:00:00Z', '+365d', '2028-12-30'],
  ])('cross %s', (_what, at, name, expected) => expect(from(at)(name, 'iso')).toBe(expected));

  it.each([
    ['Pacific/Kiritimati', '2026-11-29T10:00:00Z', '2026-11-30'],
    ['Pacific/Pago_Pago', '2026-11-29T10:59:00Z', '2026-11-28'],
    ['America/New_York', '2026-11-30T04:59:00Z', '2026-11-29'],
    ['America/New_York', '2026-11-30T05:00:00Z', '2026-11-30'],
    ['Asia/Kathmandu', '2026-11-29T18:15:00Z', '2026-11-30'],
    // Samoa had no 30 December 2011.
    ['Pacific/Apia', '2011-12-30T09:59:00Z', '2011-12-29'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31'],
  ])('in %s at %s are counted from %s', (timezone, at, today) =>
    expect(from(at, timezone)('today', 'iso')).toBe(today),
  );

  it.each([
    ['the night in which clocks go forward', 'Europe/Berlin', '2026-03-28T23:30:00Z', '2026-03-29', '2026-03-30'],
    ['the hour that there is twice', 'Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-25', '2026-10-26'],
    ['a day without midnight', 'America/Santiago', '2026-09-05T12:00:00Z', '2026-09-05', '2026-09-06'],
    ['the evening before clocks go back', 'America/New_York', '2026-11-01T03:59:00Z', '2026-10-31', '2026-11-01'],
  ])('are whole days in %s', (_what, timezone, at, today, tomorrow) => {
    const dates = from(at, timezone);
    expect([dates('today', 'iso'), dates('tomorrow', 'iso')]).toEqual([today, tomorrow]);
  });

  it('of a weekday are one to seven days ahead, on every day of two years', () => {
    for (let day = 0; day < 730; day++) {
      const at = new Date(Date.UTC(2027, 0, 1 + day, 12));
      const friday = new Date(from(at.toISOString())('friday', 'iso')!);
      const ahead = Math.ceil((friday.getTime() - at.getTime()) / 86_400_000);
      expect([friday.getUTCDay(), ahead >= 1 && ahead <= 7]).toEqual([5, true]);
    }
  });

  it.each([
    ['en-US', 'Tuesday, December 1st'],
    ['en-GB', 'Tuesday, the 1st of December'],
    ['en-AU', 'Tuesday, the 1st of December'],
    ['en', 'Tuesday, December 1st'],
    ['de-DE', 'Dienstag, 1. Dezember'],
    ['es-ES', 'martes, 1 de diciembre'],
    ['fr-FR', 'mardi 1er décembre'],
    ['it-IT', 'martedì 1 dicembre'],
    ['nl-NL', 'dinsdag 1 december'],
    ['pt-BR', 'terça-feira, 1 de dezembro'],
    ['ja-JP', '12月1日火曜日'],
    // Thailand counts other years, and Iran and Saudi Arabia have other months: dates are those of the Gregorian calendar.
    ['th-TH', 'วันอังคารที่ 1 ธันวาคม'],
  ])('are spoken in %s as "%s"', (language, expected) =>
    expect(from('2026-12-01T12:00:00Z', 'UTC', language)('today', 'spoken')).toBe(expected),
  );
});

describe('the time zone', () => {
  it.each([
    ['en-US', 'America/New_York'],
    ['en', 'America/New_York'],
    ['en-GB', 'Europe/London'],
    ['de', 'Europe/Berlin'],
    ['de-AT', 'Europe/Vienna'],
    ['es', 'Europe/Madrid'],
    ['es-419', 'America/Mexico_City'],
    ['fr', 'Europe/Paris'],
    ['fr-CA', 'America/Toronto'],
    ['pt', 'America/Sao_Paulo'],
    ['pt-PT', 'Europe/Lisbon'],
    ['zh-Hant', 'Asia/Taipei'],
    ['ja', 'Asia/Tokyo'],
    ['en-001', 'UTC'],
    ['eo', 'UTC'],
  ])('of %s is %s', (language, expected) => expect(defaultTimezone(language)).toBe(expected));

  it.each<readonly [string | null, readonly unknown[]]>([
    ['Europe/Berlin', []],
    ['UTC', []],
    [null, []],
    ...['Berlin', 'Europe/Berlinn', '+02:00', '', ' UTC', 'CEST'].map(
      (name) => [name, [expect.stringMatching(/^timezone must be an IANA time zone/)]] as const,
    ),
  ])('%j is valid or refused', (timezone, expected) => {
    expect(inputViolations('change', { timezone })).toEqual(expected);
  });
});

describe('an evaluation with dates', () => {
  const dates = from(NOW);
  const evaluation = {
    scenarioText: 'You want a table on {{friday}}.',
    script: [{ say: 'On {{friday}}, not {{tomorrow|iso}}. \\{{today}} {{other}} \\{{other}}' }],
    checks: [
      { type: 'says', name: 'Says {{friday}}', pattern: '(?i){{friday}}' },
      {
        type: 'calls_tool',
        tool: 'book',
        arguments: { name: '{{friday}}', date: '{{friday}}', note: 'for {{friday | spoken}}' },
      },
      { type: 'calls_tool', tool: 'book', argumentsSchema: { properties: { date: { pattern: '^{{friday}}T' } } } },
      { type: 'same_value', sources: [{ value: '{{friday}}' }, { tool: 'book', argument: 'date' }] },
    ],
    toolResults: [
      { tool: 'find', same: { date: '{{friday}}' }, result: { free: ['{{+1d}}'], say: '{{friday|spoken}}' } },
    ],
    history: [
      { caller: 'A table on {{friday}}.' },
      { tool: 'find', arguments: { date: '{{friday}}' }, result: { free: ['{{+1d}}'] } },
      { agent: 'On {{friday}}?' },
    ],
    agentVariables: { today: '{{today}}' },
  };
  const replaced = {
    scenarioText: 'You want a table on Friday, December 4th.',
    script: [{ say: 'On Friday, December 4th, not 2026-11-30. {{today}} {{other}} \\{{other}}' }],
    checks: [
      { type: 'says', name: 'Says {{friday}}', pattern: '(?i)Friday, December 4th' },
      {
        type: 'calls_tool',
        tool: 'book',
        arguments: { name: '2026-12-04', date: '2026-12-04', note: 'for Friday, December 4th' },
      },
      { type: 'calls_tool', tool: 'book', argumentsSchema: { properties: { date: { pattern: '^2026-12-04T' } } } },
      { type: 'same_value', sources: [{ value: '2026-12-04' }, { tool: 'book', argument: 'date' }] },
    ],
    toolResults: [
      { tool: 'find', same: { date: '2026-12-04' }, result: { free: ['2026-11-30'], say: 'Friday, December 4th' } },
    ],
    history: [
      { caller: 'A table on Friday, December 4th.' },
      { tool: 'find', arguments: { date: '2026-12-04' }, result: { free: ['2026-11-30'] } },
      { agent: 'On Friday, December 4th?' },
    ],
    agentVariables: { today: '2026-11-29' },
  };

  it('has them spoken in what is said and read, and as 2026-12-04 in data', () => {
    expect(withVariables(evaluation as never, null, dates)).toEqual(replaced);
  });

  it('has those in the values of a row in the format of the place where a value is inserted', () => {
    const template = { script: [{ say: 'On {{day}}.' }], checks: [{ arguments: { date: '{{day}}' } }] };
    const row = { day: '{{friday}}', nested: '{{day}}' };
    expect(withVariables(template as never, row, dates)).toEqual({
      script: [{ say: 'On Friday, December 4th.' }],
      checks: [{ arguments: { date: '2026-12-04' } }],
    });
    expect(withVariables({ script: [{ say: '{{nested}}' }] } as never, row, dates)).toEqual({
      script: [{ say: '{{day}}' }],
    });
  });

  it('takes a variable of the same name instead', () => {
    expect(withVariables({ scenarioText: '{{friday}}' }, { friday: 'any day' }, dates)).toEqual({
      scenarioText: 'any day',
    });
  });

  const valid = {
    key: 'table',
    name: 'Books a table',
    scenarioText: 'You want a table.',
    personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251',
  };
  const unknown = (path: string, name: string, known = '') =>
    `${path} uses the unknown variable "${name}"; known are ${known}${DATE_FORMS}; \\{{ stands for {{ itself`;

  it.each<[string, object, string[]]>([
    ['dates, without variables', { script: [{ say: 'On {{friday}} or {{+7d | iso}}.' }] }, []],
    ['other names, without variables, which stay as they are', { script: [{ say: '{{money}} {{day}} {{x' }] }, []],
    [
      'other kinds of values, which are refused as such',
      { scenarioText: '{{today}}', script: 7, toolResults: 'x', variables: [{ day: 'x' }] },
      ['script must be a list', expect.stringMatching(/^toolResults must be a list/)],
    ],
    ['literal braces', { script: [{ say: '\\{{Friday}}' }] }, []],
    ['a pattern', { checks: [{ type: 'says', pattern: '(?i){{friday}}' }] }, []],
    ['a capital', { script: [{ say: '{{Friday}}' }] }, [unknown('script[0].say', 'Friday')]],
    ['white space', { script: [{ say: '{{ today }}' }] }, [unknown('script[0].say', ' today ')]],
    ['a typing error', { criteria: [{ text: '{{tomorow}}' }] }, [unknown('criteria[0].text', 'tomorow')]],
    ['weeks', { scenarioText: '{{+2w}}' }, [unknown('scenarioText', '+2w')]],
    ...['next friday', 'in 7 days', '7d', 'this Monday | iso', 'yesterday'].map((name): [string, object, string[]] => [
      `words beside a day, or days without a sign: ${name}`,
      { script: [{ say: `On {{${name}}}.` }] },
      [unknown('script[0].say', name)],
    ]),
    ['names that contain a day', { scenarioText: '{{friday_hours}} {{table7d}} {{mondays off}}' }, []],
    ['too many days', { scenarioText: '{{+366d}}' }, [unknown('scenarioText', '+366d')]],
    ['another format', { scenarioText: '{{today | long}}' }, [unknown('scenarioText', 'today | long')]],
    [
      'dates in rows',
      { scenarioText: '{{day}} {{today}}', variables: [{ day: '{{friday}}' }, { day: 'x {{day}}' }] },
      [],
    ],
    [
      'a typing error in a row',
      { scenarioText: '{{day}}', variables: [{ day: '{{firday}}' }, { day: '{{frequency}}' }] },
      [unknown('variables[0].day', 'firday')],
    ],
    [
      'a format of a variable',
      { scenarioText: '{{friday | iso}}', variables: [{ friday: 'x' }] },
      [unknown('scenarioText', 'friday | iso', 'friday and ')],
    ],
  ])('is accepted or refused with %s', (_what, fields, expected) => {
    expect(inputViolations('file', { ...valid, ...fields })).toEqual(expected);
  });

  it('has its dates from the moment and the zone of the language, unless it has one', () => {
    expect(dateOrigin(null, 'de-AT', NOW)).toEqual({ at: NOW, timezone: 'Europe/Vienna', language: 'de-AT' });
    expect(dateOrigin('Asia/Tokyo', 'de-AT', NOW)).toMatchObject({ timezone: 'Asia/Tokyo' });
  });
});
