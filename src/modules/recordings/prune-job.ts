import { defineJob } from '../../platform/queue/job.js';

/** Deletes recordings that are too old, and files that belong to no recording. Hourly, and when a process starts. */
export const PRUNE_RECORDINGS = defineJob<object>({
  name: 'recordings.prune',
  kind: 'maintenance',
  cron: '11 * * * *',
});
