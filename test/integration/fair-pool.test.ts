import { createDataSource } from '../../src/bootstrap/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { isDatabaseUnavailable } from '../../src/platform/database/failures.js';
import { ConnectionShareTimeout } from '../../src/platform/database/failures.js';
import { FairPool, onBehalfOf, onBehalfOfService } from '../../src/platform/database/fair-pool.js';
import { openDataSource, surviveBrokenConnections } from '../../src/platform/database/pool.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const SIZE = 4;
const SHARE = 3;

describe('a pool that workspaces share', () => {
  let testDatabase: TestDatabase;
  let pool: FairPool;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
  });
  beforeEach(() => {
    pool = surviveBrokenConnections(
      new FairPool({ connectionString: testDatabase.url, max: SIZE, connectionTimeoutMillis: 500 }),
    );
  });
  afterEach(() => pool.end());
  afterAll(() => testDatabase.drop());

  const connect = (workspaceId: string) => onBehalfOf(workspaceId, () => pool.connect());
  const connectAll = (workspaceId: string, number: number) =>
    Promise.all(Array.from({ length: number }, () => connect(workspaceId)));

  it.each([
    [2, 1],
    [3, 2],
    [5, 3],
    [20, 15],
  ])('of %d connections gives one workspace %d', async (max, share) => {
    const sized = new FairPool({ connectionString: testDatabase.url, max, connectionTimeoutMillis: 5_000 });
    const sleeps = onBehalfOf('a', () => Array.from({ length: 2 * max }, () => sized.query('SELECT pg_sleep(0.05)')));
    await until('the connections are open', () => sized.totalCount - sized.idleCount === share);
    expect(sized.waitingForShare).toBe(2 * max - share);
    expect(sized.waitingCount).toBe(0);
    await Promise.all(sleeps);
    expect(sized.totalCount).toBe(share);
    expect(sized.waitingForShare).toBe(0);
    await sized.end();
  });

  it('gives a connection to another workspace, and to work for none, while the share of one is in use', async () => {
    const held = await connectAll('a', SHARE);
    const waiting = connect('a');
    expect((await onBehalfOf('b', () => pool.query('SELECT 1 AS one'))).rows).toEqual([{ one: 1 }]);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    held.pop()?.release();
    held.push(await waiting);
    for (const client of held) client.release();
  });

  it('serves the waiting requests of a workspace in order of arrival', async () => {
    const held = await connectAll('a', SHARE);
    const order: number[] = [];
    const queries = [1, 2, 3, 4, 5].map((n) => onBehalfOf('a', () => pool.query('SELECT 1')).then(() => order.push(n)));
    held.pop()?.release();
    await Promise.all(queries);
    expect(order).toEqual([1, 2, 3, 4, 5]);
    for (const client of held) client.release();
  });

  it('fails a request that waits too long like one for which no connection is free', async () => {
    const held = await connectAll('a', SHARE);
    const error: unknown = await connect('a').catch((failure: unknown) => failure);
    expect(isDatabaseUnavailable(error)).toBe(true);
    for (const client of held) client.release();
    for (const client of await connectAll('a', SHARE)) client.release();
  });

  it('counts a connection until it is released, also one that broke or was closed on release', async () => {
    const [first, second, third] = await connectAll('a', SHARE);
    first?.release(true);
    await expect(second?.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
    second?.release();
    third?.release();
    // Released by one holder, the same connections count for the next one.
    for (let i = 0; i < 3; i++) {
      const held = await connectAll(`workspace ${i}`, SHARE);
      await expect(connect(`workspace ${i}`)).rejects.toThrow(ConnectionShareTimeout);
      for (const client of held) client.release();
    }
  });

  it('forgets a connection that could not be opened', async () => {
    const closed = new FairPool({ host: '127.0.0.1', port: 1, max: 2, connectionTimeoutMillis: 500 });
    for (let i = 0; i < 3; i++) {
      await expect(onBehalfOf('a', () => closed.query('SELECT 1'))).rejects.toThrow('ECONNREFUSED');
    }
    await closed.end();
  });

  describe('through Database', () => {
    let database: Database;

    beforeEach(async () => {
      database = new Database(await openDataSource(createDataSource(testDatabase.url, SIZE)));
    });
    afterEach(() => database.close());

    it('limits statements, TypeORM and transactions together', async () => {
      const work = onBehalfOf('a', () => [
        ...[1, 2, 3].map(() => database.query('SELECT pg_sleep(0.1)')),
        ...[1, 2, 3].map(() => database.manager.query('SELECT pg_sleep(0.1)')),
        ...[1, 2, 3].map(() => database.transaction(() => database.query('SELECT pg_sleep(0.1)'))),
      ]);
      await until('connections are in use', () => database.poolState.total - database.poolState.idle === SHARE);
      expect(database.poolState.waiting).toBe(work.length - SHARE);
      await Promise.all(work);
      expect(database.poolState.total).toBe(SHARE);
    });

    it('does not let a transaction that needs a second connection wait for the share that it is part of', async () => {
      const transactions = onBehalfOf('a', () =>
        Array.from({ length: SHARE }, () =>
          database.transaction(async () => {
            await database.query('SELECT pg_sleep(0.05)');
            await database.dataSource.query('SELECT 1');
          }),
        ),
      );
      await expect(Promise.all(transactions)).resolves.toHaveLength(SHARE);
    });

    it('does not count shared work that a request of a workspace starts', async () => {
      const started = onBehalfOf('a', () => {
        const sleeps = Array.from({ length: SHARE }, () => database.query('SELECT pg_sleep(0.5)'));
        return { sleeps, shared: onBehalfOfService(() => database.query('SELECT 1')) };
      });
      const first = await Promise.race([
        started.shared.then(() => 'shared'),
        ...started.sleeps.map((s) => s.then(() => 'own')),
      ]);
      expect(first).toBe('shared');
      await Promise.all(started.sleeps);
    });
  });
});
