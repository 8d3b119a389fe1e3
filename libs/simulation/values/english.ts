import type { ValueWords } from './value-words.js';

const numbered = (words: string, first = 0, step = 1): Record<string, number> =>
  Object.fromEntries(words.split(' ').map((word, index) => [word, first + index * step]));

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const CENTS = ['EUR', 'USD', 'CHF'];
const LETTERS =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu';

export const ENGLISH: ValueWords = {
  units: {
    ...numbered(
      'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    ),
    nought: 0,
    naught: 0,
  },
  tens: numbered('twenty thirty forty fifty sixty seventy eighty ninety', 20, 10),
  scales: { dozen: 12, hundred: 100, thousand: 1_000, million: 1_000_000, billion: 1_000_000_000 },
  ordinals: {
    ...numbered(
      'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth',
      1,
    ),
    ...numbered('twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth', 20, 10),
  },
  fractions: {
    half: 2,
    halves: 2,
    third: 3,
    thirds: 3,
    quarter: 4,
    quarters: 4,
    fifths: 5,
    sixths: 6,
    eighths: 8,
    tenths: 10,
  },
  numberSigns: { minus: -1, negative: -1, plus: 1 },
  percent: / ?(?:%|per ?cent|pct)$/,
  fillers: words('and a the on at exactly about'),
  of: 'of',
  and: 'and',
  decimalPoint: 'point',
  currencies: {
    '€': 'EUR',
    euro: 'EUR',
    euros: 'EUR',
    eur: 'EUR',
    $: 'USD',
    us$: 'USD',
    dollar: 'USD',
    dollars: 'USD',
    usd: 'USD',
    buck: 'USD',
    bucks: 'USD',
    '£': 'GBP',
    pound: 'GBP',
    pounds: 'GBP',
    gbp: 'GBP',
    quid: 'GBP',
    '¥': 'JPY',
    yen: 'JPY',
    jpy: 'JPY',
    franc: 'CHF',
    francs: 'CHF',
    chf: 'CHF',
  },
  hundredths: { cent: CENTS, cents: CENTS, penny: ['GBP', 'USD'], pence: ['GBP'] },
  months: {
    ...numbered('january february march april may june july august september october november december', 1),
    ...numbered('jan feb mar apr may jun jul aug sep oct nov dec', 1),
    sept: 9,
  },
  weekdays: {
    ...numbered('sunday monday tuesday wednesday thursday friday saturday'),
    ...numbered('sun mon tue wed thu fri sat'),
    tues: 2,
    thur: 4,
    thurs: 4,
  },
  namedTimes: { noon: 720, midday: 720, midnight: 0 },
  dayParts: [
    { pattern: / ?(?:\b|(?<=\d))(a\.? ?m\.?|in the morning)$/, hours: 0 },
    { pattern: / ?(?:\b|(?<=\d))(p\.? ?m\.?|in the (afternoon|evening)|at night|tonight)$/, hours: 12 },
  ],
  hours: 'hours',
  beforeHour: 'at',
  hourWords: new Set(["o'clock", 'oclock']),
  past: new Set(['past', 'after']),
  to: new Set(['to', 'before', 'till']),
  minuteFractions: { quarter: 15, half: 30 },
  letters: {
    ...Object.fromEntries(LETTERS.split(' ').map((word) => [word, word[0]!])),
    alfa: 'a',
    juliet: 'j',
    oh: '0',
    whisky: 'w',
    dash: '',
    hyphen: '',
    space: '',
    slash: '',
    dot: '',
    plus: '',
  },
  addressSigns: { at: '@', dot: '.', underscore: '_', dash: '-', hyphen: '-', minus: '-', slash: '/', plus: '+' },
  answers: { yes: true, yeah: true, yep: true, correct: true, no: false, nope: false },
  quantities: words(
    "couple few several score gross fortnight oh past k hours hour minutes minute seconds days day weeks week months month years year o'clock noon midday midnight",
  ),
  repeats: { double: 2, triple: 3 },
  explains: / (?:as in|like|for) [\p{L}-]+/gu,
};

// "Constructor" is not a name of the tables.
for (const names of Object.values(ENGLISH))
  if (Object.getPrototypeOf(names) === Object.prototype) Object.setPrototypeOf(names, null);
