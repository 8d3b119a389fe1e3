import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AppendedFile } from './appended-file.js';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('AppendedFile', () => {
  let folder = '';
  let file = '';
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'appended-'));
    file = path.join(folder, 'audio.part');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const size = async () => (await stat(file)).size;

  it('collects what is appended until it has 64 KiB', async () => {
    const appended = await AppendedFile.create(file);
    appended.append(new Uint8Array(64 * KIB - 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await size()).toBe(0);
    appended.append(new Uint8Array(1));
    for (let n = 0; n < 200 && (await size()) === 0; n++) await new Promise((resolve) => setTimeout(resolve, 25));
    expect(await size()).toBe(64 * KIB);
    await appended.finish();
  });

  it('keeps the order of parts that are appended while others are written, and replaces the beginning', async () => {
    const appended = await AppendedFile.create(file);
    const parts = Array.from({ length: 300 }, (_, n) => new Uint8Array(10_007).fill(n % 251));
    for (const [n, part] of parts.entries()) {
      appended.append(part);
      if (n % 10 === 0) await new Promise(setImmediate);
    }
    await appended.finish(Buffer.from('head'));
    const expected = Buffer.concat(parts);
    expected.write('head');
    expect((await readFile(file)).equals(expected)).toBe(true);
  });

  it('fails, and frees its memory, when more than 16 MiB wait for the disk', async () => {
    const appended = await AppendedFile.create(file);
    const append = (bytes: number) => appended.append(new Uint8Array(bytes));
    // The write of the first part is in progress until the event loop turns.
    append(64 * KIB);
    append(16 * MIB);
    expect(appended.hasFailed).toBe(false);
    append(1);
    expect(appended.hasFailed).toBe(true);
    append(64 * KIB);
    await expect(appended.finish(Buffer.from('head'))).rejects.toThrow('The disk is too slow');
    expect(await size()).toBeLessThanOrEqual(64 * KIB);
    expect((await readFile(file)).toString('latin1', 0, 4)).not.toBe('head');
  });

  it('is never created over another file', async () => {
    const first = await AppendedFile.create(file);
    await expect(AppendedFile.create(file)).rejects.toMatchObject({ code: 'EEXIST' });
    await first.finish();
  });

  it('writes nothing more when it is abandoned', async () => {
    const appended = await AppendedFile.create(file);
    appended.append(new Uint8Array(100));
    await appended.abandon();
    appended.append(new Uint8Array(64 * KIB));
    expect(appended.hasFailed).toBe(true);
    expect(await size()).toBe(0);
  });
});
