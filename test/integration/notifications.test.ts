import { Logger } from '@nestjs/common';
import { Notifications } from '../../src/platform/database/notifications.js';
import { sql } from '../support/sql.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** How long notifications count as live after the last sign of life, in milliseconds. */
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
    await until(`"${payload}" is received`, () => received.includes(payload));
  };

  it('are not live before they are started', () => expect(notifications.live).toBe(false));

  it('deliver every payload in order', async () => {
    await start();
    for (const payload of ['one', '', 'three']) await notify(payload);
    await until('all are received', () => received.length === 3);
    expect(received).toEqual(['one', '', 'three']);
  });

  it('stay live while no notification arrives', async () => {
    await start();
    let since = performance.now();
    // Longer than a single sign of life counts.
    await until('they were live without a gap', () => {
      if (!notifications.live) since = performance.now();
      return performance.now() - since > 1.2 * LIVE_FOR_MS;
    });
    await expectReceived('still there');
  });

  it.each([
    ['the server ends the session', async () => sql(database.url, 'SELECT pg_terminate_backend($1)', await sessions())],
    ['the network is cut', async () => proxy.cut()],
  ])('are not live after %s, and reconnect', async (_, cut) => {
    await start();
    await cut();
    await until('they are not live', () => !notifications.live, LIVE_FOR_MS);
    await until('they are live again', () => notifications.live);
    // Tells subscribers that they may have missed notifications and must clear their caches.
    expect(received).toStrictEqual([undefined]);
    await expectReceived('after');
    expect(await sessions()).toHaveLength(1);
  });

  it('are not live if the connection is open but dead', async () => {
    await start();
    proxy.stall();
    await until('they are not live', () => !notifications.live, LIVE_FOR_MS);
    await notify('unheard');
    proxy.cut();
    proxy.resume();
    await until('they are live again', () => notifications.live);
    expect(received).toStrictEqual([undefined]);
  });

  it('are not live after the process was blocked', async () => {
    await start();
    // Blocks the event loop: no timer fires and no packet is read.
    for (const startedAt = performance.now(); performance.now() - startedAt < LIVE_FOR_MS;);
    expect(notifications.live).toBe(false);
    await until('they are live again', () => notifications.live);
  });

  it('become live later if the database is unavailable at first', async () => {
    proxy.open = false;
    await notifications.onModuleInit();
    expect(notifications.live).toBe(false);
    proxy.open = true;
    await until('they are live', () => notifications.live);
    await expectReceived('late');
  });

  it('keep retrying during a long outage', async () => {
    await start();
    proxy.open = false;
    proxy.cut();
    await until('they are not live', () => !notifications.live, LIVE_FOR_MS);
    const startedAt = performance.now();
    await until('several attempts have failed', () => performance.now() - startedAt > 1200);
    expect(notifications.live).toBe(false);
    proxy.open = true;
    await until('they are live again', () => notifications.live);
    expect(received).toStrictEqual([undefined]);
  });

  it('leave no session behind after shutdown', async () => {
    await start();
    expect(await sessions()).toHaveLength(1);
    await notifications.onApplicationShutdown();
    expect(notifications.live).toBe(false);
    await until('the session is gone', async () => (await sessions()).length === 0);
  });

  it('do not reconnect after a shutdown during an outage', async () => {
    await start();
    proxy.cut();
    await until('they are not live', () => !notifications.live, LIVE_FOR_MS);
    await notifications.onApplicationShutdown();
    const startedAt = performance.now();
    await until('an attempt would have been made', () => performance.now() - startedAt > 700);
    expect(await sessions()).toEqual([]);
  });
});
