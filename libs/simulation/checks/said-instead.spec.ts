import { normalise, withExpectations } from '../../evaluation-definition/index.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { eventLoopYielder } from '../time/yield-to-event-loop.js';
import { CallView } from '../timeline/call-view.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { evaluateChecks } from './evaluate-checks.js';

const speech = (speaker: 'agent' | 'caller', text: string, start: number, turn: number): TimelineEntry => ({
  ...{ type: 'speech', speaker, text, start, end: start + 500, turn },
});
const TIMELINE = [
  speech('agent', 'Da Mario.', 0, 0),
  speech('caller', 'Are you open on Mondays?', 1_000, 1),
  speech('agent', 'On Mondays we are open from noon to ten.', 2_000, 1),
  speech('caller', 'Thank you, goodbye.', 3_000, 2),
  speech('agent', 'Goodbye.', 4_000, 2),
];

async function detailOf(input: object, timeline: readonly TimelineEntry[] = TIMELINE): Promise<string> {
  const yieldToEventLoop = eventLoopYielder(new VirtualClock(), new AbortController().signal);
  const { checks } = normalise({ checks: [{ type: 'says', text: 'closed', ...input }] });
  return (await evaluateChecks(checks, CallView.of(timeline), yieldToEventLoop))[0]!.detail;
}

describe('the detail of words that are missing', () => {
  it.each([
    [{ turn: 1 }, 'The agent never said "closed" in turn 1, but "On Mondays we are open from noon to ten."'],
    [{ turn: 'first' }, 'The agent never said "closed" in the first turn, but "Da Mario."'],
    [{ turn: 'last' }, 'The agent never said "closed" in the last turn, but "Goodbye."'],
    [
      { after: { speaker: 'caller', text: 'Mondays' }, before: { speaker: 'caller', text: 'Thank you' } },
      expect.stringMatching(
        /^The agent never said "closed" after .* before .*, but "On Mondays we are open from noon to ten."$/,
      ),
    ],
    [{ speaker: 'caller', turn: 2 }, 'The caller never said "closed" in turn 2, but "Thank you, goodbye."'],
  ])('shows what was said where they should have been: %j', async (place, detail) => {
    expect(await detailOf(place)).toEqual(detail);
  });

  it('shows what was said under the line that expected them', async () => {
    const script = [{ say: 'Are you open on Mondays?', expect: [{ type: 'says' as const, text: 'closed' }] }];
    const spoken = TIMELINE.map((entry) => (entry.turn === 1 ? { ...entry, script: { step: 0 } } : entry));
    const yieldToEventLoop = eventLoopYielder(new VirtualClock(), new AbortController().signal);
    const { checks } = withExpectations(normalise({ script }));
    const [result] = await evaluateChecks(checks, CallView.of(spoken), yieldToEventLoop);
    expect(result?.detail).toBe('The agent never said "closed", but "On Mondays we are open from noon to ten."');
  });

  it('shows all that was said if words may be anywhere in a call of a few utterances, and nothing if there are more', async () => {
    const all = '"Da Mario.", "On Mondays we are open from noon to ten.", "Goodbye."';
    expect(await detailOf({})).toBe(`The agent never said "closed", but ${all}`);
    const longer = [...TIMELINE, speech('caller', 'Hello?', 5_000, 3), speech('agent', 'Yes?', 6_000, 3)];
    expect(await detailOf({}, longer)).toBe('The agent never said "closed"');
    expect(await detailOf({ speaker: 'caller' }, longer)).toMatch(/^The caller never said "closed", but "Are you/);
    expect(await detailOf({ type: 'never_says' })).toBe('The agent never said "closed"');
  });

  it('shows nothing where nothing was said, and where words are found or forbidden', async () => {
    expect(await detailOf({ turn: 7 })).toBe('The agent never said "closed" in turn 7');
    expect(await detailOf({}, TIMELINE.slice(1, 2))).toBe('The agent never said "closed"');
    expect(await detailOf({ type: 'never_says', turn: 1 })).toBe('The agent never said "closed" in turn 1');
    expect(await detailOf({ text: 'noon', turn: 1 })).not.toContain(', but ');
  });

  it('shows the first utterances, each shortened, if there are many', async () => {
    const after = { speaker: 'caller', text: 'Mondays' };
    const answers = Array.from({ length: 9 }, (_, n) => [
      speech('caller', `Question ${n}`, 5_000 + n * 2_000, 3 + n),
      speech('agent', `Answer ${n} ${'x'.repeat(1_000)}`, 6_000 + n * 2_000, 3 + n),
    ]).flat();
    const detail = await detailOf({ after }, [...TIMELINE, ...answers]);
    expect(detail).toMatch(/, but "On Mondays .*", "Goodbye\.", "Answer 0 x+…" and 8 more$/);
    expect(detail.length).toBeLessThan(500);
  });
});
