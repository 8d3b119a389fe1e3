import type { ValueWords } from './value-words.js';

const numbered = (words: string, first = 0, step = 1): Record<string, number> =>
  Object.fromEntries(words.split(' ').map((word, index) => [word, first + index * step]));

const LETTERS =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu';

export const ENGLISH: ValueWords = {
  units: numbered(
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
  ),
  tens: numbered('twenty thirty forty fifty sixty seventy eighty ninety', 20, 10),
  scales: { hundred: 100, thousand: 1_000, million: 1_000_000, billion: 1_000_000_000 },
  ordinals: {
    ...numbered(
      'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth',
      1,
    ),
    twentieth: 20,
    thirtieth: 30,
  },
  fillers: new Set(['and', 'a', 'of', 'the', 'on', 'at', 'exactly', 'about']),
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
  hundredths: new Set(['cent', 'cents', 'penny', 'pence']),
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
  },
  repeats: { double: 2, triple: 3 },
  explains: / (?:as in|like|for) [\p{L}-]+/gu,
  spokenEmail:
    /\b[\p{L}\d]{1,30}(?: (?:dot|underscore|dash) [\p{L}\d]{1,30}){0,4} at [\p{L}\d]{1,30}(?: dot [\p{L}\d]{1,30}){0,3} dot [a-z]{2,10}\b/giu,
};
