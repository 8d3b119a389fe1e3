import { defineJob } from '../../platform/queue/job.js';

/** Deletes runs that ended too long ago, and the calls of deleted runs. Queued by every deletion, and hourly. */
export const PRUNE_RUNS = defineJob<object>({
  name: 'runs.prune',
  kind: 'maintenance',
  cron: '41 * * * *',
});

/** Deletes the texts of voice calls whose runs ended too long ago. Hourly. */
export const PRUNE_TRANSCRIPTS = defineJob<object>({
  name: 'runs.prune-transcripts',
  kind: 'maintenance',
  cron: '26 * * * *',
});
