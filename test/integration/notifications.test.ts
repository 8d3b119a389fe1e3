import { Logger } from '@nestjs/common';
import { Notifications } from '../../src/platform/database/notifications.js';
import { sql } from '../support/sql.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** A cache may be believed for so long after notifications stopped to arrive, in milliseconds. */
const LIVE_FOR_MS = 1000;

describe('Notifications', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let notifications: Notifications;
  let received: (string | undefined)[];

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await createTcpProxy(database.url);
    notifications = new Notifications(proxy.url);
    received = [];
    notifications.subscribe('news', (payload) => received.push(payload));
  });
  afterEach(async () => {
    await notifications.onApplicationShutdown();
    await proxy.close();
    await database.drop();
  });

  const notify = (payload: string) => sql(database.url, `SELECT pg_notify('news', $1)`, [payload]);
  const sessions = async () =>
    (
      await sql(
        database.url,
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%notifications'`,
      )
    ).map((row) => row['pid'] as number);
  const start = async () => {
    await notifications.onModuleInit();
    await until('live', () => notifications.live);
    received.length = 0;
  };
  const expectReceived = async (payload: string) => {
    await notify(payload);
    await until(`"${payload}" is heard`, () => received.includes(payload));
  };

  it('are not live before they have begun', () => expect(notifications.live).toBe(false));

  it('bring every payload, in order', async () => {
    await start();
    for (const payload of ['one', '', 'three']) await notify(payload);
    await until('all are heard', () => received.length === 3);
    expect(received).toEqual(['one', '', 'three']);
  });

  it('stay live for as long as nothing happens', async () => {
    await start();
    let since = performance.now();
    // Longer than any single sign of life is believed.
    await until('they were live for a while without a gap', () => {
      if (!notifications.live) since = performance.now();
      return performance.now() - since > 1.2 * LIVE_FOR_MS;
    });
    await expectReceived('still there');
  });

  it.each([
    ['the server ends the session', async () => sql(database.url, 'SELECT pg_terminate_backend($1)', await sessions())],
    ['the network is cut', async () => proxy.cut()],
  ])('are not live once %s, and come back by themselves', async (_, cut) => {
    await start();
    await cut();
    await until('they are not live', () => !notifications.live, LIVE_FOR_MS);
    await until('they are live again', () => notifications.live);
    // Whoever keeps something in memory must know that it may have missed something.
    expect(received).toStrictEqual([undefined]);
    await expectReceived('after');
    expect(await sessions()).toHaveLength(1);
  });

  it('are not believed when the connection is open but dead', async () => {
    await start();
    proxy.stall();
    await until('they are not live', () => !notifications.live, LIVE_FOR_MS);
    await notify('unheard');
    proxy.cut();
    proxy.resume();
    await until('they are live again', () => notifications.live);
    expect(received).toStrictEqual([undefined]);
  });

  it('are not believed by a process that was too busy to ask', async () => {
    await start();
    // No timer fires and no packet is read meanwhile, so that only the clock can tell.
    for (const startedAt = performance.now(); performance.now() - startedAt < LIVE_FOR_MS;);
    expect(notifications.live).toBe(false);
    await until('they are live again', () => notifications.live);
  });

  it('begin later when the database is out of reach at first', async () => {
    proxy.open = false;
    await notifications.onModuleInit();
    expect(notifications.live).toBe(false);
    proxy.open = true;
    await until('they are live', () => notifications.live);
    await expectReceived('late');
  });

  it('go on trying through a long outage', async () => {
    await start();
    proxy.open = false;
    proxy.cut();
    await until('they are not live', () => !notifications.live, LIVE_FOR_MS);
    const startedAt = performance.now();
    await until('several tries have failed', () => performance.now() - startedAt > 1200);
    expect(notifications.live).toBe(false);
    proxy.open = true;
    await until('they are live again', () => notifications.live);
    expect(received).toStrictEqual([undefined]);
  });

  it('leave no session behind when they end', async () => {
    await start();
    expect(await sessions()).toHaveLength(1);
    await notifications.onApplicationShutdown();
    expect(notifications.live).toBe(false);
    await until('the session is gone', async () => (await sessions()).length === 0);
  });

  it('do not come back when they end in the middle of an outage', async () => {
    await start();
    proxy.cut();
    await until('they are not live', () => !notifications.live, LIVE_FOR_MS);
    await notifications.onApplicationShutdown();
    const startedAt = performance.now();
    await until('a try would have been made', () => performance.now() - startedAt > 700);
    expect(await sessions()).toEqual([]);
  });
});
