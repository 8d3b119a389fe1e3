import { hasEnded, type RunEntity } from './run.entity.js';
import type { ListedRun } from './runs.repository.js';

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

/** A run as listed, with what is known of its calls. */
export function toListedRun(row: ListedRun) {
  const { outcomes, status, meanScore } = row;
  const counted = outcomes.passed + outcomes.failed;
  const score = hasEnded(status) ? row.score : meanScore;
  return {
    ...toRun(row),
    status,
    outcomes: { ...outcomes, provisional: outcomes.provisional ?? 0 },
    score: counted === 0 ? null : score,
    passRate: counted === 0 ? null : outcomes.passed / counted,
    origin: row.origin,
    agentVersion: row.agentVersion,
    scheduleId: row.scheduleId,
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}

/** The run that a run was derived from; null for a run with calls of its own. */
export const toDerivedFrom = ({ derivedFrom, derivedKind }: Pick<RunEntity, 'derivedFrom' | 'derivedKind'>) =>
  derivedFrom === null || derivedKind === null ? null : { runId: derivedFrom, kind: derivedKind };

/** A run's metrics as defined in the contract. */
export const toMetrics = ({ status, score, totalCalls }: Pick<RunEntity, 'status' | 'score' | 'totalCalls'>) => ({
  status,
  score,
  totalCalls,
});

/** A run as sent in webhook events. */
export const toRunData = (row: RunEntity) => ({ ...toRun(row), metrics: toMetrics(row) });
