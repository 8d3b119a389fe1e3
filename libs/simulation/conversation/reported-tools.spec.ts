import type { CheckInput } from '../../evaluation-definition/index.js';
import { normalise } from '../../evaluation-definition/index.js';
import { evaluateChecks } from '../checks/evaluate-checks.js';
import { measure } from '../measures/measures.js';
import { rejudge } from '../call/rejudge.js';
import { inProcess } from '../transports/text/in-process.js';
import { CallFailure } from '../timeline/failure.js';
import { agentSaying, call, SCENARIO } from '../testing/calls.js';
import { stubModel, verdict } from '../../../test/simulators/model/llm-stub.js';
import { TestServers } from '../../../test/simulators/servers.js';
import { RealClock } from '../time/clock.js';
import { CallView } from '../timeline/call-view.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import type { VoiceFacts } from '../voice/facts/facts.js';
import { withReports } from '../voice/conversation/reported-tools.js';
import { joinReports, reportedArguments, type ReportedToolCall, unknownTools } from './reported-tools.js';

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
    const calls = [booking(null, 60_000), booking({ guests: 2 }, 4_000), booking()];
    const takeReports = () => Promise.resolve({ calls, refusal: null });
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
      { transport: agentSaying(agent), takeReports: () => Promise.resolve({ calls: reports, refusal: null }) },
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

  describe('of a tool call that the protocol shows with other arguments', () => {
    const shown = { tool: 'book', arguments: { guests: '2', time: '7 pm' } };
    const decided = (args: object, check: CheckInput, calls = [shown]) =>
      call(
        { script: [{ say: 'A table, please.' }, { end: 'Booked' }], checks: [check] },
        {
          transport: agentSaying([[...calls, { say: 'Booked.' }]]),
          takeReports: () =>
            Promise.resolve({
              calls: [{ ...booking(args as ReportedToolCall['arguments']), result: { reference: 'QX7' } }],
              refusal: null,
            }),
        },
      );

    // Converted before the tool runs: earendil-works/pi#786, NousResearch/hermes-agent#5265
    it.each<CheckInput>([
      BOOKS,
      { ...BOOKS, arguments: { guests: 2 } },
      { ...BOOKS, arguments: { guests: '2' } },
      { ...BOOKS, argumentsSchema: { properties: { guests: { type: 'integer' } } } },
      { type: 'same_value', sources: [{ tool: 'book', argument: 'guests' }, { value: 'two' }] },
      { type: 'same_value', sources: [{ tool: 'book', result: 'reference' }, { value: 'QX7' }] },
    ])('are that call if the values are the same: %j', async (check) => {
      const result = await decided({ time: '19:00', guests: 2 }, check);
      expect(result).toMatchObject({ outcome: 'passed', measures: { toolCalls: 1 } });
      expect(result.timeline.filter(({ type }) => type === 'tool_call')).toMatchObject([
        { arguments: { guests: 2 }, rawArguments: JSON.stringify(shown.arguments), result: { reference: 'QX7' } },
      ]);
    });

    it.each([
      ['further ones', { guests: 2, time: '19:00', source: 'telephone' }],
      ['fewer', { guests: 2 }],
      ['other names', { partySize: 2, startsAt: '19:00' }],
      ['none', {}],
      ['a value that may be the same', { guests: 2, time: 'at our usual time' }],
      ['a text for a list', { guests: 2, time: ['19:00'] }],
      ['a text that is not an object', null],
    ])('may be that call if they have %s: what depends on it is undecided', async (_, args) => {
      expect(await decided(args!, BOOKS)).toMatchObject({
        outcome: 'error',
        failure: { code: 'check_undecided' },
        measures: { toolCalls: null },
        checks: [
          { met: null, detail: expect.stringContaining('book was reported with other arguments than are shown') },
        ],
      });
      expect(await decided(args!, { type: 'calls_tool', tool: 'book' })).toMatchObject({ outcome: 'passed' });
    });

    it('are another call if a value is another one, or if the call that is shown is that of another report', async () => {
      expect(await decided({ guests: 4, time: '19:00' }, BOOKS)).toMatchObject({ outcome: 'failed' });
      expect(await decided({ guests: 2, time: '19:00' }, BOOKS, [shown, shown])).toMatchObject({ outcome: 'failed' });
    });

    it('are compared for a short time, however many there are', () => {
      const many = (names: string) =>
        Array.from({ length: 200 }, (_, of) => ({ name: 'book', arguments: { [names]: of } }));
      const { others, doubt } = joinReports(
        many('a'),
        many('b').map((one) => ({ ...one, agoMs: 0 })),
      );
      expect([others.length, doubt]).toEqual([0, expect.stringContaining('may be those of the same call')]);
    });
  });

  it('leave open what was not called if a report was refused', async () => {
    const talk = (calls: readonly ReportedToolCall[]) =>
      call(
        { script: [{ say: 'A table, please.' }, { end: 'Booked' }], checks: [BOOKS] },
        {
          transport: agentSaying(['Booked.']),
          takeReports: () => Promise.resolve({ calls, refusal: 'at must be a date' }),
        },
      );
    expect(await talk([])).toMatchObject({
      outcome: 'error',
      failure: { code: 'check_undecided' },
      measures: { toolCalls: null },
      checks: [{ met: null, detail: expect.stringContaining('a report was refused (at must be a date)') }],
    });
    expect(await talk([booking(), booking()])).toMatchObject({ outcome: 'failed' });
  });

  it('are not known if the call broke off, for whatever reason that is not the agent', async () => {
    const takeReports = jest.fn();
    const broken = inProcess(() => {
      throw new CallFailure('connection_failed');
    });
    const result = await call({ script: [{ say: 'Hello.' }], checks: [BOOKS] }, { transport: broken, takeReports });
    expect(result).toMatchObject({ outcome: 'error', measures: { toolCalls: null } });
    expect(takeReports).not.toHaveBeenCalled();
  });

  it('are not results of the tester, which might have been the wrong ones', async () => {
    const toolResults = [
      { tool: 'book', arguments: { time: '19:00' }, result: {} },
      { tool: 'book', result: {} },
    ];
    const script = [{ say: 'A table, please.' }, { end: 'Booked' }];
    const result = await call(
      { script, toolResults, checks: [{ type: 'says', text: 'confirmed' }] },
      {
        transport: agentSaying(['Hello.']),
        takeReports: () =>
          Promise.resolve({ calls: [{ ...booking({ time: '7 pm' }), result: { booked: true } }], refusal: null }),
      },
    );
    expect(result).toMatchObject({ outcome: 'failed' });
    expect(result.timeline).toContainEqual(expect.objectContaining({ type: 'tool_call', reported: 'given' }));
  });

  describe('that arrive in the second turn', () => {
    const script = [{ say: 'A table, please.' }, { say: 'Thanks.' }, { end: 'Booked' }];
    const late = (report: Partial<ReportedToolCall>, check: CheckInput) =>
      call(
        { script, checks: [check] },
        {
          transport: agentSaying(['Booked.', 'Bye.'], { delayMs: 100 }),
          takeReports: () => Promise.resolve({ calls: [{ ...booking(), ...report }], refusal: null }),
        },
      );

    // reapit/foundations#9608, raman325/ha-zoom-automation#57
    it.each<CheckInput>([
      { type: 'calls_tool', tool: 'book', turn: 1 },
      { type: 'never_calls_tool', tool: 'book', turn: 1 },
      { type: 'calls_tool', tool: 'book', turn: 2 },
      { type: 'never_calls_tool', tool: 'book', turn: 2 },
    ])('may be of the first one, unless they have their time: %j', async (check) => {
      expect(await late({ isArrival: true }, check)).toMatchObject({
        failure: { code: 'check_undecided' },
        checks: [{ detail: expect.stringContaining('1 tool call reported without "at" may be of an earlier turn') }],
      });
      const isHeld = (check.type === 'calls_tool') === ('turn' in check && check.turn === 2);
      expect(await late({}, check)).toMatchObject({ outcome: isHeld ? 'passed' : 'failed' });
    });

    it('are certain on the whole call', async () => {
      const result = await late({ isArrival: true }, { type: 'calls_tool', tool: 'book' });
      expect(result).toMatchObject({ outcome: 'passed', measures: { toolCalls: 1 } });
    });
  });

  it('stay when the call is judged again', async () => {
    const script = [{ say: 'A table, please.' }, { end: 'Booked' }];
    const input = { script, checks: [BOOKS], criteria: [{ text: 'The agent is polite' }] };
    const servers = new TestServers();
    const { model } = await stubModel(servers, (asked) => verdict(asked, true));
    for (const calls of [[booking()], []]) {
      const takeReports = () => Promise.resolve({ calls, refusal: null });
      const recorded = await call(input, { transport: agentSaying(['Booked.']), model, takeReports });
      const options = { definition: normalise(input), scenario: SCENARIO, recorded, model };
      const again = await rejudge({ ...options, signal: new AbortController().signal });
      expect(again).toMatchObject({ outcome: calls.length === 1 ? 'passed' : 'failed' });
      expect(again).toMatchObject({ checks: recorded.checks, timeline: recorded.timeline });
      expect(again.measures.toolCalls).toBe(calls.length);
    }
    await servers.close();
  });

  it('of a tool whose arguments the platform keeps to itself are the same by their name', () => {
    const hidden = { name: 'book', arguments: null };
    const { calls, others } = joinReports([hidden], [booking(), booking()]);
    expect(others).toHaveLength(1);
    expect([...calls.values()]).toEqual([{ name: 'book', arguments: { guests: 2 } }]);
    const broken = reportedArguments('{"guests":');
    expect(joinReports([{ name: 'book', ...broken }], [{ ...booking(), ...broken }]).others).toEqual([]);
  });
});
