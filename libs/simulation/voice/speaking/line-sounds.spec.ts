import { tone } from '../../../audio/index.js';
import type { EngineSound, EngineSounds } from './prepare.js';
import { soundsAt } from './line-sounds.js';

/** Half a second of silence, one of a tone, half a second of silence. */
function sound(rate: number, hz: number): EngineSound {
  const pcm = new Int16Array(2 * rate);
  pcm.set(tone([hz], { rate, ms: 1_000, dbfs: -20 }), rate / 2);
  return {
    pcm,
    ...(rate !== 8_000 && { rate }),
    speechStart: rate / 2,
    speechEnd: 1.5 * rate,
    words: [{ text: 'Hello', startMs: 500, endMs: 1_500, estimated: true }],
  };
}
const soundsOf = (one: EngineSound): EngineSounds => ({ synthesise: async () => one, soundOf: async () => one });
const request = { text: 'Hello', voice: 'anna' };
const energy = (pcm: Int16Array) => Math.sqrt(pcm.reduce((sum, value) => sum + value * value, 0) / pcm.length);

describe('soundsAt', () => {
  it.each([
    [8_000, 8_000],
    [8_000, 24_000],
    [16_000, 8_000],
    [24_000, 8_000],
    [24_000, 16_000],
    [24_000, 24_000],
  ] as const)('converts a sound of %d samples per second to a line of %d', async (own, line) => {
    const sounds = soundsAt(soundsOf(sound(own, 440)), line);
    for (const one of [await sounds.synthesise(request), await sounds.soundOf('cough', 'anna')]) {
      expect(one.pcm).toHaveLength(2 * line);
      expect(Math.abs(one.speechStart / line - 0.5)).toBeLessThan(0.002);
      expect(Math.abs(one.speechEnd / line - 1.5)).toBeLessThan(0.002);
      expect(one.words).toEqual([{ text: 'Hello', startMs: 500, endMs: 1_500, estimated: true }]);
      expect(one).not.toHaveProperty('rate');
    }
  });

  it('gives a wide line the whole band of a wide sound, and a telephone what it transmits', async () => {
    const high = sound(24_000, 6_000);
    const level = async (line: 8_000 | 24_000) =>
      energy((await soundsAt(soundsOf(high), line).synthesise(request)).pcm);
    expect(await level(24_000)).toBeGreaterThan(1_000);
    expect(await level(8_000)).toBeLessThan(10);
  });
});
