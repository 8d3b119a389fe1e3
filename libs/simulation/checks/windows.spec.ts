import {
  type CheckInput,
  type DefinitionInput,
  normalise,
  withExpectations,
} from '../../evaluation-definition/index.js';
import { agentSaying, call } from '../testing/calls.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { eventLoopYielder } from '../time/yield-to-event-loop.js';
import { CallView } from '../timeline/call-view.js';
import type { EndEntry, SpeechEntry, TimelineEntry } from '../timeline/timeline.js';
import { evaluateChecks } from './evaluate-checks.js';

type Script = NonNullable<DefinitionInput['script']>;

const line = (turn: number, step: number, start: number, end: number, more: object = {}): SpeechEntry => ({
  ...{ type: 'speech', speaker: 'caller', text: `Line ${step}`, turn, start, end },
  script: { step, ...more },
});
const agent = (turn: number, text: string, start: number, end: number): SpeechEntry => ({
  ...{ type: 'speech', speaker: 'agent', words: 'known', text, turn, start, end },
});
const tool = (turn: number, name: string, at: number): TimelineEntry => ({
  ...{ type: 'tool_call', name, arguments: {}, turn, start: at, end: at },
});
const ended = (by: EndEntry['by'], code: EndEntry['code']): TimelineEntry => ({
  ...{ type: 'end', by, code, reason: '', start: 90_000, end: 90_000, turn: 9 },
});

async function found(script: Script, timeline: readonly TimelineEntry[]) {
  const { checks } = withExpectations(normalise({ script }));
  const yielder = eventLoopYielder(new VirtualClock(), new AbortController().signal);
  return evaluateChecks(checks, CallView.of(timeline), yielder);
}
const met = async (script: Script, timeline: readonly TimelineEntry[]) =>
  (await found(script, timeline)).map((result) => result.met);

const says = (text: string): CheckInput => ({ type: 'says', text });
const FIND: CheckInput = { type: 'calls_tool', tool: 'find', times: { max: 1 } };
const NO_FIND: CheckInput = { type: 'never_calls_tool', tool: 'find' };

