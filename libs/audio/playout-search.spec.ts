import { type AudioFormat, decodeAudio, encodeAudio, PlayoutBuffer } from './index.js';

const RATE = 8_000;

const sound = (count: number, value: number): Int16Array => new Int16Array(count).fill(value);

/** What remains of samples in an encoding. */
const inCodesOf = (encoding: AudioFormat['encoding'], pcm: Int16Array): Int16Array =>
  decodeAudio({ encoding }, encodeAudio({ encoding }, pcm));

describe('PlayoutBuffer', () => {
  it.each(['pcm16', 'mulaw', 'alaw'] as const)('finds what is loud in waiting %s', (encoding) => {
    const loud = inCodesOf(encoding, sound(2_400, 4_000));
    const quiet = inCodesOf(encoding, sound(16_000, 400));
    const buffer = new PlayoutBuffer({ rate: RATE, encoding });
    buffer.play(0, quiet);
    buffer.play(0, loud);
    buffer.play(0, quiet);
    expect(buffer.firstAbove(0, 1_000 ** 2)).toBe(2_040);
    buffer.read(2_100);
    // From what is left of it.
    expect(buffer.firstAbove(2_120, 1_000 ** 2)).toBe(2_180);
    expect(buffer.firstAbove(2_290, 1_000 ** 2)).toBeCloseTo(2_350, 0);
    expect(buffer.firstAbove(2_350, 1_000 ** 2)).toBeNull();
    buffer.clear(2_360);
    buffer.play(5_000, loud);
    expect(buffer.firstAbove(4_000, 1_000 ** 2)).toBe(5_060);
  });
});
