import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type CheckInput, normalise } from '../../evaluation-definition/index.js';
import { eventLoopYielder } from '../time/yield-to-event-loop.js';
import { CallView } from '../timeline/call-view.js';
import { evaluateChecks } from './evaluate-checks.js';
import { VirtualClock } from '../time/virtual-clock.js';
import type { TimelineEntry } from '../timeline/timeline.js';

const speech = (
  speaker: 'agent' | 'caller',
  text: string,
  start: number,
  end: number,
  turn: number,
): TimelineEntry => ({
  type: 'speech',
  speaker,
  text,
  start,
  end,
  turn,
});
/** With overlapping speech, as in audio: the agent begins its last answer while the caller is still speaking. */
const TIMELINE: TimelineEntry[] = [
  speech('agent', 'Welcome to Da Mario.', 0, 900, 0),
  speech('caller', 'A table for 4, please.', 1_000, 2_000, 1),
  speech('agent', 'Let me look.', 2_300, 3_000, 1),
  {
    type: 'tool_call',
    name: 'find',
    arguments: { people: 4, when: { day: 'Fri', time: '19:30' }, tags: ['a', 'b'] },
    start: 3_000,
    end: 3_100,
    turn: 1,
  },
  speech('agent', 'Your table is BOOKED. For four people.', 3_500, 5_000, 1),
  speech('caller', 'Thanks, goodbye.', 5_400, 6_000, 2),
  speech('agent', 'Bye!', 5_800, 6_200, 2),
  { type: 'end', by: 'agent', code: 'agent_hung_up', reason: 'done', start: 6_300, end: 6_300, turn: 2 },
];
const evaluate = (checks: CheckInput[], timeline: readonly TimelineEntry[] = TIMELINE) =>
  evaluateChecks(
    normalise({ checks }).checks,
    CallView.of(timeline),
    eventLoopYielder(new VirtualClock(), new AbortController().signal),
  );
const check = async (input: CheckInput, timeline = TIMELINE) => (await evaluate([input], timeline))[0]!;

/** Of the agent. */
const ALL_SAID = '"Welcome to Da Mario.", "Let me look. Your table is BOOKED. For four people.", "Bye!"';

