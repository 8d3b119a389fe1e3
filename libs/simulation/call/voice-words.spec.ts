import { type DefinitionInput, normalise } from '../../evaluation-definition/index.js';
import { type CallResult, executeCall, VirtualClock } from '../index.js';
import { type Asked, type Reply, stubModel, verdict } from '../../../test/simulators/model/llm-stub.js';
import { MISBEHAVING_MODELS, misbehaving } from '../../../test/simulators/model/misbehaving-models.js';
import { TestServers } from '../../../test/simulators/servers.js';
import {
  type Act,
  FixtureAgent,
  type FixtureScript,
  message,
  READY,
  says,
} from '../transports/wires/testing/fixture-double/agent.js';
import fixtureEntry from '../transports/wires/testing/fixture-wire/wire.js';
import { virtualCalls } from '../voice/call/virtual-call.js';
import { SOUNDS } from '../voice/testing/virtual-calls.js';

const servers = new TestServers();
afterEach(() => servers.close());

const GREETING: Act = { afterMs: 200, send: says(1, 'Bella Vista, good evening.', 900) };
const QUESTION: Act = { send: says(2, 'A table for four at seven thirty pm. Shall I book it?', 3_000) };
const BOOKED: Act = { send: says(3, 'It is booked. Goodbye!', 1_500) };
const REFUSED: Act = { send: says(3, 'We are full. Goodbye!', 1_500) };
/** Audible, and without a report of its words. */
const WORDLESS: Act = { send: says(3, 'It is booked. Goodbye!', 1_500).slice(0, -1) };

const SCRIPT = [{ say: 'A table for four at half past seven, please.' }, { say: 'Yes, please.' }, { end: 'Done' }];
const HEALTHY: FixtureScript = { onHello: [READY, GREETING], onLine: [[QUESTION], [BOOKED]] };
const FAULTY: FixtureScript = { ...HEALTHY, onLine: [[QUESTION], [REFUSED]] };
const UNCLEAR: FixtureScript = { ...HEALTHY, onLine: [[QUESTION], [WORDLESS]] };

interface Given {
  readonly judge?: (asked: Asked) => Reply;
  readonly timeoutMs?: number;
}

async function call(definition: DefinitionInput, agent: FixtureScript, { judge, timeoutMs = 10_000 }: Given = {}) {
  const stub = judge && (await stubModel(servers, judge, { timeoutMs }));
  const result = await executeCall({
    definition: normalise({ script: SCRIPT, ...definition }),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({
      wire: fixtureEntry({ callId: 'c-1', secrets: [] }),
      lineRate: 16_000,
      agent: (socket) => new FixtureAgent(socket, agent),
    }),
    clock: new VirtualClock(),
    voice: { sounds: SOUNDS, voice: 'any' },
    ...(stub && { model: stub.model }),
  });
  return { result, asked: stub?.asked ?? [] };
}
const outcomeOf = ({ outcome, failure }: CallResult) => [outcome, failure?.code ?? null];

