import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { SettingsError } from '../../src/platform/config/settings.js';
import { checkCanary, renewCanary } from '../../src/platform/encryption/canary.js';
import { KeyRing } from '../../src/platform/encryption/key-ring.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const key = (id: string) => ({ id, key: randomBytes(32) });

describe('the encryption canary of a database', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  const k1 = key('k1');
  const k2 = key('k2');

  beforeEach(async () => {
    database = await createTestDatabase();
    dataSource = await createDataSource(database.url, 4).initialize();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const check = (...keys: { id: string; key: Buffer }[]) => checkCanary(dataSource, new KeyRing(keys));

  it('accepts the keys with which it was created, on every start', async () => {
    await check(k1);
    await expect(check(k1)).resolves.toBeUndefined();
    await expect(check(k2, k1)).resolves.toBeUndefined();
  });

  it.each([
    ['with another id', 'k3', 'No encryption key with the id "k1" is configured'],
    ['with the same id', 'k1', 'The key "k1" does not decrypt a stored secret'],
  ])('rejects another key %s, in one line', async (_, id, reason) => {
    await check(k1);
    const rejection = await check(key(id)).catch((error: unknown) => error);
    expect(rejection).toBeInstanceOf(SettingsError);
    const { message } = rejection as SettingsError;
    expect(message).toContain('The encryption keys do not match this database');
    expect(message).toContain(reason);
    expect(message).toContain('ENCRYPTION_KEYS');
    expect(message).not.toContain('\n');
    expect(message).not.toContain(k1.key.toString('base64'));
  });

  it('rejects a canary that was changed by hand', async () => {
    await check(k1);
    for (const sealed of ['', 'x', new KeyRing([k1]).encrypt('another text', 'canary')]) {
      await dataSource.query('UPDATE encryption_canary SET sealed = $1', [sealed]);
      await expect(check(k1)).rejects.toThrow(SettingsError);
    }
  });

  it('accepts one of several concurrent first starts with different keys, and rejects the others', async () => {
    const keys = Array.from({ length: 4 }, () => key('k1'));
    const results = await Promise.allSettled(keys.map((each) => check(each)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const winner = keys[results.findIndex(({ status }) => status === 'fulfilled')];
    await expect(check(winner!)).resolves.toBeUndefined();
  });

  it('requires the old key until it is re-encrypted with the new one', async () => {
    await check(k1);
    await expect(check(k2)).rejects.toThrow(SettingsError);
    await renewCanary(dataSource, new KeyRing([k2, k1]));
    await expect(check(k2)).resolves.toBeUndefined();
    await expect(check(k1)).rejects.toThrow(SettingsError);
  });
});
