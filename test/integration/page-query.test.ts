import { createDataSource } from '../../src/bootstrap/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { type ListSource, readPage } from '../../src/platform/database/page-query.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

interface Item {
  id: string;
  createdAt: Date;
  label: string | null;
}

describe('readPage', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  const source: ListSource = {
    columns: 'i.id, i.created_at AS "createdAt", l.label',
    from: 'items i',
    joins: 'LEFT JOIN labels l ON l.item_id = i.id',
    where: 'i.shelf = $1',
  };
  const read = (shelf: number, limit: number, page: number) =>
    readPage<Item>(database, source, [shelf], { limit, offset: (page - 1) * limit });

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new Database(await createDataSource(testDatabase.url, 2).initialize());
    // Five rows each have the same time, so that their order depends on the id.
    await database.manager.query(`
      CREATE TABLE items (id uuid PRIMARY KEY, shelf int, created_at timestamptz(3));
      CREATE TABLE labels (item_id uuid, label text);
      INSERT INTO items SELECT gen_random_uuid(), n % 2, timestamptz '2026-01-01' + (n / 10) * interval '1 ms'
        FROM generate_series(0, 99) n;
      INSERT INTO labels SELECT id, 'label of ' || id FROM items ORDER BY id LIMIT 30`);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });

  // An alias must not collide with the names in the query around it.
  it.each(['k', 'l', 'p', 'entry', 'i'])('returns every row once when the table has the alias %s', async (alias) => {
    const columns = `${alias}.id, ${alias}.created_at AS "createdAt"`;
    const named = { columns, from: `items ${alias}`, where: `${alias}.shelf = $1` };
    const { rows } = await readPage<Item>(database, named, [1], { limit: 50, offset: 0 });
    expect(new Set(rows.map(({ id }) => id)).size).toBe(50);
  });

  it.each([1, 3, 7, 50, 100])('returns every row exactly once, newest first, in pages of %i', async (limit) => {
    const expected = await database.manager.query<{ id: string }[]>(
      'SELECT id FROM items WHERE shelf = 1 ORDER BY created_at DESC, id DESC',
    );
    const ids: string[] = [];
    for (let page = 1; page <= Math.ceil(50 / limit); page++) {
      const { rows, total } = await read(1, limit, page);
      expect(total).toBe(50);
      expect(rows.length).toBe(Math.min(limit, 50 - (page - 1) * limit));
      ids.push(...rows.map(({ id }) => id));
    }
    expect(ids).toEqual(expected.map(({ id }) => id));
  });

  it('returns the joined columns with their rows', async () => {
    const { rows } = await read(0, 100, 1);
    expect(rows).toHaveLength(50);
    const labelled = rows.filter(({ label }) => label !== null);
    expect(labelled.length).toBeGreaterThan(0);
    for (const { id, label } of labelled) expect(label).toBe(`label of ${id}`);
  });

  it('returns the total for a page past the end and for an empty list, without a row of nulls', async () => {
    expect(await read(1, 10, 6)).toEqual({ rows: [], total: 50 });
    expect(await read(1, 1, Number.MAX_SAFE_INTEGER)).toEqual({ rows: [], total: 50 });
    expect(await read(7, 10, 1)).toEqual({ rows: [], total: 0 });
  });
});