describe('checks', () => {
  // openclaw/openclaw#65601: ws.terminate() of a healthy agent and a crash look alike.
  it.each([
    ['connection_closed', 'agent', { met: null, undecided: 'evidence' }],
    ['connection_closed', 'caller', { met: false }],
  ] as const)(
    'leave it undecided whether the agent hung up when the call ended with %s (by: %s)',
    async (code, by, found) => {
      const end = { type: 'end', by: 'agent', code, reason: 'code 1011', start: 6_300, end: 6_300, turn: 2 } as const;
      expect(await check({ type: 'ends_by', by }, [...TIMELINE.slice(0, -1), end])).toMatchObject(found);
    },
  );

  it('do not take an end by the platform for a hang-up of either side', async () => {
    const end = {
      type: 'end',
      by: 'tester',
      code: 'platform_hung_up',
      reason: '<Pause>',
      start: 9e3,
      end: 9e3,
      turn: 2,
    } as const;
    for (const by of ['agent', 'caller'] as const) {
      const { met, detail } = await check({ type: 'ends_by', by }, [...TIMELINE.slice(0, -1), end]);
      expect([met, detail]).toEqual([false, 'The call was ended by neither side']);
    }
  });

  it.each<[CheckInput, boolean | null]>([
    [{ type: 'calls_tool', tool: 'find' }, true],
    [{ type: 'calls_tool', tool: 'find', arguments: { people: 4 } }, null],
    [{ type: 'never_calls_tool', tool: 'find', arguments: { people: 4 } }, null],
    [{ type: 'calls_tool', tool: 'find', argumentsSchema: { type: 'object' } }, null],
    [{ type: 'same_value', sources: [{ tool: 'find', argument: 'people' }, { value: 4 }] }, null],
  ])('do not judge arguments that the platform does not tell: %j', async (input, met) => {
    const call = { type: 'tool_call', name: 'find', arguments: null, start: 0, end: 1, turn: 0 } as const;
    expect(await check(input, [call])).toMatchObject({ met, ...(met === null && { undecided: 'evidence' }) });
    const sentText = await check(input, [{ ...call, rawArguments: 'people=4' }]);
    expect(sentText.met).not.toBeNull();
  });

  it.each<[string, string, boolean | null]>([
    ['It is half past seven.', '7:30', true],
    ['It is half seven.', '7:30', null],
    ['It is a couple.', '2', null],
    ['It is eight.', '7:30', false],
  ])('compare a value in "%s" with %s, and do not decide what is ambiguous', async (said, value, met) => {
    const sources = [{ pattern: 'It is (?P<value>[^.]+)' }, { value }];
    const result = await check({ type: 'same_value', sources }, [speech('agent', said, 0, 1, 0)]);
    expect(result).toMatchObject({ met, ...(met === null && { undecided: 'evidence' }) });
    if (met === null) expect(result.detail).toMatch(/^Whether this is the same value is not known: the agent said "/);
  });

  it('do not read a result of a tool that is nested too deeply', async () => {
    const result = `{"price":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const call = { type: 'tool_call', name: 'find', arguments: {}, result, start: 0, end: 1, turn: 0 } as const;
    const sources = [{ tool: 'find', result: 'price' }, { value: '45' }];
    const { met, detail } = await check({ type: 'same_value', sources }, [call]);
    expect([met, detail]).toEqual([false, 'The result price of find was missing']);
  });

  it.each([
    ['45 euros', 'That is 145 euros.', false],
    ['45 euros', 'That is **45** euros.', true],
    ["can't", 'No, I can’t do that.', true],
    ['I can', 'No, I can’t do that.', false],
  ])('finds %j in %j as whole words, and quotes what was said', async (text, said, isFound) => {
    const { met, evidence } = await check({ type: 'says', text }, [speech('agent', said, 0, 1, 0)]);
    expect(met).toBe(isFound);
    expect(evidence).toEqual(isFound ? [{ entry: 0, quote: said }] : []);
  });

  it.each<[CheckInput, boolean, string]>([
    [{ type: 'says', text: 'table  is booked' }, true, 'The agent said "Your table is BOOKED."'],
    [{ type: 'says', text: 'look. your' }, true, 'The agent said "Let me look. Your table is BOOKED."'],
    [{ type: 'says', text: 'book' }, false, `The agent never said "book", but ${ALL_SAID}`],
    [{ type: 'says', text: 'book', partOfWord: true }, true, 'The agent said "Your table is BOOKED."'],
    [{ type: 'never_says', text: 'our tab' }, true, 'The agent never said "our tab"'],
    [{ type: 'never_says', text: 'our tab', partOfWord: true }, false, 'The agent said "Your table is BOOKED."'],
    [{ type: 'says', pattern: 'booked' }, false, `The agent never said /booked/, but ${ALL_SAID}`],
    [
      { type: 'says', text: 'booked', speaker: 'caller' },
      false,
      'The caller never said "booked", but "A table for 4, please.", "Thanks, goodbye."',
    ],
    [{ type: 'never_says', pattern: '(?i)\\bfour\\b' }, false, 'The agent said "For four people."'],
    [{ type: 'never_says', text: 'prompt' }, true, 'The agent never said "prompt"'],
    [
      { type: 'calls_tool', tool: 'find' },
      true,
      'The agent called find({"people":4,"when":{"day":"Fri","time":"19:30"},"tags":["a","b"]})',
    ],
    [
      { type: 'calls_tool', tool: 'find', arguments: { when: { time: '19:30' }, tags: ['a', 'b'] } },
      true,
      'The agent called find({"people":4,"when":{"day":"Fri","time":"19:30"},"tags":["a","b"]})',
    ],
    [
      { type: 'calls_tool', tool: 'find', arguments: { people: '4' } },
      false,
      'The agent called find({"people":4,"when":{"day":"Fri","time":"19:30"},"tags":["a","b"]}), not with {"people":"4"}',
    ],
    [
      { type: 'calls_tool', tool: 'find', arguments: { tags: ['a'] } },
      false,
      'The agent called find({"people":4,"when":{"day":"Fri","time":"19:30"},"tags":["a","b"]}), not with {"tags":["a"]}',
    ],
    [{ type: 'calls_tool', tool: 'Find' }, false, 'The agent never called Find'],
    [
      { type: 'never_calls_tool', tool: 'find', arguments: { people: 5 } },
      true,
      'The agent called find({"people":4,"when":{"day":"Fri","time":"19:30"},"tags":["a","b"]}), not with {"people":5}',
    ],
    [
      { type: 'never_calls_tool', tool: 'find' },
      false,
      'The agent called find({"people":4,"when":{"day":"Fri","time":"19:30"},"tags":["a","b"]})',
    ],
    [{ type: 'ends_by', by: 'agent' }, true, 'The call was ended by the agent'],
    [{ type: 'ends_by', by: 'caller' }, false, 'The call was ended by the agent'],
    [{ type: 'max_turns', turns: 2 }, true, 'The call had 2 turns; the limit is 2'],
    [{ type: 'max_turns', turns: 1 }, false, 'The call had 2 turns; the limit is 1'],
    [{ type: 'max_duration_ms', ms: 6_300 }, true, 'The call lasted 6300 ms; the limit is 6300'],
    [{ type: 'max_duration_ms', ms: 6_299 }, false, 'The call lasted 6300 ms; the limit is 6299'],
    [{ type: 'max_latency_ms', ms: 300 }, true, 'The slowest answer started after 300 ms; the limit is 300'],
    [{ type: 'max_latency_ms', ms: 299 }, false, 'The slowest answer started after 300 ms; the limit is 299'],
    [
      { type: 'max_latency_ms', ms: 1, percentile: 50 },
      true,
      'The answer at the 50th percentile started after 0 ms; the limit is 1',
    ],
    [{ type: 'max_silence_ms', ms: 500 }, true, 'The longest silence lasted 500 ms; the limit is 500'],
    [{ type: 'max_silence_ms', ms: 499 }, false, 'The longest silence lasted 500 ms; the limit is 499'],
    [
      { type: 'says_before', first: { text: 'booked' }, then: { text: 'four people' } },
      true,
      '"booked" was said before "four people"',
    ],
    [
      { type: 'says_before', first: { pattern: 'four' }, then: { text: 'booked' } },
      false,
      '/four/ was said only after "booked"',
    ],
    [
      { type: 'says_before', first: { text: 'for 4', speaker: 'caller' }, then: { text: 'look' } },
      true,
      '"for 4" was said before "look"',
    ],
    [{ type: 'says_before', first: { text: 'never' }, then: { text: 'look' } }, false, 'The agent never said "never"'],
  ])('evaluates %j to %s', async (input, met, detail) => {
    expect(await check(input)).toMatchObject({ met, detail });
  });

  it('name the entry and the quote that prove the result', async () => {
    expect((await check({ type: 'says', text: 'is booked' })).evidence).toEqual([
      { entry: 4, quote: 'Your table is BOOKED.' },
    ]);
    expect((await check({ type: 'never_calls_tool', tool: 'find' })).evidence[0]?.entry).toBe(3);
    expect((await check({ type: 'never_calls_tool', tool: 'find', arguments: { people: 5 } })).evidence).toEqual([]);
    expect((await check({ type: 'max_latency_ms', ms: 1 })).evidence).toEqual([{ entry: 2, quote: 'Let me look.' }]);
  });

  it('count a missing answer as too late once the limit has passed', async () => {
    const timeline = [...TIMELINE.slice(0, 2), { ...TIMELINE[7]!, start: 9_000, end: 9_000 }];
    expect(await check({ type: 'max_latency_ms', ms: 3_000 }, timeline)).toMatchObject({ met: false });
    expect(await check({ type: 'max_latency_ms', ms: 8_000 }, timeline)).toMatchObject({
      met: false,
      detail: 'There was no answer to measure',
    });
    // The caller of a recorded call may have hung up before the agent could answer.
    const recorded = timeline.map((entry) =>
      entry.type === 'end' ? { ...entry, recorded: { by: 'recording' as const } } : entry,
    );
    expect(await check({ type: 'max_latency_ms', ms: 3_000 }, recorded)).toMatchObject({ met: false });
    expect(await check({ type: 'max_latency_ms', ms: 8_000 }, recorded)).toMatchObject({ met: null });
  });

  it('have a display name, and survive a pattern with catastrophic backtracking', async () => {
    const [named, unnamed] = await evaluate(
      [
        { type: 'says', name: 'Greets', text: 'welcome' },
        { type: 'says', pattern: '(a+)+b' },
      ],
      [speech('agent', `Welcome ${'a'.repeat(40_000)}`, 0, 0, 0)],
    );
    expect(named).toMatchObject({ name: 'Greets', met: true, weight: 1, required: true });
    expect(unnamed).toMatchObject({ name: 'Agent says /(a+)+b/', met: false });
  });

  it('quote the original text even if case folding changes its length', async () => {
    const timeline = [speech('agent', `${'İ'.repeat(30)} ﬁrst. Straße  İstanbul 5. End.`, 0, 0, 0)];
    expect((await check({ type: 'says', text: 'İSTANBUL 5' }, timeline)).evidence).toEqual([
      { entry: 0, quote: 'Straße  İstanbul 5.' },
    ]);
  });

  it('examine a limited amount of text, and say so', async () => {
    // 484 instructions, most of which are active at every character.
    const heavy = '(?:[a-z ]?[b-z ]?){120}\\d';
    const words = 'the people want a table '.repeat(10_000);
    const timeline = [1, 2, 3].map((turn) => speech('agent', words, 0, 0, turn));
    const lag = monitorEventLoopDelay({ resolution: 1 });
    lag.enable();
    const results = await evaluate(
      Array.from({ length: 10 }, () => ({ type: 'never_says' as const, pattern: heavy })),
      timeline,
    );
    lag.disable();
    // Without a limit, each of the searches would take several seconds.
    expect(lag.max / 1e6).toBeLessThan(1_500);
    expect(results).toHaveLength(10);
    for (const { met, detail } of results) {
      expect(met).toBeNull();
      expect(detail).toMatch(/\. Only the first 4140 characters of a turn and 41400 of a call are searched for /);
    }
    const within = [speech('agent', `${'x'.repeat(2_000)} 5`, 0, 0, 1)];
    expect(await check({ type: 'says', pattern: heavy }, within)).toMatchObject({ met: true });
    expect(await check({ type: 'says', text: 'table' }, timeline)).toMatchObject({ met: true });
    const [last] = timeline.slice(-1);
    const ending = [{ ...last!, text: `${words}goodbye` }] as TimelineEntry[];
    expect((await check({ type: 'says', text: 'goodbye' }, ending)).detail).toContain(
      'Only the first 50000 characters',
    );
  });
});
