import { randomUUID } from 'node:crypto';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { ApiKeysRepository } from '../../src/modules/api-keys/api-keys.repository.js';
import { ApiKeysService, KEYS_CHANGED } from '../../src/modules/api-keys/api-keys.service.js';
import { type FirstKey, FirstKeyService } from '../../src/modules/api-keys/first-key.service.js';
import { generateKey } from '../../src/modules/api-keys/key-format.js';
import { Database } from '../../src/platform/database/database.js';
import { Notifications } from '../../src/platform/database/notifications.js';
import { WorkspacesRepository } from '../../src/modules/workspaces/workspaces.repository.js';
import { WorkspacesService } from '../../src/modules/workspaces/workspaces.service.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { Logger } from '@nestjs/common';
import { sql, withClient } from '../support/sql.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** Counts the look-ups of keys, and holds their answers back while a test wants that. */
class WatchedDatabase extends Database {
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
  let database: WatchedDatabase;
  let notifications: Notifications;
  let service: ApiKeysService;
  let firstKeys: FirstKeyService;
  let workspace: FirstKey;
  let received: (string | undefined)[];

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    database = new WatchedDatabase(await createDataSource(testDatabase.url, 8).initialize());
    notifications = new Notifications(testDatabase.url);
    service = new ApiKeysService(database, new ApiKeysRepository(database), notifications, settings);
    firstKeys = new FirstKeyService(
      database,
      new WorkspacesService(database, new WorkspacesRepository(database), settings),
      service,
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
  /** Waits until all that was changed so far has been heard of: notifications keep their order. */
  const allReceived = async () => {
    const marker = randomUUID();
    await sql(testDatabase.url, 'SELECT pg_notify($1, $2)', [KEYS_CHANGED, marker]);
    await until('all changes are heard of', () => received.includes(marker));
  };
  /** Looks the key up until the answer is the cache's. */
  const warm = (key: string) =>
    until('the key is cached', async () => {
      const before = database.lookups;
      expect(await kindOf(key)).toBe('caller');
      return database.lookups === before;
    });
  /** Changes a key so that nobody is told of it. */
  const revokeSilently = (id: string) =>
    withClient(testDatabase.url, async (client) => {
      await client.query('SET session_replication_role = replica');
      await client.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    });

  it('tells whom a key speaks for', async () => {
    const { id, value } = await newKey();
    const { workspaceId, userId } = workspace;
    expect(await service.identify(value)).toEqual({
      kind: 'caller',
      caller: { workspaceId, userId, role: 'EDITOR', apiKeyId: id, requestsPerMinute: 60 },
    });
  });

  it('asks the database once for a key that is used often', async () => {
    const { value } = await newKey();
    await warm(value);
    const before = database.lookups;
    for (let i = 0; i < 50; i++) await service.identify(value);
    expect(database.lookups).toBe(before);
  });

  it('asks the database once for many requests at the same moment', async () => {
    const { value } = await newKey();
    await allReceived();
    const before = database.lookups;
    await Promise.all(Array.from({ length: 100 }, async () => service.identify(value)));
    expect(database.lookups - before).toBe(1);
  });

  it('trusts its memory until it hears of a change, and then no longer', async () => {
    const { id, value } = await newKey();
    await warm(value);
    await revokeSilently(id);
    expect(await kindOf(value)).toBe('caller');
    await sql(testDatabase.url, 'NOTIFY api_keys_changed');
    await until('the revocation is known', async () => (await kindOf(value)) === 'invalid');
  });

  it('does not trust its memory while it could not hear of a change', async () => {
    const { id, value } = await newKey();
    await warm(value);
    await revokeSilently(id);
    await notifications.onApplicationShutdown();
    expect(await kindOf(value)).toBe('invalid');
    expect(await kindOf(workspace.apiKey)).toBe('caller');
    const before = database.lookups;
    await service.identify(workspace.apiKey);
    expect(database.lookups).toBe(before + 1);
  });

  it('forgets everything when the connection for notifications was lost, as it may have missed something', async () => {
    const { id, value } = await newKey();
    await warm(value);
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

  it('does not remember what it read before a revocation and got after it', async () => {
    const { id, value } = await newKey();
    await allReceived();
    let release = () => {};
    database.delay = new Promise((resolve) => {
      release = resolve;
    });
    const before = database.lookups;
    const early = service.identify(value);
    await until('the key was read', () => database.lookups > before);
    database.delay = undefined;
    await service.revoke(id);
    await allReceived();
    // It must not join the look-up that read the state before the revocation.
    expect(await kindOf(value)).toBe('invalid');
    release();
    expect((await early).kind).toBe('caller');
    for (let i = 0; i < 3; i++) expect(await kindOf(value)).toBe('invalid');
  });

  it('says when it cannot know, and remembers nothing of it', async () => {
    await notifications.onApplicationShutdown();
    await sql(testDatabase.url, 'ALTER TABLE api_keys RENAME TO elsewhere');
    expect(await service.identify(workspace.apiKey)).toEqual({ kind: 'unknown', cause: expect.any(Error) });
    await sql(testDatabase.url, 'ALTER TABLE elsewhere RENAME TO api_keys');
    expect(await kindOf(workspace.apiKey)).toBe('caller');
  });

  it('does not ask the database about what cannot be a key', async () => {
    const before = database.lookups;
    for (const key of ['', 'short', 'with a space in it', 'x'.repeat(256), 'ü'.repeat(40)]) {
      expect(await kindOf(key)).toBe('invalid');
    }
    expect(database.lookups).toBe(before);
  });

  it('bounds its memory: unknown keys without end do not fill it', async () => {
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

  it('revokes once', async () => {
    const { id } = await newKey();
    await service.revoke(id);
    await expect(service.revoke(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  describe('the first workspace', () => {
    beforeEach(() => sql(testDatabase.url, 'TRUNCATE workspaces CASCADE'));
    const workspaces = async () => (await sql(testDatabase.url, 'SELECT * FROM workspaces')).length;

    it('is made on an empty database, with an owner and an ADMIN key', async () => {
      const first = await firstKeys.bootstrap(undefined);
      expect(first?.apiKey).toMatch(/^vat_[0-9A-Za-z]{36}$/);
      expect(await service.identify(first?.apiKey ?? '')).toMatchObject({
        caller: { workspaceId: first?.workspaceId, userId: first?.userId, role: 'ADMIN' },
      });
    });

    it('is made once by many processes that start at the same moment', async () => {
      const made = await Promise.all(Array.from({ length: 6 }, () => firstKeys.bootstrap(undefined)));
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await workspaces()).toBe(1);
    });

    it('has the key that was chosen for it', async () => {
      const first = await firstKeys.bootstrap('chosen-by-an-administrator');
      expect(first?.apiKey).toBe('chosen-by-an-administrator');
      expect(await kindOf('chosen-by-an-administrator')).toBe('caller');
    });

    it('is not made again', async () => {
      await firstKeys.bootstrap(undefined);
      expect(await firstKeys.bootstrap('another-key-for-nobody')).toBeUndefined();
      expect(await kindOf('another-key-for-nobody')).toBe('invalid');
      expect(await workspaces()).toBe(1);
    });
  });
});
