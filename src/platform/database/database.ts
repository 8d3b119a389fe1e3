import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { type FairPool, onBehalfOfService } from './fair-pool.js';
import { poolOf } from './pool.js';

export interface QueryOptions {
  /** False for a text that depends on the request, for instance a search: it is planned for its values each time. */
  readonly isPrepared?: boolean;
}

interface ActiveTransaction {
  readonly manager: EntityManager;
  readonly client: PoolClient;
}

/**
 * Access to PostgreSQL: SQL through `query`, entities through TypeORM's `manager`, and transactions that everything
 * called inside them joins.
 *
 * @example
 * const FIND = 'SELECT id, name FROM agents WHERE id = $1';
 * const [agent] = await database.query<AgentRow>(FIND, [id]);
 */
@Injectable()
export class Database {
  private readonly active = new AsyncLocalStorage<ActiveTransaction>();

  constructor(readonly dataSource: DataSource) {}

  /** TypeORM's manager, bound to the caller's transaction if there is one. */
  get manager(): EntityManager {
    return this.active.getStore()?.manager ?? this.dataSource.manager;
  }

  /** Whether the caller is inside a transaction, so that others do not see its writes yet. */
  get isInTransaction(): boolean {
    return this.active.getStore() !== undefined;
  }

  /**
   * Runs one statement, in the caller's transaction if there is one.
   * @param text is parsed and planned once per connection, unless `isPrepared` is false
   * @throws the driver's errors; see `isDatabaseUnavailable` and `isUniqueViolation`
   */
  async query<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
    { isPrepared = true }: QueryOptions = {},
  ): Promise<Row[]> {
    const client = this.active.getStore()?.client ?? this.pool;
    const name = isPrepared ? statementName(text) : '';
    const result = await client.query<Row>({ name, text, values: [...values] });
    // Takes the rows out of the result, which V8 keeps until the next full collection (decision 63).
    return result.rows.splice(0);
  }

  /** Runs `work` outside of the caller's transaction: what others must see before that ends. */
  withoutTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.active.exit(work);
  }

  /** Runs `work` in a transaction; inside another one it joins that. */
  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const outer = this.active.getStore();
    if (outer) return work(outer.manager);
    return this.dataSource.transaction(async (manager) => {
      // TypeORM does not type the driver's client; with `pg` it is the pool's.
      const client = (await manager.queryRunner?.connect()) as PoolClient;
      // What holds a connection never waits for its workspace's share: it could be waiting for itself.
      return onBehalfOfService(() => this.active.run({ manager, client }, () => work(manager)));
    });
  }

  /** Connections of the pool: all, idle ones, and the number of callers that wait for one. */
  get poolState(): { total: number; idle: number; waiting: number } {
    const { totalCount: total, idleCount: idle, waitingCount, waitingForShare } = this.pool;
    return { total, idle, waiting: waitingCount + waitingForShare };
  }

  /** @throws the driver's error when the database does not respond, another one when it refuses writes, as a standby does */
  async requireWritable(): Promise<void> {
    const [row] = await this.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
    if (row?.transaction_read_only !== 'off') throw new Error('The database is read-only');
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await this.dataSource.destroy();
    // Node keeps a storage until then, and copies it at each asynchronous operation of the process.
    this.active.disable();
  }

  private get pool(): FairPool {
    return poolOf(this.dataSource);
  }
}

const statementNames = new Map<string, string>();

/** PostgreSQL knows prepared statements by name, of at most 63 bytes; equal texts share one. */
function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url');
    statementNames.set(text, name);
  }
  return name;
}
