import { TELEPHONE_RATE, tone } from '../../../audio/index.js';
import { piecesOf } from '../../../speech/index.js';
import { Line } from '../facts/line.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import { Ear } from './ear.js';

const silence = (ms: number): Int16Array => new Int16Array(ms * 8);
const loud = (ms: number, dbfs = -20): Int16Array => tone([440], { rate: TELEPHONE_RATE, ms, dbfs });

const rounded = ({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }) => [
  Math.round(startMs),
  Math.round(endMs),
];

interface Passed {
  readonly piece: HeardPiece;
  /** Until when the call was heard by then. */
  readonly atMs: number;
}

/** What an ear passes on of audio that is played from 0 on. */
function passedOf(...parts: readonly Int16Array[]) {
  const passed: Passed[] = [];
  let heardMs = 0;
  const ear = new Ear(new Line(TELEPHONE_RATE), (piece) => passed.push({ piece, atMs: heardMs }));
  const pcm = Int16Array.from(parts.flatMap((part) => [...part]));
  ear.play(0, pcm);
  for (; heardMs + 20 <= pcm.length / 8;) {
    heardMs += 20;
    ear.hearFrame();
  }
  ear.finish(pcm.length / 8);
  return { passed, pcm, ear };
}

describe('audio for a recogniser', () => {
  it('is passed on unchanged after 300 ms of silence, with 200 ms around the voice', () => {
    const { passed, pcm } = passedOf(silence(1_000), loud(1_000), silence(200), loud(500), silence(1_000));
    expect(passed).toHaveLength(1);
    const [{ piece, atMs }] = passed as [Passed];
    // The first and the last sample of a tone are silent.
    expect(rounded(piece.voice)).toEqual([1_000, 2_700]);
    expect([...rounded(piece), piece.rate]).toEqual([800, 2_900, 8_000]);
    expect(piece.pcm).toEqual(pcm.slice(piece.startMs * 8, piece.endMs * 8));
    expect(atMs).toBe(3_000);
  });

  it('is passed on in several pieces, the last one at the end of the call', () => {
    const { passed } = passedOf(loud(500), silence(400), loud(500), silence(2_000), loud(500));
    expect(passed.map(({ piece }) => rounded(piece.voice))).toEqual([
      [0, 500],
      [900, 1_400],
      [3_400, 3_900],
    ]);
  });

  it('is cut after 25 s at the lowest level of the last 2 s, as after the call', () => {
    const { passed, pcm } = passedOf(loud(24_000), loud(100, -35), loud(30_000), silence(1_000));
    const whole = piecesOf(pcm, 8_000, [{ startMs: 0.125, endMs: 54_099.875 }]);
    expect(passed.map(({ piece }) => piece.voice)).toEqual(whole.map(({ voice }) => voice));
    expect(passed[0]!.atMs).toBeLessThan(25_100);
    expect(passed[0]!.piece.endMs).toBeGreaterThan(24_000);
    expect(passed[0]!.piece.endMs).toBeLessThan(24_100);
  });

  it('is never silence, a click, or background audio', () => {
    expect(passedOf(silence(5_000)).passed).toEqual([]);
    expect(passedOf(silence(1_000), loud(60), silence(1_000)).passed).toEqual([]);
    const { passed, ear } = passedOf(loud(20_000, -45));
    expect(ear.sounds.every(({ isBackground }) => isBackground)).toBe(true);
    expect(passed).toEqual([]);
  });
});
