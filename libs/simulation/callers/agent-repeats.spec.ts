import type { Check } from '../../evaluation-definition/index.js';
import { agentSaying, call } from '../testing/calls.js';
import { agentRepeats } from './agent-repeats.js';

const QUESTION = 'Which day would you like?';
const SCRIPT = [
  { say: 'A table, please.' },
  {
    answers: [
      { when: { says: { text: 'day' } }, say: 'Friday.' },
      { when: { says: { text: 'moment' } }, say: 'Sure.' },
      { when: { says: { text: 'how about' } }, say: 'Another one, please.' },
    ],
    until: { says: { text: 'booked' } },
    otherwise: 'Pardon?',
  },
  { say: 'Thank you.' },
];
const BOOKED = { type: 'says', text: 'booked' } as const;
const playing = (answers: readonly string[], checks: readonly object[] = [BOOKED]) =>
  call({ script: SCRIPT, checks: checks as Check[] }, { transport: agentSaying(answers) });
const said = (result: Awaited<ReturnType<typeof call>>, text: string) =>
  result.timeline.filter((entry) => entry.type === 'speech' && entry.speaker === 'caller' && entry.text === text);

describe('an agent that repeats its line', () => {
  const REASON = `The agent repeated "${QUESTION}" three times after "Friday."`;

  it('ends the call after three answers, by the tester, and what it has not said by then is not met', async () => {
    const result = await playing(Array<string>(38).fill(QUESTION));
    expect(said(result, 'Friday.')).toHaveLength(3);
    expect(result).toMatchObject({
      outcome: 'failed',
      invalidity: null,
      end: { by: 'tester', code: 'agent_repeats', reason: REASON },
    });
    expect(result.reason.startsWith(`${REASON}. Not met: `)).toBe(true);
  });

  it('leaves the verdict to the checks, as the maximum of turns does, and the reason of a passed call says it too', async () => {
    const result = await playing(Array<string>(9).fill(QUESTION), [{ type: 'says', text: 'day' }]);
    expect(result).toMatchObject({ outcome: 'passed', reason: `${REASON}. The only requirement was met.` });
  });

  // Agents that ask in turn what was answered: jwvhewitt/gearhead-caramel#165.
  it.each([
    ['two lines', [QUESTION, 'How about noon?']],
    ['three lines', [QUESTION, 'How about noon?', 'How about one?']],
  ])('ends the call after %s that came three times in turn', async (_what, lines) => {
    const result = await playing(Array.from({ length: 38 }, (_, index) => lines[index % lines.length]!));
    const reason = `${REASON}, with the same in between`;
    expect(result).toMatchObject({ outcome: 'failed', invalidity: null, end: { code: 'agent_repeats', reason } });
    expect(said(result, 'Friday.')).toHaveLength(3);
  });

  it('is not to blame if the script has no answer to a line between', async () => {
    const result = await playing(Array.from({ length: 38 }, (_, index) => (index % 2 ? 'Well.' : QUESTION)));
    expect(result).toMatchObject({ outcome: 'invalid', end: { code: 'no_answer' } });
    expect(result.end.reason).toContain('"Well."');
  });

  it('is not an end by the caller', async () => {
    const result = await playing(Array<string>(9).fill(QUESTION), [{ type: 'ends_by', by: 'caller' }]);
    expect(result).toMatchObject({ outcome: 'failed', checks: [{ met: false }] });
  });

  it('may ask for a moment as often as it likes', async () => {
    const result = await playing([...Array<string>(6).fill('One moment, please.'), 'It is booked.', 'Bye.']);
    expect(result).toMatchObject({ outcome: 'passed', end: { code: 'script_over' } });
  });

  it.each<[string, readonly string[]]>([
    ['a question that it understands the third time', [QUESTION, QUESTION, QUESTION]],
    ['questions about each of three guests', Array<string[]>(3).fill([QUESTION, 'How about noon?']).flat()],
    ['the same question with another line between', [QUESTION, QUESTION, QUESTION, 'How about noon?', QUESTION]],
    [
      'the same question with a line between that the script does not know',
      [QUESTION, QUESTION, 'Well.', QUESTION, QUESTION],
    ],
    [
      'offers that differ in a name',
      ['Harbour', 'Castle', 'Garden', 'Station'].map(
        (name) => `How about the ${name} Inn tonight at eight for the four of you?`,
      ),
    ],
    [
      'offers that differ in a number',
      ['6:15', '6:30', '6:45', '7:15'].map((time) => `How about a table for the four of you tonight at ${time}?`),
    ],
    ['offers that differ in a day', ['Sunday', 'Monday', 'Tuesday', 'Thursday'].map((day) => `How about ${day} then?`)],
  ])('goes on after %s', async (_what, answers) => {
    const result = await playing([...answers, 'It is booked.', 'Bye.']);
    expect(result).toMatchObject({ outcome: 'passed', end: { code: 'script_over' } });
  });

  it('has the same line in words that a recogniser heard slightly differently', () => {
    const lines = [
      'Okay, which day would you like',
      'Which day would you like?',
      'Which day could you like?',
      'Well, which day would you likes',
    ];
    const heard = lines.map((line) => ({ heard: line, said: 'Friday.', isOtherwise: false }));
    expect(agentRepeats('Uh, which day would you like?', heard)).toMatchObject({ code: 'agent_repeats' });
    expect(
      agentRepeats(
        '...',
        heard.map((one) => ({ ...one, heard: '...' })),
      ),
    ).toBeUndefined();
  });
});
