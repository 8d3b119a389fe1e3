import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { encodeMulaw, readWav, tone } from '../../../libs/audio/index.js';
import type { RecordingPaths } from './recording-files.js';
import { RecordingWriter } from './recording-writer.js';

const MIB = 1024 * 1024;

/** Both channels of a tone. */
function stereo(ms: number): Uint8Array {
  const lane = encodeMulaw(tone([440], { rate: 8_000, ms, dbfs: -20 }));
  return Uint8Array.from({ length: 2 * lane.length }, (_, n) => lane[n >> 1]!);
}

describe('RecordingWriter', () => {
  let folder = '';
  let paths: RecordingPaths;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'recording-'));
    const at = (name: string) => path.join(folder, name);
    paths = {
      audio: at('a.wav'),
      audioPart: at('a.wav.part'),
      wire: at('a.jsonl'),
      wirePart: at('a.jsonl.part'),
      peaks: at('a.peaks'),
      facts: at('a.facts'),
    };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('has only parts until it is finished, and then whole files', async () => {
    const writer = await RecordingWriter.create(paths, 8_000);
    writer.audio(stereo(990));
    writer.audio(stereo(20));
    writer.wire(['{"event":"start"}', '{"event":"stop"}']);
    expect((await readdir(folder)).sort()).toEqual(['a.jsonl.part', 'a.wav.part']);
    const finished = await writer.finish();
    const [wireBytes, peaksBytes] = [(await readFile(paths.wire)).length, (await readFile(paths.peaks)).length];
    expect(finished).toEqual({
      ...{ seconds: 1.01, sampleRate: 8_000, bytes: 16_160 },
      ...{ wireBytes, peaksBytes, factsBytes: 0 },
    });
    expect((await readdir(folder)).sort()).toEqual(['a.jsonl', 'a.peaks', 'a.wav']);
    const { channels, encoding } = readWav(await readFile(paths.audio));
    expect([encoding, channels.length, channels[0]!.length]).toEqual(['mulaw', 2, 8_080]);
    expect(await readFile(paths.wire, 'utf8')).toBe('{"event":"start"}\n{"event":"stop"}\n');
    // Lowest and highest sample of each 20 ms, the last one of 10 ms.
    const { caller, agent } = JSON.parse(await readFile(paths.peaks, 'utf8')) as { caller: number[]; agent: number[] };
    expect([caller.length, agent.length]).toEqual([102, 102]);
  });

  it('compresses the facts of the call, and says how long their file is', async () => {
    const writer = await RecordingWriter.create(paths, 8_000);
    writer.audio(stereo(100));
    const json = JSON.stringify({ facts: 'x'.repeat(10_000) });
    writer.facts(json);
    const { factsBytes } = await writer.finish();
    const file = await readFile(paths.facts);
    expect([factsBytes, file.length < 200]).toEqual([file.length, true]);
    expect(gunzipSync(file).toString()).toBe(json);
  });

  it('leaves nothing behind when the disk cannot keep up', async () => {
    const writer = await RecordingWriter.create(paths, 8_000);
    writer.audio(new Uint8Array(64 * 1024));
    writer.audio(new Uint8Array(17 * MIB));
    writer.facts('{}');
    await expect(writer.finish()).rejects.toThrow('The disk is too slow');
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves nothing behind when it is discarded, or cannot be created', async () => {
    const writer = await RecordingWriter.create(paths, 8_000);
    writer.audio(stereo(100));
    await expect(RecordingWriter.create(paths, 8_000)).rejects.toMatchObject({ code: 'EEXIST' });
    await writer.discard();
    expect(await readdir(folder)).toEqual([]);
  });
});
