import { type DefinitionInput, normalise, withExpectations } from '../../evaluation-definition/index.js';
import { type Asked, stubModel } from '../../../test/simulators/model/llm-stub.js';
import { TestServers } from '../../../test/simulators/servers.js';
import { rejudge } from '../index.js';
import { agentSaying, call, SCENARIO } from '../testing/calls.js';

const servers = new TestServers();
afterEach(() => servers.close());

interface Line {
  readonly who: string;
  readonly text: string;
  readonly part?: number;
}
const linesOf = ({ lines }: Asked) => lines as readonly Line[];
const TAKEN = 'Seven is taken, how about eight?';
const BOOKED = 'Your table is booked for eight.';

/** A judge that looks for a word in the lines that it is asked about, and quotes the first of the agent's there. */
const honest = (asked: Asked) => {
  const said = linesOf(asked).filter(({ who, part }) => who === 'agent' && part !== undefined);
  const times = new Set(linesOf(asked).flatMap(({ part }) => part ?? []));
  const word = asked.statement.split(' ').at(-1)!.replace('.', '');
  const met = [...times].every((time) => said.some(({ text, part }) => part === time && text.includes(word)));
  const where = said.find(({ text }) => text.includes(word)) ?? said[0];
  return { met, quote: where?.text ?? '', reasoning: 'So it is.' };
};

async function judged(input: DefinitionInput, answers: readonly string[], reply: (asked: Asked) => object = honest) {
  const { model, asked } = await stubModel(servers, reply);
  const definition = withExpectations(normalise(input));
  const result = await call(definition, { transport: agentSaying(answers), model });
  return { result, asked, model, definition };
}

const script = (...expect: object[]): NonNullable<DefinitionInput['script']> => [
  { say: 'At seven, please.', expect },
  { say: 'Eight is fine.' },
];

describe('a criterion about one line', () => {
  const offers = { criterion: 'The agent says the word eight.' };
  const confirms = { criterion: 'The agent says the word booked.' };

  it('shows the judge the whole transcript with the answer to the line marked', async () => {
    const { result, asked } = await judged({ script: script(offers) }, [TAKEN, BOOKED]);
    expect(result).toMatchObject({ outcome: 'passed', versions: { judgePrompt: '5' } });
    expect(linesOf(asked[0]!).map(({ text, part }) => [text, part])).toEqual([
      ['At seven, please.', 1],
      [TAKEN, 1],
      ['Eight is fine.', undefined],
      [BOOKED, undefined],
      ['The call was ended by the caller: The script ended', undefined],
    ]);
    expect(asked[0]!.messages[0]!.content).toContain('The statement is about one part of the call only');
  });

  it('is not met by what the agent says later', async () => {
    const { result } = await judged({ script: script(confirms) }, [TAKEN, BOOKED]);
    expect(result).toMatchObject({ outcome: 'failed', checks: [{ met: false, step: 0 }] });
  });

  it('is not decided by a quote from another part of the call', async () => {
    const { result } = await judged({ script: script(confirms) }, [TAKEN, BOOKED], () => ({
      ...{ met: true, quote: BOOKED, reasoning: 'It is booked.' },
    }));
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'no_verdict' }, checks: [{ met: null }] });
    expect(result.checks[0]!.parts![0]!.judged!.samples[0]!.reasoning).toContain('in the lines with "part"');
  });

  it('asks nothing about a line that was not said', async () => {
    const hangsUp = [{ say: TAKEN }, { tool: 'end_call' }];
    const { model, asked } = await stubModel(servers, honest);
    const definition = withExpectations(
      normalise({ script: [{ say: 'Hi.' }, { say: 'At seven, please.', expect: [offers] }] }),
    );
    const result = await call(definition, { transport: agentSaying([hangsUp]), model });
    expect(result).toMatchObject({ outcome: 'failed', checks: [{ met: false }] });
    expect(asked).toEqual([]);
  });

  it('must be true each time that the line is said', async () => {
    const asking: DefinitionInput = {
      script: [
        { say: 'A table.' },
        { answers: [{ when: { says: { text: 'when' } }, say: 'At seven.', expect: [offers] }], expect: [] },
      ],
    };
    const both = await judged(asking, ['When?', 'When, at eight?', 'So eight.']);
    expect(both.result).toMatchObject({ outcome: 'passed' });
    expect(both.asked[0]!.messages[0]!.content).toContain('It happened 2 times');
    const once = await judged(asking, ['When?', 'When, at eight?', 'So nine.']);
    expect(once.result).toMatchObject({ outcome: 'failed' });
  });

  it('may be part of a check, and is judged again about the same line', async () => {
    const either = { type: 'any_of', checks: [{ type: 'says', text: 'nine' }, offers] };
    const first = await judged({ script: script(either) }, [TAKEN, BOOKED]);
    expect(first.result.outcome).toBe('passed');
    const { model, asked } = await stubModel(servers, (question) => ({ ...honest(question), met: false }));
    const again = await rejudge({
      ...{ definition: first.definition, scenario: SCENARIO, recorded: first.result, model },
      signal: new AbortController().signal,
    });
    expect(again).toMatchObject({ outcome: 'failed', checks: [{ met: false, step: 0 }] });
    expect(
      linesOf(asked[0]!)
        .filter(({ part }) => part)
        .map(({ text }) => text),
    ).toEqual(['At seven, please.', TAKEN]);
  });
});

describe('a criterion about one turn', () => {
  const inTurn = (turn: number, text: string) =>
    judged(
      {
        script: script().map(({ expect: _, ...step }: object & { expect?: unknown }) => step as never),
        criteria: [{ text, turn }],
      },
      [TAKEN, BOOKED],
    );

  it.each([
    [1, 'The agent says the word eight.', 'passed'],
    [1, 'The agent says the word booked.', 'failed'],
    [2, 'The agent says the word booked.', 'passed'],
    [9, 'The agent says the word booked.', 'failed'],
  ])('is decided by turn %i alone: %s: %s', async (turn, text, outcome) => {
    const { result, asked } = await inTurn(turn, text);
    expect(result).toMatchObject({ outcome, criteria: [{ text, turn }] });
    expect(asked.length > 0).toBe(turn < 9);
  });
});
