import type { RunEntity } from './run.entity.js';

/** A run as defined in the contract. */
export const toRun = (row: RunEntity) => ({
  label: row.label,
  id: row.id,
  name: row.name,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  userId: row.userId,
  workspaceId: row.workspaceId,
  agentId: row.agentId,
});

/** A run's metrics as defined in the contract. */
export const toMetrics = ({ status, score, totalCalls }: Pick<RunEntity, 'status' | 'score' | 'totalCalls'>) => ({
  status,
  score,
  totalCalls,
});

/** A run as sent in webhook events. */
export const toRunData = (row: RunEntity) => ({ ...toRun(row), metrics: toMetrics(row) });
