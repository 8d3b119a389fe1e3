import { Check, Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn, UpdateDateColumn } from 'typeorm';

export const RUN_LABELS = ['READ'] as const;
export type RunLabel = (typeof RUN_LABELS)[number];

/** QUEUED → RUNNING → COMPLETED (gate met), FAILED (gate not met, or it could not be carried out) or CANCELLED. */
export const RUN_STATUSES = ['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** One start of an agent's evaluations. */
@Entity('runs')
@Index('runs_list_idx', ['agentId', 'createdAt', 'id'])
@Check('runs_label_check', `label IN ('READ')`)
@Check('runs_status_check', `status IN (${RUN_STATUSES.map((s) => `'${s}'`).join(', ')})`)
@Check('runs_score_check', 'score BETWEEN 0 AND 100')
export class RunEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'runs_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'runs_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('AgentEntity', { name: 'runs_agent_id_fkey' })
  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  @ForeignKey('UserEntity', { name: 'runs_user_id_fkey' })
  @Column({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ type: 'text' })
  label: RunLabel;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  status: RunStatus;

  /** 0 to 100, one decimal at most; 0 while no call has ended. */
  @Column({ type: 'double precision' })
  score: number;

  /** Calls planned, whatever their state. */
  @Column({ name: 'total_calls', type: 'integer' })
  totalCalls: number;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt: Date;
}
