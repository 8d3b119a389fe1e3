import { agentSound, bargeIn, factsOf } from '../testing/facts.js';
import { voiceMeasures } from './voice-measures.js';

const heardUntil = (given: Parameters<typeof factsOf>[0]) => voiceMeasures(factsOf(given)).bargeIns[0]!.heardUntilMs;
const arrival = (playedFromMs: number, playedToMs: number, item?: number) => ({
  ...{ arrivedMs: playedFromMs, playedFromMs, playedToMs },
  ...(item !== undefined && { item }),
});
const caller = [bargeIn(1_000, 3_000, { bufferedMs: 600 })];
const clears = [{ atMs: 1_240, droppedMs: 3_000 }];

describe('heardUntilMs of a barge-in', () => {
  it.each([
    ['is the position at which the audio was dropped', { agent: [agentSound(0, 1_230)], clears }, 1_240],
    ['is the position at which the audio ended, if nothing was dropped', { agent: [agentSound(0, 1_600)] }, 1_600],
    ['is that at the onset if the agent was not speaking', { agent: [] }, 1_000],
  ])('%s', (_what, given, expected) => {
    expect(heardUntil({ ...given, caller, arrivals: [arrival(0, expected)] })).toBe(expected);
  });

  it('is the position in the cut item if the platform names its items', () => {
    const own = [bargeIn(1_000, 3_000, { bufferedMs: 600, heardUntilMs: 100 })];
    const arrivals = [arrival(0, 900, 1), arrival(900, 1_240, 2)];
    expect(heardUntil({ caller: own, agent: [agentSound(0, 1_230)], clears, arrivals })).toBe(340);
  });
});
