import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasColour } from './colour.js';
import { readConfiguration } from './configuration.js';

describe('configuration', () => {
  let folder: string;
  let keyFile: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'vat-configuration-'));
    keyFile = path.join(folder, 'key');
    await writeFile(keyFile, 'vat_file\n');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('reads the environment, and the URL also from an option', async () => {
    const env = { VAT_API_KEY: 'vat_env' };
    expect(await readConfiguration(undefined, env)).toEqual({ url: 'http://localhost:3000', apiKey: 'vat_env' });
    const other = { VAT_API_KEY_FILE: keyFile, VAT_URL: 'https://vat.test/base/' };
    expect(await readConfiguration(undefined, other)).toEqual({ url: 'https://vat.test/base', apiKey: 'vat_file' });
    expect(await readConfiguration('http://other.test', other)).toMatchObject({ url: 'http://other.test' });
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['VAT_URL is empty', { VAT_URL: '' }],
    ['VAT_URL is not an http or https URL', { VAT_URL: 'localhost:3000' }],
    ['VAT_URL must not contain credentials', { VAT_URL: 'http://a:b@vat.test' }],
    ['VAT_URL must not have a query or fragment', { VAT_URL: 'http://vat.test/?x' }],
    ['VAT_API_KEY is not set', { VAT_API_KEY: '' }],
    ['VAT_API_KEY does not contain an API key', { VAT_API_KEY: 'vat_a\nX-Header: b' }],
    ['VAT_API_KEY and VAT_API_KEY_FILE are both set', { VAT_API_KEY_FILE: '/x' }],
    ['VAT_API_KEY_FILE cannot be read', { VAT_API_KEY: '', VAT_API_KEY_FILE: '/nowhere/key' }],
  ])('rejects an invalid configuration: %s', async (message, env) => {
    const error = await readConfiguration(undefined, { VAT_API_KEY: 'vat_secret', ...env }).catch((e: unknown) => e);
    expect(error).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(message),
      cure: expect.stringMatching(/\.$/),
    });
    expect((error as Error).message).not.toContain('vat_secret');
  });
});

describe('colours', () => {
  it.each<[boolean, boolean, NodeJS.ProcessEnv]>([
    [true, true, {}],
    [false, false, {}],
    [false, true, { NO_COLOR: '1' }],
    [false, true, { NO_COLOR: '1', FORCE_COLOR: '1' }],
    [true, false, { FORCE_COLOR: '1' }],
    [false, true, { FORCE_COLOR: '0' }],
    [false, true, { TERM: 'dumb' }],
  ])('%s: terminal %s, %j', (expected, isTTY, env) => expect(hasColour({ isTTY }, env)).toBe(expected));
});
