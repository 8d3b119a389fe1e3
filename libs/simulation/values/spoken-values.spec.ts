import fc from 'fast-check';
import { shareOf } from '../../statistics/testing/sample.js';
import { compareValues } from './same-value.js';

const both = (a: unknown, b: unknown) => [compareValues(a, b), compareValues(b, a)];

describe('spoken and written forms of a value', () => {
  it.each<[string, unknown, unknown]>([
    ['coval-ai/benchmarks#218', 'ninety percent', '90%'],
    ['own: one moment in two time zones', '2026-11-29T10:00:00Z', '2026-11-29T15:00:00+05:00'],
    ['coval-ai/benchmarks#218', 'fifty per cent', '50 %'],
    ['coval-ai/benchmarks#218', 'one hundred twenty three', '123'],
    ['elevenlabs-docs#896', 'one percent', '1%'],
    ['elevenlabs-docs#896', 'minus one', '-1'],
    ['elevenlabs-docs#896', 'negative five', -5],
    ['elevenlabs-docs#896', 'one and a half million', 1500000],
    ['MycroftAI/lingua-franca#92', '1.5 million', 1500000],
    ['MycroftAI/lingua-franca#92', 'one point two million', '1,200,000'],
    ['finnfiddle/words-to-numbers#25', 'half a million', '500000'],
    ['finnfiddle/words-to-numbers#25', 'twenty-five million', 25000000],
    ['markburns/numbers_in_words#32', 'three and a half', '3.5'],
    ['markburns/numbers_in_words#32', 'two and a half', 2.5],
    ['markburns/numbers_in_words#32', '2½', '2.5'],
    ['markburns/numbers_in_words#32', '½', 'a half'],
    ['markburns/numbers_in_words#32', 'two thirds', '2/3'],
    ['markburns/numbers_in_words#32', 'three quarters', 0.75],
    ['own', 'point five', '0.5'],
    ['own', 'nought point five', '0.5'],
    ['tgeczy/TGSpeechBox#44', 'twenty ten', '2010'],
    ['tgeczy/TGSpeechBox#44', 'nineteen eighty-four', 1984],
    ['finnfiddle/words-to-numbers#18', 'twenty twenty six', '2026'],
    ['finnfiddle/words-to-numbers#18', 'twenty twenty', '2020'],
    ['ghewgill/text2num#7', 'nineteen oh five', '1905'],
    ['ghewgill/text2num#7', 'twenty oh one', 'two thousand and one'],
    ['sanskarpan/orpheus#631', 'twenty-first', '21st'],
    ['sanskarpan/orpheus#631', 'one hundred first', '101st'],
    ['sanskarpan/orpheus#631', 'thirty-second', '32nd'],
    ['sanskarpan/orpheus#631', 'third', '3rd'],
    ['salute-developers/GigaAM#87', 'twelve dollars oh five cents', '$12.05'],
    ['own', 'fifty cents', '$0.50'],
    ['own', '99 cents', '€0.99'],
    ['Qalculate/libqalculate#1013: several currencies have cents', 'fifty cents', '50 cents'],
    ['facebook/duckling#3', '45 pence', '£0.45'],
    ['own: also the American coin', 'one penny', '1 cent'],
    ['own: also the American coin', 'one penny', '£0.01'],
    ['own', 'five bucks', '$5'],
    ['own', '$1M', 1000000],
    ['own', '5k', 'five thousand'],
    ['own', '200K', '200,000'],
    ['own', 'eight o clock', '8:00'],
    ['wanasit/chrono#401', 'twelve noon', '12:00'],
    ['wanasit/chrono#401', '12 midnight', '00:00'],
    ['wanasit/chrono#134', 'quarter past noon', '12:15'],
    ['wanasit/chrono#134', 'quarter past midnight', '00:15'],
    ['own', 'seventeen hundred hours', '17:00'],
    ['own', 'oh eight hundred', '08:00'],
    ['own', 'at twenty', '20:00'],
    ['elevenlabs-docs#896', 'john dot smith at example dot com', 'john.smith@example.com'],
    ['own', 'j underscore smith at example dot co dot uk', 'j_smith@example.co.uk'],
    ['own', 'john dash smith at example dot com', 'john-smith@example.com'],
    ['own', 'j o h n seven at example.com', 'John7@example.com'],
    ['own', 'w w w dot example dot com slash book', 'www.example.com/book'],
    ['rgbkrk/voice#276', 'A seventeen', 'A17'],
    ['rgbkrk/voice#276', 'A one seven', 'A17'],
    ['own', 'twelve b', '12B'],
    ['own', 'two point four point one', '2.4.1'],
    ['own', 'a dozen', 12],
    ['own', 'two dozen', 'twenty-four'],
    ['own', 'half a dozen', '6'],
    ['coval-ai/benchmarks#218', 'forty-two forty-two', '4242'],
    ['own', 'five fifty five oh one forty two', '555 0142'],
    ['elevenlabs-docs#896', 'plus four nine three zero one two three four', '+49 30 1234'],
    ['own', '0049 30 1234567', '+49 301234567'],
    ['own', 'plus one', '+1'],
    ['NVIDIA-NeMo/Speech#2161', 'oh', 0],
    ['ShailChoksi/text2digits#58', 'five oh', '50'],
    ['own', '١٢', 12],
    ['own', '１２', '12'],
    ['own', 'yeah', true],
    ['own', 'Nope.', false],
    ['allo-media/text2num#111', 'forty five hundred thirty', '4530'],
    ['akshaynagpal/w2n#27', 'one million eighty two thousand', 1082000],
    ['own', '€1.234,56', '1234.56'],
    ['own', '1 234,56 €', "1'234.56"],
    ['own', 'one thirty', '1:30'],
    ['own', 'ten to eleven', '10:50'],
    ['own', '4-0-2-1', '4021'],
    ['own', '1-800-555-0142', '18005550142'],
    ['own', '01.23.45.67.89', '0123456789'],
    ['own', '04/12/1990', '04121990'],
    ['own', '12.5 mg', '12.5mg'],
    ['own', 'one point one point eleven', '1.1.11'],
    ['own', '1,000 Main Street', '1000 Main Street'],
    ['own', '2026-11-29T10:00', '2026-11-29 10:00'],
    ['own', '2026-11-29T10:00', '10 am'],
    ['own', '25/12/2026', '12/25/2026'],
    ['own', '25/12/2026', '2026-12-25'],
    ['own: both readings are the same day', '4/4/2026', '2026-04-04'],
    ['own: both are written in one order', '4/12/2026', '04/12/26'],
    ['own: both are written in one order', '4/12/2026', '4-12-2026'],
    ['dateutil/dateutil#898: dots are day first', '4.12.2026', '2026-12-04'],
    ['dateutil/dateutil#1011: dots are day first', '04.03.2020', 'the fourth of March 2020'],
    ['own: one moment in two time zones', '2026-11-29T10:00Z', '2026-11-29T05:00-0500'],
    ['own: one moment in two spellings of a time zone', '2026-11-29T10:00:00Z', '2026-11-29T10:00:00+00:00'],
    ['own: the time zone of the other is not known', '2026-11-29T10:00:00Z', '2026-11-29 10:00'],
    ['own', { time: '19:30', codes: ['BV-1042'] }, { codes: ['BV 1042'], time: '7:30 pm' }],
    ['own: large', Array(2_000).fill('a'), Array(2_000).fill('a')],
  ])('(%s) %j and %j are the same', (_source, a, b) => {
    expect(both(a, b)).toEqual(['same', 'same']);
  });

  it.each<[string, unknown, unknown]>([
    ['The Times, janknez: British 7:30, Dutch 6:30', 'half seven', '7:30'],
    ['microsoft/Recognizers-Text#2036', 'half seven', '18:30'],
    ['units left out', 'twelve fifty', '$12.50'],
    ['units left out', 'twelve fifty', 1250],
    ['units left out', 'three ten', '£3.10'],
    ['units left out', 'one eighty-nine', '$1.89'],
    ['finnfiddle/words-to-numbers#18', 'one fifty', '1.50'],
    ['finnfiddle/words-to-numbers#18', 'one fifty', 150],
    ['finnfiddle/words-to-numbers#18', 'one thirty', '130'],
    ['finnfiddle/words-to-numbers#18', 'six sixty two', '662'],
    ['finnfiddle/words-to-numbers#18', 'one fifty', 'one hundred fifty'],
    ['own', 'ten ten', 1010],
    ['own', '1.50', '1:50'],
    ['own', 'a couple', 2],
    ['own', 'a few', '3'],
    ['own', 'five k', 5000],
    ['own', '5m', 5000000],
    ['own', 'ninety percent', 0.9],
    ['own', 'ninety percent', 90],
    ['own', '90%', 90],
    ['own', 'a b at c dot de', 'a.b@c.de'],
    ['own', '5 constructor', '5'],
    ['wanasit/chrono#578', 'second', 2],
    ['wanasit/chrono#578', 'one second', 1],
    ['own', 'May', '2026-05-01'],
    ['own', 'ten to eleven', '10-11'],
    ['own', 'two to four', '2-4'],
    ['facebook/duckling#62', '12', 'midnight'],
    ['facebook/duckling#62', 'twelve', 'noon'],
    ['facebook/duckling#62', '12:00', 'midnight'],
    ['own', 24, '00:00'],
    ['own', 'twenty', '20:00'],
    ['own', '1930', '19:30'],
    ['own', '0730', '7:30'],
    ['own', '1.000', 1000],
    ['own', '1,000', 1],
    ['own', '030 123456', '+49 30 123456'],
    ['own', '555 555 0142', '+1 555 555 0142'],
    ['own', 'tomorrow', '2026-12-05'],
    ['own', 'this Friday', '2026-12-04'],
    ['own', 'the fourth', '2026-12-04'],
    ['own', '3/4', 'April 3rd'],
    ['own', 'quarter of eight', '7:45'],
    ['own', 'twenty of eight', '7:40'],
    ['own', "baker's dozen", 13],
    ['own', 'Room twelve b', '12B'],
    ['own', 'one and a half hours', '90 minutes'],
    ['own', 'two hours', '120 minutes'],
    ['own', 'for', 4],
    ['own: German', 'siebenunddreißig', 37],
    ['own: German', 'Viertel sechs', '5:15'],
    ['own: the dot was not heard', 'johnsmith@example.com', 'john.smith@example.com'],
    ['own', 'maybe', true],
    ['own: signs have a meaning', '1/12/2026', '11/2/2026'],
    ['own: signs have a meaning', '2026-1-12', '2026-11-2'],
    ['own: signs have a meaning', '1/2', 12],
    ['own: signs have a meaning', '2-3', '23'],
    ['own: signs have a meaning', '2 - 3', '23'],
    ['own: signs have a meaning', '1,5', '15'],
    ['own: signs have a meaning', '12.5 mg', '125 mg'],
    ['own: signs have a meaning', '1.1.11', '1.11.1'],
    ['own: signs have a meaning', '-5 degrees', '5 degrees'],
    ['own: signs have a meaning', '-$5', 5],
    ['own: signs have a meaning', '$-5', '$5'],
    ['own: two customs', '4/12/2026', '12/4/2026'],
    ['gbif/pipelines#228: two customs', '4/12/2026', '2026-12-04'],
    ['gbif/pipelines#228: two customs', '4/12/2026', '2026-04-12'],
    ['facebookarchive/duckling_old#38: two customs', '11/1/2015', 'the first of November 2015'],
    ['cline/cline#4610: two customs', '01/07/2025', 'July 1st'],
    ['akoumjian/datefinder#77: two customs', '01-02-2018', '2018-02-01'],
    ['justingit/dada-mail#1084: two customs', '11/09/21', '2021-09-11'],
    ['waltzofpearls/dateparser#21: one of two customs', '4.12.2026', '4/12/2026'],
    ['own: two customs', '4/12/2026', 'Friday'],
    ['own: two customs', '4/12/2026', 'Sunday'],
    ['own: two customs inside of an object', { date: '4/12/2026' }, { date: '2026-12-04' }],
    ['TEAMMATES/teammates#3873: dots, by an American', '08.06.2015', '2015-08-06'],
    ['own: two time zones', '2026-11-29T10:00:00Z', '2026-11-29T10:00:00+05:00'],
    ['own: two time zones', '2026-11-29T10:00:00Z', '2026-11-30T10:00:00+01:00'],
    ['own: two time zones and no moment', '2026-11-29T25:00:00Z', '2026-11-29T26:00:00+01:00'],
    ['own: a list is not a code', [1, 2], '12'],
    ['own: a list is not a code', { a: 12 }, { a: [1, 2] }],
    ['own: JSON has lost digits', 12345678901234567891, '12345678901234567891'],
  ])('(%s) whether %j and %j are the same is not known', (_source, a, b) => {
    expect(both(a, b)).toEqual(['unknown', 'unknown']);
  });

  it.each<[string, unknown, unknown]>([
    ['coval-ai/benchmarks#218', 'thirty six', '3006'],
    ['coval-ai/benchmarks#218', 'one one', 2],
    ['own', 'eleven three', '14'],
    ['own', 'four dollars eighty five cents', '$485'],
    ['salute-developers/GigaAM#87', 'twelve dollars oh five cents', '125'],
    ['own', 'minus one', 1],
    ['own', 'fifteen', 'fifty'],
    ['own', '7', '7:30'],
    ['own', '1.5', '15'],
    ['own', '€45', '45 USD'],
    ['own', '19:30', '7:30 am'],
    ['facebook/duckling#3', '45 pence', '45 cents'],
    ['facebook/duckling#3', '£0.45', 'forty-five cents'],
    ['facebook/duckling#3', '45 pence', '€0.45'],
    ['own: no reading is that day', '4/12/2026', '2026-12-05'],
    ['own: no reading is that day', '4/12/2026', 'Saturday'],
    ['own: no reading is that day', '4/12/2026', 'December 5th'],
    ['own: neither moment nor day is the same', '2026-11-29T10:00:00Z', '2026-11-30T10:00:00Z'],
    ['own', 'first', 2],
    ['own', 'ninety percent', '9%'],
    ['own', 'Friday', '2026-12-05'],
    ['own', 'half seven', '8:30'],
    ['own', 'half seven', '19:00'],
    ['own', 'a dozen', 10],
    ['own', 'two and a half', 25],
    ['own', 'one point two million', 1000002],
    ['own', 'quarter past noon', '00:15'],
    ['own', 'twelve fifty', '13:50'],
    ['own', 'john at example dot com', 'jon@example.com'],
    ['own', 'five five five zero one four three', '5550142'],
    ['own', '+1 (555) 555-0143', '+15555550142'],
    ['own', 'plus four nine three zero one two three four', '+43 30 1234'],
    ['own', 'yes', false],
    ['own', 'Room 12', 'Room 14'],
    ['own: both have a date and a time', '2026-11-29T10:00', '2026-11-29T11:00'],
    ['own: both have a date and a time', '2026-11-29T10:00', '2026-11-30T10:00'],
    ['own: more digits than a number has', '12345678901234567890', '12345678901234567891'],
    ['own: more digits than a number has', '9007199254740993', '9007199254740992'],
    ['own: inside of objects', { a: 1.5 }, { a: 15 }],
    ['own: inside of lists', [-5], [5]],
    ['own: inside of lists', [1, 2], [1, 2, 3]],
  ])('(%s) %j and %j are different', (_source, a, b) => {
    expect(both(a, b)).toEqual(['different', 'different']);
  });

  it('never calls two different numbers the same, and a number in words never different from its figures', () => {
    const runs = shareOf(2_000);
    fc.assert(
      fc.property(fc.nat({ max: 9_999_999 }), fc.nat({ max: 9_999_999 }), (one, other) => {
        expect(compareValues(inWords(one), one)).toBe('same');
        expect(compareValues(inWords(one), one.toLocaleString('en'))).toBe('same');
        if (one !== other) expect(compareValues(inWords(one), other)).toBe('different');
        expect(compareValues(`minus ${inWords(one + 1)}`, -1 - one)).toBe('same');
        expect(compareValues(`${inWords(one)} percent`, `${one}%`)).toBe('same');
      }),
      { numRuns: runs },
    );
  });

  it('gives the same answer in both directions and never throws, whatever the words', () => {
    const word = fc.constantFrom(
      ...'one twelve twenty half quarter hundred million point minus oh past to of at a and percent dollars cents second third noon pm dozen couple dot 7 12 1.50 7:30 1,000 3/4 +49 00 k constructor __proto__'.split(
        ' ',
      ),
    );
    const phrase = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(phrase, phrase, (a, b) => {
        expect(compareValues(a, b)).toBe(compareValues(b, a));
        if (/[a-z\d]/.test(a)) expect(compareValues(a, a)).toBe('same');
      }),
      { numRuns: shareOf(2_000) },
    );
  });
});

const UNITS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** A whole number below a billion in English words. */
function inWords(n: number): string {
  if (n < 20) return UNITS[n]!;
  if (n < 100) return TENS[Math.floor(n / 10) - 2]! + (n % 10 === 0 ? '' : `-${UNITS[n % 10]}`);
  const [size, name] = n < 1_000 ? [100, 'hundred'] : n < 1_000_000 ? [1_000, 'thousand'] : [1_000_000, 'million'];
  const rest = n % size === 0 ? '' : ` ${inWords(n % size)}`;
  return `${inWords(Math.floor(n / size))} ${name}${rest}`;
}
