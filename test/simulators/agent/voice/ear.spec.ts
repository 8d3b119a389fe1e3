import { decodeMulaw, encodeMulaw } from '../../../../libs/audio/index.js';
import { Ear } from './ear.js';
import { melody, sequence, silence } from './testing/melody.js';
import { withNoise } from './testing/noise.js';

const quieter = (pcm: Int16Array, db: number): Int16Array => pcm.map((sample) => Math.round(sample * 10 ** (-db / 20)));

/** 5 s of speech without a pause: its quiet parts are not silent. */
const WITHOUT_PAUSE = sequence(
  ...Array.from({ length: 12 }, () => [melody('table'), quieter(melody('at'), 20)]).flat(),
  melody('four'),
);
/** The end of a word that is too quiet to keep a gate open, but audible. */
const FADING = quieter(melody('s'), 16);

/** How far the end of a line that begins at once is from that of its last sample, in milliseconds. */
function lateness(line: Int16Array, heardAs = (pcm: Int16Array) => pcm) {
  const ear = new Ear({ recognise: () => ({ type: 'line', text: 'any', isComplete: true }) });
  const audio = decodeMulaw(encodeMulaw(heardAs(sequence(line, silence(600)))));
  for (let at = 0; at + 160 <= audio.length; at += 160) ear.hear((at + 160) / 8, audio.slice(at, at + 160));
  const { endMs = NaN, lastSampleMs = NaN } = ear.utterance ?? {};
  return { gateMs: endMs - line.length / 8, sampleMs: lastSampleMs - line.length / 8 };
}

describe('the end of a line', () => {
  it('is that of its last sample above -45 dBFS, however short and quiet its last sound is', () => {
    const { gateMs, sampleMs } = lateness(sequence(WITHOUT_PAUSE, FADING));
    expect(gateMs).toBeLessThan(-20);
    expect(Math.abs(sampleMs)).toBeLessThan(1);
  });

  it('is that of a last sound that lasts', () => {
    const { gateMs, sampleMs } = lateness(sequence(WITHOUT_PAUSE, quieter(melody('ssss'), 16)));
    expect(gateMs).toBeLessThan(-200);
    expect(Math.abs(sampleMs)).toBeLessThan(1);
  });

  it('is that of its last active frame beside audible noise', () => {
    const { gateMs, sampleMs } = lateness(WITHOUT_PAUSE, (pcm) => withNoise(pcm, 'white', 15, 1));
    expect(sampleMs).toBe(gateMs);
    expect(Math.abs(sampleMs)).toBeLessThanOrEqual(20);
  });
});
