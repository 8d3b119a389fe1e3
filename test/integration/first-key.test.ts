import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFirstKey } from '../../src/bootstrap/first-key.js';
import { StartError } from '../../src/bootstrap/start-error.js';
import { welcome } from '../../src/bootstrap/welcome.js';
import { FirstKeyService } from '../../src/modules/api-keys/first-key.service.js';
import { HttpClient } from '../support/http.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const KEY = /vat_[0-9A-Za-z]{36}/;

describe('the first ADMIN key', () => {
  let app: TestApp;
  let dataDir: string;
  const file = () => path.join(dataDir, 'first-admin-key');
  const create = (isTerminal: boolean, bootstrapApiKey?: string) =>
    createFirstKey(app.nest.get(FirstKeyService), { bootstrapApiKey, dataDir }, isTerminal);
  const isAdmin = async (key: string) => (await new HttpClient(app.url, key).get('/workspace/api-keys')).status === 200;

  beforeAll(async () => {
    app = await createTestApp();
  });
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), "first key's "));
    await sql(app.databaseUrl, 'TRUNCATE workspaces CASCADE');
  });
  afterEach(() => rm(dataDir, { recursive: true }));
  afterAll(() => app.close());

  it('is shown on a terminal and in no file', async () => {
    const location = await create(true);
    const key = KEY.exec(welcome('http://localhost:3000', location!))?.[0] ?? '';
    expect(await isAdmin(key)).toBe(true);
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('is in a file that only its owner can read if standard output is not a terminal', async () => {
    expect(await create(false)).toEqual({ file: file() });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await isAdmin((await readFile(file(), 'utf8')).trim())).toBe(true);
    expect(await readdir(dataDir)).toEqual(['first-admin-key']);
  });

  it('is not part of what is printed then; the printed command reads the file', async () => {
    const text = welcome('http://localhost:3000', (await create(false))!);
    expect(text).not.toMatch(KEY);
    expect(text).toContain(file());
    expect(text).toContain(`VAT_API_KEY_FILE='${file().replace("'", `'\\''`)}'`);
  });

  it('is printed with guides to a first call that exist', async () => {
    const text = welcome('http://localhost:3000', { apiKey: 'vat_key' });
    const guides = text.match(/docs\/\S+\.md/g) ?? [];
    expect(guides).toEqual(
      expect.arrayContaining(['first-test', 'first-call', 'elevenlabs'].map((name) => `docs/guides/${name}.md`)),
    );
    for (const guide of guides) expect((await stat(path.resolve(__dirname, '../..', guide))).isFile()).toBe(true);
  });

  it('replaces the file of a start that failed', async () => {
    await writeFile(file(), 'stale\n', { mode: 0o644 });
    await create(false);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await isAdmin((await readFile(file(), 'utf8')).trim())).toBe(true);
  });

  it('is not created if the file cannot be written', async () => {
    await rm(dataDir, { recursive: true });
    await writeFile(dataDir, '');
    await expect(create(false)).rejects.toThrow(StartError);
    expect(await sql(app.databaseUrl, 'SELECT * FROM workspaces')).toEqual([]);
  });

  it('is created only in an empty database, and never stored if the administrator chose it', async () => {
    expect(await create(false, 'chosen-by-an-administrator')).toBeUndefined();
    expect(await isAdmin('chosen-by-an-administrator')).toBe(true);
    expect(await create(false)).toBeUndefined();
    expect(await readdir(dataDir)).toEqual([]);
  });
});