describe('what a script expects of a line', () => {
  const two: Script = [
    { say: 'Line 0', expect: [says('one'), FIND] },
    { say: 'Line 1', expect: [says('two'), NO_FIND] },
  ];

  it('is found between the line and the next one, and nowhere else', async () => {
    const answers = agentSaying([[{ tool: 'find' }, { say: 'Number one.' }], 'Number two.']);
    const swapped = agentSaying(['Number two.', [{ tool: 'find' }, { say: 'Number one.' }]]);
    const definition = withExpectations(normalise({ script: two }));
    expect(await call(definition, { transport: answers })).toMatchObject({ outcome: 'passed' });
    const { checks, outcome } = await call(definition, { transport: swapped });
    expect(outcome).toBe('failed');
    expect(checks.map((check) => [check.met, check.step])).toEqual([
      [false, 0],
      [false, 0],
      [false, 1],
      [false, 1],
    ]);
  });

  it('includes what the agent begins before the caller speaks again and ends after it', async () => {
    const timeline = [
      line(1, 0, 0, 1_000),
      agent(1, 'One moment, here is', 2_000, 6_000),
      line(2, 1, 5_000, 6_500, {}),
      tool(2, 'find', 7_000),
      agent(2, 'number two', 7_500, 9_000),
      ended('caller', 'script_over'),
    ];
    const script: Script = [
      { say: 'Line 0', expect: [says('here is'), NO_FIND, { type: 'never_says', text: 'two' }] },
      { say: 'Line 1', bargeIn: { afterMs: 2_000 }, expect: [says('two'), FIND, { type: 'never_says', text: 'here' }] },
    ];
    expect(await met(script, timeline)).toEqual([true, true, true, true, true, true]);
  });

  it('is undecided where it depends on what the agent began to do while the caller spoke', async () => {
    const timeline = [
      line(1, 0, 0, 1_000),
      agent(1, 'number one', 2_000, 3_000),
      line(2, 1, 5_000, 7_000),
      tool(2, 'find', 6_000),
      agent(2, 'number two', 8_000, 9_000),
      ended('caller', 'script_over'),
    ];
    const results = await found(
      [
        { say: 'Line 0', expect: [FIND, NO_FIND, says('one')] },
        { say: 'Line 1', expect: [FIND, NO_FIND, says('two')] },
      ],
      timeline,
    );
    expect(results.map((result) => result.met)).toEqual([null, null, true, null, null, true]);
    expect(results[0]).toMatchObject({
      detail:
        'The agent never called find, which cannot be decided because the agent began 1 act while the caller spoke',
      undecided: 'evidence',
      evidence: [{ entry: 3, quote: '' }],
    });
  });

  it('measures the wait for the answer to this line only', async () => {
    const timeline = [
      line(1, 0, 0, 1_000),
      agent(1, 'one', 3_500, 4_000),
      line(2, 1, 5_000, 6_000),
      agent(2, 'two', 6_400, 7_000),
      ended('caller', 'script_over'),
    ];
    const fast: CheckInput = { type: 'max_latency_ms', ms: 1_000 };
    const script: Script = [
      { say: 'Line 0', expect: [fast] },
      { say: 'Line 1', expect: [fast, { type: 'max_answer_words', words: 1 }] },
    ];
    expect(await met(script, timeline)).toEqual([false, true, true]);
  });

  it('tells two steps with the same text apart', async () => {
    const same: Script = [
      { say: 'Go on.', expect: [says('one')] },
      { say: 'Go on.', expect: [says('two')] },
    ];
    const definition = withExpectations(normalise({ script: same }));
    const healthy = await call(definition, { transport: agentSaying(['one', 'two']) });
    expect(healthy.checks.map((check) => [check.met, check.name])).toEqual([
      [true, 'After "Go on.": agent says "one"'],
      [true, 'After "Go on.": agent says "two"'],
    ]);
    expect(await call(definition, { transport: agentSaying(['two', 'one']) })).toMatchObject({ outcome: 'failed' });
  });

  describe('with answers in any order', () => {
    const script: Script = [
      { say: 'A table, please.' },
      {
        answers: [
          { when: { says: { text: 'how many' } }, say: 'Four.', expect: [FIND] },
          { when: { says: { text: 'name' } }, say: 'Rossi.', expect: [says('thank you')] },
        ],
        until: { says: { text: 'booked' } },
        otherwise: 'Yes?',
        expect: [{ type: 'max_answer_words', words: 8 }],
      },
    ];
    const results = async (...answers: Parameters<typeof agentSaying>[0]) =>
      (await call(withExpectations(normalise({ script })), { transport: agentSaying(answers) })).checks;
    const find = (say: string) => [{ tool: 'find' }, { say }];

    it('holds for each time that an answer is given', async () => {
      const healthy = await results(
        'How many?',
        find('And how many children?'),
        find('Your name?'),
        'Thank you, booked.',
      );
      expect(healthy.map((result) => result.met)).toEqual([true, true, true]);
      expect(healthy[1]!.detail).toContain('each of 2 times; the first time');
      const second = await results('How many?', find('How many children?'), 'Your name?', 'Thank you, booked.');
      expect(second.map((result) => result.met)).toEqual([true, false, true]);
      expect(second[1]).toMatchObject({ detail: 'The agent never called find (time 2 of 2)', step: 1, answer: 0 });
    });

    it('expects nothing of an answer for which the agent did not ask', async () => {
      const healthy = await results('Your name?', 'Thank you, booked.');
      expect(healthy.map((result) => result.met)).toEqual([true, true, true]);
      expect(healthy[1]!.detail).toBe('The caller had no reason to say this line, so nothing was expected');
    });

    it('counts every line of the step, also the one for other questions', async () => {
      const talkative = await results('Your name?', 'Thank you.', 'a b c d e f g h i j', 'Booked.');
      expect(talkative.map((result) => result.met)).toEqual([false, true, true]);
    });
  });

  it('belongs to a line that was repeated because the agent did not answer', async () => {
    const timeline = [
      line(1, 0, 0, 1_000),
      line(2, 0, 7_000, 8_000, { repeated: true }),
      agent(2, 'one', 9_000, 9_500),
      tool(2, 'find', 9_600),
      line(3, 1, 11_000, 12_000),
      agent(3, 'two', 12_500, 13_000),
      ended('caller', 'script_over'),
    ];
    expect(await met(two, timeline)).toEqual([true, true, true, true]);
  });

  describe('when the line was not said', () => {
    const early = (by: EndEntry['by'], code: EndEntry['code'], script = two) =>
      found(script, [line(1, 0, 0, 1_000), tool(1, 'find', 1_500), agent(1, 'one', 2_000, 3_000), ended(by, code)]);

    it.each([
      ['agent', 'agent_hung_up', 'The call ended before the caller said this line: the agent hung up'],
      [
        'tester',
        'max_turns',
        'The call ended before the caller said this line: the call reached its maximum number of turns',
      ],
      [
        'caller',
        'agent_silent',
        'The call ended before the caller said this line: the caller hung up because the agent did not answer twice in a row',
      ],
    ] as const)('is not met, also what is forbidden, if the call ended: %s, %s', async (by, code, detail) => {
      const results = await early(by, code);
      expect(results.map((result) => result.met)).toEqual([true, true, false, false]);
      expect(results[3]!.detail).toBe(detail);
    });

    it.each([
      ['tester', 'failure'],
      ['tester', 'caller_broken'],
      ['tester', 'platform_hung_up'],
    ] as const)('is undecided if the tester broke off: %s, %s', async (by, code) => {
      const results = await early(by, code);
      expect(results.map((result) => result.met)).toEqual([true, true, null, null]);
    });

    it('is undecided for a recording of another call', async () => {
      const { script: _, ...unscripted } = line(1, 0, 0, 1_000);
      const results = await found(two, [unscripted, agent(1, 'one', 2_000, 3_000), ended('tester', 'recording_over')]);
      expect(results.map((result) => [result.met, result.undecided])).toEqual(Array(4).fill([null, 'evidence']));
    });

    it('expects nothing of a step that was skipped by its condition, unless the call ended before it', async () => {
      const script: Script = [
        two[0]!,
        { when: { says: { text: 'more' } }, say: 'Line 1', expect: [says('two'), NO_FIND] },
      ];
      const skipped = await early('caller', 'script_over', script);
      expect(skipped.map((result) => result.met)).toEqual([true, true, true, true]);
      const hungUp = await early('agent', 'agent_hung_up', script);
      expect(hungUp.map((result) => result.met)).toEqual([true, true, false, false]);
    });
  });

  it('is not decided by words outside of it that are not known', async () => {
    const unknown: SpeechEntry = { ...agent(2, '', 6_500, 7_000), words: 'unknown' };
    const timeline = [
      line(1, 0, 0, 1_000),
      agent(1, 'one', 2_000, 3_000),
      line(2, 1, 5_000, 6_000),
      unknown,
      ended('caller', 'script_over'),
    ];
    const script: Script = [
      { say: 'Line 0', expect: [says('one'), { type: 'never_says', text: 'two' }] },
      { say: 'Line 1', expect: [says('two'), { type: 'never_says', text: 'one' }] },
    ];
    expect(await met(script, timeline)).toEqual([true, true, null, null]);
  });

  it('may be composed of several checks, each about this line', async () => {
    const check: CheckInput = {
      type: 'when',
      if: { type: 'calls_tool', tool: 'find' },
      then: { type: 'any_of', checks: [says('one'), says('two')] },
    };
    const script: Script = [
      { say: 'Line 0', expect: [check] },
      { say: 'Line 1', expect: [check] },
    ];
    const timeline = [
      line(1, 0, 0, 1_000),
      agent(1, 'one', 1_200, 1_400),
      line(2, 1, 5_000, 6_000),
      tool(2, 'find', 6_200),
      agent(2, 'three', 6_500, 7_000),
      ended('caller', 'script_over'),
    ];
    expect(await met(script, timeline)).toEqual([true, false]);
  });
});

