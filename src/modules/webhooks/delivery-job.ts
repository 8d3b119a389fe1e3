import { defineJob } from '../../platform/queue/job.js';

/** One attempt at one delivery. */
export const DELIVER = defineJob<{ readonly deliveryId: string; readonly targetId: string }>({
  name: 'webhooks.deliver',
  kind: 'webhooks',
});

/** Deletes events that were kept for long enough. */
export const PRUNE = defineJob<object>({
  name: 'webhooks.prune',
  kind: 'maintenance',
  maxAttempts: 3,
  cron: '23 * * * *',
});

/** At most one job waits for each delivery. */
export const deliveryKey = (deliveryId: string) => `webhook:${deliveryId}`;
