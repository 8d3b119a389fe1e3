import type { CheckSpec } from '../../../evaluation-definition/index.js';
import { check } from '../testing/check.js';
import { agentSound } from '../testing/facts.js';

describe('audio_level and max_choppiness', () => {
  const speech = { agent: [agentSound(0, 30_000)] };

  it('compare level and clipping with their limits', async () => {
    expect(await check({ type: 'audio_level', minDbfs: -30, maxDbfs: -10 }, speech)).toMatchObject({ met: true });
    expect(await check({ type: 'audio_level', minDbfs: -15 }, speech)).toMatchObject({ met: false });
    const two = [agentSound(0, 9_000, { dbfs: -16 }), agentSound(10_000, 30_000, { dbfs: -40 })];
    expect(await check({ type: 'audio_level', minDbfs: -15 }, { agent: two })).toMatchObject({
      detail: "The agent's speech has -20 dBFS, and 0 % of its sound is clipped, at 0.0 s, 10.0 s",
      evidence: [{ entry: 0 }, { entry: 1 }],
    });
    const level = { dbfs: -3, sentDbfs: -3, clippedPercent: 4, inaudible: false, clippedAtMs: [12_000, 14_000] };
    expect(await check({ type: 'audio_level', maxClippedPercent: 1 }, { ...speech, level })).toMatchObject({
      met: false,
      detail: "The agent's speech has -3 dBFS, and 4 % of its sound is clipped, at 12.0 s, 14.0 s",
      evidence: [{ entry: 0 }],
    });
  });

  it('fail an agent whose sound cannot be heard, and are undecided without any sound', async () => {
    const level = { dbfs: null, sentDbfs: -62, clippedPercent: 0, inaudible: true };
    expect(await check({ type: 'audio_level', minDbfs: -40 }, { level })).toMatchObject({
      met: false,
      detail: 'The agent sent sound at -62 dBFS, which is too quiet to be heard',
    });
    const arrivals = [{ arrivedMs: 1_000, playedFromMs: 1_200, playedToMs: 2_000 }];
    expect(await check({ type: 'audio_level', minDbfs: -40 }, { level, arrivals })).toMatchObject({
      detail: 'The agent sent sound at -62 dBFS, which is too quiet to be heard (from 1.2 s on)',
    });
    const none = { dbfs: null, sentDbfs: null, clippedPercent: 0, inaudible: false };
    expect(await check({ type: 'audio_level', minDbfs: -40 }, { level: none })).toMatchObject({ met: null });
    expect(await check({ type: 'max_choppiness', perMinute: 1 }, { level: none })).toMatchObject({ met: null });
  });

  it('never fail speech with fewer than three gaps', async () => {
    const gaps = (n: number) =>
      Array.from({ length: n }, (_, i) => ({ startMs: 1_000 * i, endMs: 1_000 * i + 60, isBetweenSpeech: true }));
    const spec: CheckSpec = { type: 'max_choppiness', perMinute: 2 };
    expect(await check(spec, { ...speech, underruns: gaps(2) })).toMatchObject({ met: true });
    expect(await check(spec, { ...speech, underruns: gaps(3) })).toMatchObject({
      met: false,
      detail: "The agent's speech had 3 gaps, 6 per minute; the limit is 2, at 0.0 s, 1.0 s, 2.0 s",
      evidence: [{ entry: 0 }],
    });
  });
});

describe('clean_protocol', () => {
  const finding = { atMs: 5_440, detail: 'no clear', source: '', code: 'no_clear_on_barge_in' };

  it('is not met by a finding of severity error alone', async () => {
    const spec: CheckSpec = { type: 'clean_protocol' };
    expect(await check(spec, { wireFindings: [{ ...finding, severity: 'warning' }] })).toMatchObject({ met: true });
    expect(await check(spec, { wireFindings: [{ ...finding, severity: 'error' }] })).toMatchObject({
      met: false,
      detail: 'The agent broke the protocol (no_clear_on_barge_in): no clear',
      decidedByEntry: 0,
    });
  });
});