describe('a check of one turn', () => {
  const timeline = [
    agent(0, 'Welcome, how can I help you this evening, and who is calling?', 0, 900),
    line(1, 0, 1_000, 2_000),
    tool(1, 'find', 2_500),
    agent(1, 'Einen Moment bitte, ich sehe gleich nach, ob an diesem Abend noch etwas frei ist.', 4_000, 6_000),
    line(2, 1, 7_000, 8_000),
    agent(2, 'There is a table for four people at half past seven in the evening.', 8_300, 9_000),
    ended('caller', 'script_over'),
  ];
  const of = async (check: CheckInput) => {
    const yielder = eventLoopYielder(new VirtualClock(), new AbortController().signal);
    return (await evaluateChecks(normalise({ checks: [check] }).checks, CallView.of(timeline), yielder))[0]!;
  };

  it.each<[CheckInput, boolean]>([
    [{ type: 'calls_tool', tool: 'find', turn: 1 }, true],
    [{ type: 'calls_tool', tool: 'find', turn: 2 }, false],
    [{ type: 'never_calls_tool', tool: 'find', turn: 1 }, false],
    [{ type: 'never_calls_tool', tool: 'find', turn: 0 }, true],
    [{ type: 'max_latency_ms', ms: 500, turn: 2 }, true],
    [{ type: 'max_latency_ms', ms: 500, turn: 1 }, false],
    [{ type: 'language', language: 'en', turn: 2 }, true],
    [{ type: 'language', language: 'en', turn: 1 }, false],
    [{ type: 'language', language: 'de', turn: 1 }, true],
    [{ type: 'language', language: 'en' }, false],
    [{ type: 'language', language: 'en', after: { text: 'line 1', speaker: 'caller' } }, true],
    [
      { type: 'language', language: 'de', after: { tool: 'find' }, before: { text: 'line 1', speaker: 'caller' } },
      true,
    ],
    [{ type: 'language', language: 'en', after: { tool: 'book' } }, false],
  ])('counts only what happens in it: %j is met: %p', async (check, expected) => {
    expect((await of(check)).met).toBe(expected);
  });

  it('says which turn it is about', async () => {
    expect(await of({ type: 'calls_tool', tool: 'find', turn: 2 })).toMatchObject({
      name: 'Agent calls find in turn 2',
      detail: 'The agent never called find in turn 2',
    });
    expect((await of({ type: 'language', language: 'en', turn: 2 })).name).toBe(
      'The agent answers in English, en in turn 2',
    );
  });
});
