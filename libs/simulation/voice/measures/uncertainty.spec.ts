import { latencyWithin } from '../../checks/times.js';
import { CallView } from '../../timeline/call-view.js';
import { agentYields } from '../checks/floor.js';
import { overload } from '../conversation/overload.js';
import { voiceEntries } from '../conversation/voice-timeline.js';
import type { VoiceFacts } from '../facts/facts.js';
import { agentSound, factsOf, line } from '../testing/facts.js';
import { heardTimes } from './heard-times.js';
import { uncertaintyWithin } from './uncertainty.js';
import { voiceMeasures } from './voice-measures.js';

const background = { dbfs: -42, fromMs: 1_000, isUneven: false };
const answered = (background: VoiceFacts['background']) =>
  factsOf({ background, caller: [line(2_000, 3_000)], agent: [agentSound(4_300, 6_000)] });

describe('a time that was measured beside a bed', () => {
  it('is uncertain from the time at which the bed was first heard', () => {
    const facts = factsOf({ background });
    expect(uncertaintyWithin(facts, { startMs: 0, endMs: 900 })).toEqual({ plusMinusMs: 0 });
    expect(uncertaintyWithin(facts, { startMs: 900, endMs: 2_000 })).toEqual({ plusMinusMs: 320, isBesideBed: true });
  });

  it('is more uncertain beside a bed that comes and goes, such as voices or a keyboard', () => {
    const facts = factsOf({ background: { ...background, isUneven: true } });
    expect(uncertaintyWithin(facts, { startMs: 900, endMs: 2_000 })).toEqual({ plusMinusMs: 600, isBesideBed: true });
  });

  it('is shown with the bed', () => {
    const measures = voiceMeasures(answered(background));
    expect(measures.background).toEqual({ dbfs: -42, fromMs: 1_000 });
    expect(measures.latencies).toEqual([expect.objectContaining({ heardMs: 1_300, plusMinusMs: 320 })]);
    expect(voiceMeasures(answered(null)).background).toBeNull();
  });

  it('has the uncertainty of stalls, of their lag and of the bed together', () => {
    const stalled = (stall: { at: number; ms: number }, background: VoiceFacts['background']) =>
      factsOf({
        ...answered(background),
        timing: { stalls: [stall], sentAsPlanned: true },
        // All that was sent since then is played late.
        arrivals: [{ arrivedMs: 1_600, playedFromMs: 1_600, playedToMs: 9_000 }],
      });
    const plusMinusMs = (facts: VoiceFacts) => voiceMeasures(facts).latencies[0]!.plusMinusMs;
    const during = { at: 3_500, ms: 150 };
    expect(plusMinusMs(stalled(during, null))).toBe(150);
    expect(plusMinusMs(stalled(during, background))).toBe(150 + 320);
    const before = { at: 1_500, ms: 150 };
    const lag = plusMinusMs(stalled(before, null));
    expect(lag).toBeGreaterThan(100);
    expect(plusMinusMs(stalled(before, background))).toBe(lag + 320);
  });

  it('has the uncertainty of the bed even without an answer', () => {
    const silent = factsOf({ background, caller: [line(2_000, 3_000)], end: { ...answered(null).end, atMs: 12_000 } });
    expect(voiceMeasures(silent).latencies).toMatchObject([{ answered: false, plusMinusMs: 320 }]);
  });

  it('makes a barge-in uncertain, and the check says why it is undecided', () => {
    const bargeIn = { afterMs: 500, possible: true, afterHeardMs: 500, bufferedMs: 0, heardUntilMs: 500 };
    const facts = factsOf({
      background,
      caller: [line(2_000, 4_000, { bargeIn })],
      agent: [agentSound(1_200, 2_900), agentSound(4_800, 6_000)],
    });
    const voice = voiceMeasures(facts);
    expect(voice.bargeIns).toMatchObject([{ yielded: true, yieldMs: 900, plusMinusMs: 320 }]);
    const finding = (limit: number) => agentYields(limit, { voice, facts }, voiceEntries(facts));
    expect(finding(1_300).met).toBe(true);
    expect(finding(1_000)).toMatchObject({ met: null, undecided: 'evidence' });
    expect(finding(1_000).detail).toContain('900 ± 320 ms');
    expect(finding(500).met).toBe(false);
  });

  it('is uncertain up to the next certain voice if a whole sound may be background audio that comes and goes', () => {
    const facts = factsOf({
      background: { ...background, fromMs: 20_000, isUneven: true },
      caller: [line(2_000, 3_000)],
      agent: [
        agentSound(500, 1_500, { certain: { startMs: 520, endMs: 1_450 } }),
        agentSound(3_400, 3_700, { certain: null }),
        agentSound(5_200, 7_000, { certain: { startMs: 5_500, endMs: 6_900 } }),
      ],
    });
    expect(voiceMeasures(facts).latencies).toMatchObject([{ heardMs: 400, plusMinusMs: 5_500 - 3_400 }]);
    // Silence from what may be background to a voice whose first word may be.
    expect(uncertaintyWithin(facts, { startMs: 3_700, endMs: 5_200 }).plusMinusMs).toBe(3_700 - 1_450 + 300);
    expect(uncertaintyWithin(facts, { startMs: 1_600, endMs: 7_000 }).plusMinusMs).toBe(600);
  });

  it('is uncertain up to both ends of the call if no voice is certain', () => {
    const facts = factsOf({
      background: { ...background, isUneven: true },
      agent: [agentSound(3_400, 3_700, { certain: null })],
    });
    expect(uncertaintyWithin(facts, { startMs: 3_000, endMs: 3_400 }).plusMinusMs).toBe(30_000 - 3_400);
    expect(uncertaintyWithin(facts, { startMs: 3_700, endMs: 4_000 }).plusMinusMs).toBe(3_700);
  });

  it('does not make the call an error of an overloaded tester', () => {
    expect(overload(answered(background), 700)).toBeUndefined();
  });

  it.each([
    [1_700, true],
    [1_500, null],
    [900, false],
  ])('is within a limit of %d ms: %s', (limit, met) => {
    const facts = answered(background);
    const entries = voiceEntries(facts);
    const view = new CallView(entries, [], heardTimes(facts, entries));
    const finding = latencyWithin(limit, 100, view);
    expect(finding.met).toBe(met);
    expect(finding.undecided).toBe(met === null ? 'evidence' : undefined);
  });
});