describe('checks on words over a voice call', () => {
  const check = async (agent: FixtureScript, ...checks: NonNullable<DefinitionInput['checks']>) =>
    (await call({ checks }, agent)).result;

  it('pass and fail the agent by the words that it was heard to say', async () => {
    const booked = { type: 'says', text: 'is booked' } as const;
    expect(outcomeOf(await check(HEALTHY, booked))).toEqual(['passed', null]);
    const failed = await check(FAULTY, booked);
    expect(outcomeOf(failed)).toEqual(['failed', null]);
    expect(failed.reason).toContain('The agent never said "is booked"');
  });

  it('compare values as they are spoken', async () => {
    const sources = (value: string) => [{ value }, { pattern: 'at (?P<time>.+?)\\. Shall' }];
    expect(outcomeOf(await check(HEALTHY, { type: 'same_value', sources: sources('19:30') }))).toEqual([
      'passed',
      null,
    ]);
    expect((await check(HEALTHY, { type: 'same_value', sources: sources('20:30') })).outcome).toBe('failed');
  });

  it('quote the words in the entry in which they were heard', async () => {
    const { checks, timeline } = await check(HEALTHY, { type: 'says', text: 'shall I' });
    const [{ entry, quote }] = checks[0]!.evidence as [{ entry: number; quote: string }];
    expect(timeline[entry]).toMatchObject({ speaker: 'agent', text: expect.stringContaining(quote) as string });
  });

  it('make the call an error that is tried again if they depend on words that are not known', async () => {
    expect(await check(UNCLEAR, { type: 'says', text: 'is booked' })).toMatchObject({
      outcome: 'error',
      failure: { code: 'words_unknown', fault: 'infrastructure', retryable: true },
      checks: [{ met: null, undecided: 'words_unknown' }],
    });
    expect((await check(UNCLEAR, { type: 'never_says', text: 'full' })).outcome).toBe('error');
    expect((await check(UNCLEAR, { type: 'says', text: 'shall I book' })).outcome).toBe('passed');
    const optional = await check(
      UNCLEAR,
      { type: 'says', text: 'is booked', required: false },
      { type: 'says', text: 'shall I book' },
    );
    expect(optional).toMatchObject({ outcome: 'passed', score: 100 });
  });

  it('fail the agent for what was heard, also if other words are not known', async () => {
    expect((await check(UNCLEAR, { type: 'never_says', text: 'seven thirty' })).outcome).toBe('failed');
  });

  it('are undecided at the words at which the agent was cut off', async () => {
    const [item, ...audio] = says(3, 'It is booked under Rossi. Goodbye!', 3_000);
    // All words were reported before the rest of their audio, so how far the agent had spoken is an estimate.
    const words = audio.pop()!;
    const [half, quarter] = [audio.length / 2, audio.length / 4];
    const start: Act = { send: [item!, words, ...audio.slice(0, quarter)] };
    const more: Act = { afterMs: 100, send: audio.slice(quarter, half) };
    const drop: Act = { afterMs: 600, send: [message('drop', { item: 3 })] };
    const cut: FixtureScript = { ...HEALTHY, onLine: [[QUESTION], [start, more, drop]] };
    const { timeline } = await check(cut);
    const spoken = timeline.findLast((entry) => entry.type === 'speech' && entry.speaker === 'agent');
    if (spoken?.type !== 'speech' || !spoken.uncertain) throw new Error('no word is uncertain');
    const [[from, to]] = spoken.uncertain as [[number, number]];
    const word = spoken.text.slice(from, to);
    const undecided = await check(cut, { type: 'says', text: word });
    expect(outcomeOf(undecided)).toEqual(['error', 'check_undecided']);
    expect(undecided.reason).toContain(`the agent was cut off at "${word}"`);
    expect((await check(cut, { type: 'says', text: spoken.text.slice(0, from).trim() })).outcome).toBe('passed');
    expect((await check(cut, { type: 'says', text: 'Goodbye' })).outcome).toBe('failed');
  });

  it('find what the agent says after keys, and blame it for nothing that is not known', async () => {
    const afterKeys = async (answer: Act) => {
      const agent = { ...HEALTHY, onLine: [[QUESTION, { ...answer, afterMs: 6_000 }]] };
      const script = [{ say: 'A table for four.' }, { press: '1' }, { end: 'Done' }];
      const checks = [{ type: 'hears_keys', keys: '1', then: { text: 'is booked' } }] as const;
      return outcomeOf((await call({ script, checks }, agent)).result);
    };
    expect(await afterKeys(BOOKED)).toEqual(['passed', null]);
    expect(await afterKeys(REFUSED)).toEqual(['failed', null]);
    expect(await afterKeys(WORDLESS)).toEqual(['error', 'words_unknown']);
  });

  it('measure the rate of speech where words are known', async () => {
    expect((await check(HEALTHY, { type: 'speaking_rate', minWpm: 20, maxWpm: 900 })).outcome).toBe('passed');
    const silent: FixtureScript = { onHello: [READY], onLine: [[WORDLESS], [WORDLESS]] };
    expect(outcomeOf(await check(silent, { type: 'speaking_rate', minWpm: 20 }))).toEqual(['error', 'words_unknown']);
  });
});

