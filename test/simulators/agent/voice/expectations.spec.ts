import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inputViolations } from '../../../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import {
  type CallResult,
  chatCompletions,
  executeCall,
  type InProcessMediaAgentFactory,
  type TakeReports,
} from '../../../../libs/simulation/index.js';
import { sample } from '../../../../libs/statistics/testing/sample.js';
import { stubModel, verdict } from '../../model/llm-stub.js';
import { TestServers } from '../../servers.js';
import {
  EXPECTATION_AGENTS,
  expected,
  guideExpectations,
  type GuideExpectations,
  REPEATING,
  SAID_AGAIN,
  SILENT,
  startTurnsAgent,
  type Turn,
  turnsWith,
  WORDLESS_TRANSFER,
} from '../testing/expectations-agent.js';
import { heardAgent } from './testing/heard-agent.js';
import { Recognisers } from './testing/recognisers.js';
import { scriptedAgent } from './testing/scripted-agent.js';
import { VoiceCalls } from './testing/voice-call.js';
import type { ToolRequest } from './spoken-dialogue.js';

const GUIDE = guideExpectations(
  readFileSync(path.resolve(__dirname, '../../../../docs/guides/expectations.md'), 'utf8'),
);
/** Over voice, two answers without a silence between them are one. */
const ONLY_TEXT = 'Answers once';
const SEEDS = [1, 2, 3];
const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const servers = new TestServers();
const calls = new VoiceCalls();
const recognisers = new Recognisers();
afterEach(() => servers.close());
afterAll(async () => {
  await calls.close();
  await recognisers.close();
});

/** What makes the statements of the guide true, of the lines that the judge is asked about. */
const TRUTHS: readonly (readonly [RegExp, (said: string) => boolean])[] = [
  [/another time/, (said) => /eight/i.test(said)],
  [/find out/, (said) => /find out/i.test(said)],
  [/polite/, (said) => !/nonsense/i.test(said)],
];
const judge = async () =>
  (
    await stubModel(servers, (asked) => {
      const said = asked.lines.filter(({ who }) => who === 'agent');
      const marked = said.filter((line) => 'part' in line);
      const [, isTrue] = TRUTHS.find(([statement]) => statement.test(asked.statement)) ?? [, () => true];
      const judged = marked.length > 0 ? marked : said;
      return { ...verdict(asked, isTrue(judged.map(({ text }) => text).join(' '))), quote: judged[0]?.text ?? '' };
    })
  ).model;

/** Calls the agent of an evaluation, with a planted fault or in other turns. */
type Call = (
  evaluation: GuideExpectations,
  seed: number,
  fault?: string,
  turns?: readonly Turn[],
) => Promise<CallResult>;

/** In real time, so that a busy machine may stall the tester: as the service, it then calls again. */
const overChat: Call = async (evaluation, _seed, fault, turns = turnsWith(fault, evaluation.key)) => {
  const url = await startTurnsAgent(servers, turns);
  const attempt = async () =>
    executeCall({
      definition: expected(evaluation),
      scenario: evaluation,
      personality: { name: 'Caller' },
      model: await judge(),
      transport: chatCompletions({ client, url, assistantId: 'a1', apiKey: 'secret' }),
    });
  let result = await attempt();
  for (let again = 0; again < 2 && result.failure?.code === 'tester_overloaded'; again++) result = await attempt();
  return result;
};

/** What the agent says, and when the caller is silent. */
const spoken = (key: string, fault = '', turns?: readonly Turn[]) => {
  const later = fault in SAID_AGAIN ? SAID_AGAIN[fault as keyof typeof SAID_AGAIN] : undefined;
  return { answers: turns ?? turnsWith(later || fault === '' ? undefined : fault, key), ...later };
};

const overRealtime: Call = async (evaluation, seed, fault, turns) => {
  const { answers, ...later } = spoken(evaluation.key, fault, turns);
  const prepared = await scriptedAgent(calls.synthesiser, { answers });
  const definition = { ...expected(evaluation), conditions: { seed } };
  const options = { prepared, firstSpeaker: 'caller', model: await judge(), ...later } as const;
  return calls.callRealtime(definition, 'slt', options);
};

/** A recogniser hears the agent, whose backend reports its tool calls. */
const overTwilio: Call = async (evaluation, seed, fault, turns) => {
  const { answers, ...later } = spoken(evaluation.key, fault, turns);
  const { onTool, ...backend } = reportingBackend();
  const greeting = [{ say: 'Bella Vista, good evening.' }];
  const prepare = ({ synthesiser }: Pick<VoiceCalls, 'synthesiser'>) =>
    scriptedAgent(synthesiser, { greeting, answers });
  const { prepared, listener } = await heardAgent(calls, prepare, onTool);
  const definition = { ...expected(evaluation), conditions: { seed } };
  const recogniser = await recognisers.listening(listener);
  return calls.call(definition, 'slt', { prepared, recogniser, model: await judge(), ...later, ...backend });
};

