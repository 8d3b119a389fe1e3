import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SettingsError } from '../config/settings.js';
import { loadOrCreateKeyFile, readKeyFile } from './key-file.js';

describe('loadOrCreateKeyFile', () => {
  let directory: string;
  const file = () => path.join(directory, 'encryption-keys');

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'key-file-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('creates a key file that only its owner can read', async () => {
    const { keys, created } = await loadOrCreateKeyFile(directory);
    expect(created).toBe(true);
    expect(keys).toEqual([{ id: 'k1', key: expect.any(Buffer) }]);
    expect(keys[0]?.key).toHaveLength(32);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  it('reads an existing key file', async () => {
    const first = await loadOrCreateKeyFile(directory);
    expect(await loadOrCreateKeyFile(directory)).toEqual({ keys: first.keys, created: false });
  });

  it('creates one file if many processes start at the same time', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateKeyFile(directory)));
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    for (const { keys } of results) expect(keys).toEqual(results[0]?.keys);
  });

  it('waits while another process writes the file', async () => {
    await writeFile(file(), '');
    const reading = loadOrCreateKeyFile(directory);
    const key = randomBytes(32);
    await writeFile(file(), `k9:${key.toString('base64')}\n`);
    expect(await reading).toEqual({ keys: [{ id: 'k9', key }], created: false });
  });

  it('creates the directory if it does not exist', async () => {
    expect(await loadOrCreateKeyFile(path.join(directory, 'a', 'b'))).toMatchObject({ created: true });
  });

  it.each(['nonsense\n', 'k1:dG9vIHNob3J0\n', '\n'])(
    'rejects a file with the content %j, names the file and leaves it unchanged',
    async (text) => {
      await writeFile(file(), text);
      const rejection: unknown = await loadOrCreateKeyFile(directory).catch((error: unknown) => error);
      expect(rejection).toBeInstanceOf(SettingsError);
      expect((rejection as Error).message).toContain(file());
      expect((rejection as Error).message).not.toContain(text.trim() || '\n');
      expect(await readFile(file(), 'utf8')).toBe(text);
    },
  );

  it('rejects an incomplete file', async () => {
    await writeFile(file(), 'k1:');
    await expect(loadOrCreateKeyFile(directory)).rejects.toThrow('the file is incomplete');
  });

  it('rejects a directory in which no file can be created', async () => {
    await writeFile(path.join(directory, 'a-file'), '');
    await expect(loadOrCreateKeyFile(path.join(directory, 'a-file'))).rejects.toThrow(SettingsError);
  });
});

describe('readKeyFile', () => {
  it('returns undefined and creates nothing if there is no file', async () => {
    const directory = path.join(tmpdir(), `no-such-directory-${randomBytes(6).toString('hex')}`);
    expect(await readKeyFile(directory)).toBeUndefined();
    await expect(stat(directory)).rejects.toThrow('ENOENT');
  });
});
