import { defineJob } from '../../../platform/queue/job.js';

/** Deletes runs that ended too long ago, and the calls of deleted runs. Queued by every deletion, and hourly. */
export const PRUNE_RUNS = defineJob<object>({
  name: 'runs.prune',
  kind: 'maintenance',
  cron: '41 * * * *',
});
