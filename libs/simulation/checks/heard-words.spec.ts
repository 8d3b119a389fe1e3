import fc from 'fast-check';
import { type CheckInput, normalise } from '../../evaluation-definition/index.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { eventLoopYielder } from '../time/yield-to-event-loop.js';
import { CallView } from '../timeline/call-view.js';
import type { SpeechEntry, TimelineEntry } from '../timeline/timeline.js';
import { evaluateChecks } from './evaluate-checks.js';

type More = Partial<SpeechEntry>;
const agent = (turn: number, text: string, more: More = {}): TimelineEntry => ({
  ...{ type: 'speech', speaker: 'agent', words: 'known', turn, text },
  ...{ start: turn * 10_000 + 4_000, end: turn * 10_000 + 6_000 },
  ...more,
});
const caller = (turn: number, text: string): TimelineEntry => ({
  ...{ type: 'speech', speaker: 'caller', turn, text, start: turn * 10_000, end: turn * 10_000 + 2_000 },
});
const tool = (turn: number, name: string): TimelineEntry => {
  const at = turn * 10_000 + 6_500;
  return { type: 'tool_call', name, arguments: { people: 4 }, start: at, end: at, turn };
};
const END: TimelineEntry = {
  ...{ type: 'end', by: 'caller', code: 'script_over', reason: '', start: 60_000, end: 60_000, turn: 3 },
};
const NO_TOOL = { type: 'never_calls_tool' } as CheckInput;
const unknown = (turn: number) => agent(turn, '', { words: 'unknown' });

async function found(check: CheckInput, ...timeline: readonly TimelineEntry[]) {
  const { checks } = normalise({ checks: [check] });
  const yielder = eventLoopYielder(new VirtualClock(), new AbortController().signal);
  return (await evaluateChecks(checks, CallView.of([...timeline, END]), yielder))[0]!;
}
const met = async (check: CheckInput, ...timeline: readonly TimelineEntry[]) => (await found(check, ...timeline)).met;

describe('a check on words where the agent was cut off', () => {
  /** Up to "four" certain; "at seven" may have been heard. */
  const cut = agent(1, 'A table for four at seven', {
    uncertain: [
      [17, 19],
      [20, 25],
    ],
    interrupted: true,
  });

  it.each<[CheckInput, boolean | null]>([
    [{ type: 'says', text: 'table for four' }, true],
    [{ type: 'says', text: 'seven' }, null],
    [{ type: 'says', pattern: 'four at$' }, null],
    [{ type: 'says', text: 'eight' }, false],
    [{ type: 'never_says', text: 'seven' }, null],
    [{ type: 'never_says', text: 'eight' }, true],
    [{ type: 'never_says', text: 'four' }, false],
    [{ type: 'max_answer_words', words: 3 }, false],
    [{ type: 'max_answer_words', words: 5 }, null],
    [{ type: 'max_answer_words', words: 6 }, true],
    [{ type: 'says', text: 'table', speaker: 'caller' }, true],
    [
      {
        type: 'any_of',
        checks: [
          { type: 'says', text: 'seven' },
          { type: 'says', text: 'four' },
        ],
      },
      true,
    ],
    [{ type: 'not', check: { type: 'says', text: 'seven' } }, null],
  ])('is decided only if the words at the cut make no difference: %j', async (check, expected) => {
    expect(await met(check, caller(1, 'A table, please.'), cut)).toBe(expected);
  });

  it('names the words at the cut, and is not decided against the agent', async () => {
    expect(await found({ type: 'says', text: 'seven' }, caller(1, 'Hello.'), cut)).toMatchObject({
      met: null,
      undecided: 'evidence',
      detail:
        'The agent said "A table for four at seven", which cannot be decided because the agent was cut off at "at seven"',
      evidence: [{ entry: 1, quote: 'at seven' }],
    });
  });

  it('is not changed by a cut whose words do not matter beside those of another one', async () => {
    const other = agent(2, 'Or at eight', { uncertain: [[6, 11]], interrupted: true });
    const timeline = [caller(1, 'Hello.'), cut, caller(2, 'Pardon?'), other];
    const order: CheckInput = { type: 'says_before', first: { text: 'seven' }, then: { text: 'eight' } };
    expect(await met(order, ...timeline)).toBeNull();
    expect(await met({ type: 'says', pattern: '(?i)seven|eight' }, ...timeline)).toBeNull();
    expect(await met({ type: 'says', text: 'or at' }, ...timeline)).toBe(true);
  });

  it('compares values as they are spoken', async () => {
    const said = agent(1, 'Your table is at seven thirty pm, reference Q X seven', { uncertain: [[48, 53]] });
    const time = (value: string): CheckInput => ({
      type: 'same_value',
      sources: [{ value }, { pattern: 'at (?P<time>.+ pm)' }],
    });
    expect(await met(time('19:30'), caller(1, 'Hello.'), said)).toBe(true);
    expect(await met(time('18:30'), caller(1, 'Hello.'), said)).toBe(false);
  });
});

