import { randomUUID } from 'node:crypto';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { AgentsRepository } from '../../src/modules/agents/agents.repository.js';
import { Database, type QueryOptions } from '../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Records statements, so that a test can inspect their plans. */
class RecordingDatabase extends Database {
  queries: { text: string; values: readonly unknown[] }[] = [];

  override query<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
    options?: QueryOptions,
  ): Promise<Row[]> {
    this.queries.push({ text, values });
    return super.query(text, values, options);
  }
}

describe('AgentsRepository', () => {
  let testDatabase: TestDatabase;
  let database: RecordingDatabase;
  let repository: AgentsRepository;
  const large = randomUUID();
  const small = randomUUID();

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new RecordingDatabase(await createDataSource(testDatabase.url, 2).initialize());
    repository = new AgentsRepository(database);
    const { manager } = database;
    for (const [workspace, count] of [
      [large, 5000],
      [small, 3],
    ] as const) {
      await manager.query(`INSERT INTO workspaces (id, name, plan) VALUES ($1, 'Test', 'FREE')`, [workspace]);
      await manager.query(`INSERT INTO users (id, workspace_id, name) VALUES ($1, $1, 'Owner')`, [workspace]);
      await manager.query(
        `INSERT INTO agents (id, workspace_id, created_by_user_id, provider, assistant_id, api_key, call_monitoring,
                             is_using_default_api_key, name, created_at)
         SELECT gen_random_uuid(), $1, $1, 'AGENT_PROVIDER_' || 1 + n % 4, 'assistant-' || n, 'sealed-' || n, false,
                n % 8 = 0, 'Agent ' || n, timestamptz '2026-01-01' + n * interval '1 s'
           FROM generate_series(0, $2::int - 1) n`,
        [workspace, count],
      );
    }
    await manager.query(
      `INSERT INTO provider_keys (workspace_id, provider, api_key) VALUES ($1, 'AGENT_PROVIDER_1', 'sealed-default')`,
      [large],
    );
    await manager.query('VACUUM ANALYZE');
  });
  beforeEach(() => {
    database.queries = [];
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });

  const page = (filter = {}, limit = 25, offset = 0, workspace = large) =>
    repository.page(workspace, filter, { limit, offset });

  it('reads a page and its total in one round trip', async () => {
    const { rows, total } = await page();
    expect([rows.length, total, rows[0]?.name]).toEqual([25, 5000, 'Agent 4999']);
    expect(database.queries).toHaveLength(1);
  });

  it('reads only the rows of the page, and does not count the others', async () => {
    for (const offset of [0, 2500, 4975]) {
      database.queries = [];
      const { rows, total } = await page({}, 25, offset);
      expect([rows.length, total, rows[0]?.name]).toEqual([25, 5000, `Agent ${4999 - offset}`]);
      const [{ text, values } = { text: '', values: [] }] = database.queries;
      const plan = await database.manager.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, [
        ...values,
      ]);
      const read = /Buffers: shared hit=(\d+)/.exec(plan.map((row) => row['QUERY PLAN']).join('\n'));
      expect(plan.map((row) => row['QUERY PLAN']).join()).toMatch(
        /Index Only Scan Backward using agents_list_idx .*rows=/,
      );
      // The table and its index have 250 blocks; about 75 are read to look up the 25 rows.
      expect(Number(read?.[1])).toBeLessThan(200);
    }
  });

  it('returns the default key of the workspace with the agents that use it', async () => {
    const { rows } = await page({ provider: 'AGENT_PROVIDER_1' }, 100);
    expect(rows).toHaveLength(100);
    for (const row of rows) expect(row.defaultApiKey).toBe(row.isUsingDefaultApiKey ? 'sealed-default' : null);
    expect(rows.some((row) => row.isUsingDefaultApiKey)).toBe(true);
    const [first] = (await page({}, 1, 2, small)).rows;
    expect(first).toMatchObject({ isUsingDefaultApiKey: true, defaultApiKey: null });
    expect(await repository.find(first!.id)).toMatchObject({ id: first!.id, defaultApiKey: null });
  });

  it('returns the same columns from a list as from a lookup', async () => {
    const [row] = (await page({}, 1)).rows;
    const { total, ...listed } = row as typeof row & Record<string, number>;
    expect(total).toBe(5000);
    expect(await repository.find(row!.id)).toEqual(listed);
  });

  it('combines filters', async () => {
    const { rows, total } = await page({ provider: 'AGENT_PROVIDER_2', search: 'agent 49' }, 100);
    expect(total).toBe(rows.length);
    // 49, 490 to 499 and 4900 to 4999; a quarter of them have this provider.
    expect(rows.map(({ name }) => Number(name?.slice(6)))).toEqual(
      Array.from({ length: 5000 }, (_, n) => 4999 - n).filter((n) => n % 4 === 1 && String(n).startsWith('49')),
    );
  });

  it.each([
    ['Agent 1234', 1],
    ['AGENT 49', 111],
    ['agent 4', 1111],
    ['99', 95],
    ['9', 1355],
    ['sistant-49', 111],
    ['agent 4_', 0],
    ['%', 0],
    ['xagent 1234', 0],
    ['1234 agent', 0],
  ])('finds the same agents for %s as a search without the index', async (search, count) => {
    const expected = await database.manager.query<{ id: string }[]>(
      `SELECT id FROM agents WHERE workspace_id = $1 AND deleted_at IS NULL
          AND (strpos(lower(name), lower($2)) > 0 OR strpos(lower(assistant_id), lower($2)) > 0)
        ORDER BY created_at DESC, id DESC`,
      [large, search],
    );
    const { rows, total } = await page({ search }, 25);
    expect([total, expected.length]).toEqual([count, count]);
    expect(rows.map(({ id }) => id)).toEqual(expected.slice(0, 25).map(({ id }) => id));
  });

  it('returns nothing of other workspaces', async () => {
    expect(await page({}, 25, 0, small)).toMatchObject({ total: 3 });
    expect(await page({}, 25, 0, randomUUID())).toEqual({ rows: [], total: 0 });
  });

  it('deletes an agent only once', async () => {
    const [row] = (await page({}, 1, 0, small)).rows;
    expect(await repository.softDelete(row!.id)).toEqual({ deletedAt: expect.any(Date), updatedAt: expect.any(Date) });
    expect(await repository.softDelete(row!.id)).toBeUndefined();
    expect(await repository.find(row!.id)).toBeUndefined();
    expect((await page({}, 25, 0, small)).total).toBe(2);
  });
});
