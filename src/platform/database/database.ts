import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Pool, PoolClient, QueryConfig } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { CONNECTION_TIMEOUT_MS } from './data-source-options.js';
import { surviveBrokenConnections } from './pool.js';
import { takeRows } from './rows.js';
import { needsOwnConnection, SharedConnections, subjectOf } from './shared-connections.js';
import { Turns } from './turns.js';

/** Connections for quick statements of each kind; fewer where the pool is smaller. */
const MOST_SHARED = { read: 2, write: 3 };

/** A prepared statement: the name makes the server parse and plan it once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Finds its few rows by an index, so that outside of transactions it shares a connection with others of its kind. */
  readonly quick?: 'read' | 'write';
}

interface ActiveTransaction {
  readonly manager: EntityManager;
  readonly client: PoolClient;
}

/**
 * The one way to the database: explicit SQL for what is hot or complex, TypeORM's manager for the rest, and
 * transactions that everything called inside them joins.
 */
@Injectable()
export class Database implements OnModuleInit {
  private readonly active = new AsyncLocalStorage<ActiveTransaction>();
  private transactions = 0;

  /** By kind, so that a write, which may wait for locks and for the disk, holds up no read. */
  private readonly shared = new Map<'read' | 'write', SharedConnections>();
  private readonly turns = new Turns();

  constructor(readonly dataSource: DataSource) {}

  onModuleInit(): void {
    surviveBrokenConnections(this.pool);
  }

  /** TypeORM's manager, of the transaction around the caller if there is one. */
  get manager(): EntityManager {
    return this.active.getStore()?.manager ?? this.dataSource.manager;
  }

  /** Whether the caller is inside a transaction, so that others do not see yet what it wrote. */
  get isInTransaction(): boolean {
    return this.active.getStore() !== undefined;
  }

  /** Runs one statement, in the transaction around the caller if there is one. */
  async query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { name, text, quick } = statement;
    const prepared = { name, text, values: [...values] };
    const client = this.active.getStore()?.client;
    if (quick && !client) return this.share<Row>(quick, prepared);
    return takeRows(await (client ?? this.pool).query<Row>(prepared));
  }

  /** On a shared connection, or on one of its own if it proves to be slow. */
  private async share<Row extends object>(kind: 'read' | 'write', prepared: QueryConfig): Promise<Row[]> {
    const shared = this.sharedBy(kind);
    if (shared.isWelcome(prepared)) {
      try {
        return await shared.query<Row>(prepared);
      } catch (error) {
        if (!needsOwnConnection(error)) throw error;
      }
    }
    const alone = async () => takeRows(await this.pool.query<Row>(prepared));
    const subject = subjectOf(prepared);
    // Those that wait for one row's lock must not take all connections.
    return subject === undefined ? alone() : this.turns.run(subject, CONNECTION_TIMEOUT_MS, alone);
  }

  /** Runs `work` in a transaction; inside another one it simply joins it. */
  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const outer = this.active.getStore();
    if (outer) return work(outer.manager);
    this.transactions++;
    try {
      return await this.dataSource.transaction(async (manager) => {
        // TypeORM types the client of every driver alike; with `pg` it is the pool's client.
        const client = (await manager.queryRunner?.connect()) as PoolClient;
        return this.active.run({ manager, client }, () => work(manager));
      });
    } finally {
      // While it is in use, Node follows every promise of the process; reads need not pay for that.
      if (--this.transactions === 0) this.active.disable();
    }
  }

  /** Connections of the pool: in use or idle, idle, and requests that wait for one; and those that statements share. */
  get poolState(): { total: number; idle: number; waiting: number; shared: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.pool;
    const shared = [...this.shared.values()].reduce((sum, { openCount }) => sum + openCount, 0);
    return { total, idle, waiting, shared };
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.shared.values()].map((connections) => connections.close()));
    await this.dataSource.destroy();
  }

  private sharedBy(kind: 'read' | 'write'): SharedConnections {
    let connections = this.shared.get(kind);
    if (!connections) {
      connections = new SharedConnections(this.pool, Math.min(MOST_SHARED[kind], this.pool.options.max));
      this.shared.set(kind, connections);
    }
    return connections;
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }
}
