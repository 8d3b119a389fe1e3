import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inputViolations } from '../../../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { type CallResult, chatCompletions, executeCall } from '../../../../libs/simulation/index.js';
import { sample } from '../../../../libs/statistics/testing/sample.js';
import { stubModel } from '../../model/llm-stub.js';
import { TestServers } from '../../servers.js';
import {
  EXPECTATION_FAULTS,
  expected,
  guideExpectations,
  startTurnsAgent,
  turnsWith,
} from '../testing/expectations-agent.js';
import { heardAgent } from './testing/heard-agent.js';
import { Recognisers } from './testing/recognisers.js';
import { scriptedAgent } from './testing/scripted-agent.js';
import { VoiceCalls } from './testing/voice-call.js';

const GUIDE = guideExpectations(
  readFileSync(path.resolve(__dirname, '../../../../docs/guides/expectations.md'), 'utf8'),
);
const FAULTS = Object.keys(EXPECTATION_FAULTS);
/** By voice words that are said twice without a silence are one answer. */
const SPOKEN = FAULTS.filter((fault) => fault !== 'Answers once');
const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const servers = new TestServers();
const calls = new VoiceCalls();
const recognisers = new Recognisers();
afterEach(() => servers.close());
afterAll(async () => {
  await calls.close();
  await recognisers.close();
});

/** A judge that decides by the lines that it is asked about. */
const judge = async () =>
  (
    await stubModel(servers, ({ lines }) => {
      const said = lines.filter((line) => line.who === 'agent' && 'part' in line).map(({ text }) => text);
      return { met: /eight/i.test(said.join(' ')), quote: said[0] ?? '', reasoning: 'So it is' };
    })
  ).model;

const notMet = ({ checks }: CallResult): string[] =>
  checks.flatMap(({ met, name, detail }) => (met === true ? [] : [met === null ? `${name}: ${detail}` : name]));
/** The names end with those of the guide. */
const isFound = (fault: string, result: CallResult) =>
  result.outcome === 'failed' && notMet(result).every((name) => name.endsWith(`: ${fault}`))
    ? notMet(result).length
    : notMet(result);

it('the guide to expectations has a valid example, and a planted fault for each expectation', () => {
  const { personality, ...evaluation } = GUIDE as typeof GUIDE & { personality: string };
  expect(personality).toBe('Hurried guest');
  expect(inputViolations('new', { ...evaluation, personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251' })).toEqual([]);
  expect(expected(GUIDE).checks.map(({ name }) => name!.split(': ').at(-1))).toEqual(FAULTS);
});

describe('the expectations of the guide over chat completions', () => {
  /** In real time, so that a busy machine may stall the tester: as the service, it then calls again. */
  const call = async (fault?: string, attempts = 3): Promise<CallResult> => {
    const url = await startTurnsAgent(servers, turnsWith(fault));
    const result = await executeCall({
      definition: expected(GUIDE),
      scenario: GUIDE,
      personality: { name: 'Caller' },
      model: await judge(),
      transport: chatCompletions({ client, url, assistantId: 'a1', apiKey: 'secret' }),
    });
    return result.failure?.code === 'tester_overloaded' && attempts > 1 ? call(fault, attempts - 1) : result;
  };

  it('are met by the healthy agent', async () => {
    const result = await call();
    expect([result.outcome, notMet(result)]).toEqual(['passed', []]);
  });

  it.each(FAULTS)('find the planted fault, and no others do: %s', async (fault) => {
    expect(isFound(fault, await call(fault))).toBe(1);
  });
});

describe('the expectations of the guide over OpenAI Realtime', () => {
  const call = async (seed: number, fault?: string) => {
    const prepared = await scriptedAgent(calls.synthesiser, { answers: turnsWith(fault) });
    const evaluation = { ...expected(GUIDE), conditions: { seed } };
    return calls.callRealtime(evaluation, 'slt', { prepared, firstSpeaker: 'caller', model: await judge() });
  };

  it.each([1, 2, 3])('are met by the healthy agent, seed %i', async (seed) => {
    const result = await call(seed);
    expect([result.outcome, notMet(result)]).toEqual(['passed', []]);
  });

  it.each(sample(SPOKEN))('find the planted fault, and no others do: %s', async (fault) => {
    expect(isFound(fault, await call(1, fault))).toBe(1);
  });
});

describe('the expectations of the guide over Twilio, where a recogniser hears the agent', () => {
  const { checks, ...rest } = expected(GUIDE);
  const audible = checks.filter(({ type }) => !type.endsWith('calls_tool'));
  const names = audible.map(({ name }) => name!.split(': ').at(-1)!);
  const call = async (seed: number, fault?: string) => {
    const { prepared, listener } = await heardAgent(calls, ({ synthesiser }) =>
      scriptedAgent(synthesiser, { greeting: [{ say: 'Bella Vista, good evening.' }], answers: turnsWith(fault) }),
    );
    const recogniser = await recognisers.listening(listener);
    return calls.call({ ...rest, checks: audible, conditions: { seed } }, 'slt', {
      prepared,
      recogniser,
      model: await judge(),
    });
  };

  it.each([1, 2, 3])('are met by the healthy agent, seed %i', async (seed) => {
    const result = await call(seed);
    expect([result.outcome, notMet(result)]).toEqual(['passed', []]);
  });

  it.each(sample(names.filter((name) => SPOKEN.includes(name))))(
    'find the planted fault, and no others do: %s',
    async (fault) => {
      expect(isFound(fault, await call(1, fault))).toBe(1);
    },
  );
});
