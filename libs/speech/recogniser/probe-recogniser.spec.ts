import { FliteEngine } from '../flite/flite-engine.js';
import { probeRecogniser } from './probe-recogniser.js';
import type { Transcription } from './recogniser.js';
import { SentenceListener } from '../../../test/simulators/transcription/sentence-listener.js';

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
    expect(result).toEqual({ said, heard: said, wrongShare: 0, hasTimes: true });
  });

  it('finds that one of another language does not, nor one that hears nothing', async () => {
    expect(await probe(() => ({ text: 'Guten Abend, Ihr Tisch ist reserviert.' }))).toMatchObject({
      wrongShare: 1,
      hasTimes: false,
    });
    expect(await probe(() => null)).toMatchObject({ heard: null, wrongShare: 1 });
  });

  it.each([
    ['figures and the words beside them', 'Good evening, your table for 4 people is booked for Friday at 7 p.m.', 0],
    [
      'another letter case, punctuation and lines (aTrainTranscription/aTrain#177)',
      'good evening\nyour table for four people\nis booked for friday at 7:00',
      0,
    ],
    ["o'clock", "Good evening, your table for four people is booked for Friday at seven o'clock.", 0],
    ['four misheard words', 'good evening your cable hard for people is good for friday at seven', 4 / 13],
    ['a missing and an added word', 'Good evening, your big table for people is booked for Friday at seven.', 2 / 13],
    ['another language', 'Guten Abend, Ihr Tisch für vier Personen ist für Freitag um sieben reserviert.', 1],
  ])('counts wrong words as they are spoken: %s', async (_, text, wrongShare) => {
    expect((await probe(() => ({ text }))).wrongShare).toBe(wrongShare);
  });
});
