import { randomInt, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { EntityManager } from 'typeorm';
import { AgentsRepository } from '../../src/modules/agents/agents.repository.js';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { AGENT_PROVIDERS } from '../../src/platform/config/agent-providers.js';
import { EvaluationsRepository } from '../../src/modules/evaluations/evaluations.repository.js';
import { RUN_STATUSES } from '../../src/modules/runs/run.entity.js';
import { RunsRepository } from '../../src/modules/runs/runs.repository.js';
import { Database } from '../../src/platform/database/database.js';
import { ListCounter } from '../../src/platform/lists/list-counter.js';
import { insertEvaluation, insertRun, type Owner } from '../factories/rows.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const EVERYTHING = { limit: 10_000, offset: 0 };
const PROVIDERS = AGENT_PROVIDERS.slice(0, 2);

describe('totals of counted lists', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let manager: EntityManager;
  let counter: ListCounter;
  let owner: Owner;
  let agentIds: readonly string[];
  const clients: Client[] = [];

  const connect = async () => {
    const client = new Client({ connectionString: testDatabase.url });
    await client.connect();
    clients.push(client);
    return client;
  };

  const insertAgents = (count: number, { workspaceId, userId } = owner, provider = PROVIDERS[0]) =>
    `INSERT INTO agents (id, workspace_id, created_by_user_id, provider, assistant_id, call_monitoring)
     SELECT gen_random_uuid(), '${workspaceId}', '${userId}', '${provider}', 'a', false FROM generate_series(1, ${count})`;

  /** All counted lists by table; the correct total is the number of rows that match the list's predicate. */
  const lists = (): Record<string, (() => Promise<{ rows: unknown[]; total: number }>)[]> => ({
    agents: [undefined, ...PROVIDERS].map(
      (provider) => () => new AgentsRepository(database).page(owner.workspaceId, { provider }, EVERYTHING),
    ),
    evaluations: agentIds.map((id) => () => new EvaluationsRepository(database).page(id, EVERYTHING)),
    runs: [undefined, ...RUN_STATUSES].flatMap((status) =>
      agentIds.map((id) => () => new RunsRepository(database).page(id, { ...(status && { status }) }, EVERYTHING)),
    ),
  });

  /** Compares the counted totals with the number of rows read by the same statement. @returns the totals */
  const expectExactTotals = async (table?: string): Promise<number[]> => {
    const sizes: number[] = [];
    for (const read of table === undefined ? Object.values(lists()).flat() : lists()[table]!) {
      const { rows, total } = await read();
      expect(total).toBe(rows.length);
      sizes.push(total);
    }
    return sizes;
  };

  const addWorkspace = async (): Promise<Owner> => {
    const workspaceId = randomUUID();
    await manager.query(`INSERT INTO workspaces (id, name, plan) VALUES ($1, 'Test', 'FREE')`, [workspaceId]);
    await manager.query(`INSERT INTO users (id, workspace_id, name) VALUES ($1, $1, 'Owner')`, [workspaceId]);
    return { workspaceId, userId: workspaceId };
  };

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new Database(await createDataSource(testDatabase.url, 4).initialize());
    manager = database.manager;
    counter = new ListCounter(database);
  });
  beforeEach(async () => {
    owner = await addWorkspace();
    await manager.query(insertAgents(2));
    agentIds = (
      await manager.query<{ id: string }[]>(`SELECT id FROM agents WHERE workspace_id = $1`, [owner.workspaceId])
    ).map(({ id }) => id);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end();
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });

  it('are tested for every counted table', async () => {
    const counted = await manager.query<{ table: string }[]>(
      `SELECT DISTINCT tgrelid::regclass::text AS table FROM pg_trigger WHERE tgname LIKE '%\\_count\\_%' ORDER BY 1`,
    );
    expect(counted.map(({ table }) => table)).toEqual(Object.keys(lists()).sort());
  });

  it('change with agents that are added, deleted, restored and changed', async () => {
    const ofOwner = `WHERE workspace_id = '${owner.workspaceId}'`;
    const some = (count: number) => `id IN (SELECT id FROM agents ${ofOwner} ORDER BY id LIMIT ${count})`;
    const other = await addWorkspace();
    for (const [statement, sizes] of [
      [insertAgents(30, owner, PROVIDERS[1]), [32, 2, 30]],
      [`UPDATE agents SET provider = '${PROVIDERS[0]}' ${ofOwner} AND provider = '${PROVIDERS[1]}'`, [32, 32, 0]],
      [`UPDATE agents SET deleted_at = now() WHERE ${some(7)}`, [25, 25, 0]],
      [
        `UPDATE agents SET deleted_at = now() + interval '1 s', provider = '${PROVIDERS[1]}' WHERE ${some(8)}`,
        [24, 24, 0],
      ],
      [`UPDATE agents SET name = 'x', updated_at = now() ${ofOwner}`, [24, 24, 0]],
      [`UPDATE agents SET deleted_at = NULL WHERE ${some(3)}`, [27, 24, 3]],
      [`DELETE FROM agents WHERE ${some(4)}`, [24, 24, 0]],
      [`UPDATE agents SET workspace_id = '${other.workspaceId}' WHERE ${some(6)}`, [22, 22, 0]],
      [
        `INSERT INTO agents SELECT (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid()))).*
          FROM agents a WHERE workspace_id = '${other.workspaceId}'`,
        [22, 22, 0],
      ],
      [`DELETE FROM agents ${ofOwner}`, [0, 0, 0]],
    ] as const) {
      await manager.query(statement);
      expect(await expectExactTotals('agents')).toEqual(sizes);
      await counter.rollUp();
      expect(await expectExactTotals('agents')).toEqual(sizes);
    }
  });

  it('change with evaluations that are added, deleted, restored and moved', async () => {
    const [first, second] = agentIds as [string, string];
    const { id } = await insertEvaluation(manager, owner, first);
    await insertEvaluation(manager, owner, first);
    expect(await expectExactTotals('evaluations')).toEqual([2, 0]);
    for (const [statement, sizes] of [
      ['UPDATE evaluations SET deleted_at = now() WHERE id = $1', [1, 0]],
      ['UPDATE evaluations SET deleted_at = NULL WHERE id = $1', [2, 0]],
      [`UPDATE evaluations SET agent_id = '${second}' WHERE id = $1`, [1, 1]],
      ['DELETE FROM evaluations WHERE id = $1', [1, 0]],
    ] as const) {
      await manager.query(statement, [id]);
      expect(await expectExactTotals('evaluations')).toEqual(sizes);
    }
  });

  it('change with runs that are added and deleted', async () => {
    const [first, second] = agentIds as [string, string];
    const { id } = await insertRun(manager, owner, first);
    await insertRun(manager, owner, second, { status: 'QUEUED' });
    expect(await expectExactTotals('runs')).toEqual([1, 1, ...[0, 1], ...[0, 0], ...[1, 0], ...[0, 0], ...[0, 0]]);
    await manager.query(`UPDATE runs SET status = 'RUNNING', started_at = now() WHERE agent_id = $1`, [second]);
    await manager.query('DELETE FROM runs WHERE id = $1', [id]);
    expect(await expectExactTotals('runs')).toEqual([0, 1, ...[0, 0], ...[0, 1], ...[0, 0], ...[0, 0], ...[0, 0]]);
  });

  it('change with rows deleted by a foreign key', async () => {
    await manager.query(`ALTER TABLE evaluations DROP CONSTRAINT evaluations_agent_id_fkey,
      ADD CONSTRAINT evaluations_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents (id) ON DELETE CASCADE`);
    for (const agentId of agentIds) await insertEvaluation(manager, owner, agentId);
    await manager.query('DELETE FROM agents WHERE id = $1', [agentIds[0]]);
    expect(await expectExactTotals()).toEqual([1, 1, 0, 0, 1, ...Array<number>(12).fill(0)]);
  });

  it('include the rows of a transaction only after it has committed', async () => {
    const writer = await connect();
    await writer.query('BEGIN');
    await writer.query(insertAgents(5));
    await counter.rollUp();
    expect(await expectExactTotals('agents')).toEqual([2, 2, 0]);
    await writer.query('ROLLBACK');
    await writer.query('BEGIN');
    await writer.query(insertAgents(5));
    await writer.query('COMMIT');
    expect(await expectExactTotals('agents')).toEqual([7, 7, 0]);
  });

  it('do not change during a roll-up, in a new or an old snapshot', async () => {
    await manager.query(insertAgents(5));
    await database.transaction(async (transaction) => {
      await transaction.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      expect(await expectExactTotals('agents')).toEqual([7, 7, 0]);
      const observer = await connect();
      const other = new Database(await createDataSource(testDatabase.url, 1).initialize());
      await new ListCounter(other).rollUp();
      await other.close();
      expect((await observer.query('SELECT FROM list_deltas')).rowCount).toBe(0);
      expect(await expectExactTotals('agents')).toEqual([7, 7, 0]);
    });
    expect(await expectExactTotals('agents')).toEqual([7, 7, 0]);
  });

  it('are rolled up by one process at a time, without waiting', async () => {
    const other = await connect();
    await other.query('BEGIN');
    await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('lists:roll-up', 0))`);
    await counter.rollUp();
    expect((await other.query('SELECT FROM list_deltas')).rowCount).toBeGreaterThan(0);
    await other.query('COMMIT');
    await counter.rollUp();
    expect((await other.query('SELECT FROM list_deltas')).rowCount).toBe(0);
    expect(await expectExactTotals('agents')).toEqual([2, 2, 0]);
  });

  it('stay exact while several processes write and roll up concurrently', async () => {
    await manager.query(insertAgents(40));
    const end = Date.now() + 4_000;
    const other = await addWorkspace();
    const owners = [owner, other];
    const some = (where: string) =>
      `id IN (SELECT id FROM agents WHERE workspace_id IN ('${owner.workspaceId}', '${other.workspaceId}') AND ${where}
               ORDER BY random() LIMIT 3 FOR UPDATE SKIP LOCKED)`;
    const actions = [
      () => insertAgents(randomInt(1, 6), owners[randomInt(2)], PROVIDERS[randomInt(2)]),
      () => `UPDATE agents SET deleted_at = now() WHERE ${some('deleted_at IS NULL')}`,
      () => `UPDATE agents SET deleted_at = NULL WHERE ${some('deleted_at IS NOT NULL')}`,
      () => `UPDATE agents SET provider = '${PROVIDERS[randomInt(2)]}' WHERE ${some('true')}`,
      () => `UPDATE agents SET workspace_id = '${owners[randomInt(2)]?.workspaceId}' WHERE ${some('true')}`,
      () => `DELETE FROM agents WHERE ${some('true')}`,
    ];
    const write = async () => {
      const client = await connect();
      let transactions = 0;
      for (; Date.now() < end; transactions++) {
        await client.query('BEGIN');
        for (let i = randomInt(1, 4); i > 0; i--) await client.query(actions[randomInt(actions.length)]!());
        await client.query(randomInt(4) === 0 ? 'ROLLBACK' : 'COMMIT');
      }
      return transactions;
    };
    const rollUp = async () => {
      let times = 0;
      for (; Date.now() < end; times++) await counter.rollUp();
      return times;
    };
    const check = async () => {
      let times = 0;
      for (; Date.now() < end; times++) await expectExactTotals('agents');
      return times;
    };
    const times = await Promise.all([write(), write(), write(), rollUp(), rollUp(), check()]);
    await counter.rollUp();
    await expectExactTotals();
    expect(Math.min(...times)).toBeGreaterThan(2);
  }, 60_000);
});
