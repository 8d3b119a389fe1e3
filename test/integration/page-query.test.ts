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
  let own: TestDatabase;
  let database: Database;
  const source: ListSource = {
    name: 'items_page',
    columns: 'i.id, i.created_at AS "createdAt", l.label',
    from: 'items i',
    joins: 'LEFT JOIN labels l ON l.item_id = i.id',
    where: 'i.shelf = $1',
  };
  const read = (shelf: number, limit: number, page: number) =>
    readPage<Item>(database, source, [shelf], { limit, offset: (page - 1) * limit });

  beforeAll(async () => {
    own = await createTestDatabase();
    database = new Database(await createDataSource(own.url, 2).initialize());
    // Five rows to a moment: the order must come from the id too.
    await database.manager.query(`
      CREATE TABLE items (id uuid PRIMARY KEY, shelf int, created_at timestamptz(3));
      CREATE TABLE labels (item_id uuid, label text);
      INSERT INTO items SELECT gen_random_uuid(), n % 2, timestamptz '2026-01-01' + (n / 10) * interval '1 ms'
        FROM generate_series(0, 99) n;
      INSERT INTO labels SELECT id, 'label of ' || id FROM items ORDER BY id LIMIT 30`);
  });
  afterAll(async () => {
    await database.close();
    await own.drop();
  });

  // The query around it has names of its own, of which `k` once hid the one of the list of API keys.
  it.each(['k', 'l', 'p', 'hit', 'i'])('shows every row itself, whatever its table is called: %s', async (alias) => {
    const columns = `${alias}.id, ${alias}.created_at AS "createdAt"`;
    const named = { name: `items_page_${alias}`, columns, from: `items ${alias}`, where: `${alias}.shelf = $1` };
    const { rows } = await readPage<Item>(database, named, [1], { limit: 50, offset: 0 });
    expect(new Set(rows.map(({ id }) => id)).size).toBe(50);
  });

  it.each([1, 3, 7, 50, 100])('passes every row exactly once, newest first, in pages of %i', async (limit) => {
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

  it('keeps the joined columns with their rows', async () => {
    const { rows } = await read(0, 100, 1);
    expect(rows).toHaveLength(50);
    const labelled = rows.filter(({ label }) => label !== null);
    expect(labelled.length).toBeGreaterThan(0);
    for (const { id, label } of labelled) expect(label).toBe(`label of ${id}`);
  });

  it('knows the total of a page past the end and of an empty list, without a row of nulls', async () => {
    expect(await read(1, 10, 6)).toEqual({ rows: [], total: 50 });
    expect(await read(1, 1, Number.MAX_SAFE_INTEGER)).toEqual({ rows: [], total: 50 });
    expect(await read(7, 10, 1)).toEqual({ rows: [], total: 0 });
  });
});
