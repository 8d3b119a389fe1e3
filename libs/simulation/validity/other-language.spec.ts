import { agentSaying, call } from '../testing/calls.js';

const SCRIPT = [
  { say: 'I would like to book a table, please.' },
  {
    answers: [{ when: { says: { text: 'how many' } }, say: 'Four of us, please.' }],
    until: { says: { text: 'booked' } },
    otherwise: 'Pardon? I did not understand you.',
  },
] as const;
const GERMAN = [
  'Guten Abend, Sie sprechen mit dem Restaurant Bella Vista.',
  'Es tut mir leid, am Freitagabend sind wir leider ausgebucht.',
  'Für wie viele Personen möchten Sie denn einen Tisch reservieren?',
];
const ENGLISH = [
  'Good evening, you are speaking with the restaurant Bella Vista.',
  'I am sorry to say that we are fully reserved on Friday evening.',
  'What time would suit you and your guests best for the dinner?',
];
const DANISH = [
  'Godaften, du taler med restauranten Bella Vista i København.',
  'Jeg beklager, vi er desværre helt fuldt optaget på fredag aften.',
  'Hvilket navn skal jeg skrive bordet på, og hvornår kommer I?',
];

const talking = (answers: readonly string[]) => agentSaying(Array.from({ length: 12 }, (_, n) => answers[n % 3]!));
const result = (
  answers: readonly string[],
  options: Partial<Parameters<typeof call>[1]> = {},
  script: unknown = SCRIPT,
) => call({ script: script as typeof SCRIPT }, { transport: talking(answers), ...options });
const inLanguage = (language: string, hasOwnLanguage = true) => ({
  scenario: { scenarioText: 'You want a table.', language, hasOwnLanguage },
});
const INVALID = { outcome: 'invalid', invalidity: { code: 'no_answer' } };

describe('a script without an answer to what the agent says', () => {
  it('is failed by an agent that speaks another language', async () => {
    expect(await result(GERMAN)).toMatchObject({
      outcome: 'failed',
      score: 0,
      invalidity: null,
      failure: null,
      end: { code: 'no_answer' },
      reason: 'The agent spoke German; the language of the call is English.',
    });
  });

  it('is invalid when the agent speaks the language of the call', async () => {
    expect(await result(ENGLISH)).toMatchObject(INVALID);
    expect(await result(GERMAN, inLanguage('de-AT'))).toMatchObject(INVALID);
  });

  it('takes the language of its own lines unless the evaluation has one', async () => {
    const script = [
      { say: 'Ich möchte bitte einen Tisch reservieren.' },
      { ...SCRIPT[1], otherwise: 'Wie bitte? Das habe ich leider nicht verstanden.' },
    ];
    expect(await result(ENGLISH, inLanguage('en-US', false), script)).toMatchObject({
      outcome: 'failed',
      reason: 'The agent spoke English; the language of the call is German.',
    });
    expect(await result(ENGLISH, inLanguage('en-US'), script)).toMatchObject(INVALID);
  });

  it('is invalid when the agent is set to the language that it speaks', async () => {
    expect(await result(GERMAN, inLanguage('de-DE', false))).toMatchObject(INVALID);
  });

  it('is invalid when the caller used the language before', async () => {
    const script = [{ say: 'Sprechen Sie Deutsch?' }, ...SCRIPT];
    expect(await result(GERMAN, inLanguage('en'), script)).toMatchObject(INVALID);
  });

  it.each([
    ['the last three answers have fewer than 20 words', ['Ja?', 'Wie viele Personen?', 'Noch einmal, bitte.'], 'en'],
    ['the detector confuses the two languages', DANISH, 'nb-NO'],
    ['the detector does not know the language of the call', GERMAN, 'gl'],
  ])('is invalid when %s', async (_name, answers, language) => {
    expect(await result(answers, inLanguage(language))).toMatchObject(INVALID);
  });

  it('counts words of languages without spaces', async () => {
    const japanese = [
      '申し訳ございません、金曜日の夜は満席です。',
      '土曜日の七時半でもよろしいでしょうか。',
      'ご予約のお名前は何ですか。',
    ];
    expect((await result(japanese)).reason).toBe('The agent spoke Japanese; the language of the call is English.');
  });
});
