import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { type ListSource, readPage } from '../../src/platform/database/page-query.js';
import { ListKeeper } from '../../src/platform/lists/list-keeper.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Small, so that a few hundred entries make many buckets and groups. */
const SIZES = { newest: 4, bucket: 4, group: 3, chunk: 20 };
const SHELVES = [randomUUID(), randomUUID()] as const;
const COLOURS = ['red', 'blue'] as const;
const SOURCE: Omit<ListSource, 'name'> = {
  columns: 'i.id, i.created_at AS "createdAt"',
  from: 'items i',
  where: 'i.shelf = $1 AND i.deleted_at IS NULL',
  kept: { relation: 'items' },
};

describe('lists that the database keeps count of', () => {
  let own: TestDatabase;
  let database: Database;
  let keeper: ListKeeper;
  const clients: Client[] = [];
  const never = new AbortController().signal;
  const lists = SHELVES.flatMap((scope) =>
    ['items', ...COLOURS.map((c) => `items:${c}`)].map((list) => ({ list, scope })),
  );

  const connect = async () => {
    const client = new Client({ connectionString: own.url });
    await client.connect();
    clients.push(client);
    return client;
  };
  const keep = async () => {
    for (const list of lists) await keeper.keep(list, never, SIZES);
  };
  const insert = (count: number, back = '0 s', shelf: string = SHELVES[0]) =>
    `INSERT INTO items SELECT gen_random_uuid(), '${shelf}', (ARRAY['red', 'blue'])[1 + floor(random() * 2)],
       clock_timestamp() - interval '${back}' FROM generate_series(1, ${count})`;
  const sealed = async () => {
    const [row] = await database.manager.query<{ sealed: number }[]>(
      `SELECT coalesce(sum(count), 0)::int AS sealed FROM list_buckets WHERE list = 'items' AND level = 0`,
    );
    return row?.sealed;
  };

  /** What the list says against what the rows say, for all pages of a size, in one snapshot. */
  const expectTruth = async (limit: number) => {
    await database.transaction(async (manager) => {
      await manager.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      for (const { list, scope } of lists) {
        const [, value] = list.split(':');
        const where = value === undefined ? SOURCE.where : `${SOURCE.where} AND i.colour = $2`;
        const source = {
          ...SOURCE,
          where,
          name: `items_page_${value === undefined}`,
          kept: { relation: 'items', value },
        };
        const values = value === undefined ? [scope] : [scope, value];
        const expected = await manager.query<{ id: string }[]>(
          `SELECT i.id FROM items i WHERE ${where} ORDER BY i.created_at DESC, i.id DESC`,
          values,
        );
        const ids: string[] = [];
        for (let offset = 0; offset <= expected.length; offset += limit) {
          const { rows, total } = await readPage<{ id: string }>(database, source, values, { limit, offset });
          expect(total).toBe(expected.length);
          ids.push(...rows.map(({ id }) => id));
        }
        expect(ids).toEqual(expected.map(({ id }) => id));
      }
    });
  };

  beforeAll(async () => {
    own = await createTestDatabase();
    database = new Database(await createDataSource(own.url, 4).initialize());
    keeper = new ListKeeper(database);
    await database.manager.query(`
      CREATE TABLE items (id uuid PRIMARY KEY, shelf uuid, colour text, created_at timestamptz(3), deleted_at timestamptz);
      CREATE INDEX ON items (shelf, created_at, id) WHERE deleted_at IS NULL;
      SELECT keep_list('items', 'shelf', 'colour', 'deleted_at')`);
  });
  beforeEach(() => database.manager.query('TRUNCATE items'));
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end();
  });
  afterAll(async () => {
    await database.close();
    await own.drop();
  });

  it('are exact before and after they are sealed, whatever the page', async () => {
    await database.manager.query(insert(150));
    await expectTruth(7);
    await keep();
    expect(await sealed()).toBe(146);
    for (const limit of [1, 4, 7, 200]) await expectTruth(limit);
  });

  it('are exact when all entries are of one moment', async () => {
    await database.manager.query(`INSERT INTO items
      SELECT gen_random_uuid(), '${SHELVES[0]}', 'red', '2026-01-01' FROM generate_series(1, 100)`);
    await keep();
    expect(await sealed()).toBe(96);
    await expectTruth(9);
  });

  it('note what happens among sealed entries, and fold it', async () => {
    await database.manager.query(insert(100));
    await keep();
    const changes = async () =>
      (await database.manager.query<object[]>(`SELECT 1 FROM list_changes WHERE list = 'items'`)).length;
    for (const statement of [
      'UPDATE items SET deleted_at = now() WHERE id IN (SELECT id FROM items ORDER BY created_at LIMIT 9)',
      'DELETE FROM items WHERE id IN (SELECT id FROM items ORDER BY created_at LIMIT 20)',
      'UPDATE items SET deleted_at = NULL',
      insert(5, '1 hour'),
      `UPDATE items SET colour = 'red'`,
      `UPDATE items SET shelf = '${SHELVES[1]}' WHERE id IN (SELECT id FROM items ORDER BY created_at LIMIT 5)`,
      `UPDATE items SET created_at = created_at - interval '1 day' WHERE colour = 'red'`,
    ]) {
      await database.manager.query(statement);
      await expectTruth(6);
    }
    expect(await changes()).toBeGreaterThan(100);
    await keep();
    expect(await changes()).toBe(0);
    await expectTruth(6);
  });

  it('are sealed anew when entries were added in one place, or most were deleted', async () => {
    await database.manager.query(insert(100));
    await keep();
    await database.manager.query(insert(200, '1 hour'));
    await keep();
    const [fullest] = await database.manager.query<{ count: number }[]>(
      'SELECT max(count)::int AS count FROM list_buckets WHERE level = 0',
    );
    expect(fullest?.count).toBeLessThanOrEqual(2 * SIZES.bucket);
    await expectTruth(11);
    await database.manager.query('DELETE FROM items WHERE id NOT IN (SELECT id FROM items LIMIT 10)');
    await keep();
    const [buckets] = await database.manager.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM list_buckets WHERE list = 'items'`,
    );
    expect(buckets?.count).toBeLessThan(10);
    await expectTruth(3);
  });

  it.each(['COMMIT', 'ROLLBACK'])('wait for a writer that began before, which ends in %s', async (end) => {
    await database.manager.query(insert(50));
    const writer = await connect();
    await writer.query('BEGIN');
    await writer.query(insert(5, '1 hour'));
    await writer.query(
      'UPDATE items SET deleted_at = now() WHERE id IN (SELECT id FROM items ORDER BY created_at DESC LIMIT 30)',
    );
    const kept = keep();
    await pause(300);
    expect(await sealed()).toBe(0);
    await writer.query(end);
    await kept;
    expect(await sealed()).toBeGreaterThan(0);
    await expectTruth(8);
  });

  it('neither wait for nor hold up a writer that began after they were opened', async () => {
    await database.manager.query(insert(50));
    await database.manager.query(`SELECT list_open('items', '${SHELVES[0]}', 4)`);
    const writer = await connect();
    await writer.query('BEGIN');
    await writer.query(insert(5, '1 hour'));
    const [until] = await database.manager.query<{ at: string; id: string }[]>(
      'SELECT opened_at::text AS at, opened_id AS id FROM list_heads',
    );
    await database.manager.query(`SELECT list_seal('items', $1, $2, $3, 4, 1000)`, [SHELVES[0], until?.at, until?.id]);
    expect(await sealed()).toBe(46);
    await writer.query(insert(5, '1 hour'));
    await expectTruth(8);
    await writer.query('COMMIT');
    await expectTruth(8);
    await keep();
    await expectTruth(8);
  });

  it('refuse writers that could not see how far they are opened', async () => {
    const writer = await connect();
    await writer.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await expect(writer.query(insert(1))).rejects.toThrow('READ COMMITTED');
  });

  it('are exact at every moment, whatever several writers do at once', async () => {
    await database.manager.query(insert(60));
    await database.manager.query(insert(60, '1 s', SHELVES[1]));
    const end = Date.now() + 6_000;
    const some = (count: number, where = 'true') =>
      `id IN (SELECT id FROM items WHERE ${where} ORDER BY random() LIMIT ${count} FOR UPDATE SKIP LOCKED)`;
    const actions = [
      () => insert(randomInt(1, 6), '0 s', SHELVES[randomInt(2)]),
      () => insert(randomInt(1, 9), `${randomInt(10)} s`, SHELVES[randomInt(2)]),
      () => `UPDATE items SET deleted_at = now() WHERE ${some(3, 'deleted_at IS NULL')}`,
      () => `UPDATE items SET deleted_at = NULL WHERE ${some(3, 'deleted_at IS NOT NULL')}`,
      () => `UPDATE items SET colour = 'blue' WHERE ${some(2)}`,
      () => `UPDATE items SET shelf = '${SHELVES[randomInt(2)]}' WHERE ${some(2)}`,
      () => `DELETE FROM items WHERE ${some(4)}`,
    ];
    const write = async () => {
      const client = await connect();
      let ended = 0;
      while (Date.now() < end) {
        await client.query('BEGIN');
        for (let i = randomInt(1, 4); i > 0; i--) {
          await client.query(actions[randomInt(actions.length)]?.() ?? '');
          if (randomInt(4) === 0) await pause(randomInt(30));
        }
        await client.query(randomInt(4) === 0 ? 'ROLLBACK' : 'COMMIT');
        ended += 1;
      }
      return ended;
    };
    let kept = 0;
    const keepOn = async () => {
      for (; Date.now() < end; kept++) await keep();
    };
    let checked = 0;
    const check = async () => {
      for (; Date.now() < end; checked++) await expectTruth(randomInt(5, 60));
    };
    const ended = await Promise.all([write(), write(), write(), keepOn(), keepOn(), check()]);
    await keep();
    await expectTruth(5);
    expect(Math.min(...ended.slice(0, 3).map(Number), kept, checked)).toBeGreaterThan(2);
  }, 60_000);
});