describe('a check on words where the caller of its own accord interrupted the agent', () => {
  const interrupted = agent(1, 'Your table is', { interrupted: true, unheard: 'booked for four' });
  const interrupts: TimelineEntry = {
    ...{ type: 'speech', speaker: 'caller', turn: 2, text: 'Sorry, one moment.' },
    ...{ start: 15_500, end: 16_500, bargeIn: { afterMs: 1_500, possible: true } },
  };
  const timeline = [caller(1, 'A table, please.'), interrupted, interrupts, caller(3, 'By the window.')];

  it.each<[CheckInput, boolean | null]>([
    [{ type: 'says', text: 'your table' }, true],
    [{ type: 'says', text: 'is booked' }, null],
    [{ type: 'says', text: 'is full' }, false],
    [{ type: 'never_says', text: 'booked' }, true],
    [{ type: 'max_answer_words', words: 3 }, true],
  ])('fails nothing for words that the agent had ready: %j', async (check, expected) => {
    expect(await met(check, ...timeline)).toBe(expected);
  });

  it('names the words that the agent was not let say', async () => {
    const { detail, undecided } = await found({ type: 'says', text: 'is booked' }, ...timeline);
    expect(detail).toContain('the caller interrupted the agent before "booked for four"');
    expect(undecided).toBe('evidence');
  });

  it('counts neither the interrupted answer nor one to the interruption as a turn', async () => {
    const more = [agent(2, 'Go ahead.'), agent(3, 'It is booked.')];
    expect(await met({ type: 'max_turns', turns: 1 }, ...timeline, ...more)).toBe(true);
    expect(await met({ type: 'max_turns', turns: 1 }, caller(1, 'Hello.'), agent(1, 'Hi.'), ...more)).toBe(false);
  });
});

