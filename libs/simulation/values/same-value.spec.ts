import { datesFrom } from '../../evaluation-definition/index.js';
import { areSameValues, compareValues } from './same-value.js';

describe('areSameValues', () => {
  it.each<[unknown, unknown]>([
    ['forty-five euros', '€45'],
    ['forty-five euros', 45],
    ['€45.50', 'forty-five euros and fifty cents'],
    ['45 EUR', '45,00 €'],
    ['$1,045.50', 1045.5],
    ['one hundred and twenty dollars', '$120'],
    ['two thousand and twenty-six', '2,026'],
    ['four point five', 4.5],
    ['2:35 pm', '14:35'],
    ['two thirty-five p.m.', '14:35'],
    ['2:35pm', '14:35'],
    ['7PM', '19:00'],
    ['7.30a.m.', '07:30'],
    ['at 7:30 pm', '19:30'],
    ['about 19:30', '7:30pm'],
    ['half past seven in the evening', '19:30'],
    ['half past seven', '19:30'],
    ['quarter to eight', '7:45'],
    ['ten past one pm', '13:10'],
    ['seven oh five am', '07:05'],
    ["seven o'clock", '19:00'],
    ['noon', '12:00'],
    ['12 am', '00:00'],
    ['at seven', '19:00'],
    ['nineteen thirty', '19:30'],
    ['December 4th, 2026', '2026-12-04'],
    ['Friday, the fourth of December', '2026-12-04'],
    ['the twenty-first of May twenty twenty-six', '2026-05-21'],
    ['Friday', '2026-12-04'],
    ['Fri, Dec. 4', '2026-12-04'],
    ['4. Dec 2026', '2026-12-04'],
    ['Thurs', 'Thursday'],
    ['4.12.2026', '2026-12-04'],
    ['2026-12-04T19:30', '7:30 pm'],
    ['Q X 7', 'QX7'],
    ['Quebec X-ray seven', 'QX7'],
    ['Q as in Quebec, X as in X-ray, 7', 'qx7'],
    ['five five five zero one four two', '555 0142'],
    ['double five five oh one four two', '5550142'],
    ['+1 (555) 555-0142', '+15555550142'],
    ['B V 1 0 4 2', 'BV-1042'],
    ['Rossi.', 'rossi'],
    [true, 'true'],
    ['four', 4],
  ])('%j and %j are the same', (a, b) => {
    expect([areSameValues(a, b), areSameValues(b, a)]).toEqual([true, true]);
  });

  it.each<[unknown, unknown]>([
    ['forty-five euros', '€54'],
    ['$45', '€45'],
    ['fourteen', 40],
    ['2:35 pm', '02:35'],
    ['2:35 am', '14:35'],
    ['2:35am', '14:35'],
    ['at 07:30', '19:30'],
    ['half past seven in the evening', '07:30'],
    ['half past seven', '18:30'],
    ['Saturday', '2026-12-04'],
    ['Sat, Dec. 4', '2026-12-04'],
    ['-15', '+15'],
    ['December 5th', '2026-12-04'],
    ['Q X 7', 'QX8'],
    ['Q X 7', 'QXZ'],
    ['1.50', 150],
    ['', ''],
    [null, 'x'],
    ['eight', '19:00'],
  ])('%j and %j are different', (a, b) => {
    expect([areSameValues(a, b), areSameValues(b, a)]).toEqual([false, false]);
  });

  it('compares texts in linear time', () => {
    const started = performance.now();
    for (const text of ['one '.repeat(50), '1'.repeat(200), '- '.repeat(100), 'x'.repeat(100_000)])
      areSameValues(text, text);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('words that no table reads', () => {
  const both = (a: unknown, b: unknown, kind?: 'name') => [compareValues(a, b, kind), compareValues(b, a, kind)];

  it.each<[string, unknown, unknown]>([
    ['redcross/dcsops#59', '1663 Market St', '1663 Market Street'],
    ['EFord36/normalise#85', 'St. Mary', 'Saint Mary'],
    ['ucbepic/DataAgentBench#41', 'Fish & Chips', 'fish and chips'],
    ['ucbepic/DataAgentBench#41', 'HDFC Bank Limited', 'HDFC Bank Limited Common Stock'],
    ['ucbepic/DataAgentBench#82', "Cockamamie's", 'Cockamamies'],
    ['web-arena-x/webarena#134: initials', 'NYC', 'New York City'],
    ['own: accents', 'José Müller', 'Jose Mueller'],
    ['own: another script', 'Москва', 'Moscow'],
    ['own: an object of its own', '7:30 pm', { hour: 19, minute: 30 }],
    ['own: an object of its own', 'Anna Rossi', { first: 'Anna', last: 'Rossi' }],
    ['own: large', Array(900).fill('7 pm'), Array(900).fill('19:00')],
  ])('(%s) whether %j and %j are the same is not known, also if they are names', (_source, a, b) => {
    expect([...both(a, b), ...both(a, b, 'name')].filter((found) => found === 'different')).toEqual([]);
  });

  it.each<[string, unknown, unknown]>([
    ['own', 'Rossi', 'Russo'],
    ['own', 'Bob', 'Robert'],
    ['own', 'outdoor', 'terrace'],
    ['own', 'Second Street', 'Oak Road'],
    ['microsoft/NLU.DevOps#241', 'Carole', 'Carol'],
    ['own: inside of lists', ['Rossi'], ['Russo']],
  ])('(%s) %j and %j are different only if they are names', (_source, a, b) => {
    expect(both(a, b)).toEqual(['unknown', 'unknown']);
    expect(both(a, b, 'name')).toEqual(['different', 'different']);
  });

  it.each<[unknown, unknown]>([
    ['QX7', 'QX8'],
    ['Q X 7', 'QX8'],
    ['BV-1042', 'B V 1 0 4 3'],
    ['R O S S I', 'Russo'],
    ['Room 12', 'Room 14'],
    ['12 Oak St', '14 Oak Street'],
    [null, 'x'],
    ['', 'Rossi'],
  ])('%j and %j have one form each, and are different', (a, b) => {
    expect(both(a, b)).toEqual(['different', 'different']);
  });
});

describe('dates as an English caller says them', () => {
  it.each(['en-US', 'en-GB'])(
    'in %s are the same as in figures, on every day of a leap year, and as no other day',
    (language) => {
      for (let day = 0; day < 366; day++) {
        const at = new Date(Date.UTC(2028, 0, 1 + day, 12)).toISOString();
        const dates = datesFrom({ at, timezone: 'UTC', language });
        const [iso, spoken] = [dates('today', 'iso'), dates('today', 'spoken')];
        expect([spoken, iso, areSameValues(spoken, iso), areSameValues(spoken, dates('tomorrow', 'iso'))]).toEqual([
          ...[spoken, iso, true, false],
        ]);
      }
    },
  );
});
