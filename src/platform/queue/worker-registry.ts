import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { isAlive, machineId } from './machine.js';

/** A process that has not been seen for this long counts as dead. */
export const DEAD_AFTER_SECONDS = 20;

/**
 * A fetch whose answer was lost has locked jobs in the name of a living process that does not know of them.
 * graphile-worker has no function for single jobs, hence its private table; none of ours has a named queue.
 */
const FREE_LOST = `
  UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL
   WHERE locked_by = ANY($1) AND locked_at < now() - interval '${DEAD_AFTER_SECONDS} seconds' AND NOT id = ANY($2::bigint[])`;

/**
 * Which processes carry out jobs. graphile-worker frees the jobs of a dead process after four hours; here they are
 * free within half a minute. A process that was only paused may then find its job carried out twice.
 */
export class WorkerRegistry {
  readonly id = randomUUID();
  /** The names under which this process locks jobs, each with those that are under way, or about to be. */
  private readonly pools = new Map<string, Set<string>>();
  private readonly machine = machineId();

  constructor(private readonly database: Pool) {}

  /** @param pool name under which this process locks jobs from now on */
  add(pool: string): void {
    this.pools.set(pool, new Set());
  }

  /** Frees what a pool of this process that has ended still held. */
  async remove(pool: string): Promise<void> {
    this.pools.delete(pool);
    await this.unlock([pool]);
  }

  /** @param jobs that a pool of this process has fetched */
  hold(pool: string, jobs: readonly { readonly id: string }[]): void {
    for (const { id } of jobs) this.pools.get(pool)?.add(id);
  }

  /** @param jobs that have ended or were given back */
  letGo(pool: string, jobs: readonly { readonly id: string }[]): void {
    for (const { id } of jobs) this.pools.get(pool)?.delete(id);
  }

  /** Says that this process is alive. */
  async beat(): Promise<void> {
    await this.database.query(
      `INSERT INTO queue_workers (id, pools, machine, pid, started_at, seen_at) VALUES ($1, $2, $3, $4, now(), now())
       ON CONFLICT (id) DO UPDATE SET pools = excluded.pools, seen_at = now()`,
      [this.id, [...this.pools.keys()], this.machine, process.pid],
    );
  }

  /** Forgets processes of this machine that are gone, as after `kill -9` and a restart. */
  async forgetGone(): Promise<void> {
    const { rows } = await this.database.query<{ id: string; pid: number; pools: string[] }>(
      'SELECT id, pid, pools FROM queue_workers WHERE machine = $1 AND id <> $2',
      [this.machine, this.id],
    );
    // A process of ours with our own number is an earlier life of it, unless this one has two applications (tests).
    const gone = rows.filter(({ pid }) => pid !== process.pid && !isAlive(pid));
    if (gone.length === 0) return;
    await this.database.query('DELETE FROM queue_workers WHERE id = ANY($1)', [gone.map(({ id }) => id)]);
    await this.unlock(gone.flatMap(({ pools }) => pools));
  }

  /** Forgets processes that have not been seen for too long, and frees all jobs that no living process holds. */
  async sweep(): Promise<void> {
    await this.database.query(
      `DELETE FROM queue_workers WHERE seen_at < now() - interval '${DEAD_AFTER_SECONDS} seconds'`,
    );
    // Not only those of the processes just forgotten: a paused one may have come back for a moment. A pool that is
    // new may not have been entered yet, hence the age.
    const { rows } = await this.database.query<{ lockedBy: string }>(
      `SELECT DISTINCT locked_by AS "lockedBy" FROM graphile_worker.jobs
        WHERE locked_at < now() - interval '${DEAD_AFTER_SECONDS} seconds'
          AND locked_by NOT IN (SELECT unnest(pools) FROM queue_workers)`,
    );
    await this.unlock(rows.map(({ lockedBy }) => lockedBy));
    const held = [...this.pools.values()].flatMap((jobs) => [...jobs]);
    await this.database.query(FREE_LOST, [[...this.pools.keys()], held]);
  }

  /** Leaves in an orderly way: nothing that this process held stays locked. */
  async leave(): Promise<void> {
    await this.database.query('DELETE FROM queue_workers WHERE id = $1', [this.id]);
    await this.unlock([...this.pools.keys()]);
  }

  private async unlock(pools: readonly string[]): Promise<void> {
    if (pools.length > 0) await this.database.query('SELECT graphile_worker.force_unlock_workers($1)', [pools]);
  }
}
