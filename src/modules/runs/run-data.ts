import type { RunEntity } from './run.entity.js';

/** A run as the contract has it. */
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

/** A run's metrics as the contract has them. */
export const toMetrics = ({ status, score, totalCalls }: Pick<RunEntity, 'status' | 'score' | 'totalCalls'>) => ({
  status,
  score,
  totalCalls,
});

/** A run as the events of webhooks have it. */
export const toRunData = (row: RunEntity) => ({ ...toRun(row), metrics: toMetrics(row) });
