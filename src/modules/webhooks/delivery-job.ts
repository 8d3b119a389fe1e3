import { defineJob } from '../../platform/queue/job.js';

/** One attempt at one delivery. */
export const DELIVER = defineJob<{ readonly deliveryId: string; readonly targetId: string }>({
  name: 'webhooks.deliver',
  kind: 'webhooks',
});

/** Deletes events whose deliveries ended too long ago (DELIVERY_RETENTION_DAYS). */
export const PRUNE = defineJob<object>({
  name: 'webhooks.prune',
  kind: 'maintenance',
  maxAttempts: 3,
  cron: '23 * * * *',
});

/** Ensures at most one queued job per delivery. */
export const deliveryKey = (deliveryId: string) => `webhook:${deliveryId}`;
