import { createDataSource } from '../../src/bootstrap/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { isDatabaseUnavailable, isUniqueViolation } from '../../src/platform/database/failures.js';
import { sql } from '../support/sql.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const INSERT = 'INSERT INTO notes (text) VALUES ($1) RETURNING text';

describe('Database', () => {
  let testDatabase: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new Database(await createDataSource(testDatabase.url, 4).initialize());
    await database.manager.query('CREATE TABLE notes (text text CONSTRAINT notes_key UNIQUE)');
  });
  beforeEach(() => database.manager.query('TRUNCATE notes'));
  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });

  const committedTexts = async () =>
    (await sql(testDatabase.url, 'SELECT text FROM notes ORDER BY text')).map((row) => row['text']);
  const insert = (text: string) => database.query<{ text: string }>(INSERT, [text]);

  it('runs a prepared statement', async () => {
    expect(await insert('a')).toEqual([{ text: 'a' }]);
    expect(await insert('b')).toEqual([{ text: 'b' }]);
    expect(await committedTexts()).toEqual(['a', 'b']);
  });

  it('prepares a statement once per connection, under one name for equal texts', async () => {
    const prepared = await database.transaction(async () => {
      for (const n of [1, 2]) await database.query('SELECT $1::int AS "counted"', [n]);
      await database.query('SELECT $1::int AS unprepared', [1], { isPrepared: false });
      return database.query<{ statement: string }>(
        `SELECT statement FROM pg_prepared_statements WHERE statement ~ 'AS ("counted"|unprepared)' AND statement !~ 'pg_'`,
      );
    });
    expect(prepared).toEqual([{ statement: 'SELECT $1::int AS "counted"' }]);
  });

  it('commits explicit SQL and TypeORM statements in one transaction', async () => {
    await database.transaction(async (manager) => {
      await insert('explicit');
      await manager.query(`INSERT INTO notes VALUES ('given')`);
      await database.manager.query(`INSERT INTO notes VALUES ('ambient')`);
      expect(await committedTexts()).toEqual([]);
    });
    expect(await committedTexts()).toEqual(['ambient', 'explicit', 'given']);
  });

  it('rolls back when the work fails, and rethrows its error', async () => {
    const failure = new Error('no');
    const work = database.transaction(async () => {
      await insert('explicit');
      await database.manager.query(`INSERT INTO notes VALUES ('ambient')`);
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await committedTexts()).toEqual([]);
  });

  it('runs an inner transaction in the outer one', async () => {
    const work = database.transaction(async (outer) => {
      await database.transaction(async (inner) => {
        expect(inner).toBe(outer);
        await insert('inner');
      });
      throw new Error('the outer one fails');
    });
    await expect(work).rejects.toThrow('the outer one fails');
    expect(await committedTexts()).toEqual([]);
  });

  it('isolates concurrent transactions', async () => {
    const write = (text: string, fails: boolean) =>
      database.transaction(async () => {
        await insert(text);
        if (fails) throw new Error(text);
      });
    const results = await Promise.allSettled(['a', 'b', 'c', 'd', 'e', 'f'].map((text, i) => write(text, i % 2 === 1)));
    expect(results.map(({ status }) => status)).toEqual(Array(3).fill(['fulfilled', 'rejected']).flat());
    expect(await committedTexts()).toEqual(['a', 'c', 'e']);
  });

  it('returns every connection to the pool', async () => {
    for (let i = 0; i < 10; i++)
      await database.transaction(async () => Promise.reject(new Error())).catch(() => undefined);
    const { total, idle, waiting } = database.poolState;
    expect(waiting).toBe(0);
    expect(idle).toBe(total);
    expect(total).toBeLessThanOrEqual(4);
  });

  it('recovers from terminated connections', async () => {
    await Promise.all([1, 2, 3].map(() => database.query('SELECT pg_sleep(0.05)')));
    await sql(
      testDatabase.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await until('the pool has new connections', async () => {
      try {
        await database.query('SELECT 1');
        return true;
      } catch (error) {
        expect(isDatabaseUnavailable(error)).toBe(true);
        return false;
      }
    });
  });

  describe('failures', () => {
    const failureOf = (text: string): Promise<unknown> =>
      database.query(text, [], { isPrepared: false }).then(
        () => undefined,
        (error: unknown) => error,
      );

    it('are classified as an invalid statement or an unavailable database', async () => {
      expect(isDatabaseUnavailable(await failureOf('SELECT * FROM nowhere'))).toBe(false);
      expect(isDatabaseUnavailable(await failureOf(`SELECT 'x'::int`))).toBe(false);
      expect(isDatabaseUnavailable(await failureOf(`SET LOCAL statement_timeout = 1; SELECT pg_sleep(1)`))).toBe(true);
      expect(isDatabaseUnavailable(await failureOf('SELECT pg_terminate_backend(pg_backend_pid())'))).toBe(true);
    });

    it.each(['postgresql://127.0.0.1:1/x', 'postgresql://no-such-host.invalid/x'])(
      'to connect to %s mean that the database is unavailable',
      async (url) => {
        const failure: unknown = await createDataSource(url, 2)
          .initialize()
          .catch((error: unknown) => error);
        expect(isDatabaseUnavailable(failure)).toBe(true);
      },
    );

    it('because of a missing database or a wrong password mean that the database is unavailable', async () => {
      const missing = new URL(testDatabase.url);
      missing.pathname = '/no_such_database';
      const denied = new URL(testDatabase.url);
      denied.password = 'wrong';
      for (const url of [missing, denied]) {
        const failure: unknown = await createDataSource(url.toString(), 2)
          .initialize()
          .catch((error: unknown) => error);
        expect(isDatabaseUnavailable(failure)).toBe(true);
      }
    });

    it('identify the unique constraint that was violated', async () => {
      await insert('once');
      const failure = await insert('once').catch((error: unknown) => error);
      expect(isUniqueViolation(failure, 'notes_key')).toBe(true);
      expect(isUniqueViolation(failure, 'another_key')).toBe(false);
      expect(isUniqueViolation(undefined, 'notes_key')).toBe(false);
    });
  });
});
