import { sql } from './sql.js';

/** Cancels all runs, so that a test claims no calls of the tests before it. */
export async function endOpenRuns(databaseUrl: string): Promise<void> {
  await sql(
    databaseUrl,
    `WITH calls AS (
       UPDATE calls SET status = 'CANCELLED', claim_id = NULL, lease_until = NULL WHERE status IN ('QUEUED', 'RUNNING'))
     UPDATE runs SET status = 'CANCELLED', ended_at = now() WHERE status IN ('QUEUED', 'RUNNING')`,
  );
}
