import { latencyWithin } from '../../checks/times.js';
import { CallView } from '../../timeline/call-view.js';
import { overload } from '../conversation/overload.js';
import { voiceEntries } from '../conversation/voice-timeline.js';
import { agentSound, factsOf, line } from '../testing/facts.js';
import { heardTimes } from './heard-times.js';
import { uncertaintyWithin } from './uncertainty.js';
import { voiceMeasures } from './voice-measures.js';

const background = { dbfs: -42, fromMs: 1_000 };
const answered = (background: { dbfs: number; fromMs: number } | null) =>
  factsOf({ background, caller: [line(2_000, 3_000)], agent: [agentSound(4_300, 6_000)] });

describe('a time that was measured beside a bed', () => {
  it('is uncertain from when the bed was first heard', () => {
    const facts = factsOf({ background });
    expect(uncertaintyWithin(facts, { startMs: 0, endMs: 900 })).toEqual({ plusMinusMs: 0 });
    expect(uncertaintyWithin(facts, { startMs: 900, endMs: 2_000 })).toEqual({ plusMinusMs: 320, isBesideBed: true });
  });

  it('is shown with the bed', () => {
    const measures = voiceMeasures(answered(background));
    expect(measures.background).toEqual(background);
    expect(measures.latencies).toEqual([expect.objectContaining({ heardMs: 1_300, plusMinusMs: 320 })]);
    expect(voiceMeasures(answered(null)).background).toBeNull();
  });

  it('does not make the tester overloaded', () => {
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
