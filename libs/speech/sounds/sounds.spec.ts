import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { activeLevel, dbfs, writeWav } from '../../audio/index.js';
import { FliteEngine } from '../flite/flite-engine.js';
import { loadFlite } from '../flite/flite-module.js';
import { babbleLoop } from './babble.js';
import { makeSounds } from './recipes.js';
import { SOUND_NAMES, soundOf } from './sounds.js';

describe('the sounds of a caller', () => {
  it('are what the script makes of the recipes', () => {
    const made = makeSounds(loadFlite());
    const committed = readdirSync(__dirname).filter((file) => file.endsWith('.wav'));
    expect(committed.sort()).toEqual([...made.keys()].map((name) => `${name}.wav`).sort());
    for (const [name, pcm] of made) {
      const file = writeWav({ channels: [pcm], rate: 8_000, encoding: 'mulaw' });
      expect(Buffer.compare(file, readFileSync(path.join(__dirname, `${name}.wav`)))).toBe(0);
    }
  });

  it.each([
    ['mm-hmm', 300, 450],
    ['uh-huh', 300, 450],
    ['yeah', 300, 450],
    ['cough', 340, 350],
    ['door', 270, 300],
  ] as const)('last as long as a real one, at the level of speech: %s', async (name, minMs, maxMs) => {
    for (const voice of ['slt', 'awb']) {
      const { pcm, speechStart, speechEnd, words } = await soundOf(name, voice);
      const ms = (speechEnd - speechStart) / 8;
      expect(ms).toBeGreaterThanOrEqual(minMs);
      expect(ms).toBeLessThanOrEqual(maxMs);
      expect(pcm.length / 8).toBeLessThan(maxMs + 5);
      expect(activeLevel(pcm, 8_000)).toBeCloseTo(-26, 1);
      expect(words).toEqual([]);
    }
  });

  it('have the gender of the voice where they have a voice', async () => {
    for (const name of SOUND_NAMES) {
      const [slt, rms, awb, other] = await Promise.all(['slt', 'rms', 'awb', 'unknown'].map((v) => soundOf(name, v)));
      expect(awb).toEqual(rms);
      expect(other).toEqual(slt);
      if (name === 'cough' || name === 'door') expect(rms).toEqual(slt);
      else expect(rms).not.toEqual(slt);
    }
  });
});

describe('babbleLoop', () => {
  const engine = new FliteEngine();
  afterAll(() => engine.close());

  it('is eight seconds of talk without a pause or a seam, the same each time', async () => {
    const babble = await babbleLoop(engine);
    expect(babble.length).toBe(64_000);
    expect(dbfs(babble)).toBeCloseTo(-26, 1);
    // Across the seam too, it never falls silent.
    const twice = new Int16Array(2 * babble.length);
    twice.set(babble);
    twice.set(babble, babble.length);
    for (let from = 0; from < babble.length; from += 1_600) {
      const level = dbfs(twice.subarray(from + 800, from + 2_400));
      expect(level).toBeGreaterThan(-36);
      expect(level).toBeLessThan(-20);
    }
    const steps = babble.map((sample, index) => Math.abs(sample - babble.at(index - 1)!));
    expect(steps[0]).toBeLessThan(Math.max(...steps.subarray(1)));
    expect(await babbleLoop(engine)).toEqual(babble);
  });

  it('ends with the reason of an aborted signal', async () => {
    await expect(babbleLoop(engine, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled');
  });
});