describe('a check on words where some of the agent are not known', () => {
  const timeline = [
    ...[agent(0, 'Good evening, this call is recorded.'), caller(1, 'A table for four.')],
    ...[agent(1, 'A table for four, shall I book it?'), caller(2, 'Yes, please.')],
    ...[unknown(2), tool(2, 'book'), caller(3, 'Thank you.'), agent(3, 'Goodbye, and thank you.')],
  ];
  const book = { tool: 'book' } as const;

  it.each<[CheckInput, boolean | null]>([
    // What was heard stays heard.
    [{ type: 'says', text: 'table' }, true],
    [{ type: 'never_says', text: 'table' }, false],
    [{ type: 'says', text: 'booked' }, null],
    [{ type: 'never_says', text: 'booked' }, null],
    // More may have been said, never less.
    [{ type: 'says', text: 'table', times: { min: 1, max: 1 } }, null],
    [{ type: 'says', text: 'four', times: { min: 2 } }, null],
    [{ type: 'says', pattern: '(?i)good', times: { max: 1 } }, false],
    [{ type: 'never_says', pattern: '(?i)good', times: { min: 3 } }, null],
    // Only the words of its turn matter.
    [{ type: 'says', text: 'booked', turn: 1 }, false],
    [{ type: 'says', text: 'booked', turn: 2 }, null],
    [{ type: 'never_says', text: 'booked', turn: 'last' }, true],
    [{ type: 'says', text: 'recorded', turn: 'first' }, true],
    // What comes after the event that decides changes nothing.
    [{ type: 'never_says', text: 'bye', before: { text: 'shall I' } }, true],
    [{ type: 'says', text: 'thank you', after: { text: 'booked' } }, null],
    [{ type: 'in_order', events: [{ text: 'recorded' }, { text: 'table' }] }, true],
    [{ type: 'in_order', events: [{ text: 'table' }, { text: 'goodbye' }] }, null],
    [{ type: 'says_before', first: { text: 'recorded' }, then: { text: 'table' } }, true],
    [{ type: 'says_before', first: { text: 'booked' }, then: { text: 'goodbye' } }, null],
    // Tool calls are known.
    [{ type: 'calls_tool', ...book }, true],
    [{ type: 'calls_tool', ...book, after: { text: 'shall I' } }, true],
    [{ type: 'calls_tool', ...book, after: { text: 'one moment' } }, null],
    [{ type: 'calls_tool', tool: 'cancel', after: { text: 'one moment' } }, false],
    [{ type: 'never_calls_tool', tool: 'cancel', before: { text: 'one moment' } }, true],
    [{ type: 'never_calls_tool', ...book, before: { text: 'one moment' } }, null],
    [{ ...NO_TOOL, except: ['book'] } as CheckInput, true],
    [NO_TOOL, false],
    [{ type: 'transfers' }, false],
    [{ type: 'transfers', as: ['book'] }, true],
    [{ type: 'transfers', as: ['book'], after: { text: 'shall I' } }, true],
    [{ type: 'transfers', as: ['book'], after: { text: 'one moment' } }, null],
    [{ type: 'answers', times: { max: 1 } }, true],
    // What is known is the least that was said.
    [{ type: 'max_answer_words', words: 4 }, false],
    [{ type: 'max_answer_words', words: 40 }, null],
    [{ type: 'talk_ratio', max: 0.5 }, false],
    [{ type: 'talk_ratio', max: 0.9 }, null],
    [{ type: 'talk_ratio', min: 0.9 }, null],
    // A minimum that is met cannot be lost by more words, unless they exceed the maximum.
    [{ type: 'talk_ratio', min: 0.5 }, true],
    [{ type: 'talk_ratio', min: 0.5, max: 1 }, true],
    [{ type: 'talk_ratio', min: 0.5, max: 0.9 }, null],
    [{ type: 'talk_ratio', min: 0.1, max: 0.5 }, false],
    [{ type: 'talk_ratio', min: 0.9, max: 0.95 }, null],
    [{ type: 'speakable' }, null],
    [{ type: 'no_personal_data' }, null],
    [{ type: 'language', language: 'en' }, null],
    [{ type: 'ends_by', by: 'agent', withinMs: 5_000 }, false],
    [{ type: 'ends_by', by: 'caller', withinMs: 50_000 }, null],
    [{ type: 'same_value', sources: [{ value: 4 }, { pattern: 'for (?P<n>four)', occurrence: 'first' }] }, true],
    [{ type: 'same_value', sources: [{ value: 5 }, { pattern: 'for (?P<n>four)', occurrence: 'first' }] }, false],
    [{ type: 'same_value', sources: [{ value: 4 }, { pattern: 'for (?P<n>four)', occurrence: 'last' }] }, null],
    [{ type: 'same_value', sources: [{ tool: 'find', argument: 'people' }, { pattern: 'over (?P<n>.+)' }] }, false],
    // What does not depend on them is decided.
    [{ type: 'says', text: 'table', speaker: 'caller' }, true],
    [{ type: 'max_turns', turns: 3 }, true],
    [{ type: 'when', if: { type: 'says', text: 'refund' }, then: { type: 'calls_tool', tool: 'x' } }, null],
    [{ type: 'when', if: { type: 'says', text: 'refund' }, then: { type: 'calls_tool', ...book } }, true],
  ])('is decided only if they could not change it: %j', async (check, expected) => {
    expect(await met(check, ...timeline)).toBe(expected);
  });

  it('is decided by personal data and signs that were heard all the same', async () => {
    const bad = [caller(1, 'Hello.'), agent(1, 'Write to **anna@example.com**.', { words: 'partly' })];
    expect(await met({ type: 'speakable' }, ...bad)).toBe(false);
    expect(await met({ type: 'no_personal_data' }, ...bad)).toBe(false);
    expect(await met({ type: 'says', text: 'bye' }, ...bad)).toBeNull();
  });

  it('says when the agent spoke without known words', async () => {
    expect(await found({ type: 'says', text: 'booked' }, ...timeline)).toMatchObject({
      met: null,
      undecided: 'words_unknown',
      detail:
        'The agent never said "booked", but "Good evening, this call is recorded.", "A table for four, shall I book it?", "Goodbye, and thank you.", which cannot be decided because not all words of the agent are known (at 24.0 s)',
      evidence: [{ entry: 4, quote: '' }],
    });
  });

  it('has no knowledge of words of a text call that it does not have', async () => {
    const text = agent(1, '');
    delete (text as { words?: string }).words;
    expect(await met({ type: 'never_says', text: 'a' }, caller(1, 'Hello.'), text)).toBe(true);
  });
});

