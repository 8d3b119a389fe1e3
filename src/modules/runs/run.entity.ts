import { Check, Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { AgentProvider } from '../../platform/config/agent-providers.js';

export const RUN_LABELS = ['READ'] as const;
export type RunLabel = (typeof RUN_LABELS)[number];

/** QUEUED → RUNNING → COMPLETED (gate met), FAILED (gate not met, or it could not be carried out) or CANCELLED. */
export const RUN_STATUSES = ['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const hasEnded = (status: RunStatus): boolean => status !== 'QUEUED' && status !== 'RUNNING';

/** The agent as the calls of a run use it; its key is read when a call begins, so that a new one works at once. */
export interface AgentSnapshot {
  readonly name: string | null;
  readonly provider: AgentProvider;
  readonly assistantId: string;
}

/** One start of an agent's evaluations. */
@Entity('runs')
@Index('runs_list_idx', ['agentId', 'createdAt', 'id'])
@Index('runs_open_idx', ['id'], { where: `status IN ('QUEUED', 'RUNNING')` })
@Index('runs_ended_idx', ['agentId', 'endedAt'], { where: 'ended_at IS NOT NULL' })
@Check('runs_label_check', `label IN ('READ')`)
@Check('runs_status_check', `status IN (${RUN_STATUSES.map((s) => `'${s}'`).join(', ')})`)
@Check('runs_score_check', 'score BETWEEN 0 AND 100')
@Check('runs_repeat_check', 'repeat BETWEEN 1 AND 50')
@Check('runs_concurrency_check', 'concurrency BETWEEN 1 AND 100')
@Check('runs_minimum_score_check', 'minimum_score BETWEEN 0 AND 100')
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

  /** 0 to 100, one decimal at most; 0 until the run has ended, and when no call of it could be counted. */
  @Column({ type: 'double precision' })
  score: number;

  /** Calls planned, whatever their state. */
  @Column({ name: 'total_calls', type: 'integer' })
  totalCalls: number;

  /** Calls of each evaluation. */
  @Column({ type: 'integer' })
  repeat: number;

  /** Most calls of the agent at once. */
  @Column({ type: 'integer' })
  concurrency: number;

  /** The gate's score; null asks for none. */
  @Column({ name: 'minimum_score', type: 'double precision', nullable: true })
  minimumScore: number | null;

  @Column({ name: 'agent_snapshot', type: 'jsonb' })
  agentSnapshot: AgentSnapshot;

  /** Why the gate is not met, each a sentence. */
  @Column({ type: 'text', array: true })
  reasons: string[];

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3, nullable: true })
  startedAt: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt: Date;
}
