import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { isAlive, machineId } from './machine.js';

/** A process that has not been seen for this long counts as dead. */
export const DEAD_AFTER_SECONDS = 20;

/**
 * A fetch whose result was lost has locked jobs for a living process that does not know about them. graphile-worker has no
 * function that unlocks single jobs, hence its private table; none of our jobs has a named queue.
 */
const FREE_LOST = `
  UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL
   WHERE locked_by = ANY($1) AND locked_at < now() - interval '${DEAD_AFTER_SECONDS} seconds' AND NOT id = ANY($2::bigint[])`;

/**
 * Registry of the processes that run jobs. graphile-worker unlocks the jobs of a dead process after four hours; here they
 * are unlocked within half a minute. The job of a process that was only paused may then run twice.
 */
export class WorkerRegistry {
  readonly id = randomUUID();
  /** Names under which this process locks jobs, each with the ids of its fetched and running jobs. */
  private readonly pools = new Map<string, Set<string>>();
  private readonly machine = machineId();

  constructor(private readonly database: Pool) {}

  /** @param pool name under which this process locks jobs from now on */
  add(pool: string): void {
    this.pools.set(pool, new Set());
  }

  /** Unlocks the remaining jobs of a pool that has ended. */
  async remove(pool: string): Promise<void> {
    this.pools.delete(pool);
    await this.unlock([pool]);
  }

  /** @param jobs that a pool of this process has fetched */
  track(pool: string, jobs: readonly { readonly id: string }[]): void {
    for (const { id } of jobs) this.pools.get(pool)?.add(id);
  }

  /** @param jobs that have ended or were returned to the queue */
  untrack(pool: string, jobs: readonly { readonly id: string }[]): void {
    for (const { id } of jobs) this.pools.get(pool)?.delete(id);
  }

  /** Records that this process is alive. It starts again if it counted as dead: its machine slept, or the database was away. */
  async heartbeat(): Promise<void> {
    await this.database.query(
      `INSERT INTO queue_workers (id, pools, machine, pid, started_at, seen_at) VALUES ($1, $2, $3, $4, now(), now())
       ON CONFLICT (id) DO UPDATE SET pools = excluded.pools, seen_at = now(), started_at = CASE
         WHEN queue_workers.seen_at < now() - interval '${DEAD_AFTER_SECONDS} seconds' THEN now()
         ELSE queue_workers.started_at END`,
      [this.id, [...this.pools.keys()], this.machine, process.pid],
    );
  }

  /** Removes dead processes of this machine, for instance after `kill -9` and a restart. */
  async forgetGone(): Promise<void> {
    const { rows } = await this.database.query<{ id: string; pid: number; pools: string[] }>(
      'SELECT id, pid, pools FROM queue_workers WHERE machine = $1 AND id <> $2',
      [this.machine, this.id],
    );
    // In tests one process has several applications, so its own process id proves nothing.
    const gone = rows.filter(({ pid }) => pid !== process.pid && !isAlive(pid));
    if (gone.length === 0) return;
    await this.database.query('DELETE FROM queue_workers WHERE id = ANY($1)', [gone.map(({ id }) => id)]);
    await this.unlock(gone.flatMap(({ pools }) => pools));
  }

  /** Removes processes without a recent heartbeat, and unlocks all jobs that no living process owns. */
  async sweep(): Promise<void> {
    await this.database.query(
      `DELETE FROM queue_workers WHERE seen_at < now() - interval '${DEAD_AFTER_SECONDS} seconds'`,
    );
    // Not only jobs of the processes just removed: a paused one may have resumed for a moment. The age spares pools that
    // are too new to be registered.
    const { rows } = await this.database.query<{ lockedBy: string }>(
      `SELECT DISTINCT locked_by AS "lockedBy" FROM graphile_worker.jobs
        WHERE locked_at < now() - interval '${DEAD_AFTER_SECONDS} seconds'
          AND locked_by NOT IN (SELECT unnest(pools) FROM queue_workers)`,
    );
    await this.unlock(rows.map(({ lockedBy }) => lockedBy));
    const held = [...this.pools.values()].flatMap((jobs) => [...jobs]);
    await this.database.query(FREE_LOST, [[...this.pools.keys()], held]);
  }

  /** Removes this process and unlocks its jobs. */
  async leave(): Promise<void> {
    await this.database.query('DELETE FROM queue_workers WHERE id = $1', [this.id]);
    await this.unlock([...this.pools.keys()]);
  }

  private async unlock(pools: readonly string[]): Promise<void> {
    if (pools.length > 0) await this.database.query('SELECT graphile_worker.force_unlock_workers($1)', [pools]);
  }
}