describe('criteria over a voice call', () => {
  const criteria = [{ text: 'The agent books the table.' }];
  const judged = (agent: FixtureScript, judge: Given['judge'], more: DefinitionInput = { criteria }) =>
    call(more, agent, judge && { judge });
  const isBooked = ({ lines }: Asked) => lines.some(({ who, text }) => who === 'agent' && text.includes('is booked'));
  const wellBehaved = (asked: Asked): Reply => {
    const isOpen = !isBooked(asked) && asked.messages[0]!.content.includes('"[unclear]"');
    return isOpen ? { met: null, quote: null, reasoning: 'It may have booked.' } : verdict(asked, isBooked(asked));
  };

  it('are judged by the words that were heard', async () => {
    const { result, asked } = await judged(HEALTHY, wellBehaved);
    expect(result).toMatchObject({ outcome: 'passed', criteria: [{ verdict: 'met' }] });
    expect(asked[0]!.lines.filter(({ who }) => who === 'agent').map(({ text }) => text)).toEqual([
      'Bella Vista, good evening.',
      'A table for four at seven thirty pm. Shall I book it?',
      'It is booked. Goodbye!',
    ]);
    expect(asked[0]!.messages[0]!.content).toContain('It was a voice call');
    expect(asked[0]!.messages[0]!.content).not.toContain('[unclear]');
    expect((await judged(FAULTY, wellBehaved)).result.outcome).toBe('failed');
  });

  it('have no verdict if the judge says that it depends on words that are not known', async () => {
    const { result, asked } = await judged(UNCLEAR, wellBehaved);
    expect(asked[0]!.lines.at(-2)).toMatchObject({ who: 'agent', text: '[unclear]' });
    expect(result).toMatchObject({
      outcome: 'error',
      failure: { code: 'words_unknown', retryable: true },
      criteria: [{ verdict: 'no_verdict', reason: 'It depends on words of the agent that are not known' }],
    });
    const required = { criteria: [{ text: 'It books.', required: false }], checks: [{ type: 'max_turns', turns: 9 }] };
    expect((await judged(UNCLEAR, wellBehaved, required as DefinitionInput)).result.outcome).toBe('passed');
  });

  it('are judged all the same where the words that are not known make no difference', async () => {
    const asks = ({ lines }: Asked) => lines.some(({ text }) => text.includes('Shall I book'));
    const { result } = await judged(UNCLEAR, (asked) => verdict(asked, asks(asked)));
    expect(result.outcome).toBe('passed');
  });

  it('are not judged if no words are known, and no model is asked', async () => {
    const silent: FixtureScript = { onHello: [READY], onLine: [[WORDLESS], [WORDLESS]] };
    const { result, asked } = await judged(silent, wellBehaved);
    expect(asked).toEqual([]);
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'words_unknown', retryable: true } });
  });

  it('accept a quote with the marks of the transcript, and show the words alone', async () => {
    const [item, ...audio] = says(2, 'A table for four, gladly, at seven thirty pm.', 3_000);
    const drop: Act = { afterMs: 1_500, send: [message('drop', { item: 2 })] };
    const cut: FixtureScript = { ...HEALTHY, onLine: [[{ send: [item!, ...audio] }, drop], [BOOKED]] };
    const { result, asked } = await judged(cut, (question) => {
      const line = question.lines.find(({ text }) => text.includes('[cut off]'))!;
      return { met: true, quote: line.text, reasoning: 'So it is.' };
    });
    expect(asked[0]!.lines.map(({ text }) => text).join('\n')).toMatch(/A table for .*\[cut off\]\n/);
    expect(result.criteria[0]).toMatchObject({ verdict: 'met' });
    const { entry } = result.criteria[0]!.evidence!;
    expect(result.timeline[entry]).toMatchObject({ interrupted: true });
  });

  const judges = MISBEHAVING_MODELS.filter(({ task }) => task === 'judge');
  // With a scripted caller, of whom it is not asked, nothing shows that this one is wrong; the same holds over text.
  const noticed = judges.filter(({ name }) => name !== 'blames everybody');

  it.each(noticed.map((model) => [model.name, model] as const))(
    'neither blame a healthy agent nor pass a faulty one by a judge that %s',
    async (name, model) => {
      const timeoutMs = name.includes('in time') ? 500 : 10_000;
      for (const [agent, expected] of [
        [HEALTHY, model.healthy],
        [FAULTY, model.faulty],
      ] as const) {
        const judge = misbehaving(model, wellBehaved);
        expect(expected).toContain((await call({ criteria }, agent, { judge, timeoutMs })).result.outcome);
      }
    },
  );
});

describe('an agent that repeats its line over a voice call', () => {
  it('ends the call, although its words differ slightly each time', async () => {
    const lines = ['Which day would you like?', 'Okay, which day would you like?', 'which day would you likes'];
    const asks = (index: number): Act[] => [{ send: says(index + 2, lines[index % 3]!, 1_200) }];
    const answers = [{ when: { says: { text: 'day' } }, say: 'Friday.' }];
    const { result } = await call(
      {
        script: [{ say: 'A table, please.' }, { answers, until: { says: { text: 'booked' } }, otherwise: 'Pardon?' }],
        checks: [{ type: 'says', text: 'is booked' }],
      },
      { onHello: [READY, GREETING], onLine: Array.from({ length: 30 }, (_, index) => asks(index)) },
    );
    const reason = 'The agent repeated "Which day would you like?" three times after "Friday."';
    expect(result).toMatchObject({ outcome: 'failed', end: { by: 'tester', code: 'agent_repeats', reason } });
    expect(result.reason.startsWith(`${reason}. Not met: `)).toBe(true);
  });
});

describe('a script of lines of a call over a voice call', () => {
  it('answers what it hears, and has no answer to another question', async () => {
    const to = (text: string) => ({ to: { says: { text } } });
    const asked = ['Which day would you like?', 'For how many people?', 'What is your number?'];
    const { result } = await call(
      {
        script: [
          { say: 'A table, please.' },
          { ...to('how many people'), say: 'Four of us.' },
          { ...to('which day'), say: 'Friday.' },
          { end: 'Done', unless: 'asked' },
        ],
        checks: [{ type: 'says', text: 'is booked' }],
      },
      {
        onHello: [READY, GREETING],
        onLine: asked.map((line, index): Act[] => [{ send: says(index + 2, line, 1_200) }]),
      },
    );
    const said = result.timeline.flatMap((entry) =>
      entry.type === 'speech' && entry.speaker === 'caller' ? [entry.text] : [],
    );
    expect(said).toEqual(['A table, please.', 'Friday.', 'Four of us.']);
    expect(result).toMatchObject({ outcome: 'invalid', reason: `The script has no answer to "${asked[2]}".` });
  });
});
