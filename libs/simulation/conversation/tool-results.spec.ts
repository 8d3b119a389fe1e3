import { OutboundClient } from '../../outbound-http/index.js';
import type { DefinitionInput } from '../../evaluation-definition/index.js';
import { chatCompletions, RealClock } from '../index.js';
import { call } from '../testing/calls.js';
import { TestServers } from '../../../test/simulators/servers.js';
import {
  startEndlessToolAgent,
  startSelfServingAgent,
  startToolAgent,
} from '../../../test/simulators/agent/testing/tool-agent.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { toolAnswers, withStoredResults } from './tool-results.js';

const servers = new TestServers();
afterEach(() => servers.close());
const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });

const talk = (url: string, definition: DefinitionInput) =>
  call(
    { script: [{ say: 'A table for 4 on Friday, please.' }], ...definition },
    { transport: chatCompletions({ client, url, assistantId: 'a1' }), clock: new RealClock(), patienceMs: 50 },
  );

const TOOL_RESULTS = [
  { tool: 'find_table', arguments: { people: 2 }, result: { times: ['12:00'] } },
  { tool: 'find_table', arguments: { people: 4 }, result: { times: ['19:30', '21:00'] } },
  { tool: 'book_table', result: { reference: 'QX7' } },
];

describe('tool results', () => {
  it('are returned to an agent that waits for its tools, and shown on the timeline', async () => {
    const result = await talk(await startToolAgent(servers), {
      toolResults: TOOL_RESULTS,
      checks: [
        { type: 'calls_tool', tool: 'book_table', arguments: { time: '19:30' } },
        { type: 'says', text: 'QX7' },
      ],
    });
    expect(result.outcome).toBe('passed');
    expect(result.timeline).toMatchObject([
      { speaker: 'caller' },
      { type: 'tool_call', name: 'find_table', arguments: { people: 4 }, result: { times: ['19:30', '21:00'] } },
      { type: 'tool_call', name: 'book_table', arguments: { time: '19:30' }, result: { reference: 'QX7' } },
      { speaker: 'agent', text: 'Your table is booked, QX7.' },
      { type: 'end' },
    ]);
  });

  it.each([
    [
      'QX7',
      'passed',
      'The same value: the agent said "QX7", book_table had the result reference "QX7", wanted "Q X 7"',
    ],
    [
      'QX8',
      'failed',
      'Not the same value: the agent said "QX8", book_table had the result reference "QX8", wanted "Q X 7"',
    ],
  ])('are a source of same_value: %s is %s', async (reference, outcome, detail) => {
    const result = await talk(await startToolAgent(servers), {
      toolResults: [...TOOL_RESULTS.slice(0, 2), { tool: 'book_table', result: { reference } }],
      checks: [
        {
          type: 'same_value',
          sources: [
            { pattern: 'booked, (?P<reference>[^.]+)' },
            { tool: 'book_table', result: 'reference' },
            { value: 'Q X 7' },
          ],
        },
      ],
    });
    expect(result.checks[0]).toMatchObject({ met: outcome === 'passed', detail });
    expect(result.outcome).toBe(outcome);
  });

  it('are not met in same_value without the field', async () => {
    const { checks } = await talk(await startToolAgent(servers), {
      toolResults: TOOL_RESULTS,
      checks: [{ type: 'same_value', sources: [{ tool: 'book_table', result: 'booking.id' }, { value: 'QX7' }] }],
    });
    expect(checks[0]).toMatchObject({ met: false, detail: 'The result booking.id of book_table was missing' });
  });

  it('are {"status":"ok"} for tools without one', async () => {
    const { timeline } = await talk(await startToolAgent(servers), { toolResults: TOOL_RESULTS.slice(0, 2) });
    expect(timeline[2]).toMatchObject({ name: 'book_table', result: { status: 'ok' } });
    expect(timeline[3]).toMatchObject({ text: 'Your table is booked, without a reference, status ok.' });
  });

  it('delay the answer: the latency lasts from the end of the caller to the first words', async () => {
    const waitMs = 60;
    const { measures, exchange } = await talk(await startToolAgent(servers, { waitMs }), { toolResults: TOOL_RESULTS });
    expect(exchange?.requests).toHaveLength(3);
    expect(measures.latency.p50).toBeGreaterThanOrEqual(3 * waitMs - 5);
    expect(measures).toMatchObject({ turns: 1, toolCalls: 2 });
  });

  it('end a call as failed when the agent calls tools endlessly', async () => {
    const result = await talk(await startEndlessToolAgent(servers), { toolResults: TOOL_RESULTS });
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining(
        'The agent kept calling tools without responding: 9 rounds of tool calls in one turn',
      ),
      failure: { code: 'tool_loop', fault: 'agent' },
    });
    expect(result.timeline.filter(({ type }) => type === 'tool_call')).toHaveLength(9);
  });

  it.each(['stop', 'length'])('are not returned to an agent that speaks and ends with %s', async (finish) => {
    const { timeline, exchange } = await talk(await startSelfServingAgent(servers, finish), {
      toolResults: TOOL_RESULTS,
    });
    expect(exchange?.requests).toHaveLength(1);
    const toolCall = timeline.find(({ type }) => type === 'tool_call');
    expect(toolCall).toMatchObject({ name: 'find_table' });
    expect(toolCall).not.toHaveProperty('result');
  });
});

describe('toolAnswers', () => {
  const answers = toolAnswers([
    { tool: 'a', arguments: { x: { y: 1 } }, result: 'first' },
    { tool: 'a', result: null },
  ]);

  it.each<[string, any, unknown]>([
    ['a', { x: { y: 1, z: 2 }, more: true }, 'first'],
    ['a', { x: { y: 2 } }, null],
    ['a', null, null],
    ['b', { x: { y: 1 } }, { status: 'ok' }],
  ])('%s with %j gives %j, as often as it is called', (name, args, expected) => {
    const answer = { result: expected, delayMs: 0 };
    expect([answers(name, args), answers(name, args)]).toEqual([answer, answer]);
  });
});

describe('withStoredResults', () => {
  it('omits the results of a call beyond 256 KiB', () => {
    const span = { start: 0, end: 0, turn: 1 };
    const result = 'x'.repeat(64 * 1024 - 2);
    const entries: TimelineEntry[] = [1, 2, 3, 4, 5].map(() => ({
      type: 'tool_call',
      name: 't',
      arguments: {},
      result,
      ...span,
    }));
    const stored = withStoredResults(entries);
    expect(stored.slice(0, 4)).toEqual(entries.slice(0, 4));
    expect(stored[4]).toEqual({ type: 'tool_call', name: 't', arguments: {}, isResultOmitted: true, ...span });
  });
});
