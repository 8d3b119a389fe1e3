import type { VoiceFacts } from '../facts/facts.js';
import { agentSound, factsOf, line } from '../testing/facts.js';
import { heardAtTheEarliest, voiceMeasures } from './index.js';
import { lagAt, longestLag } from './lag.js';

const STALL = { at: 1_000, ms: 150 };
const timing = { stalls: [STALL], sentAsPlanned: true };

type Message = readonly [arrivedMs: number, ms: number];

/** Arrivals as the playout buffer plays them. */
function played(messages: readonly Message[]): VoiceFacts['arrivals'] {
  let end = 0;
  return messages.map(([arrivedMs, ms]) => {
    const playedFromMs = Math.max(end, arrivedMs);
    end = playedFromMs + ms;
    return { arrivedMs, playedFromMs, playedToMs: end };
  });
}

/** Frames of 20 ms without pause; those of the stall are read after it. */
const streaming = (untilMs: number): VoiceFacts['arrivals'] =>
  played(
    Array.from({ length: untilMs / 20 }, (_, n): Message => {
      const atMs = n * 20;
      return [atMs >= STALL.at && atMs < STALL.at + STALL.ms ? STALL.at + STALL.ms : atMs, 20];
    }),
  );

describe('the lag of the playout', () => {
  it('persists in audio without pauses, and adds to every later uncertainty', () => {
    const facts = factsOf({
      arrivals: streaming(9_000),
      timing,
      caller: [line(3_000, 4_000)],
      agent: [agentSound(5_150, 7_150)],
    });
    expect(lagAt(facts, 900)).toBe(0);
    expect(lagAt(facts, 5_150)).toBeCloseTo(150, 0);
    expect(longestLag(facts)).toBeCloseTo(150, 0);
    expect(voiceMeasures(facts).latencies).toMatchObject([{ heardMs: 1_150, plusMinusMs: expect.closeTo(150, 0) }]);
    expect(heardAtTheEarliest(facts).agent).toMatchObject([{ startMs: expect.closeTo(5_000, 0) }]);
  });

  it('adds to the stall that delayed an answer if the answer is played after waiting audio', () => {
    const facts = factsOf({
      arrivals: streaming(9_000),
      timing,
      caller: [line(100, 500)],
      // Its first frame was read as it arrived, and the agent may have heard the end of the line late.
      agent: [agentSound(1_315, 3_000)],
    });
    expect(voiceMeasures(facts).latencies).toMatchObject([{ plusMinusMs: expect.closeTo(2 * STALL.ms, 0) }]);
  });

  it('adds to that stall even if the answer was read in one batch with the waiting audio', () => {
    // One arrival: what is read in the same 20 ms.
    const facts = factsOf({
      arrivals: [...streaming(1_000), { arrivedMs: 1_150, playedFromMs: 1_150, playedToMs: 9_000 }],
      timing,
      caller: [line(100, 500)],
      agent: [agentSound(1_310, 3_000)],
    });
    expect(voiceMeasures(facts).latencies).toMatchObject([{ plusMinusMs: expect.closeTo(2 * STALL.ms, 0) }]);
  });

  it('ends when the buffer runs empty', () => {
    const facts = factsOf({ arrivals: [...streaming(2_000), ...played([[5_000, 2_000]])], timing });
    expect(lagAt(facts, 1_900)).toBeCloseTo(150, 0);
    expect(lagAt(facts, 5_500)).toBe(0);
  });

  it('does not begin while the buffer holds more audio than the stall lasts', () => {
    const facts = factsOf({
      arrivals: played([
        [500, 3_000],
        [1_150, 3_000],
      ]),
      timing,
    });
    expect(lagAt(facts, 5_000)).toBe(0);
  });

  it('runs from the start of the stall to reading the first message after silence', () => {
    const facts = factsOf({ arrivals: played([[1_150, 3_000]]), timing });
    // The frame before the first late one may have been the last that the tester kept up with.
    expect(lagAt(facts, 2_000)).toBe(STALL.ms + 20);
  });

  it('does not grow with a second stall that the first one’s lag absorbs', () => {
    const second = { at: 2_000, ms: 100 };
    const late = streaming(4_000).map(({ arrivedMs }): Message => {
      const isLate = arrivedMs >= second.at && arrivedMs < second.at + second.ms;
      return [isLate ? second.at + second.ms : arrivedMs, 20];
    });
    const facts = factsOf({ arrivals: played(late), timing: { ...timing, stalls: [STALL, second] } });
    expect(lagAt(facts, 3_900)).toBeCloseTo(150, 0);
  });
});
