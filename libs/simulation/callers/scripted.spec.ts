import type { CheckInput, DefinitionInput } from '../../evaluation-definition/index.js';
import { VirtualClock } from '../index.js';
import { agentSaying, call } from '../testing/calls.js';

const SCRIPT = [
  { say: 'A table, please.' },
  {
    answers: [
      { when: { says: { text: 'how many' } }, say: 'Four.' },
      { when: { says: { text: 'name' } }, say: 'Rossi.' },
    ],
    until: { says: { text: 'booked' } },
    otherwise: 'Pardon?',
  },
  { say: 'Thank you.' },
];
const UNKNOWN = 'May I have your phone number?';
const pardons = (result: Awaited<ReturnType<typeof call>>) =>
  result.timeline.filter((entry) => entry.type === 'speech' && entry.script?.otherwise).length;

describe('scripted caller without an answer', () => {
  it('hangs up after three times otherwise to the same line, and the reason quotes the line', async () => {
    const variants = [UNKNOWN, 'May I have your  **phone number**?', UNKNOWN, UNKNOWN, UNKNOWN];
    const result = await call(
      { script: SCRIPT, checks: [{ type: 'says', text: 'booked' }] },
      { transport: agentSaying(['How many?', ...variants]) },
    );
    expect(pardons(result)).toBe(3);
    expect(result).toMatchObject({
      outcome: 'invalid',
      score: null,
      reason: `The script has no answer to "${UNKNOWN}".`,
      end: { by: 'caller', code: 'no_answer', reason: `The script has no answer to "${UNKNOWN}"` },
      invalidity: { code: 'no_answer' },
    });
    expect(result.invalidity?.evidence[0]).toEqual({ entry: 3, quote: UNKNOWN });
  });

  it('hangs up after six times otherwise to different lines', async () => {
    const answers = Array.from({ length: 12 }, (_, index) => `Question ${index}`);
    const result = await call({ script: SCRIPT }, { transport: agentSaying(answers) });
    expect(pardons(result)).toBe(6);
    expect(result).toMatchObject({ outcome: 'invalid', reason: 'The script has no answer to "Question 6".' });
  });

  it('stays on the call when the third time otherwise gets an answer that the script knows', async () => {
    const answers = [UNKNOWN, UNKNOWN, UNKNOWN, 'How many?', UNKNOWN, UNKNOWN, 'It is booked.', 'Bye.'];
    const result = await call(
      { script: SCRIPT, checks: [{ type: 'says', text: 'booked' }] },
      { transport: agentSaying(answers) },
    );
    expect(result).toMatchObject({ outcome: 'passed', end: { code: 'script_over' } });
    expect(pardons(result)).toBe(5);
  });

  it('leaves the call failed if the agent had failed a required check for good before', async () => {
    const forbidden = { type: 'never_says', text: 'damn' } as const;
    const says = { type: 'says', text: 'booked' } as const;
    const before = await call(
      { script: SCRIPT, checks: [forbidden, says] },
      { transport: agentSaying(['How many, damn?', ...Array<string>(9).fill(UNKNOWN)]) },
    );
    expect(before).toMatchObject({ outcome: 'failed', score: 0, invalidity: { code: 'no_answer' } });
    expect(before.checks[0]).toMatchObject({ met: false, decidedByEntry: 1 });
    expect(before.reason).toContain('Decided before the caller broke its role: The script has no answer to');
    const after = await call(
      { script: SCRIPT, checks: [forbidden, says] },
      {
        transport: agentSaying(['How many?', UNKNOWN, UNKNOWN, `Damn. ${UNKNOWN}`, ...Array<string>(9).fill(UNKNOWN)]),
      },
    );
    expect(after.outcome).toBe('invalid');
    const optional = await call(
      { script: SCRIPT, checks: [{ ...forbidden, required: false }, says] },
      { transport: agentSaying(['How many, damn?', ...Array<string>(9).fill(UNKNOWN)]) },
    );
    expect(optional.outcome).toBe('invalid');
  });

  it('does not count limits that were only passed because it had no answer', async () => {
    const limits = [
      { type: 'max_turns', turns: 3 },
      { type: 'max_duration_ms', ms: 3_500 },
    ] as const;
    const stuck = await call(
      { script: SCRIPT, checks: limits },
      { transport: agentSaying(['How many?', ...Array<string>(9).fill(UNKNOWN)], { delayMs: 1_000 }) },
    );
    expect(stuck.checks.map(({ met }) => met)).toEqual([false, false]);
    expect(stuck.outcome).toBe('invalid');
    const known = Array<string>(5).fill('How many?');
    const late = await call(
      { script: SCRIPT, checks: limits },
      { transport: agentSaying([...known, ...Array<string>(9).fill(UNKNOWN)], { delayMs: 1_000 }) },
    );
    expect(late).toMatchObject({ outcome: 'failed', checks: [{ decidedByEntry: 7 }, { decidedByEntry: 7 }] });
  });
});

