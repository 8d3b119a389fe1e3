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

  it('names the words at the cut, and is no fault of the agent', async () => {
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
    // What is known is the least that was said.
    [{ type: 'max_answer_words', words: 4 }, false],
    [{ type: 'max_answer_words', words: 40 }, null],
    [{ type: 'talk_ratio', max: 0.5 }, false],
    [{ type: 'talk_ratio', max: 0.9 }, null],
    [{ type: 'talk_ratio', min: 0.9 }, null],
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
        'The agent never said "booked", which cannot be decided because not all words of the agent are known (at 24.0 s)',
      evidence: [{ entry: 4, quote: '' }],
    });
  });

  it('has no knowledge of words of a text call that it does not have', async () => {
    const text = agent(1, '');
    delete (text as { words?: string }).words;
    expect(await met({ type: 'never_says', text: 'a' }, caller(1, 'Hello.'), text)).toBe(true);
  });
});
