import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CORE_SCHEMA, load } from 'js-yaml';
import {
  authored,
  type CheckInput,
  dateOrigin,
  datesFrom,
  type EvaluationInput,
  normalise,
  withVariables,
} from '../../../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import {
  type AgentAction,
  type CallResult,
  chatCompletions,
  executeCall,
  misfitOf,
  PROTOCOLS,
} from '../../../../libs/simulation/index.js';
import { TestServers } from '../../servers.js';
import { startMindfulAgent } from '../testing/tool-agent.js';
import { type Reports, spokenToolUser, startToolUser, type ToolUser } from '../testing/tool-user.js';
import { heardAgent } from './testing/heard-agent.js';
import { Recognisers } from './testing/recognisers.js';
import { VoiceCalls } from './testing/voice-call.js';

const GUIDE = readFileSync(path.resolve(__dirname, '../../../../docs/guides/variables.md'), 'utf8');
/** The example of a part of the guide. */
const example = (heading: string): Partial<EvaluationInput> =>
  load(/```yaml\n([^]*?)```/.exec(GUIDE.slice(GUIDE.indexOf(`\n${heading}\n`)))![1]!, {
    schema: CORE_SCHEMA,
  }) as object;

const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const servers = new TestServers();
const calls = new VoiceCalls();
const recognisers = new Recognisers();
afterEach(() => servers.close());
afterAll(async () => {
  await calls.close();
  await recognisers.close();
});

type Wire = 'chat-completions' | 'openai-realtime' | 'twilio-media-streams';
const SEEDS = [1, 2, 3];

/** One way to write a test, with a healthy agent and one with the fault that exactly one check finds. */
interface Part {
  readonly name: string;
  readonly wires: readonly Wire[];
  readonly finds: string;
  evaluation(seed: number): Partial<EvaluationInput> & { readonly at?: string };
  agent(seed: number, isFaulty: boolean): ToolUser;
}

const PEOPLE = [2, 4, 6];
const TIMES = ['19:00', '7 pm', "seven o'clock"];
const of = <T>(values: readonly T[], seed: number): T => values[(seed - 1) % values.length]!;
const line = (say: string) => ({ script: [{ say }, { end: 'Over' }] });
const named = <T extends CheckInput>(name: string, check: T): CheckInput => ({ name, ...check });
const say = (text: string): AgentAction => ({ say: text });

const BY_VALUE: Part = {
  name: 'tool results by value',
  wires: ['chat-completions', 'openai-realtime'],
  finds: 'Books a time that is free',
  evaluation: (seed) => ({
    ...line('A table for four, please.'),
    ...example('## Tool results'),
    checks: [
      named('Looks for four', { type: 'calls_tool', tool: 'find_table', arguments: { people: 4 }, times: { max: 1 } }),
      named('Books a time that is free', {
        type: 'calls_tool',
        tool: 'book_table',
        arguments: { time: of(['19:30', '21:00'], seed) },
      }),
      named('Gives the reference', { type: 'says', text: 'Q X 7' }),
    ],
  }),
  agent: (seed, isFaulty) => ({
    sentences: ['It is booked. Your reference is Q X 7.'],
    act: (turn, [found, booked]) => {
      if (turn > 0) return undefined;
      if (booked) return say(`It is booked. Your reference is ${[...booked.reference].join(' ')}.`);
      if (!found) return { tool: 'find_table', arguments: { people: 4 } };
      return { tool: 'book_table', arguments: { time: isFaulty ? '20:00' : of<string>(found.times, seed) } };
    },
  }),
};

const IN_ORDER: Part = {
  name: 'tool results in order, each after a delay',
  wires: ['chat-completions', 'openai-realtime'],
  finds: 'Offers what is free',
  evaluation: () => ({
    ...line('A table at seven, please.'),
    ...example('### Results in order, failures, delays'),
    checks: [
      named('Looks at seven', { type: 'calls_tool', tool: 'find_table' }),
      named('Offers what is free', { type: 'says', text: 'eight' }),
    ],
  }),
  agent: (seed, isFaulty) => ({
    sentences: ['Seven is taken, but eight is free.', 'Seven is free.'],
    act: (turn, returned) => {
      if (turn > 0) return undefined;
      if (returned.at(-1)?.times.length > 0) return say('Seven is taken, but eight is free.');
      if (isFaulty && returned.length > 0) return say('Seven is free.');
      return { tool: 'find_table', arguments: { time: of(TIMES, seed) } };
    },
  }),
};

