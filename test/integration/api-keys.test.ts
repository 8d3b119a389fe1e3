import { randomUUID } from 'node:crypto';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { ApiKeysRepository } from '../../src/modules/api-keys/api-keys.repository.js';
import { ApiKeysService, KEYS_CHANGED } from '../../src/modules/api-keys/api-keys.service.js';
import { type FirstKey, FirstKeyService } from '../../src/modules/api-keys/first-key.service.js';
import { generateKey } from '../../src/modules/api-keys/key-format.js';
import { Clock } from '../../src/platform/clock.js';
import { Database } from '../../src/platform/database/database.js';
import { Notifications } from '../../src/platform/database/notifications.js';
import { WorkspacesRepository } from '../../src/modules/workspaces/workspaces.repository.js';
import { WorkspacesService } from '../../src/modules/workspaces/workspaces.service.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { Logger } from '@nestjs/common';
import { sql, withClient } from '../support/sql.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** Counts the lookups of keys, and can delay their results. */
class CountingDatabase extends Database {
  lookups = 0;
  delay: Promise<void> | undefined;

  override async query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const rows = await super.query<Row>(text, values);
    if (text.includes('WHERE k.hash = $1')) {
      this.lookups++;
      await this.delay;
    }
    return rows;
  }
}

const settings = readSettings({});

