import type { CheckInput } from '../../evaluation-definition/index.js';
import { normalise } from '../../evaluation-definition/index.js';
import { evaluateChecks } from '../checks/evaluate-checks.js';
import { measure } from '../measures/measures.js';
import { agentSaying, call } from '../testing/calls.js';
import { RealClock } from '../time/clock.js';
import { CallView } from '../timeline/call-view.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import type { VoiceFacts } from '../voice/facts/facts.js';
import { withReports } from '../voice/conversation/reported-tools.js';
import { notShown, reportedArguments, type ReportedToolCall, unknownTools } from './reported-tools.js';

const BOOKS = { type: 'calls_tool', tool: 'book', times: { max: 1 } } as const;
const booking = (args: ReportedToolCall['arguments'] = { guests: 2 }, agoMs = 0): ReportedToolCall => ({
  name: 'book',
  arguments: args,
  agoMs,
});
const ENTRIES: readonly TimelineEntry[] = [
  { type: 'speech', speaker: 'caller', text: 'A table, please.', start: 0, end: 100, turn: 1 },
  { type: 'tool_call', name: 'look_up', arguments: {}, start: 150, end: 150, turn: 1 },
  { type: 'speech', speaker: 'agent', text: 'Booked.', start: 200, end: 300, turn: 1 },
  { type: 'end', by: 'caller', code: 'script_over', reason: 'Over', start: 300, end: 300, turn: 1 },
];

describe('tool calls that cannot be seen', () => {
  const decided = async (...checks: CheckInput[]) => {
    const view = new CallView(ENTRIES, [], undefined, unknownTools('a wire', undefined));
    const results = await evaluateChecks(normalise({ checks }).checks, view, () => Promise.resolve());
    return results.map(({ met }) => met);
  };

  it('leave checks undecided that they could change, and decide the others', async () => {
    expect(
      await decided(
        { type: 'calls_tool', tool: 'book' },
        { type: 'never_calls_tool', tool: 'book' },
        { type: 'in_order', events: [{ tool: 'look_up' }, { tool: 'book' }] },
        { type: 'same_value', sources: [{ tool: 'book', argument: 'guests' }, { value: 2 }] },
        { type: 'not', check: { type: 'calls_tool', tool: 'book' } },
        { type: 'calls_tool', tool: 'look_up', times: { max: 1 } },
      ),
    ).toEqual([null, null, null, null, null, null]);
    expect(
      await decided(
        { type: 'calls_tool', tool: 'look_up' },
        { type: 'never_calls_tool', tool: 'look_up' },
        { type: 'says', text: 'booked' },
      ),
    ).toEqual([true, false, true]);
  });

  it('are counted as not known, and those that are all reported as their number', () => {
    const tester = { caller: {}, judge: {} } as Parameters<typeof measure>[1];
    const counted = (reason: string | null | undefined) => {
      const entries = [...ENTRIES];
      CallView.of(entries, [], undefined, reason);
      return measure(entries, tester).toolCalls;
    };
    expect([counted(unknownTools('a wire', undefined)), counted(null), counted(undefined)]).toEqual([null, 1, 1]);
  });

  it('are a fact of a voice call over a wire without them, unless they are reported', async () => {
    const facts = { toolCalls: [], end: { atMs: 9_000 } } as unknown as VoiceFacts;
    const clock = new RealClock();
    const transport = { name: 'a wire', providesToolCalls: false } as Parameters<typeof withReports>[2]['transport'];
    expect(await withReports(facts, undefined, { transport, clock })).toMatchObject({
      unknownTools: expect.stringContaining('a wire does not show them'),
    });
    const takeReports = () => Promise.resolve([booking(null, 60_000), booking({ guests: 2 }, 4_000), booking()]);
    const reported = await withReports(facts, clock.now() - 5_000, { transport, clock, takeReports });
    expect(reported.unknownTools).toBeNull();
    const [first, second, last] = reported.toolCalls.map(({ atMs }) => atMs);
    // Not before the call.
    expect(first).toBe(0);
    expect(second).toBeGreaterThanOrEqual(1_000);
    expect(second).toBeLessThan(last!);
    const after = await withReports(facts, clock.now() - 12_000, { transport, clock, takeReports });
    // Not after it.
    expect(after.toolCalls.at(-1)?.atMs).toBe(9_000);
  });
});

describe('reported tool calls', () => {
  const made = (reports: readonly ReportedToolCall[], agent: Parameters<typeof agentSaying>[0]) =>
    call(
      { script: [{ say: 'A table, please.' }, { end: 'Booked' }], checks: [BOOKS] },
      { transport: agentSaying(agent), takeReports: () => Promise.resolve(reports) },
    );

  it('pass a healthy agent and fail one that books nothing, or twice', async () => {
    expect(await made([booking()], ['Booked.'])).toMatchObject({ outcome: 'passed' });
    expect(await made([], ['Booked.'])).toMatchObject({ outcome: 'failed' });
    expect(await made([booking(), booking()], ['Booked.'])).toMatchObject({ outcome: 'failed' });
  });

  it('count once if the protocol shows them, too', async () => {
    const tool = { tool: 'book', arguments: { guests: 2 } };
    const shown = await made([booking()], [[tool, { say: 'Booked.' }]]);
    expect(shown).toMatchObject({ outcome: 'passed', measures: { toolCalls: 1 } });
    expect(await made([], [[tool, { say: 'Booked.' }]])).toMatchObject({ outcome: 'passed' });
    const other = await made([booking({ guests: 4 })], [[tool, { say: 'Booked.' }]]);
    expect(other).toMatchObject({ outcome: 'failed', measures: { toolCalls: 2 } });
  });

  it('of a tool whose arguments the platform keeps to itself are the same by their name', () => {
    const hidden = { name: 'book', arguments: null };
    expect(notShown([booking(), booking()], [hidden])).toHaveLength(1);
    const broken = reportedArguments('{"guests":');
    expect(notShown([{ ...booking(), ...broken }], [{ name: 'book', ...broken }])).toEqual([]);
  });
});