const FAILING: Part = {
  ...{ name: 'a tool that fails once', wires: ['chat-completions', 'openai-realtime'], finds: 'Books in the end' },
  evaluation: () => ({
    ...line('A table for two, please.'),
    ...example('### Results in order, failures, delays'),
    checks: [
      named('Tries to book', { type: 'calls_tool', tool: 'book_table' }),
      named('Books in the end', { type: 'says', text: 'Q X 7' }),
    ],
  }),
  agent: (seed, isFaulty) => ({
    sentences: ['It is booked. Your reference is Q X 7.', 'It is booked.'],
    act: (turn, returned) => {
      if (turn > 0) return undefined;
      const { reference, error } = returned.at(-1) ?? {};
      if (reference) return say('It is booked. Your reference is Q X 7.');
      if (error && isFaulty) return say('It is booked.');
      return { tool: 'book_table', arguments: { people: of(PEOPLE, seed) } };
    },
  }),
};

/** The caller waits eight seconds for an answer. */
const SLOW: Part = {
  ...{ name: 'a tool that takes longer than a caller waits', wires: ['openai-realtime'], finds: 'Answers after it' },
  evaluation: (seed) => ({
    ...line('A table for two, please.'),
    toolResults: [{ tool: 'find_table', result: { times: ['20:00'] }, delayMs: 15_000 + 5_000 * seed - 5_000 }],
    checks: [
      named('Looks for a table', { type: 'calls_tool', tool: 'find_table', times: { max: 1 } }),
      named('Answers after it', { type: 'says', text: 'eight' }),
    ],
  }),
  agent: (_, isFaulty) => ({
    sentences: ['Eight is free.', 'I do not know.'],
    act: (turn, [found]) => {
      if (turn > 0) return undefined;
      return found ? say(isFaulty ? 'I do not know.' : 'Eight is free.') : { tool: 'find_table', arguments: {} };
    },
  }),
};

/** When a run starts, and the next Friday: in Berlin the second one is already a Friday; 2028 is a leap year. */
const DAYS = [
  ['2026-11-30T12:00:00Z', '2026-12-04', 'Friday, December 4th'],
  ['2026-12-31T23:30:00Z', '2027-01-08', 'Friday, January 8th'],
  ['2028-02-28T12:00:00Z', '2028-03-03', 'Friday, March 3rd'],
] as const;

const DATES: Part = {
  name: 'dates that move',
  wires: ['chat-completions', 'openai-realtime', 'twilio-media-streams'],
  finds: 'Books the next Friday',
  evaluation: (seed) => ({ ...example('## Dates'), at: of(DAYS, seed)[0] }),
  agent: (seed, isFaulty) => {
    const [, iso, spoken] = of(DAYS, seed);
    const confirms = `Your table is booked for ${spoken}.`;
    const dayAfter = new Date(Date.parse(iso) + 86_400_000).toISOString().slice(0, 10);
    return {
      sentences: ['For which day?', confirms],
      run: () => ({}),
      act: (turn, returned) => {
        if (turn === 0) return say('For which day?');
        if (returned.length > 0) return say(confirms);
        return { tool: 'book_table', arguments: { date: isFaulty ? dayAfter : iso, people: 4 } };
      },
    };
  },
};

const REPORTED: Part = {
  name: 'reported tool calls',
  wires: ['chat-completions', 'openai-realtime', 'twilio-media-streams'],
  finds: 'Books it once',
  evaluation: () => ({
    ...line('A table for two at seven, please.'),
    checks: [
      named('Books it once', { type: 'calls_tool', tool: 'book_table', arguments: { guests: 2 }, times: { max: 1 } }),
      named('Cancels nothing', { type: 'never_calls_tool', tool: 'cancel' }),
      named('Confirms', { type: 'says', text: 'is booked' }),
    ],
  }),
  agent: (seed, isFaulty) => ({
    sentences: ['Your table is booked.'],
    run: () => ({ booked: true }),
    act: (turn, returned) => {
      if (turn > 0) return undefined;
      // Only says so, books twice, or books for another number.
      const bookings = isFaulty ? of([[], [2, 2], [3]], seed) : [2];
      const guests = bookings[returned.length];
      return guests === undefined
        ? say('Your table is booked.')
        : { tool: 'book_table', arguments: { guests, time: '19:00' } };
    },
  }),
};

const PARTS = [BY_VALUE, IN_ORDER, FAILING, SLOW, DATES, REPORTED];