describe('ApiKeysService', () => {
  let testDatabase: TestDatabase;
  let database: CountingDatabase;
  let notifications: Notifications;
  let service: ApiKeysService;
  let firstKeys: FirstKeyService;
  let workspace: FirstKey;
  let received: (string | undefined)[];

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    database = new CountingDatabase(await createDataSource(testDatabase.url, 8).initialize());
    notifications = new Notifications(testDatabase.url);
    service = new ApiKeysService(database, new ApiKeysRepository(database), notifications, new Clock(), settings);
    firstKeys = new FirstKeyService(
      database,
      new WorkspacesService(database, new WorkspacesRepository(database), settings),
      service,
      settings,
    );
    received = [];
    notifications.subscribe(KEYS_CHANGED, (payload) => received.push(payload));
    await notifications.onModuleInit();
    service.onModuleInit();
    workspace = await firstKeys.createWorkspace({ name: 'Test' });
  });
  afterEach(async () => {
    await notifications.onApplicationShutdown();
    await database.close();
    await testDatabase.drop();
  });

  const kindOf = async (key: string) => (await service.identify(key)).kind;
  const newKey = async () => {
    const { workspaceId, userId } = workspace;
    const { apiKey, value } = await service.create({ workspaceId, userId, name: 'Further', role: 'EDITOR' });
    return { id: apiKey.id, value };
  };
  /** Waits until the notifications of all changes so far have arrived; they keep their order. */
  const allReceived = async () => {
    const marker = randomUUID();
    await sql(testDatabase.url, 'SELECT pg_notify($1, $2)', [KEYS_CHANGED, marker]);
    await until('all notifications have arrived', () => received.includes(marker));
  };
  /** Looks up the key until the result comes from the cache. */
  const cacheKey = (key: string) =>
    until('the key is cached', async () => {
      const before = database.lookups;
      expect(await kindOf(key)).toBe('caller');
      return database.lookups === before;
    });
  /** Revokes a key without a notification. */
  const revokeSilently = (id: string) =>
    withClient(testDatabase.url, async (client) => {
      await client.query('SET session_replication_role = replica');
      await client.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    });

  it('identifies the caller of a key', async () => {
    const { id, value } = await newKey();
    const { workspaceId, userId } = workspace;
    expect(await service.identify(value)).toEqual({
      kind: 'caller',
      caller: { workspaceId, userId, role: 'EDITOR', apiKeyId: id, requestsPerMinute: 60 },
    });
  });

  it('looks up a key once if it is used many times', async () => {
    const { value } = await newKey();
    await cacheKey(value);
    const before = database.lookups;
    for (let i = 0; i < 50; i++) await service.identify(value);
    expect(database.lookups).toBe(before);
  });

  it('looks up a key once for many concurrent requests', async () => {
    const { value } = await newKey();
    await allReceived();
    const before = database.lookups;
    await Promise.all(Array.from({ length: 100 }, async () => service.identify(value)));
    expect(database.lookups - before).toBe(1);
  });

  it('uses its cache until it is notified of a change', async () => {
    let value = '';
    // On a busy machine the cache is unused whenever the check of the notifications is late.
    await until('a key is still cached after its revocation', async () => {
      const key = await newKey();
      ({ value } = key);
      await cacheKey(value);
      await revokeSilently(key.id);
      return (await kindOf(value)) === 'caller';
    });
    await sql(testDatabase.url, 'NOTIFY api_keys_changed');
    await until('the revocation is known', async () => (await kindOf(value)) !== 'caller');
    expect(await kindOf(value)).toBe('invalid');
  });

  it('does not use its cache while notifications are unavailable', async () => {
    const { id, value } = await newKey();
    await cacheKey(value);
    await revokeSilently(id);
    await notifications.onApplicationShutdown();
    expect(await kindOf(value)).toBe('invalid');
    expect(await kindOf(workspace.apiKey)).toBe('caller');
    const before = database.lookups;
    await service.identify(workspace.apiKey);
    expect(database.lookups).toBe(before + 1);
  });

  it('clears its cache after the notification connection was lost', async () => {
    const { id, value } = await newKey();
    await cacheKey(value);
    await revokeSilently(id);
    await sql(
      testDatabase.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                         WHERE datname = current_database() AND application_name LIKE '%notifications'`,
    );
    await until('the revocation is known', async () => (await kindOf(value)) === 'invalid');
    await until('notifications are back', () => notifications.live);
    expect(await kindOf(value)).toBe('invalid');
  });

  it('does not cache a result that was read before a revocation and arrived after it', async () => {
    const { id, value } = await newKey();
    await allReceived();
    let release = () => {};
    database.delay = new Promise((resolve) => {
      release = resolve;
    });
    const before = database.lookups;
    const pending = service.identify(value);
    await until('the key was read', () => database.lookups > before);
    database.delay = undefined;
    await service.revoke(id);
    await allReceived();
    // It must not share the lookup that read the state before the revocation.
    expect(await kindOf(value)).toBe('invalid');
    release();
    expect((await pending).kind).toBe('caller');
    for (let i = 0; i < 3; i++) expect(await kindOf(value)).toBe('invalid');
  });

  it('returns unknown if the lookup fails, and does not cache that', async () => {
    await notifications.onApplicationShutdown();
    await sql(testDatabase.url, 'ALTER TABLE api_keys RENAME TO elsewhere');
    expect(await service.identify(workspace.apiKey)).toEqual({ kind: 'unknown', cause: expect.any(Error) });
    await sql(testDatabase.url, 'ALTER TABLE elsewhere RENAME TO api_keys');
    expect(await kindOf(workspace.apiKey)).toBe('caller');
  });

  it('does not look up values that cannot be keys', async () => {
    const before = database.lookups;
    for (const key of ['', 'short', 'with a space in it', 'x'.repeat(256), 'ü'.repeat(40)]) {
      expect(await kindOf(key)).toBe('invalid');
    }
    expect(database.lookups).toBe(before);
  });

  it('limits the size of its cache for unknown keys', async () => {
    await Promise.all(Array.from({ length: 64 }, async () => service.identify(generateKey())));
    const before = database.lookups;
    const keys = Array.from({ length: 10_000 }, generateKey);
    for (let i = 0; i < keys.length; i += 500) {
      await Promise.all(keys.slice(i, i + 500).map(async (key) => service.identify(key)));
    }
    const { cache } = service as unknown as { cache: Map<string, unknown> };
    expect(database.lookups - before).toBe(10_000);
    expect(cache.size).toBeLessThanOrEqual(10_000);
  });

  it('revokes a key only once', async () => {
    const { id } = await newKey();
    await service.revoke(id);
    await expect(service.revoke(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  describe('the first workspace', () => {
    beforeEach(() => sql(testDatabase.url, 'TRUNCATE workspaces CASCADE'));
    const workspaces = async () => (await sql(testDatabase.url, 'SELECT * FROM workspaces')).length;

    it('is created in an empty database, with an owner and an ADMIN key', async () => {
      const first = await firstKeys.bootstrap(undefined);
      expect(first?.apiKey).toMatch(/^vat_[0-9A-Za-z]{36}$/);
      expect(await service.identify(first?.apiKey ?? '')).toMatchObject({
        caller: { workspaceId: first?.workspaceId, userId: first?.userId, role: 'ADMIN' },
      });
    });

    it('is on the plan ENTERPRISE unless DEFAULT_PLAN is set', async () => {
      await firstKeys.bootstrap(undefined);
      expect(await sql(testDatabase.url, 'SELECT plan FROM workspaces')).toEqual([{ plan: 'ENTERPRISE' }]);
    });

    it('is created once if many processes start at the same time', async () => {
      const made = await Promise.all(Array.from({ length: 6 }, () => firstKeys.bootstrap(undefined)));
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await workspaces()).toBe(1);
    });

    it('has the key that was configured', async () => {
      const first = await firstKeys.bootstrap('chosen-by-an-administrator');
      expect(first?.apiKey).toBe('chosen-by-an-administrator');
      expect(await kindOf('chosen-by-an-administrator')).toBe('caller');
    });

    it('is created only once', async () => {
      await firstKeys.bootstrap(undefined);
      expect(await firstKeys.bootstrap('another-key-that-is-unused')).toBeUndefined();
      expect(await kindOf('another-key-that-is-unused')).toBe('invalid');
      expect(await workspaces()).toBe(1);
    });
  });
});