/** Notes the time of each tool call. */
function reportingBackend() {
  let now = 0;
  const tools: { readonly tool: ToolRequest; readonly atMs: number }[] = [];
  const around =
    (inner: InProcessMediaAgentFactory): InProcessMediaAgentFactory =>
    (socket) => {
      const agent = inner(socket);
      return {
        onMessage: (at, data) => agent.onMessage((now = at), data),
        tick: (at) => agent.tick((now = at)),
        onClose: (at) => agent.onClose?.((now = at)),
      };
    };
  const takeReports: TakeReports = async () => ({
    calls: tools.map(({ tool, atMs }) => ({
      name: tool.name,
      arguments: JSON.parse(tool.arguments),
      agoMs: now - atMs,
    })),
    refusal: null,
  });
  return { around, takeReports, onTool: (tool: ToolRequest) => void tools.push({ tool, atMs: now }) };
}

const PROTOCOLS: readonly (readonly [name: string, call: Call])[] = [
  ['chat completions', overChat],
  ['OpenAI Realtime', overRealtime],
  ['Twilio, where a recogniser hears the agent', overTwilio],
];

/** Names of what is not met, which end with those of the guide, and why it is undecided. */
const notMet = ({ checks, criteria }: CallResult): string[] => [
  ...checks.flatMap(({ met, name, detail }) => (met === true ? [] : [met === null ? `${name}: ${detail}` : name])),
  ...criteria.flatMap(({ verdict: found, text }) =>
    found === 'met' ? [] : [found === 'not_met' ? text : `${text}: ${found}`],
  ),
];
const namesOf = ({ checks, criteria = [] }: ReturnType<typeof expected>): string[] => [
  ...checks.map(({ name }) => name!.split(': ').at(-1)!),
  ...criteria.map(({ text }) => text),
];

it.each(GUIDE.map((evaluation) => [evaluation.key, evaluation] as const))(
  'the guide to expectations has a valid example, and a planted fault for each expectation: %s',
  (key, evaluation) => {
    const { personality, ...rest } = evaluation as typeof evaluation & { personality: string };
    expect(personality).toBe('Hurried guest');
    expect(inputViolations('new', { ...rest, personalityId: 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251' })).toEqual([]);
    expect(namesOf(expected(evaluation))).toEqual(Object.keys(EXPECTATION_AGENTS[key]!.faults));
  },
);

describe.each(PROTOCOLS)('the expectations of the guide over %s', (_name, call) => {
  const isText = call === overChat;
  const seeds = isText ? [1] : SEEDS;
  const cells = GUIDE.flatMap((evaluation) => seeds.map((seed) => [evaluation.key, seed, evaluation] as const));

  it.each(cells)('are met by the healthy agent: %s, seed %i', async (_key, seed, evaluation) => {
    const result = await call(evaluation, seed);
    expect([result.outcome, notMet(result)]).toEqual(['passed', []]);
  });

  const faulty = cells.flatMap(([key, seed, evaluation]) =>
    Object.keys(EXPECTATION_AGENTS[key]!.faults).map((fault) => [fault, seed, evaluation] as const),
  );
  const planted = isText
    ? faulty
    : sample(
        faulty.filter(([fault]) => fault !== ONLY_TEXT),
        1,
      );

  it.each(planted)('find the planted fault, and no others do: %s, seed %i', async (fault, seed, evaluation) => {
    const result = await call(evaluation, seed, fault);
    const found = notMet(result);
    expect([result.outcome, found.length > 0, found.filter((name) => !name.endsWith(fault))]).toEqual([
      'failed',
      true,
      [],
    ]);
  });

  it.each(seeds)('end the call of an agent that repeats its line, seed %i', async (seed) => {
    const evaluation = GUIDE.find(({ key }) => key === 'human')!;
    const { outcome, reason, end } = await call(evaluation, seed, undefined, REPEATING);
    expect([outcome, end.code]).toEqual(['failed', 'agent_repeats']);
    expect(reason).toMatch(/^The agent repeated "May I have your name\?" three times after "Rossi\."/);
  });
});

describe('an agent that answers no more', () => {
  const evaluation = GUIDE.find(({ key }) => key === 'human')!;

  it.each(PROTOCOLS.slice(1))('may have passed the call on without a word: %s', async (_name, call) => {
    const left = await call(evaluation, 1, undefined, WORDLESS_TRANSFER);
    expect([left.outcome, notMet(left)]).toEqual(['passed', []]);
    expect((await call(evaluation, 1, undefined, SILENT)).outcome).toBe('failed');
  });

  it('is not to blame over Twilio where not all tool calls are known', async () => {
    const { prepared } = await heardAgent(calls, ({ synthesiser }) =>
      scriptedAgent(synthesiser, { greeting: [{ say: 'Hello.' }], answers: [] }),
    );
    const takeReports: TakeReports = async () => ({ calls: [], refusal: 'too long' });
    const script = [{ say: 'I want to speak to a human, please.', expect: [{ type: 'transfers' as const }] }];
    const { outcome, failure } = await calls.call(expected({ ...evaluation, criteria: [], script }), 'slt', {
      prepared,
      takeReports,
    });
    expect([outcome, failure?.code]).toEqual(['error', 'check_undecided']);
  });
});
