import { Client } from 'pg';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { isDatabaseUnavailable } from '../../src/platform/database/failures.js';
import { sql } from '../support/sql.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const quick = (name: string, text: string, kind: 'read' | 'write' = 'write') => ({ name, text, quick: kind });
const ECHO = quick('echo', 'SELECT $1::int AS n, pg_backend_pid() AS pid', 'read');
const INSERT = quick('notes_insert', 'INSERT INTO notes (id) VALUES ($1) RETURNING id');
const COUNT_UP = quick('notes_count_up', 'UPDATE notes SET hits = hits + 1 WHERE id = $1 RETURNING hits');
const SLOW = quick('notes_slow', 'INSERT INTO notes (id) SELECT $1::int FROM pg_sleep(1.3) RETURNING id');

describe('quick statements', () => {
  let own: TestDatabase;
  let database: Database;
  let other: Client;

  beforeAll(async () => {
    own = await createTestDatabase();
    await sql(own.url, 'CREATE TABLE notes (id int PRIMARY KEY, hits int NOT NULL DEFAULT 0)');
  });
  beforeEach(async () => {
    await sql(own.url, 'TRUNCATE notes');
    database = new Database(await createDataSource(own.url, 2).initialize());
    other = new Client({ connectionString: own.url });
    await other.connect();
  });
  afterEach(async () => {
    await other.end();
    await database.close();
  });
  afterAll(() => own.drop());

  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
  const echo = (n: number) => database.query<{ n: number; pid: number }>(ECHO, [n]);
  /** From another database: a connection to this one keeps it open. */
  const administer = (text: string) => {
    const url = new URL(own.url);
    const name = url.pathname.slice(1);
    url.pathname = '/postgres';
    return sql(url.toString(), text.replace('$DATABASE', name));
  };
  const terminateAll = () =>
    administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = '$DATABASE' AND application_name = 'voice-agent-testing'`);

  it('are answered each its own, on a few connections', async () => {
    const rows = (await Promise.all(numbers(500).map(echo))).flat();
    expect(rows.map(({ n }) => n)).toEqual(numbers(500));
    expect(new Set(rows.map(({ pid }) => pid)).size).toBe(2);
    expect(database.poolState).toMatchObject({ shared: 2, waiting: 0 });
  });

  it('are transactions of their own: one that fails takes none of its neighbours along', async () => {
    const ids = numbers(40).map((n) => n - (n % 2));
    const results = await Promise.allSettled(ids.map((id) => database.query(INSERT, [id])));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(20);
    const [row] = await sql(own.url, 'SELECT count(*)::int AS count FROM notes');
    expect(row).toEqual({ count: 20 });
  });

  it('belong to the transaction that they are called in', async () => {
    const work = database.transaction(async () => {
      await database.query(INSERT, [1]);
      expect(await database.query(COUNT_UP, [1])).toEqual([{ hits: 1 }]);
      expect(await sql(own.url, 'SELECT id FROM notes')).toEqual([]);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(await sql(own.url, 'SELECT id FROM notes')).toEqual([]);
  });

  it('leave the connection when they wait for a lock, hold nobody up, and are carried out once', async () => {
    await database.query(INSERT, [1]);
    await other.query('BEGIN; UPDATE notes SET hits = 10 WHERE id = 1');
    let isDone = false;
    const waiting = database.query<{ hits: number }>(COUNT_UP, [1]).finally(() => (isDone = true));
    const behind = (await Promise.all(numbers(50).map(echo))).flat();
    expect(behind.map(({ n }) => n)).toEqual(numbers(50));
    expect(isDone).toBe(false);
    await other.query('COMMIT');
    expect(await waiting).toEqual([{ hits: 11 }]);
  });

  it('about what is locked keep away, so that many of them hold up neither reads nor other writes', async () => {
    await database.query(INSERT, [1]);
    await other.query('BEGIN; UPDATE notes SET hits = 10 WHERE id = 1');
    let done = 0;
    const waiting = Promise.all(
      numbers(300).map(() => database.query<{ hits: number }>(COUNT_UP, [1]).finally(() => done++)),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    const more = Promise.all(numbers(300).map(() => database.query(COUNT_UP, [1])));
    const others = Promise.all(numbers(50).map((n) => database.query(INSERT, [n + 2])));
    expect((await Promise.all(numbers(50).map(echo))).flat().map(({ n }) => n)).toEqual(numbers(50));
    expect((await others).flat()).toHaveLength(50);
    expect(done).toBe(0);
    await other.query('COMMIT');
    expect((await waiting).flat().length + (await more).length).toBe(600);
    expect(await sql(own.url, 'SELECT hits FROM notes WHERE id = 1')).toEqual([{ hits: 610 }]);
  });

  it('leave it when they take long, and are carried out once', async () => {
    expect(await database.query(SLOW, [7])).toEqual([{ id: 7 }]);
    expect(await sql(own.url, 'SELECT id FROM notes')).toEqual([{ id: 7 }]);
  });

  it('are carried out also when the first of them, which was to be prepared, had to leave', async () => {
    await database.query(INSERT, [1]);
    await other.query('BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE');
    const waiting = Promise.all(numbers(6).map(() => database.query<{ hits: number }>(COUNT_UP, [1])));
    await echo(0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await other.query('COMMIT');
    const hits = (await waiting).flat().map((row) => row.hits);
    expect(hits.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('fail as out of reach when the connection breaks, and the next ones are answered', async () => {
    await echo(0);
    const underWay = Promise.allSettled(numbers(20).map((n) => database.query(SLOW, [n])));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await terminateAll();
    for (const result of await underWay) {
      if (result.status === 'rejected') expect(isDatabaseUnavailable(result.reason)).toBe(true);
    }
    expect(await echo(5)).toMatchObject([{ n: 5 }]);
  });

  it('fail as out of reach while nobody can connect, and are answered as soon as one can', async () => {
    await echo(0);
    await administer('ALTER DATABASE $DATABASE WITH ALLOW_CONNECTIONS false');
    try {
      await terminateAll();
      const failure: unknown = await echo(1).then(
        () => undefined,
        (error: unknown) => error,
      );
      // The first one may still be told of the broken connection; either way the database is out of reach.
      expect(isDatabaseUnavailable(failure)).toBe(true);
      expect(isDatabaseUnavailable(await echo(2).catch((error: unknown) => error))).toBe(true);
    } finally {
      await administer('ALTER DATABASE $DATABASE WITH ALLOW_CONNECTIONS true');
    }
    expect(await echo(3)).toMatchObject([{ n: 3 }]);
  });

  it('are answered before the connections are closed', async () => {
    const ending = new Database(await createDataSource(own.url, 2).initialize());
    const underWay = Promise.all(numbers(100).map((n) => ending.query<{ n: number }>(ECHO, [n])));
    await new Promise((resolve) => setImmediate(resolve));
    await ending.close();
    expect((await underWay).flat().map(({ n }) => n)).toEqual(numbers(100));
  });
});
