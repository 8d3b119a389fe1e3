import { voiceMeasures } from '../measures/index.js';
import { backchannel, callOf, cued, planOf, say } from '../testing/virtual-calls.js';

describe('a clear after the buffered sound was played', () => {
  it('does not count as yielding to a barge-in', async () => {
    // 1,400 ms are buffered at the barge-in and all of them are heard.
    const agent = cued({ atMs: 100, playMs: 2_500 }, { atMs: 2_900, clear: true }, { atMs: 5_000, playMs: 500 });
    const facts = await callOf(planOf([say(1_500, 1_000)]), agent);
    expect(facts.clears[0]).toMatchObject({ droppedMs: 0 });
    expect(voiceMeasures(facts).bargeIns[0]).toMatchObject({ yielded: false, yieldMs: expect.closeTo(1_500, -1) });
  });

  it('proves nothing if the speech soon ended by itself', async () => {
    const agent = cued({ atMs: 100, playMs: 1_300 }, { atMs: 1_700, clear: true }, { atMs: 5_000, playMs: 500 });
    const facts = await callOf(planOf([say(1_500, 1_000)]), agent);
    expect(voiceMeasures(facts).bargeIns[0]).toMatchObject({ yielded: null });
  });

  it('counts as yielding if the agent continued to send ahead and cleared that audio', async () => {
    const chunks = Array.from({ length: 12 }, (_, n) => ({ atMs: 100 + n * 200, playMs: n === 0 ? 1_000 : 200 }));
    const agent = cued(...chunks, { atMs: 2_500, clear: true }, { atMs: 5_000, playMs: 500 });
    const facts = await callOf(planOf([say(1_500, 1_000)]), agent);
    expect(facts.caller[0]).toMatchObject({ bargeIn: { bufferedMs: expect.closeTo(1_000, -2) } });
    expect(voiceMeasures(facts).bargeIns[0]).toMatchObject({ yielded: true, yieldMs: expect.closeTo(1_400, -2) });
  });

  it('counts as yielding if the agent continued to send and then stopped', async () => {
    const frames = Array.from({ length: 80 }, (_, n) => ({ atMs: 100 + n * 20, playMs: 20 }));
    const agent = cued(...frames, { atMs: 1_760, clear: true }, { atMs: 5_000, playMs: 500 });
    const facts = await callOf(planOf([say(1_500, 1_000)]), agent);
    expect(facts.clears[0]).toMatchObject({ droppedMs: 0 });
    expect(voiceMeasures(facts).bargeIns[0]).toMatchObject({ yielded: true });
  });

  it('is not a reaction to a backchannel', async () => {
    const agent = cued({ atMs: 3_600, playMs: 1_300 }, { atMs: 5_300, clear: true }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), backchannel(1_000), say(500)]), agent);
    expect(facts.clears[0]).toMatchObject({ droppedMs: 0 });
    expect(voiceMeasures(facts).backchannels[0]).toMatchObject({ kept: null });
  });
});
