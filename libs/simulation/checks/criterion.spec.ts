import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inputViolations, normalise } from '../../evaluation-definition/index.js';
import { judgedGuide } from '../../../test/simulators/agent/testing/guide-agent.js';
import { type Asked, stubModel, verdict } from '../../../test/simulators/model/llm-stub.js';
import { TestServers } from '../../../test/simulators/servers.js';
import { rejudge, withoutTexts } from '../index.js';
import { agentSaying, call, SCENARIO } from '../testing/calls.js';

const servers = new TestServers();
afterEach(() => servers.close());

const guide = judgedGuide(readFileSync(path.resolve(__dirname, '../../../docs/guides/checks.md'), 'utf8'));
const script = [{ say: 'What does the menu cost?' }];

/** An honest judge by the words of the agent. */
const TRUTHS: readonly (readonly [RegExp, RegExp])[] = [
  [/find out/, /find out|ask the kitchen/i],
  [/refuses/, /cannot|unable/i],
  [/apologises/, /sorry|apologise/i],
  [/another time/, /eight/i],
];
function honest(asked: Asked): object {
  const said = asked.lines.filter(({ who }) => who === 'agent').map(({ text }) => text);
  const [, pattern] = TRUTHS.find(([statement]) => statement.test(asked.statement))!;
  return verdict(asked, pattern.test(said.join(' ')));
}

async function judged(
  answer: string,
  checks: readonly object[],
  reply: (asked: Asked) => string | object = honest,
  transport = agentSaying([answer]),
) {
  const { model, asked } = await stubModel(servers, reply);
  const definition = { script, checks: checks as never[] };
  const result = await call(definition, { transport, model });
  return { result, asked, model, definition: normalise(definition) };
}

const either = {
  type: 'any_of',
  checks: [{ type: 'calls_tool', tool: 'offer_time' }, { criterion: 'The agent offers another time.' }],
};

describe('a criterion in a check', () => {
  it.each([
    ['The menu is forty-five euros.', 'passed'],
    ['I will ask the kitchen and find out.', 'passed'],
    ['That depends.', 'failed'],
    ['I cannot tell, sorry, but I can find out.', 'passed'],
    ['I cannot tell, but I can find out.', 'failed'],
  ])('of the guide decides about "%s": %s', async (answer, outcome) => {
    const { result } = await judged(answer, guide);
    expect(result.outcome).toBe(outcome);
    expect(result.checks.filter(({ met }) => met === false)).toHaveLength(outcome === 'failed' ? 1 : 0);
  });

  it.each([
    ['the criterion', 'We are full at seven; eight is free.', false],
    ['the check', 'We are full at seven.', true],
  ])('lets an agent pass by %s alone', async (_, say, isCalled) => {
    const act = [{ say }, ...(isCalled ? [{ tool: 'offer_time' }] : [])];
    const { result } = await judged('', [either], honest, agentSaying([act]));
    expect(result).toMatchObject({ outcome: 'passed', score: 100 });
    expect(result.checks[0]!.parts!.map(({ met }) => met)).toEqual([isCalled, !isCalled]);
  });

  it('fails an agent that meets neither, and shows what the judge found', async () => {
    const { result } = await judged('We are full at seven.', [either]);
    expect(result.outcome).toBe('failed');
    expect(result.checks[0]).toMatchObject({
      met: false,
      detail:
        'None is met: Agent calls offer_time (The agent never called offer_time); The judge confirms "The agent offers another time." (The words show it)',
      evidence: [{ entry: 1, quote: 'We are full at seven.' }],
      parts: [
        { name: 'Agent calls offer_time', met: false },
        { met: false, judged: { verdict: 'not_met', samples: [{ met: false }, { met: false }] } },
      ],
    });
    expect(result.criteria).toEqual([]);
  });

  it.each([11, 23, 47])('survives a judge that errs once in each triple of answers (seed %i)', async (seed) => {
    let asked = seed;
    const erring = (question: Asked) => {
      const answer = honest(question) as { met: boolean };
      return asked++ % 3 === 0 ? { ...answer, met: !answer.met } : answer;
    };
    expect((await judged('Eight is free.', [either], erring)).result.outcome).toBe('passed');
    expect((await judged('We are full.', [either], erring)).result.outcome).toBe('failed');
  });

  it('is undecided without a verdict: never the fault of the agent, and never met', async () => {
    const { result } = await judged('We are full.', [either], () => 'I cannot say.');
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'no_verdict' } });
    expect(result.checks[0]).toMatchObject({ met: null, undecided: 'no_verdict' });
    const met = await judged('', [either], () => '?', agentSaying([[{ tool: 'offer_time' }, { say: 'Eight?' }]]));
    expect(met.result.outcome).toBe('passed');
    const not = await judged('We are full.', [{ type: 'not', check: either.checks[1]! }], () => '?');
    expect(not.result.outcome).toBe('error');
  });

  it('is undecided without a language model', async () => {
    const result = await call({ script, checks: [either as never] }, { transport: agentSaying(['We are full.']) });
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'nothing_judged' } });
  });

  it('passes on why the model failed, also in a check that is not required', async () => {
    const refused = () => ({}) as never;
    const { model } = await stubModel(servers, refused, { baseUrl: 'http://127.0.0.1:9', timeoutMs: 500 });
    for (const required of [true, false]) {
      const checks = [{ ...either, required } as never, { type: 'max_turns', turns: 9 } as never];
      const result = await call({ script, checks }, { transport: agentSaying(['We are full.']), model });
      expect(result).toMatchObject({ outcome: 'error', failure: { code: 'llm_unreachable' } });
    }
  });

  it('is judged again, with everything else as it was found on the call', async () => {
    const { result, definition } = await judged('We are full.', [either]);
    const { model } = await stubModel(servers, (asked) => verdict(asked, true));
    const options = { definition, scenario: SCENARIO, recorded: result, model, signal: new AbortController().signal };
    const again = await rejudge(options);
    expect(again).toMatchObject({ outcome: 'passed', failure: null });
    expect(again.checks[0]!.parts![0]).toEqual(result.checks[0]!.parts![0]);
  });

  it('is taken over with its verdict where a recorded call is measured again', async () => {
    const { result, definition } = await judged('We are full.', [either]);
    const again = await call(definition, { transport: agentSaying(['We are full.']), judged: result });
    expect(again.checks).toEqual(result.checks);
  });

  it('keeps its verdict when the texts of the call are deleted', async () => {
    const { result } = await judged('We are full at seven.', [either]);
    const stored = JSON.stringify(withoutTexts(result).checks);
    expect(stored).not.toContain('full at seven');
    expect(stored).toContain('not_met');
  });

  it('shares the judge with the criteria of the evaluation', async () => {
    const { model, asked } = await stubModel(servers, honest);
    const criteria = ['The agent apologises.'];
    const result = await call(
      { script, criteria, checks: [either as never] },
      { transport: agentSaying(['Sorry, eight.']), model },
    );
    expect(result).toMatchObject({ outcome: 'passed', criteria: [{ index: 0, text: criteria[0], verdict: 'met' }] });
    expect(asked.map(({ statement }) => statement).sort()).toEqual(
      [...criteria, ...criteria, 'The agent offers another time.', 'The agent offers another time.'].sort(),
    );
  });
});

