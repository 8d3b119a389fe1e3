import { mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Sound, SpeechEngine, SpeechRequest } from '../sound.js';
import { CachedSpeech, type CachedSpeechOptions } from './cached-speech.js';

/** An engine whose sounds are a function of the text, and whose speed the test decides. */
class RecordingEngine implements SpeechEngine {
  readonly name: string = 'recording';
  version = '1';
  readonly requests: SpeechRequest[] = [];
  readonly signals: AbortSignal[] = [];
  failures: Error[] = [];
  /** Resolves when the sound may be returned. */
  gate: Promise<unknown> = Promise.resolve();

  async synthesise(request: SpeechRequest, signal?: AbortSignal): Promise<Sound> {
    this.requests.push(request);
    if (signal) this.signals.push(signal);
    await this.gate;
    const failure = this.failures.shift();
    if (failure) throw failure;
    return soundOf(request.text);
  }
}

const SAMPLES = 1_000;

const soundOf = (text: string): Sound => ({
  pcm: Int16Array.from(
    { length: SAMPLES },
    (_, index) => text.charCodeAt(index % text.length) * (index % 2 ? -100 : 100),
  ),
  speechStart: 1,
  speechEnd: 999,
  words: [{ text, startMs: 0, endMs: 125 }],
});

const REQUEST = { text: 'café “x”', voice: 'slt' };

