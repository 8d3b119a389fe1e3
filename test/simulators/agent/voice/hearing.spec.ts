import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeMulaw, encodeMulaw, speechBounds } from '../../../../libs/audio/index.js';
import { CachedSpeech, FliteEngine } from '../../../../libs/speech/index.js';
import { CALLER_LINES, textOfLine } from './caller-lines.js';
import { Ear, type Heard, type Recogniser } from './ear.js';
import { CALLER_VOICES, prepareVoice, soundOfLine } from './prepare.js';
import { sequence, silence } from './testing/melody.js';
import { type NoiseType, withNoise } from './testing/noise.js';

const engine = new FliteEngine();
const speech = new CachedSpeech(engine, { folder: path.join(tmpdir(), 'reference-agent-speech') });

let recogniser: Recogniser;
/** Each line in each voice, with a hesitation of 1.2 s where it has one. */
let spoken: { readonly text: string; readonly pcm: Int16Array }[];

beforeAll(async () => {
  ({ recogniser } = await prepareVoice({ speech, today: Date.UTC(2026, 11, 4, 10) }));
  spoken = [];
  for (const line of CALLER_LINES) {
    for (const voice of CALLER_VOICES) {
      spoken.push({ text: textOfLine(line), pcm: await soundOfLine(speech, line, voice, 1_200) });
    }
  }
}, 180_000);
afterAll(() => engine.close());

/** What the ear makes of a sound through mu-law, 2 s into the call and not at the beginning of a frame. */
function hear(pcm: Int16Array, line = (audio: Int16Array) => audio) {
  const ear = new Ear(recogniser);
  const start = 2_007;
  const audio = decodeMulaw(encodeMulaw(line(sequence(silence(start), pcm, silence(900)))));
  for (let at = 0; at + 160 <= audio.length; at += 160) ear.hear((at + 160) / 8, audio.slice(at, at + 160));
  const { utterance } = ear;
  const heard: Heard | undefined = utterance && ear.recognise();
  return { heard, lateMs: (utterance?.endMs ?? 0) - start - speechBounds(pcm).end / 8 };
}

/** Lines that were not recognised as complete, on a line with this noise. */
function mistakes(type: NoiseType, snrDb: number, lines = spoken): string[] {
  return lines.flatMap(({ text, pcm }, index) => {
    const { heard } = hear(pcm, (audio) => withNoise(audio, type, snrDb, index + 1));
    const isRight = heard?.type === 'line' && heard.text === text && heard.isComplete;
    return isRight ? [] : [`${text}: ${JSON.stringify(heard)}`];
  });
}

/** Every voice and every line is among them. */
const everyThird = () => spoken.filter((_, index) => index % 3 === 0);

describe('hearing of the reference agent', () => {
  it('recognises every line in every voice through mu-law, and its end', () => {
    for (const { text, pcm } of spoken) {
      const { heard, lateMs } = hear(pcm);
      expect(heard).toEqual({ type: 'line', text, isComplete: true });
      // mu-law moves single samples across the limit of -45 dBFS.
      if (Math.abs(lateMs) > 20) throw new Error(`${text} ends ${lateMs} ms late`);
    }
  });

  it('recognises every line with white noise at 20 dB', () => {
    expect(mistakes('white', 20)).toEqual([]);
  });

  it.each(['brown', 'hum'] as const)('recognises lines with %s noise at 20 dB', (type) => {
    expect(mistakes(type, 20, everyThird())).toEqual([]);
  });

  it('recognises nine of ten lines with white noise at 10 dB', () => {
    const lines = everyThird();
    expect(mistakes('white', 10, lines).length).toBeLessThanOrEqual(lines.length / 10);
  });

  it('recognises a line whose level is 12 dB lower', () => {
    for (const { text, pcm } of spoken.slice(0, 20)) {
      expect(hear(pcm.map((sample) => sample / 4)).heard).toEqual({ type: 'line', text, isComplete: true });
    }
  });

  it('knows the beginning of a line for incomplete', () => {
    for (const { text, pcm } of spoken.filter((line) => line.pcm.length > 4 * 8_000)) {
      const { heard } = hear(pcm.slice(0, 1.5 * 8_000));
      expect({ text, heard }).toEqual({ text, heard: { type: 'line', text: expect.any(String), isComplete: false } });
    }
  });

  it('does not recognise other sentences', async () => {
    const others = ['The weather is fine in Lisbon today.', 'Please send me three boxes of apples.'];
    for (const text of others) {
      for (const voice of CALLER_VOICES) {
        const { heard } = hear(await soundOfLine(speech, text, voice, 0));
        expect({ voice, heard }).toEqual({ voice, heard: { type: 'unknown' } });
      }
    }
  });
});
