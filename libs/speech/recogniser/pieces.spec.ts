import { tone } from '../../audio/index.js';
import { OutboundClient } from '../../outbound-http/index.js';
import { FliteEngine } from '../flite/flite-engine.js';
import { HttpRecogniser } from './http-recogniser.js';
import { piecesOf } from './pieces.js';
import { listeningServer, SentenceListener } from '../../../test/simulators/transcription/transcription-double.js';

const RATE = 8_000;
const silence = (ms: number): Int16Array => new Int16Array(ms * 8);
const loud = (ms: number): Int16Array => tone([300], { rate: RATE, ms, dbfs: -20 });
const joined = (...parts: readonly Int16Array[]): Int16Array => Int16Array.from(parts.flatMap((part) => [...part]));

describe('pieces of audio for a recogniser', () => {
  it('begin after 300 ms of silence, with 200 ms around the voice', () => {
    const voices = [
      { startMs: 1_000, endMs: 2_000 },
      { startMs: 2_299, endMs: 3_000 },
      { startMs: 4_000, endMs: 5_000 },
    ];
    expect(piecesOf(silence(6_000), RATE, voices)).toEqual([
      { startMs: 800, endMs: 3_200, voice: { startMs: 1_000, endMs: 3_000 } },
      { startMs: 3_800, endMs: 5_200, voice: { startMs: 4_000, endMs: 5_000 } },
    ]);
  });

  it('share a silence that is shorter than both margins, and end with the audio', () => {
    const voices = [
      { startMs: 100, endMs: 1_000 },
      { startMs: 1_300, endMs: 1_900 },
    ];
    expect(piecesOf(silence(2_000), RATE, voices).map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
      [0, 1_150],
      [1_150, 2_000],
    ]);
  });

  it('are one where longer silences are joined', () => {
    const voices = [
      { startMs: 500, endMs: 1_000 },
      { startMs: 1_800, endMs: 2_000 },
    ];
    const wide = piecesOf(silence(3_000), RATE, voices, { silenceMs: Infinity, marginMs: 400 });
    expect(wide.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([[100, 2_400]]);
  });

  it('are at most 25 s long, cut at the lowest level of the last 2 s', () => {
    const pcm = joined(loud(24_000), silence(100), loud(20_000));
    const pieces = piecesOf(pcm, RATE, [{ startMs: 0, endMs: 44_100 }]);
    expect(pieces).toHaveLength(2);
    const [first, second] = pieces;
    expect(first!.endMs).toBeGreaterThan(24_000);
    expect(first!.endMs).toBeLessThan(24_100);
    expect(second).toEqual({
      startMs: first!.endMs,
      endMs: 44_100,
      voice: { startMs: first!.endMs, endMs: 44_100 },
    });
  });

  it('are none without voice', () => {
    expect(piecesOf(loud(5_000), RATE, [])).toEqual([]);
  });

  it('have the words of a turn, in order', async () => {
    const engine = new FliteEngine();
    const texts = ['For how many people?', 'Your table is booked for half past seven.'];
    const sounds = [];
    for (const text of texts) sounds.push(await engine.synthesise({ text, voice: 'slt' }));
    await engine.close();
    const server = listeningServer(new SentenceListener(sounds));
    const outbound = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
    const recogniser = new HttpRecogniser({ baseUrl: await server.start(), concurrency: 2, outbound });
    const [one, other] = sounds.map(({ pcm }) => pcm);
    const pcm = joined(silence(1_000), one!, silence(700), other!, silence(1_000));
    const oneMs = one!.length / 8;
    const voices = [
      { startMs: 1_000, endMs: 1_000 + oneMs },
      { startMs: 1_700 + oneMs, endMs: 1_700 + oneMs + other!.length / 8 },
    ];
    const heard = [];
    for (const { startMs, endMs } of piecesOf(pcm, RATE, voices)) {
      const part = pcm.subarray(Math.round(startMs * 8), Math.round(endMs * 8));
      heard.push((await recogniser.transcribe({ pcm: part, rate: RATE, language: 'en' }))?.text);
    }
    await server.stop();
    expect(heard).toEqual(texts);
  });
});