describe('lines of a scripted caller', () => {
  it('say which step and answers of the script they come from', async () => {
    const transport = agentSaying(['Your name, and how many?', 'Hm.', '', 'It is booked.', 'Bye.']);
    const result = await call({ script: SCRIPT }, { transport, clock: new VirtualClock() });
    const sources = result.timeline.flatMap((entry) =>
      entry.type === 'speech' && entry.speaker === 'caller' ? [[entry.text, entry.script]] : [],
    );
    expect(sources).toEqual([
      ['A table, please.', { step: 0 }],
      ['Four. Rossi.', { step: 1, answers: [0, 1] }],
      ['Pardon?', { step: 1, otherwise: true }],
      ['Pardon?', { step: 1, otherwise: true, repeated: true }],
      ['Thank you.', { step: 2 }],
    ]);
  });
});

describe('lines that answer words of the agent', () => {
  const to = (text: string) => ({ to: { says: { text } } });
  const RECALLED = [
    { say: 'A table, please.' },
    { ...to('how many'), say: 'Four.' },
    { ...to('which day'), say: 'Friday.' },
    { ...to('shall I'), say: 'No, five.' },
    { ...to('shall I'), say: 'Yes.' },
    { say: 'Thanks, goodbye.' },
  ];
  const end = (unless: 'asked' | 'answered') => ({ end: 'Done', unless });
  const BOOKED = [{ type: 'says', text: 'booked' }] as const;
  const spoken = async (script: object[], answers: string[], checks: readonly CheckInput[] = []) => {
    const result = await call({ script, checks } as DefinitionInput, { transport: agentSaying(answers) });
    const said = result.timeline.flatMap((entry) =>
      entry.type === 'speech' && entry.speaker === 'caller' ? [entry.text] : [],
    );
    return { said: said.slice(1), outcome: result.outcome, reason: result.end.reason };
  };

  it('are said to these words, each once, and else in order', async () => {
    const other = ['Which day?', 'How many?', 'Shall I?', 'Shall I?', 'It is booked.', 'Bye.'];
    expect((await spoken(RECALLED, other)).said).toEqual(['Friday.', 'Four.', 'No, five.', 'Yes.', 'Thanks, goodbye.']);
    const inOtherWords = ['What is the number of guests?', 'Date?', 'Ok?', 'And?', 'It is booked.', 'Bye.'];
    expect((await spoken(RECALLED, inOtherWords)).said).toEqual([
      ...['Four.', 'Friday.', 'No, five.', 'Yes.', 'Thanks, goodbye.'],
    ]);
  });

  it('are said again to these words if they were said to others before', async () => {
    const late = ['Your name?', 'How many?', 'Which day?', 'Shall I?', 'Shall I?', 'It is booked.', 'Bye.'];
    expect((await spoken(RECALLED, late)).said).toEqual([
      ...['Four.', 'Four.', 'Friday.', 'No, five.', 'Yes.', 'Thanks, goodbye.'],
    ]);
  });

  it('leave a call invalid that ends with another question, unless all was met before', async () => {
    const script = [...RECALLED.slice(0, 2), end('asked')];
    const open = { said: ['Four.'], outcome: 'invalid', reason: 'The script has no answer to "Your name?"' };
    expect(await spoken(script, ['How many?', 'Your name?'], BOOKED)).toEqual(open);
    expect(await spoken(script, ['How many?', 'Booked. Your name?'], BOOKED)).toMatchObject({ outcome: 'passed' });
    expect(await spoken(script, ['How many?', 'How many?'], BOOKED)).toMatchObject({
      outcome: 'failed',
      reason: 'Done',
    });
    const unpunctuated = ['How many?', 'at what time'];
    expect(await spoken(script, unpunctuated, BOOKED)).toMatchObject({ outcome: 'invalid' });
    const closing = ['How many?', 'Is there anything else?'];
    expect(await spoken(script, closing, BOOKED)).toMatchObject({ outcome: 'failed', reason: 'Done' });
    expect(await spoken([...RECALLED.slice(0, 2), end('answered')], closing, BOOKED)).toMatchObject({
      ...{ outcome: 'invalid', reason: 'The script has no answer to "Is there anything else?"' },
    });
  });

  it('leave out a goodbye to another question', async () => {
    const script = [...RECALLED.slice(0, 2), RECALLED[5]!, end('asked')];
    const open = { said: ['Four.'], outcome: 'invalid', reason: 'The script has no answer to "Your name?"' };
    expect(await spoken(script, ['How many?', 'Your name?', 'Goodbye.'], BOOKED)).toEqual(open);
    expect(await spoken(script, ['How many?', 'It is full.', 'Bye.'], BOOKED)).toMatchObject({ outcome: 'failed' });
  });
});
