import type { CheckInput, DefinitionInput, HistoryLine } from '../../evaluation-definition/index.js';
import { OutboundClient } from '../../outbound-http/index.js';
import { chatCompletions, RealClock } from '../index.js';
import { call } from '../testing/calls.js';
import { startMindfulAgent } from '../../../test/simulators/agent/testing/tool-agent.js';
import { TestServers } from '../../../test/simulators/servers.js';
import { stubModel, verdict } from '../../../test/simulators/model/llm-stub.js';
import { Transcript } from '../judge/transcript.js';
import { judgeMessages } from '../judge/prompt.js';

const servers = new TestServers();
afterEach(() => servers.close());
const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });

const HISTORY: readonly HistoryLine[] = [
  { caller: 'A table for four, please.' },
  { tool: 'find_table', arguments: { people: 4 }, result: { times: ['19:30'] } },
  { agent: 'Your table at 19:30 is reserved.' },
];

async function talk(definition: DefinitionInput, fault = false) {
  const seen: object[] = [];
  const url = await startMindfulAgent(servers, (body) => seen.push(body), fault);
  const transport = chatCompletions({ client, url, assistantId: 'a1' });
  const input = { script: [{ say: 'Please go on.' }], ...definition };
  return { seen, ...(await call(input, { transport, clock: new RealClock(), patienceMs: 50 })) };
}

describe('a history', () => {
  const checks: CheckInput[] = [{ type: 'says', text: 'for four' }];

  it('is the conversation so far for an agent over chat completions: who reads it passes, who does not fails', async () => {
    const healthy = await talk({ history: HISTORY, checks });
    expect(healthy.outcome).toBe('passed');
    expect(healthy.seen[0]).toHaveProperty('messages', [
      { role: 'user', content: 'A table for four, please.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'before001', type: 'function', function: { name: 'find_table', arguments: '{"people":4}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'before001', content: '{"times":["19:30"]}' },
      { role: 'assistant', content: 'Your table at 19:30 is reserved.' },
      { role: 'user', content: 'Please go on.' },
    ]);
    expect((await talk({ history: HISTORY, checks }, true)).outcome).toBe('failed');
    expect((await talk({ checks })).outcome).toBe('failed');
  });

  it.each<[string, CheckInput, boolean]>([
    ['says', { type: 'says', text: 'is reserved' }, false],
    ['says of the caller', { type: 'says', text: 'A table', speaker: 'caller' }, false],
    ['never_says', { type: 'never_says', text: 'is reserved' }, true],
    ['calls_tool', { type: 'calls_tool', tool: 'find_table' }, false],
    ['never_calls_tool', { type: 'never_calls_tool', tool: 'find_table' }, true],
    ['max_turns', { type: 'max_turns', turns: 1 }, true],
    ['in_order', { type: 'in_order', events: [{ tool: 'find_table' }, { text: 'for four' }] }, false],
  ])('matches no check: %s', async (_name, check, met) => {
    const { checks: found, measures, timeline } = await talk({ history: HISTORY, checks: [check] });
    expect(found).toMatchObject([{ met }]);
    expect(measures).toMatchObject({ turns: 1, toolCalls: 0 });
    expect(timeline.slice(0, 4).map(({ type, turn }) => [type, turn])).toEqual([
      ['given', 0],
      ['given', 0],
      ['given', 0],
      ['speech', 1],
    ]);
  });

  it('is shown to the judge as given, and cannot be quoted', async () => {
    const { timeline } = await talk({ history: HISTORY });
    const transcript = new Transcript(timeline);
    expect(transcript.toString()).toContain(
      '{"who":"before the call, agent calls tool","atMs":0,"text":"find_table({\\"people\\":4}) returned {\\"times\\":[\\"19:30\\"]}"}',
    );
    expect(transcript.locate('Your table at 19:30 is reserved.')).toHaveProperty('fault');
    expect(transcript.locate('It is for four, then.')).toMatchObject({ entry: 4 });
    const question = { statement: 'S', transcript: transcript.toString(), context: '', language: 'English' };
    const [told] = judgeMessages({ ...question, hasHistory: transcript.hasHistory });
    expect(told!.content).toContain('they are never evidence, and must not be quoted');
    const withoutHistory = await talk({});
    expect(new Transcript(withoutHistory.timeline).hasHistory).toBe(false);
    expect(judgeMessages(question)[0]!.content).not.toContain('before the call');
  });

  it('is known to a caller whom a model plays, who goes on after it', async () => {
    const { model, asked } = await stubModel(servers, (question) =>
      question.role === 'judge' ? verdict(question, true) : { say: 'Thank you, goodbye.', end: 'Settled' },
    );
    const transport = chatCompletions({ client, url: await startMindfulAgent(servers), assistantId: 'a1' });
    await call({ history: HISTORY }, { transport, model, clock: new RealClock(), patienceMs: 50 });
    expect(asked[0]!.messages.slice(1).map(({ role, content }) => [role, JSON.parse(content ?? '')])).toEqual([
      ['assistant', { say: 'A table for four, please.', end: null }],
      ['user', { agent: 'Your table at 19:30 is reserved.' }],
      ['user', { call: 'The conversation goes on. The agent waits for you to speak.' }],
    ]);
  });
});