describe('CachedSpeech', () => {
  let folder: string;
  let engine: RecordingEngine;
  const open = (options: Partial<CachedSpeechOptions> = {}) => new CachedSpeech(engine, { folder, ...options });
  const files = async () => (await readdir(folder)).sort();

  beforeEach(async () => {
    folder = path.join(await mkdtemp(path.join(tmpdir(), 'speech-')), 'sounds');
    engine = new RecordingEngine();
  });
  afterEach(() => rm(path.dirname(folder), { recursive: true }));

  it('synthesises a line once, also for later processes', async () => {
    const cache = open();
    const expected = soundOf(REQUEST.text);
    expect(await cache.synthesise(REQUEST)).toEqual(expected);
    expect(await cache.synthesise({ ...REQUEST, rate: 1 })).toEqual(expected);
    expect(await open().synthesise(REQUEST)).toEqual(expected);
    expect(engine.requests).toHaveLength(1);
    expect(await files()).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.sound$/)]);
  });

  it('keeps sounds apart by engine, version, text, voice and rate', async () => {
    const cache = open();
    await cache.synthesise(REQUEST);
    await cache.synthesise({ ...REQUEST, text: 'other' });
    await cache.synthesise({ ...REQUEST, voice: 'rms' });
    await cache.synthesise({ ...REQUEST, rate: 1.2 });
    engine.version = '2';
    await open().synthesise(REQUEST);
    engine = Object.assign(new RecordingEngine(), { name: 'other' });
    await open().synthesise(REQUEST);
    expect(engine.requests).toHaveLength(1);
    expect(await files()).toHaveLength(6);
  });

  it('returns a copy, since the receiver may transfer or change its samples', async () => {
    const cache = open();
    const first = await cache.synthesise(REQUEST);
    first.pcm.fill(0);
    structuredClone(first.pcm, { transfer: [first.pcm.buffer as ArrayBuffer] });
    expect(await cache.synthesise(REQUEST)).toEqual(soundOf(REQUEST.text));
  });

  it('shares one synthesis between simultaneous requests', async () => {
    const cache = open();
    const sounds = await Promise.all(Array.from({ length: 20 }, () => cache.synthesise(REQUEST)));
    expect(engine.requests).toHaveLength(1);
    expect(new Set(sounds.map(({ pcm }) => pcm.buffer)).size).toBe(20);
  });

  it('lets no owner wait for what is queued for another', async () => {
    const cache = open();
    const { gate, release } = closedGate();
    engine.gate = gate;
    const sounds = Promise.all(['a', 'b', 'b'].map((owner) => cache.synthesise({ ...REQUEST, owner })));
    await until(() => engine.requests.length === 2);
    release();
    await sounds;
    // The order is open: the requests look for the file at the same time.
    expect(engine.requests.map(({ owner }) => owner).sort()).toEqual(['a', 'b']);
    expect(await files()).toHaveLength(1);
  });

  it.each([
    ['a cut file', (file: string) => truncate(file, 500)],
    ['an empty file', (file: string) => truncate(file, 0)],
    ['a changed bit', (file: string) => flipBit(file)],
    ['another format', (file: string) => writeFile(file, 'RIFF')],
  ])('replaces %s', async (_name, damage) => {
    await open().synthesise(REQUEST);
    const file = path.join(folder, (await files())[0]!);
    const intact = await readFile(file);
    await damage(file);
    expect(await open().synthesise(REQUEST)).toEqual(soundOf(REQUEST.text));
    expect(engine.requests).toHaveLength(2);
    expect(await readFile(file)).toEqual(intact);
  });

  it('does not keep a failure', async () => {
    const cache = open();
    engine.failures.push(new Error('no sound'));
    await expect(cache.synthesise(REQUEST)).rejects.toThrow('no sound');
    expect(await cache.synthesise(REQUEST)).toEqual(soundOf(REQUEST.text));
    expect(await files()).toHaveLength(1);
  });

  it('returns the sound although the folder cannot be used, and reports it', async () => {
    await writeFile(folder, 'a file where the folder should be');
    const errors: unknown[] = [];
    const cache = open({ onFileError: (error) => errors.push(error) });
    expect(await cache.synthesise(REQUEST)).toEqual(soundOf(REQUEST.text));
    expect(errors.map((error) => (error as NodeJS.ErrnoException).code)).toEqual(['ENOTDIR', 'EEXIST']);
  });

  it('reports the time of each synthesis, also of one that fails, but not of a cached sound', async () => {
    const times: number[] = [];
    const cache = open({ onSynthesis: (ms) => times.push(ms) });
    engine.failures.push(new Error('no sound'));
    await expect(cache.synthesise(REQUEST)).rejects.toThrow('no sound');
    const { gate, release } = closedGate();
    engine.gate = gate;
    const startedAt = performance.now();
    setTimeout(release, 50);
    await cache.synthesise(REQUEST);
    const tookMs = performance.now() - startedAt;
    await cache.synthesise(REQUEST);
    expect(times).toEqual([expect.any(Number), expect.any(Number)]);
    // The look into the folder before it is not part of it.
    expect(times[1]).toBeGreaterThan(0);
    expect(times[1]).toBeLessThanOrEqual(tookMs);
  });

  it('removes the least recently used files beyond the limit', async () => {
    const names = new Map<string, string>();
    const cache = open({ maxMemoryBytes: 1, maxFileBytes: 22_000 });
    for (const [age, text] of [...'abcdefghi'].entries()) {
      const before = new Set(await files().catch(() => []));
      await cache.synthesise({ ...REQUEST, text });
      const name = (await files()).find((file) => !before.has(file))!;
      names.set(text, name);
      const time = new Date(Date.UTC(2020, 0, 1) - (9 - age) * 60_000);
      await utimes(path.join(folder, name), time, time);
    }
    // Used again: the file is then younger than all others.
    await cache.synthesise({ ...REQUEST, text: 'b' });
    await cache.synthesise({ ...REQUEST, text: 'j' });
    await cache.synthesise({ ...REQUEST, text: 'k' });
    const left = await files();
    expect(left).toContain(names.get('b'));
    expect(left).not.toContain(names.get('a'));
    expect(await bytesIn(folder)).toBeLessThanOrEqual(22_000);
    expect(engine.requests).toHaveLength(11);
  });

  it('marks a file as used when it is read', async () => {
    await open().synthesise(REQUEST);
    const file = path.join(folder, (await files())[0]!);
    await utimes(file, new Date(0), new Date(0));
    await open().synthesise(REQUEST);
    expect((await stat(file)).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
  });

  it('removes partial files that a killed process left behind, and no others', async () => {
    await open().synthesise(REQUEST);
    await writeFile(path.join(folder, 'old.part'), 'x');
    await utimes(path.join(folder, 'old.part'), new Date(0), new Date(0));
    await writeFile(path.join(folder, 'new.part'), 'x');
    await open().synthesise({ ...REQUEST, text: 'other' });
    expect((await files()).filter((file) => !file.endsWith('.sound'))).toEqual(['new.part']);
  });

  describe('cancelling', () => {
    it('rejects with the reason and goes on while another request waits', async () => {
      const cache = open();
      const { gate, release } = closedGate();
      engine.gate = gate;
      const controller = new AbortController();
      const cancelled = cache.synthesise(REQUEST, controller.signal);
      const other = cache.synthesise(REQUEST);
      await until(() => engine.requests.length === 1);
      controller.abort(new Error('cancelled'));
      await expect(cancelled).rejects.toThrow('cancelled');
      expect(engine.signals[0]!.aborted).toBe(false);
      release();
      expect(await other).toEqual(soundOf(REQUEST.text));
    });

    it('cancels the synthesis when nothing waits for it, and a later request begins another', async () => {
      const times: number[] = [];
      const cache = open({ onSynthesis: (ms) => times.push(ms) });
      const { gate, release } = closedGate();
      engine.gate = gate;
      const controller = new AbortController();
      const cancelled = cache.synthesise(REQUEST, controller.signal);
      await until(() => engine.requests.length === 1);
      controller.abort(new Error('cancelled'));
      await expect(cancelled).rejects.toThrow('cancelled');
      expect(engine.signals[0]!.aborted).toBe(true);
      const later = cache.synthesise(REQUEST);
      await until(() => engine.requests.length === 2);
      release();
      expect(await later).toEqual(soundOf(REQUEST.text));
      // That of the cancelled one says nothing about the engine.
      expect(times).toHaveLength(1);
    });

    it('rejects at once with an aborted signal', async () => {
      await expect(open().synthesise(REQUEST, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
      expect(engine.requests).toHaveLength(0);
    });
  });
});

async function flipBit(file: string): Promise<void> {
  const bytes = await readFile(file);
  bytes[bytes.length - 100]! ^= 1;
  await writeFile(file, bytes);
}

async function bytesIn(folder: string): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map((name) => stat(path.join(folder, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

function closedGate(): { readonly gate: Promise<void>; readonly release: () => void } {
  let release!: () => void;
  const gate = new Promise<void>((resolve) => (release = resolve));
  return { gate, release };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
