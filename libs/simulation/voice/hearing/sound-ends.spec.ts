import { FRAME_MS, TELEPHONE_RATE, tone } from '../../../audio/index.js';
import { Line } from '../facts/line.js';
import { SoundEnds } from './sound-ends.js';

const LEVEL = -20;
const line = new Line(TELEPHONE_RATE);

/** A tone of a second that falls by this much in its last 60 ms, and silence after it. */
function breaksOff(decayDb: number, endMs = 1_000): boolean {
  const pcm = new Int16Array(line.samplesOf(1_300));
  const sound = tone([440], { rate: TELEPHONE_RATE, ms: endMs, dbfs: LEVEL });
  const tail = line.samplesOf(60);
  sound.forEach((sample, n) => {
    const late = Math.max(0, n - (sound.length - tail)) / tail;
    pcm[n] = sample * 10 ** ((-decayDb * late) / 20);
  });
  const ends = new SoundEnds(line);
  const frames = Math.ceil((endMs + 200) / FRAME_MS);
  for (let n = 0; n < frames; n++) ends.push(pcm.slice(n * line.frameSamples, (n + 1) * line.frameSamples));
  return ends.breaksOff(endMs, LEVEL);
}

describe('the end of a sound', () => {
  it.each([1_000, 987, 1_003])('breaks off if its last 60 ms do not decay: at %i ms', (endMs) => {
    expect(breaksOff(0, endMs)).toBe(true);
  });

  it('does not break off if they decay', () => {
    expect(breaksOff(12)).toBe(false);
  });

  it('does not break off if it is much quieter than the sound', () => {
    const ends = new SoundEnds(line);
    for (let n = 0; n < 13; n++) {
      const isHeard = n < 3;
      ends.push(tone([440], { rate: TELEPHONE_RATE, ms: FRAME_MS, dbfs: isHeard ? LEVEL - 12 : -90 }));
    }
    expect(ends.breaksOff(60, LEVEL)).toBe(false);
  });

  it('does not count as a break if it is too old to be known', () => {
    const ends = new SoundEnds(line);
    for (let n = 0; n < 100; n++) ends.push(tone([440], { rate: TELEPHONE_RATE, ms: FRAME_MS, dbfs: LEVEL }));
    expect(ends.breaksOff(1_000, LEVEL)).toBe(false);
  });
});
