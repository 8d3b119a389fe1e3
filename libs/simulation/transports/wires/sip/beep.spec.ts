import { decodeMulaw, encodeMulaw, tone } from '../../../../audio/index.js';
import { BeepFinder } from './beep.js';

const sine = (frequencies: number[], ms: number, dbfs = -20) => tone(frequencies, { rate: 8_000, ms, dbfs });

/** Whether a beep is found in sound that comes as packets of 20 ms, some of which are lost. */
function isFound(pcm: Int16Array, lost: readonly number[] = []): boolean {
  const heard = decodeMulaw(encodeMulaw(pcm));
  const finder = new BeepFinder();
  const found = Array.from({ length: Math.floor(pcm.length / 160) }, (_, n) =>
    lost.includes(n) ? false : finder.hear(20 * n, heard.subarray(160 * n, 160 * (n + 1))),
  );
  return found.includes(true);
}

describe('BeepFinder', () => {
  it.each([440, 800, 1_000, 1_400, 2_100])('finds a beep of %i Hz, also a quiet one', (hz) => {
    expect([isFound(sine([hz], 320)), isFound(sine([hz], 320, -40))]).toEqual([true, true]);
  });

  it.each<[string, Int16Array]>([
    // team-telnyx/freeswitch#653: 440 and 480 Hz were taken for one frequency of 458 Hz.
    ['the two frequencies of American ringing', sine([440, 480], 2_000)],
    ['a key', sine([697, 1_209], 1_000)],
    ['a shorter tone', sine([1_000], 280)],
    ['a hum', sine([50], 2_000)],
    ['a low tone', sine([200], 2_000)],
    ['a voice of many harmonics', sine([120, 240, 360, 480, 600, 720, 840], 2_000)],
    ['a glide', Int16Array.from({ length: 16_000 }, (_, n) => 3_000 * Math.sin(2e-5 * n * n + 0.3 * n))],
    ['noise', Int16Array.from({ length: 16_000 }, (_, n) => ((n * 1_103_515_245 + 12_345) % 8_191) - 4_095)],
    ['silence', new Int16Array(16_000)],
  ])('does not take %s for one', (_what, pcm) => {
    expect(isFound(pcm)).toBe(false);
  });

  it('does not add up parts of a tone between which sound is missing', () => {
    expect(isFound(sine([1_000], 400), [10])).toBe(false);
  });
});