const prepared = ({ at, ...given }: ReturnType<Part['evaluation']>, seed: number): EvaluationInput => {
  const needed = { name: 'Example', scenarioText: 'You want a table.', personalityId: 'any', conditions: { seed } };
  const evaluation = { ...needed, ...given };
  const dates = at === undefined ? undefined : datesFrom(dateOrigin(given.timezone ?? null, 'en-US', at));
  return withVariables(authored(evaluation, ''), null, dates);
};

async function overText(
  evaluation: EvaluationInput,
  user: ToolUser,
  reports: Reports,
  attempts = 3,
): Promise<CallResult> {
  const url = await startToolUser(servers, user, reports);
  const result = await executeCall({
    definition: normalise(evaluation),
    scenario: evaluation,
    personality: { name: 'Caller' },
    transport: chatCompletions({ client, url, assistantId: 'a1' }),
    ...(user.run && { takeReports: taking(reports) }),
  });
  // In real time, so that a busy machine may stall the tester: as the service, it then calls again.
  if (result.failure?.code !== 'tester_overloaded' || attempts === 1) return result;
  return overText(evaluation, user, reports.splice(0) && reports, attempts - 1);
}

const taking = (reports: Reports) => () =>
  Promise.resolve({ calls: reports.map((report) => ({ ...report, agoMs: 0 })), refusal: null });

async function call(wire: Wire, part: Part, seed: number, isFaulty: boolean): Promise<CallResult> {
  const evaluation = prepared(part.evaluation(seed), seed);
  const user = part.agent(seed, isFaulty);
  const reports: Reports = [];
  if (wire === 'chat-completions') return overText(evaluation, user, reports);
  const options = user.run ? { takeReports: taking(reports) } : {};
  if (wire === 'openai-realtime') {
    const agent = await spokenToolUser(calls.synthesiser, user, reports);
    return calls.callRealtime(evaluation, 'slt', { prepared: agent, firstSpeaker: 'caller', ...options });
  }
  const { prepared: agent, listener } = await heardAgent(calls, ({ synthesiser }) =>
    spokenToolUser(synthesiser, user, reports),
  );
  return calls.call(evaluation, 'slt', {
    prepared: agent,
    recogniser: await recognisers.listening(listener),
    ...options,
  });
}

describe.each(PARTS.flatMap((part) => part.wires.map((wire) => [part.name, wire, part] as const)))(
  'the guide to %s over %s',
  (_, wire, part) => {
    it.each(SEEDS)('passes a healthy agent, and exactly one check finds the planted fault, seed %i', async (seed) => {
      const healthy = await call(wire, part, seed, false);
      const notMet = ({ checks }: CallResult) =>
        checks.flatMap(({ met, name, detail }) => (met ? [] : [[name, met, detail]]));
      expect([healthy.outcome, healthy.failure, notMet(healthy)]).toEqual(['passed', null, []]);
      const faulty = await call(wire, part, seed, true);
      expect([faulty.outcome, notMet(faulty)]).toEqual(['failed', [[part.finds, false, expect.any(String)]]]);
    });
  },
);

describe('the guide to a history', () => {
  const given = example('## History');

  it.each(SEEDS)(
    'passes an agent that reads it over chat completions, and fails one that does not, seed %i',
    async (seed) => {
      const people = of(['four', 'six', 'ten'], seed);
      const evaluation = JSON.parse(
        JSON.stringify(prepared(given, seed)).replaceAll('four', people),
      ) as EvaluationInput;
      const outcome = async (forgets: boolean) => {
        const url = await startMindfulAgent(servers, undefined, forgets, people);
        const transport = chatCompletions({ client, url, assistantId: 'a1' });
        const definition = normalise(evaluation);
        return executeCall({ definition, scenario: evaluation, personality: { name: 'Caller' }, transport });
      };
      expect((await outcome(false)).outcome).toBe('passed');
      expect(await outcome(true)).toMatchObject({ outcome: 'failed', checks: [{ met: false }] });
    },
  );

  it.each(['openai-realtime', 'elevenlabs', 'twilio-media-streams'])('is refused over %s before the run', (wire) => {
    const module = PROTOCOLS.of(wire);
    const spoken = { languages: ['en'], cure: '' };
    const words = { ...module, provides: { ...module.provides, words: true } };
    expect(misfitOf(normalise(given), 'en-US', words, spoken)).toBe(`it has a history, which ${wire} does not take`);
  });
});
