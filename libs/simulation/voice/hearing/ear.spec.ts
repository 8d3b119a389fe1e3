import { amplitudeOf, FRAME_MS, Random, TELEPHONE_RATE } from '../../../audio/index.js';
import { Ear } from './ear.js';
import { Line } from '../facts/line.js';

describe('Ear', () => {
  it('dates a sound again when the noise before it turns out to be background', () => {
    const random = new Random(1);
    const line = new Line(TELEPHONE_RATE);
    const ear = new Ear(line);
    for (let atMs = 0; atMs < 6_000; atMs += FRAME_MS) {
      const isSpeech = atMs >= 400 && atMs < 1_600;
      const pcm = Int16Array.from(
        { length: line.frameSamples },
        () => random.gaussian() * amplitudeOf(isSpeech ? -26 : -46),
      );
      ear.play(atMs, pcm);
      ear.hearFrame();
    }
    ear.finish(6_000);
    const { agent } = ear.facts(
      () => 0,
      () => 0,
    );
    expect(agent).toHaveLength(1);
    expect(Math.abs(agent[0]!.startMs - 400)).toBeLessThanOrEqual(40);
    expect(Math.abs(agent[0]!.endMs - 1_600)).toBeLessThanOrEqual(40);
  });
});
