import { AsyncLocalStorage } from 'node:async_hooks';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { workspaceShare } from '../workspace-share.js';
import { ConnectionShareTimeout } from './failures.js';

const owner = new AsyncLocalStorage<string | undefined>();

/** Runs `work`: connections that it takes from a `FairPool` count as those of the workspace. */
export const onBehalfOf = <T>(workspaceId: string, work: () => T): T => owner.run(workspaceId, work);

/** Runs `work` for the service itself: no limit of a workspace applies to its connections. */
export const onBehalfOfService = <T>(work: () => T): T => owner.run(undefined, work);

type Connected = (error: Error | undefined, client: PoolClient | undefined, release: () => void) => void;

interface WorkspaceConnections {
  /** Connections that the workspace holds or the pool is about to give it. */
  used: number;
  /** Requests for a connection beyond the share, in order of arrival. */
  readonly waiting: Set<() => void>;
}

/**
 * A pool of which one workspace holds at most its share (decision 76). Its further requests for a connection wait here,
 * in order of arrival and not in the queue of the pool, so that those of other workspaces are never behind them.
 */
export class FairPool extends Pool {
  private readonly share: number;
  private readonly workspaces = new Map<string, WorkspaceConnections>();
  private readonly holders = new WeakMap<PoolClient, string>();

  constructor(config: PoolConfig & { readonly connectionTimeoutMillis: number }) {
    super(config);
    this.share = workspaceShare(this.options.max);
    this.on('release', (_error, client) => {
      const holder = this.holders.get(client);
      this.holders.delete(client);
      // Only after this event the connection is idle; before, the next request would open another one.
      if (holder !== undefined) process.nextTick(() => this.leave(holder));
    });
  }

  /** Number of requests for a connection that wait because their workspace holds its share. */
  get waitingForShare(): number {
    return [...this.workspaces.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /** All ways to a connection end here: `query` of the pool and TypeORM's query runners call it with a callback. */
  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | void {
    const workspaceId = owner.getStore();
    if (workspaceId === undefined) return callback ? super.connect(callback) : super.connect();
    if (callback) return this.connectWithinShare(workspaceId, callback);
    return new Promise((resolve, reject) => {
      this.connectWithinShare(workspaceId, (error, client) => (error ? reject(error) : resolve(client as PoolClient)));
    });
  }

  /** @param callback receives a `ConnectionShareTimeout` if no connection is free in time */
  private connectWithinShare(workspaceId: string, callback: Connected): void {
    const connections = this.workspaces.get(workspaceId) ?? { used: 0, waiting: new Set() };
    this.workspaces.set(workspaceId, connections);
    const start = () => {
      connections.used++;
      super.connect((error, client, release) => {
        if (client) this.holders.set(client, workspaceId);
        else this.leave(workspaceId);
        callback(error, client, release);
      });
    };
    if (connections.used < this.share) return start();
    const timeout = setTimeout(() => {
      connections.waiting.delete(waiter);
      callback(new ConnectionShareTimeout(), undefined, () => undefined);
    }, this.options.connectionTimeoutMillis);
    const waiter = () => {
      clearTimeout(timeout);
      start();
    };
    connections.waiting.add(waiter);
  }

  private leave(workspaceId: string): void {
    const connections = this.workspaces.get(workspaceId);
    if (!connections) return;
    connections.used--;
    const [next] = connections.waiting;
    if (next) {
      connections.waiting.delete(next);
      next();
    } else if (connections.used === 0) this.workspaces.delete(workspaceId);
  }
}
