import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SettingsError } from '../config/settings.js';
import { loadOrCreateKeyFile } from './key-file.js';

describe('the key file', () => {
  let directory: string;
  const file = () => path.join(directory, 'encryption-keys');

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'key-file-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is made at the first start, readable by its owner alone', async () => {
    const { keys, created } = await loadOrCreateKeyFile(directory);
    expect(created).toBe(true);
    expect(keys).toEqual([{ id: 'k1', key: expect.any(Buffer) }]);
    expect(keys[0]?.key).toHaveLength(32);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  it('is read at the next', async () => {
    const first = await loadOrCreateKeyFile(directory);
    expect(await loadOrCreateKeyFile(directory)).toEqual({ keys: first.keys, created: false });
  });

  it('is made once by many processes that start at the same moment', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateKeyFile(directory)));
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    for (const { keys } of results) expect(keys).toEqual(results[0]?.keys);
  });

  it('is waited for while another process writes it', async () => {
    await writeFile(file(), '');
    const reading = loadOrCreateKeyFile(directory);
    const key = randomBytes(32);
    await writeFile(file(), `k9:${key.toString('base64')}\n`);
    expect(await reading).toEqual({ keys: [{ id: 'k9', key }], created: false });
  });

  it('is made in a folder that does not exist yet', async () => {
    expect(await loadOrCreateKeyFile(path.join(directory, 'a', 'b'))).toMatchObject({ created: true });
  });

  it.each(['nonsense\n', 'k1:dG9vIHNob3J0\n', '\n'])(
    'of %j is refused by its name, and left as it is',
    async (text) => {
      await writeFile(file(), text);
      const refusal: unknown = await loadOrCreateKeyFile(directory).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(SettingsError);
      expect((refusal as Error).message).toContain(file());
      expect((refusal as Error).message).not.toContain(text.trim() || '\n');
      expect(await readFile(file(), 'utf8')).toBe(text);
    },
  );

  it('that was never finished is refused', async () => {
    await writeFile(file(), 'k1:');
    await expect(loadOrCreateKeyFile(directory)).rejects.toThrow('the file is incomplete');
  });

  it('in a place that cannot hold it is refused', async () => {
    await writeFile(path.join(directory, 'a-file'), '');
    await expect(loadOrCreateKeyFile(path.join(directory, 'a-file'))).rejects.toThrow(SettingsError);
  });
});
