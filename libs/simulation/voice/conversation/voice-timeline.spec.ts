import { agentSound, factsOf, line } from '../testing/facts.js';
import { Timeline } from '../../timeline/timeline.js';
import { voiceEntries } from './voice-timeline.js';

describe('the timeline of a voice call', () => {
  it('has what the agent asked its platform to do, except the end, which is an entry of its own', () => {
    const facts = factsOf({
      caller: [line(2_000, 3_000)],
      agent: [agentSound(4_000, 5_000)],
      platformEvents: [
        { type: 'note', atMs: 0, detail: '<Say>: "One moment\u0000, please."' },
        { type: 'transfer', atMs: 30_000, detail: '+12025550177' },
        { type: 'hang_up', atMs: 30_000, detail: 'The TwiML ended' },
      ],
    });
    const timeline = new Timeline();
    for (const entry of voiceEntries(facts)) timeline.observed(entry);
    const { entries } = timeline;
    expect(entries.map(({ type }) => type)).toEqual(['platform', 'speech', 'speech', 'platform']);
    expect(entries[0]).toEqual({
      type: 'platform',
      event: 'note',
      detail: '<Say>: "One moment\ufffd, please."',
      start: 0,
      end: 0,
      turn: 0,
    });
    expect(entries[3]).toMatchObject({ event: 'transfer', detail: '+12025550177', start: 30_000, turn: 1 });
  });

  it('has at most 100 notes, and the transfer after any number of them', () => {
    const notes = Array.from({ length: 8_000 }, () => ({ type: 'note' as const, atMs: 0, detail: '<Pause> of 0 s' }));
    const transfer = { type: 'transfer' as const, atMs: 30_000, detail: '+12025550177' };
    const entries = voiceEntries(factsOf({ platformEvents: [...notes, transfer] }));
    expect(entries).toHaveLength(101);
    expect(entries.at(-1)).toMatchObject({ event: 'transfer' });
  });
});
