import { type DefinitionInput, normalise, withVariables } from '../../evaluation-definition/index.js';
import { agentSaying, call } from '../testing/calls.js';
import type { AgentAction, TimelineEntry } from '../index.js';
import { promote } from './promote.js';

const immediately = () => Promise.resolve();

type Answers = Parameters<typeof agentSaying>[0];

/** A booking by an agent that gives these answers, promoted. */
async function promoted(definition: DefinitionInput, answers: Answers) {
  const normal = normalise(definition);
  const result = await call(definition, { transport: agentSaying(answers) });
  return promote(result, normal, immediately);
}
const book = (args: Readonly<Record<string, string | number>>): readonly AgentAction[] => [
  { tool: 'book_table', arguments: args },
  { say: 'Your table is booked.' },
];

const SCRIPT = [{ say: 'A table for 4 on Friday, my name is Rossi.' }, { say: 'My number is 415-555-0142.' }];
const BOOKS = { type: 'calls_tool' as const, tool: 'book_table', arguments: { people: 4, name: 'Rossi' } };

describe('promote', () => {
  it('has the lines of the caller, and the checks that were not met, as required', async () => {
    const definition = {
      script: SCRIPT,
      checks: [
        { ...BOOKS, required: false },
        { type: 'says' as const, text: 'booked' },
      ],
    };
    const promotion = await promoted(definition, ['For how many?', book({ people: 3, name: 'Rossi' })]);
    expect(promotion).toMatchObject({
      script: [
        { say: 'A table for 4 on Friday, my name is {{name}}.' },
        { to: { says: { text: 'For how many?' } }, say: 'My number is 555-0101.' },
        { end: expect.any(String), unless: 'asked' },
      ],
      variables: [{ name: 'Rossi' }],
      checks: [{ type: 'calls_tool', required: true, arguments: { people: 4, name: '{{name}}' } }],
      notFailing: [],
    });
    expect(promotion!.checks).toHaveLength(1);
  });

  it('has what a tool returned, whatever a better agent calls it with', async () => {
    const definition = normalise({ script: SCRIPT, checks: [BOOKS] });
    const result = await call(definition, { transport: agentSaying(['Hm?', 'Full.']) });
    const found = (free: boolean, start: number): TimelineEntry => ({
      ...{ type: 'tool_call' as const, name: 'find_table', arguments: { time: '19:00' }, result: { free } },
      ...{ start, end: start, turn: 2 },
    });
    const timeline = [...result.timeline.slice(0, -1), found(false, 1), found(true, 2), result.timeline.at(-1)!];
    expect((await promote({ ...result, timeline }, definition, immediately))?.toolResults).toEqual([
      { tool: 'find_table', results: [{ free: false }, { free: true }] },
      { tool: 'find_table', result: { free: true } },
    ]);
  });

  it('lets no caller insert a variable or a date, and keeps personal data out of checks and results', async () => {
    const script = [{ say: 'I am {{today}} and \\{{name}}, 415-555-0142' }];
    const checks = [{ ...BOOKS, arguments: { phone: '415-555-0142' } }];
    const text = JSON.stringify(await promoted({ script, checks }, ['Who?']));
    expect(text).not.toMatch(/\{\{|415/);
    expect(text).toContain('555-0101');
  });

  it('knows values with signs of regular expressions, and keeps digits alone in arguments', async () => {
    const script = [{ say: 'On 2026-12-04 (or so) for C++, my number is 415-555-0142.' }];
    const args = { date: '2026-12-04', course: 'C++', note: '(or so)', phone: '4155550142' };
    const checks = [{ ...BOOKS, arguments: { ...args, people: 2 } }];
    const promotion = await promoted({ script, checks }, [book(args)]);
    expect(promotion).toMatchObject({
      script: [{ say: 'On {{date}} {{note}} for {{course}}, my number is 555-0101.' }, { end: expect.any(String) }],
      checks: [{ arguments: { date: '{{date}}', phone: '5550101' } }],
    });
  });

  it('does not take the times of a call of more than 1,000 s for phone numbers', async () => {
    const definition = normalise({ script: SCRIPT, checks: [BOOKS] });
    const result = await call(definition, { transport: agentSaying(['Hm?', 'Booked.']) });
    const timeline = result.timeline.map((entry, at) => ({ ...entry, start: 1_200_000 + at, end: 1_200_001 + at }));
    const promotion = await promote({ ...result, timeline }, definition, immediately);
    expect(promotion).toMatchObject({ notFailing: [], script: [{}, { say: 'My number is 555-0101.' }, {}] });
  });

  it('is undefined if everything was met', async () => {
    expect(
      await promoted({ script: SCRIPT, checks: [{ type: 'says', text: 'hello' }] }, ['Hello', 'Hello']),
    ).toBeUndefined();
  });

  /** Answers of a faulty and of a healthy agent, and the check that finds the fault. */
  const FAULTS: readonly (readonly [string, DefinitionInput['checks'] & object, Answers, Answers])[] = [
    [
      'books for another number',
      [BOOKS],
      ['Hm?', book({ people: 3, name: 'Rossi' })],
      ['Hm?', book({ people: 4, name: 'Rossi' })],
    ],
    [
      'books under another name',
      [BOOKS],
      ['Hm?', book({ people: 4, name: 'Russo' })],
      ['Hm?', book({ people: 4, name: 'Rossi' })],
    ],
    ['does not book', [BOOKS], ['Hm?', 'Booked.'], ['Hm?', book({ people: 4, name: 'Rossi' })]],
    ['does not confirm', [{ type: 'says', text: 'booked' }], ['Hm?', 'Done.'], ['Hm?', 'It is booked.']],
    [
      'promises a discount',
      [{ type: 'never_says', text: 'discount' }],
      ['Hm?', 'You get a discount.'],
      ['Hm?', 'Booked.'],
    ],
    [
      'says the number',
      [{ type: 'no_personal_data' }],
      ['Hm?', 'I have 415-555-0142.'],
      ['Hm?', 'I have your number.'],
    ],
  ];

  it.each(FAULTS)(
    'is red against the agent that %s, and green against a healthy one',
    async (_, checks, faulty, healthy) => {
      const promotion = await promoted({ script: SCRIPT, checks }, faulty);
      const { notFailing, variables, ...definition } = promotion!;
      expect(notFailing).toEqual([]);
      const test = withVariables(normalise(definition as DefinitionInput), variables[0] ?? null);
      expect((await call(test as DefinitionInput, { transport: agentSaying(faulty) })).outcome).toBe('failed');
      expect((await call(test as DefinitionInput, { transport: agentSaying(healthy) })).outcome).toBe('passed');
    },
  );
});