describe('the notation of criteria', () => {
  const base = { key: 'k', name: 'n', scenarioText: 's', personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251' };
  const violations = (given: object) => inputViolations('file', { ...base, ...given });

  it('accepts a plain text, and a check that has only a criterion', () => {
    const given = {
      criteria: ['The agent is polite.', { text: 'It books.', weight: 2 }],
      checks: [{ criterion: 'Yes.' }, either],
    };
    expect(violations(given)).toEqual([]);
    expect(normalise(given as never)).toMatchObject({
      criteria: [
        { text: 'The agent is polite.', weight: 1, required: true },
        { text: 'It books.', weight: 2, required: true },
      ],
      checks: [
        { type: 'criterion', criterion: 'Yes.', weight: 1, required: true },
        { checks: [{}, { type: 'criterion', criterion: 'The agent offers another time.' }] },
      ],
    });
  });

  it.each([
    ['criteria[0] must not be empty', { criteria: [''] }],
    ['criteria[0] must have at most 2000 characters', { criteria: ['x'.repeat(2_001)] }],
    ['criteria[0] must be an object', { criteria: [7] }],
    ['criteria[1].text duplicates criteria[0]', { criteria: ['a', 'A'] }],
    ['checks[0].criterion must not consist of white space only', { checks: [{ criterion: ' \t' }] }],
    ['checks[0].criterion must be a string', { checks: [{ criterion: 7 }] }],
    ['checks[0].texts is not a known field', { checks: [{ criterion: 'x', texts: 'y' }] }],
    [
      'checks[0].checks[0].required has no effect',
      { checks: [{ type: 'any_of', checks: [{ criterion: 'x', required: true }] }] },
    ],
    [
      'checks must have at most 50 criteria together with criteria; they have 51',
      { criteria: Array.from({ length: 49 }, (_, index) => `c${index}`), checks: [either, { criterion: 'x' }] },
    ],
  ])('is refused where %s', (message, given) => {
    expect(violations(given).map((text) => text.slice(0, message.length))).toContain(message);
  });
});
