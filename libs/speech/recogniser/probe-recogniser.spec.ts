import { FliteEngine } from '../flite/flite-engine.js';
import { probeRecogniser } from './probe-recogniser.js';
import type { Transcription } from './recogniser.js';
import { SentenceListener } from '../listening/sentence-listener.js';

describe('the probe of a recogniser', () => {
  const speech = new FliteEngine();
  afterAll(() => speech.close());
  const probe = (transcribe: (pcm: Int16Array, rate: number) => Transcription | null) =>
    probeRecogniser({ transcribe: async ({ pcm, rate }) => transcribe(pcm, rate) }, { speech, voice: 'slt' });

  it('finds that one that listens understands it', async () => {
    const { said } = await probe(() => null);
    const listener = new SentenceListener([await speech.synthesise({ text: said, voice: 'slt' })]);
    const result = await probe((pcm, rate) => {
      const words = listener.hear(pcm, rate);
      return { text: words.map(({ text }) => text).join(' '), words };
    });
    expect(result).toEqual({ said, heard: said, isUnderstood: true, hasTimes: true });
  });

  it('finds that one of another language does not, nor one that hears nothing', async () => {
    expect(await probe(() => ({ text: 'Guten Abend, Ihr Tisch ist reserviert.' }))).toMatchObject({
      isUnderstood: false,
      hasTimes: false,
    });
    expect(await probe(() => null)).toMatchObject({ heard: null, isUnderstood: false });
  });
});
