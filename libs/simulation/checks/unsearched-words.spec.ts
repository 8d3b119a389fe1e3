import { type CheckInput, normalise } from '../../evaluation-definition/index.js';
import { CallView } from '../timeline/call-view.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { eventLoopYielder } from '../time/yield-to-event-loop.js';
import { evaluateChecks } from './evaluate-checks.js';

const speech = (speaker: 'agent' | 'caller', text: string, turn: number): TimelineEntry => ({
  ...{ type: 'speech', speaker, text, turn },
  ...{ start: turn * 1_000, end: turn * 1_000 + 500 },
});
const tool = (turn: number): TimelineEntry => ({
  ...{ type: 'tool_call', name: 'book', arguments: { seats: 4 }, turn },
  ...{ start: turn * 1_000 + 600, end: turn * 1_000 + 700 },
});
/** Words of one turn, of which 50,000 characters are searched. */
const long = (end: string) => `${'and so it goes on '.repeat(2_800)}${end}`;
const call = (...answers: string[]): TimelineEntry[] =>
  answers.flatMap((answer, index) => [
    speech('caller', 'please', index + 1),
    speech('agent', answer, index + 1),
    tool(index + 1),
  ]);
async function met(input: CheckInput, entries: readonly TimelineEntry[]) {
  const yielder = eventLoopYielder(new VirtualClock(), new AbortController().signal);
  const [result] = await evaluateChecks(normalise({ checks: [input] }).checks, CallView.of(entries), yielder);
  if (result!.met === null) expect(result).toMatchObject({ undecided: 'evidence' });
  return result!.met;
}

const CUT = call(long('the total is 90 euros, goodbye'), 'Your table is booked for 4 people.');
const BOOKED = { text: 'table is booked' };
const LONG_VALUE = { pattern: 'total is (?<euros>\\d+)', occurrence: 'first' } as const;

describe('words beyond what is searched of a turn', () => {
  it.each<[CheckInput, boolean | null, string]>([
    [{ type: 'says', text: 'goodbye' }, null, 'it may stand in what was not searched'],
    [{ type: 'never_says', text: 'goodbye' }, null, 'it may stand there'],
    [{ type: 'says', text: 'goodbye', turn: 1 }, null, 'it may stand in this turn'],
    [{ type: 'says', text: 'goodbye', turn: 2 }, false, 'all of this turn was searched'],
    [{ type: 'never_says', text: 'goodbye', turn: 'last' }, true, 'all of this turn was searched'],
    [{ type: 'says', ...BOOKED }, true, 'once is enough'],
    [{ type: 'never_says', ...BOOKED }, false, 'once is too often'],
    [{ type: 'says', ...BOOKED, times: { max: 1 } }, null, 'it may have been said before'],
    [{ type: 'says', ...BOOKED, times: { min: 2 } }, null, 'it may have been said before'],
    [{ type: 'says', text: 'and so', times: { max: 5 } }, false, 'it was said too often in what was searched'],
    [{ type: 'says', text: 'goodbye', before: { tool: 'book' } }, null, 'it may stand before the call'],
    [{ type: 'never_says', ...BOOKED, before: { tool: 'book' } }, null, 'it may stand before the call'],
    [{ type: 'says', ...BOOKED, after: { text: 'goodbye' } }, null, 'what it must follow may stand there'],
    [{ type: 'calls_tool', tool: 'book', after: { text: 'goodbye' } }, null, 'what it must follow may stand there'],
    [{ type: 'calls_tool', tool: 'book', after: { text: 'please', speaker: 'caller' } }, true, 'no words are cut'],
    [{ type: 'in_order', events: [{ text: 'goodbye' }, BOOKED] }, null, 'the first may stand there'],
    [{ type: 'in_order', events: [BOOKED, { tool: 'book' }] }, null, 'the words may stand there, too'],
    [{ type: 'in_order', events: [{ text: 'and so' }, { tool: 'book' }] }, true, 'both were found before'],
    [{ type: 'says_before', first: { text: 'goodbye' }, then: BOOKED }, null, 'either may stand there'],
    [{ type: 'same_value', sources: [LONG_VALUE, { value: '90' }] }, null, 'the value may stand there'],
    [{ type: 'speakable' }, null, 'an address may stand there'],
    [{ type: 'no_personal_data' }, null, 'a number may stand there'],
    [{ type: 'no_personal_data', speaker: 'caller' }, true, 'all words of the caller were searched'],
    [{ type: 'not', check: { type: 'says', text: 'goodbye' } }, null, 'the opposite is not known either'],
    [{ type: 'max_answer_words', words: 20_000 }, true, 'all words are counted'],
  ])('leave %j at %s: %s', async (input, expected) => {
    expect(await met(input, CUT)).toBe(expected);
  });

  it('do not complete a word or a number that is cut in the middle', async () => {
    const upTo = (end: string) => 'x '.repeat(30_000).slice(0, 50_000 - end.length) + end;
    const cut = call(`${upTo(' total is 45')}00 euros and a nobility`);
    expect(await met({ type: 'same_value', sources: [LONG_VALUE, { value: '45' }] }, cut)).toBeNull();
    expect(await met({ type: 'says', text: 'total is 45' }, cut)).toBeNull();
    expect(await met({ type: 'says', text: 'total is' }, cut)).toBe(true);
  });

  it('leave open the last value, unless a later one was found', async () => {
    const last = (input: string): CheckInput => ({
      type: 'same_value',
      sources: [{ pattern: 'for (?<people>\\d+) people', occurrence: 'last' }, { value: input }],
    });
    expect(await met(last('4'), CUT)).toBe(true);
    expect(await met(last('5'), CUT)).toBe(false);
    expect(await met(last('4'), call('Booked for 4 people.', long('or for 5 people')))).toBeNull();
  });

  it('leave open what follows once a whole call has too many', async () => {
    const many = call(...Array.from({ length: 11 }, () => long('')), 'goodbye');
    expect(await met({ type: 'says', text: 'goodbye' }, many)).toBeNull();
    expect(await met({ type: 'never_says', text: 'goodbye' }, many)).toBeNull();
    expect(await met({ type: 'says', text: 'and so' }, many)).toBe(true);
  });
});
