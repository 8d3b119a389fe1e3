import type { Database } from '../../../platform/database/database.js';

/** Channels of PostgreSQL's NOTIFY; the payload is the run's id. */
export const RUN_CANCELLED = 'run_cancelled';
export const RUN_ENDED = 'run_ended';

const NOTIFY = 'SELECT pg_notify(channel, $2) FROM unnest($1::text[]) channel';

/** Tells every process, once the transaction around the caller is committed. */
export async function notifyEnded(
  database: Database,
  runId: string,
  { isCancelled = false }: { isCancelled?: boolean } = {},
): Promise<void> {
  await database.query(NOTIFY, [isCancelled ? [RUN_ENDED, RUN_CANCELLED] : [RUN_ENDED], runId]);
}
