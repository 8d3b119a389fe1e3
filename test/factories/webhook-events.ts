import { randomUUID } from 'node:crypto';
import type { RunData } from '../../src/modules/webhooks/webhook-event.js';
import type { Owner } from './rows.js';

/** The run in the data of a webhook event. */
export function runData({ workspaceId, userId }: Owner, values: Partial<RunData> = {}): RunData {
  const now = new Date().toISOString();
  return {
    id: randomUUID(),
    name: 'Nightly',
    label: 'READ',
    agentId: randomUUID(),
    workspaceId,
    userId,
    createdAt: now,
    updatedAt: now,
    metrics: { status: 'COMPLETED', score: 92.5, totalCalls: 12 },
    ...values,
  };
}
