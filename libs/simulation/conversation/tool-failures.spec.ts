import fc from 'fast-check';
import { OutboundClient } from '../../outbound-http/index.js';
import type { CheckInput, ToolResult } from '../../evaluation-definition/index.js';
import { chatCompletions, RealClock } from '../index.js';
import { call } from '../testing/calls.js';
import { TestServers } from '../../../test/simulators/servers.js';
import { type PersistentAgent, startPersistentAgent } from '../../../test/simulators/agent/testing/tool-agent.js';

const servers = new TestServers();
afterEach(() => servers.close());

const agents = fc.record({
  time: fc.constantFrom('19:30', '7:30 pm', 'half past seven in the evening'),
  filler: fc.constantFrom('One moment, please.', 'Let me check.', 'I will have a look.'),
});
const FIND = { tool: 'find_table', same: { time: '19:30' } };
const admits: CheckInput[] = [
  { type: 'says', text: 'cannot reach' },
  { type: 'never_says', text: 'booked' },
];

async function talk(toolResults: readonly ToolResult[], checks: readonly CheckInput[], agent: PersistentAgent) {
  const url = await startPersistentAgent(servers, agent);
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  return call(
    { script: [{ say: 'A table at half past seven.' }, { say: 'Hello?' }], toolResults, checks },
    { transport: chatCompletions({ client, url, assistantId: 'a1' }), clock: new RealClock(), patienceMs: 50 },
  );
}

describe.each([1, 2, 3])('tools that do not answer at once as wanted, seed %i', (seed) => {
  const [agent] = fc.sample(agents, { seed, numRuns: 1 }) as [PersistentAgent];
  const faulty = { ...agent, confirmsAnything: true };

  it('return one result after the other: who asks again passes, who confirms what is taken fails', async () => {
    const taken = Array.from({ length: seed }, () => ({ times: [] }));
    const results = [{ ...FIND, results: [...taken, { times: ['20:00'] }] }];
    const checks: CheckInput[] = [{ type: 'says', text: 'booked for 20:00' }];
    expect((await talk(results, checks, agent)).outcome).toBe('passed');
    expect((await talk(results, checks, faulty)).outcome).toBe('failed');
  });

  it('return the next entry after `times` calls', async () => {
    const results = [
      { ...FIND, result: { times: [] }, times: seed },
      { ...FIND, result: { times: ['20:00'] } },
    ];
    const checks: CheckInput[] = [{ type: 'says', text: 'booked for 20:00' }];
    expect((await talk(results, checks, agent)).outcome).toBe('passed');
    expect((await talk(results, checks, faulty)).outcome).toBe('failed');
  });

  it('end the call as error when the results are used up', async () => {
    const { outcome, reason } = await talk([{ ...FIND, results: [{}] }], [{ type: 'says', text: 'booked' }], agent);
    expect(outcome).toBe('error');
    expect(reason).toContain(
      `find_table(${JSON.stringify({ time: agent.time })}) fits none of the 1 toolResults of find_table, of which 1 is used up`,
    );
  });

  it('fail: who says so passes, who confirms the booking fails', async () => {
    const results = [{ ...FIND, error: 'The booking system is down' }];
    const healthy = await talk(results, admits, agent);
    expect(healthy.outcome).toBe('passed');
    expect(healthy.timeline).toContainEqual(
      expect.objectContaining({ name: 'find_table', result: { error: 'The booking system is down' } }),
    );
    expect((await talk(results, admits, faulty)).outcome).toBe('failed');
  });

  it.each(['', agent.filler])(
    'never answer an agent that says "%s": the agent learns it with the next words',
    async (filler) => {
      const results: ToolResult[] = [{ ...FIND, noAnswer: true }];
      const healthy = await talk(results, admits, { ...agent, filler });
      expect(healthy.outcome).toBe('passed');
      expect(healthy.timeline.find(({ type }) => type === 'tool_call')).not.toHaveProperty('result');
      expect(healthy.timeline.filter((entry) => entry.type === 'speech' && entry.speaker === 'caller')).toHaveLength(
        // It says again what got no answer.
        filler === '' ? 3 : 2,
      );
      expect((await talk(results, admits, { ...faulty, filler })).outcome).toBe('failed');
    },
  );

  it('take long: who says a word at once passes, who is silent fails', async () => {
    const results = [{ ...FIND, result: { times: ['19:30'] }, delayMs: 1_500 }];
    const checks: CheckInput[] = [
      { type: 'says', text: 'booked' },
      { type: 'max_latency_ms', ms: 1_200 },
    ];
    expect((await talk(results, checks, agent)).outcome).toBe('passed');
    expect((await talk(results, checks, { ...agent, filler: '' })).outcome).toBe('failed');
  });
});