describe('a decided check', () => {
  const WORDS = ['a', 'b', 'c'];
  const words = (limits: { minLength?: number; maxLength: number }) => fc.array(fc.constantFrom(...WORDS), limits);
  interface Said {
    readonly heard: readonly string[];
    readonly uncertain: readonly string[];
    /** How many of the uncertain words were heard, and what else was said: what the check does not know. */
    readonly count: number;
    readonly unknown: readonly string[];
    readonly words: 'known' | 'partly' | 'unknown';
  }
  const said: fc.Arbitrary<Said> = fc.record({
    heard: words({ maxLength: 3 }),
    uncertain: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, words({ minLength: 1, maxLength: 3 })),
    count: fc.nat(3),
    unknown: words({ maxLength: 3 }),
    words: fc.constantFrom('known', 'known', 'partly', 'unknown'),
  });

  function asHeard({ heard, uncertain, words: known }: Said, turn: number): TimelineEntry {
    if (known === 'unknown') return agent(turn, '', { words: known });
    const ranges = uncertain.map((_, index) => {
      const from = [...heard, ...uncertain.slice(0, index)].reduce((sum, word) => sum + word.length + 1, 0);
      return [from, from + uncertain[index]!.length] as const;
    });
    const text = [...heard, ...uncertain].join(' ');
    return agent(turn, text, { words: known, ...(ranges.length > 0 && { uncertain: ranges }) });
  }
  function asSaid({ heard, uncertain, count, unknown: other, words: known }: Said, turn: number): TimelineEntry {
    if (known === 'unknown') return agent(turn, other.join(' '));
    const certain = [...heard, ...uncertain.slice(0, count)];
    return agent(turn, (known === 'partly' ? [...other, ...certain] : certain).join(' '));
  }

  const word = fc.constantFrom(...WORDS);
  const event = fc.oneof(
    fc.record({ text: word }),
    fc.record({ text: word, speaker: fc.constant('caller' as const) }),
    fc.constant({ tool: 'book' }),
  );
  const place = fc.record(
    {
      after: event,
      before: event,
      times: fc.constantFrom(
        { min: 1, max: 1 },
        { min: 2 },
        { min: 2, max: 2 },
        { min: 3, max: 3 },
        { min: 0, max: 1 },
      ),
    },
    { requiredKeys: [] },
  );
  const turn = fc.record({ turn: fc.constantFrom('first' as const, 'last' as const, 1) }, { requiredKeys: [] });
  const source = fc.oneof(
    fc.record({ value: word }),
    fc.record({ pattern: fc.constantFrom('(?P<x>a|b)', '(?P<x>c)'), occurrence: fc.constantFrom('first', 'last') }),
    fc.record({ tool: fc.constant('book'), argument: fc.constant('people') }),
  );
  const leafs = fc.oneof(
    fc.tuple(fc.constantFrom('says', 'never_says'), word, place, turn).map(([type, text, where, which]) => {
      const { times, ...rest } = where;
      const some = times && (type === 'says' ? { times } : { times: { min: Math.max(1, times.min) } });
      return { type, text, ...rest, ...some, ...which };
    }),
    fc.tuple(fc.constantFrom('calls_tool', 'never_calls_tool'), place).map(([type, { times: _, ...where }]) => ({
      ...{ type, tool: 'book' },
      ...where,
    })),
    fc.record({ type: fc.constant('in_order'), events: fc.array(event, { minLength: 2, maxLength: 3 }) }),
    fc.record({ type: fc.constant('says_before'), first: fc.record({ text: word }), then: fc.record({ text: word }) }),
    fc.record({ type: fc.constant('same_value'), sources: fc.array(source, { minLength: 2, maxLength: 3 }) }),
    fc.record({ type: fc.constant('max_answer_words'), words: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ type: fc.constant('talk_ratio'), max: fc.constantFrom(0.3, 0.5, 0.8) }),
    fc.record({ type: fc.constant('talk_ratio'), min: fc.constantFrom(0.3, 0.5, 0.8) }),
    fc.record({ type: fc.constant('talk_ratio'), min: fc.constant(0.4), max: fc.constantFrom(0.6, 0.9, 1) }),
  );
  const checks = fc.oneof(
    leafs,
    fc.record({ type: fc.constantFrom('any_of', 'all_of'), checks: fc.array(leafs, { minLength: 2, maxLength: 2 }) }),
    fc.record({ type: fc.constant('not'), check: leafs }),
    fc.record({ type: fc.constant('when'), if: leafs, then: leafs }),
  );

  it('has the same result whatever the agent said where it is not known', async () => {
    let decided = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(checks, fc.array(said, { minLength: 1, maxLength: 4 }), words({ maxLength: 2 }), fc.nat(4)),
        async ([check, all, callers, toolTurn]) => {
          const call = (of: (one: Said, turn: number) => TimelineEntry) =>
            all.flatMap((one, index) => [
              ...(index === 0 ? [] : [caller(index, callers[index - 1] ?? 'hello')]),
              of(one, index),
              ...(index === toolTurn ? [tool(index, 'book')] : []),
            ]);
          const known = await met(check, ...call(asHeard));
          if (known === null) return;
          decided++;
          expect(await met(check as CheckInput, ...call(asSaid))).toBe(known);
        },
      ),
      { numRuns: 4_000 },
    );
    expect(decided).toBeGreaterThan(1_000);
  });
});
