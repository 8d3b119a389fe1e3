import { amplitudeOf, FRAME_MS, Random, TELEPHONE_RATE } from '../../../audio/index.js';
import { Ear } from './ear.js';
import { Line } from '../facts/line.js';

/** Hears noise with speech from 400 to 1,600 ms. @param bedDbfs level of the noise besides */
function heard(bedDbfs: number | null, untilMs = 6_000) {
  const random = new Random(1);
  const line = new Line(TELEPHONE_RATE);
  const ear = new Ear(line);
  for (let atMs = 0; atMs < untilMs; atMs += FRAME_MS) {
    const dbfs = atMs >= 400 && atMs < 1_600 ? -26 : bedDbfs;
    const amplitude = dbfs === null ? 0 : amplitudeOf(dbfs);
    ear.play(
      atMs,
      Int16Array.from({ length: line.frameSamples }, () => random.gaussian() * amplitude),
    );
    ear.hearFrame();
  }
  ear.finish(untilMs);
  return ear.facts(
    () => 0,
    () => 0,
  );
}

describe('Ear', () => {
  it('reports that speech without a decay breaks off, unless the bed continues after it', () => {
    expect(heard(null).agent).toEqual([expect.objectContaining({ breaksOff: true })]);
    const { agent, background } = heard(-46);
    expect(background).toMatchObject({ dbfs: expect.closeTo(-46, -0.5) });
    expect(agent).toHaveLength(1);
    expect(agent[0]!.breaksOff).toBeUndefined();
  });

  it('dates a sound again if the noise before it turns out to be background', () => {
    const { agent } = heard(-46);
    expect(agent).toHaveLength(1);
    expect(Math.abs(agent[0]!.startMs - 400)).toBeLessThanOrEqual(40);
    expect(Math.abs(agent[0]!.endMs - 1_600)).toBeLessThanOrEqual(40);
  });
});
