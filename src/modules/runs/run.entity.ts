import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { VariablesRow } from '../../../libs/evaluation-definition/index.js';
import type { GateExitCode } from '../../../libs/statistics/index.js';
import { UpdatedRow } from '../../platform/database/timestamps.js';
import type { AgentType } from '../agents/agents.service.js';
import type { AgentProvider } from '../../platform/config/agent-providers.js';
import { oneOf } from '../../platform/database/checks.js';
import { MEDIA, type Medium } from './call.entity.js';

export const RUN_LABELS = ['READ'] as const;
export type RunLabel = (typeof RUN_LABELS)[number];

/** QUEUED → RUNNING → COMPLETED (gate met), FAILED (gate not met, or it could not be executed) or CANCELLED. */
export const RUN_STATUSES = ['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Whose calls it has. */
export const RUN_ORIGINS = ['test', 'import', 'production'] as const;
export type RunOrigin = (typeof RUN_ORIGINS)[number];

export const hasEnded = (status: RunStatus): boolean => status !== 'QUEUED' && status !== 'RUNNING';

/** How a run judges the calls of another one again, without calling the agent. */
export const DERIVED_KINDS = ['remeasure', 'rejudge'] as const;
export type DerivedKind = (typeof DERIVED_KINDS)[number];

/** Attempts at a call that its platform may bill, unless a run says otherwise. */
export const MAX_PAID_ATTEMPTS = 2;

/** Calls of a run to telephone numbers. */
export interface PlannedDialling {
  readonly numbers: { readonly number: string; readonly of: 'agent' | 'evaluation' }[];
  readonly calls: number;
  readonly maxMinutes: number;
}

/** The agent at the start of the run, without its key: calls use the current one. */
export interface AgentSnapshot {
  readonly name: string | null;
  readonly provider: AgentProvider;
  readonly assistantId: string;
  /** Missing in runs of earlier versions. */
  readonly type?: AgentType | null;
  /** Telephone numbers that ring; null without any. Missing in runs of earlier versions, and in those that call nobody. */
  readonly dialling?: PlannedDialling | null;
}

/** Calls of a run by outcome. */
export interface Outcomes {
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly error: number;
  readonly cancelled: number;
  readonly pending: number;
  /** Ended calls of provisional evaluations, which have none of the other outcomes here. Missing in runs of earlier versions. */
  readonly provisional?: number;
}

/** One execution of an agent's evaluations. */
@Entity('runs')
@Index('runs_list_idx', ['agentId', 'createdAt', 'id'])
@Index('runs_status_idx', ['agentId', 'status', 'createdAt', 'id'])
@Index('runs_open_idx', ['workspaceId', 'agentId', 'createdAt', 'id'], { where: `status IN ('QUEUED', 'RUNNING')` })
@Index('runs_ended_idx', ['agentId', 'endedAt'], { where: 'ended_at IS NOT NULL' })
@Index('runs_transcripts_idx', ['endedAt'], { where: 'ended_at IS NOT NULL AND transcripts_deleted_at IS NULL' })
@Index('runs_derived_transcripts_idx', ['derivedFrom'], {
  where: 'derived_from IS NOT NULL AND transcripts_deleted_at IS NULL',
})
@Index('runs_schedule_idx', ['scheduleId', 'createdAt', 'id'], { where: 'schedule_id IS NOT NULL' })
@Index('runs_ended_at_idx', ['endedAt'], { where: 'ended_at IS NOT NULL' })
@Index('runs_day_key', ['agentId', 'day'], { unique: true, where: 'day IS NOT NULL' })
@Index('runs_origin_idx', ['agentId', 'origin', 'createdAt', 'id'])
@Check('runs_origin_check', oneOf('origin', RUN_ORIGINS))
@Check('runs_label_check', `label IN ('READ')`)
@Check('runs_status_check', `status IN (${RUN_STATUSES.map((s) => `'${s}'`).join(', ')})`)
@Check('runs_medium_check', oneOf('medium', MEDIA))
@Check('runs_derived_kind_check', oneOf('derived_kind', DERIVED_KINDS))
@Check('runs_derived_check', '(derived_from IS NULL) = (derived_kind IS NULL)')
@Check('runs_score_check', 'score BETWEEN 0 AND 100')
@Check('runs_repeat_check', 'repeat BETWEEN 1 AND 10000')
@Check('runs_concurrency_check', 'concurrency BETWEEN 1 AND 100')
@Check('runs_minimum_score_check', 'minimum_score BETWEEN 0 AND 100')
@Check('runs_minimum_pass_rate_check', 'minimum_pass_rate BETWEEN 0 AND 1')
@Check('runs_allowed_uncounted_check', 'allowed_uncounted BETWEEN 0 AND 10000')
@Check('runs_max_paid_attempts_check', 'max_paid_attempts BETWEEN 1 AND 3')
@Check('runs_exit_code_check', 'exit_code BETWEEN 0 AND 2')
export class RunEntity extends UpdatedRow {
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

  /** 0 to 100 with at most one decimal; 0 until the run has ended, and if no call was counted. */
  @Column({ type: 'double precision' })
  score: number;

  /** Number of planned calls, in any state. */
  @Column({ name: 'total_calls', type: 'integer' })
  totalCalls: number;

  /** Calls per evaluation. */
  @Column({ type: 'integer' })
  repeat: number;

  /** Maximum number of concurrent calls to the agent. */
  @Column({ type: 'integer' })
  concurrency: number;

  /** Minimum score of the gate; null for none. */
  @Column({ name: 'minimum_score', type: 'double precision', nullable: true })
  minimumScore: number | null;

  /** Minimum share of passed among counted calls, 0 to 1; null for none. */
  @Column({ name: 'minimum_pass_rate', type: 'double precision', nullable: true })
  minimumPassRate: number | null;

  /** Number of calls that may end as `error` or `invalid`. */
  @Column({ name: 'allowed_uncounted', type: 'integer', default: 0 })
  allowedUncounted: number;

  /** Run that no case may be worse than: an id, or `previous`; null for none. */
  @Column({ name: 'not_worse_than', type: 'text', nullable: true })
  notWorseThan: string | null;

  /** The run that its gate compares with; it may be deleted: its figures are in `run_baselines`. */
  @Column({ name: 'baseline_id', type: 'uuid', nullable: true })
  baselineRunId: string | null;

  /** Exit code that the gate decides on; null until the run has ended. */
  @Column({ name: 'exit_code', type: 'smallint', nullable: true })
  exitCode: GateExitCode | null;

  /** Version of the agent as given at the start, for instance a commit; of a schedule's run else that of its platform. */
  @Column({ name: 'agent_version', type: 'text', nullable: true })
  agentVersion: string | null;

  /** Medium that was asked for at the start; null: that of the agent's protocol. */
  @Column({ type: 'text', nullable: true })
  medium: Medium | null;

  /** Dynamic variables for the agent's platform, above those of the connection. */
  @Column({ name: 'agent_variables', type: 'jsonb', default: {} })
  agentVariables: VariablesRow;

  /** Version of the agent that the platform is asked for; null for its own choice. */
  @Column({ name: 'assistant_version', type: 'text', nullable: true })
  assistantVersion: string | null;

  /** Attempts at a call that a platform may bill. */
  @Column({ name: 'max_paid_attempts', type: 'smallint', default: MAX_PAID_ATTEMPTS })
  maxPaidAttempts: number;

  /** The schedule that started it. No foreign key: a deleted schedule leaves its runs. Null for others, also derived ones. */
  @Column({ name: 'schedule_id', type: 'uuid', nullable: true })
  scheduleId: string | null;

  /** The run whose calls it judges again; it may be deleted. Null for a run with calls of its own. */
  @Column({ name: 'derived_from', type: 'uuid', nullable: true })
  derivedFrom: string | null;

  /** Null without `derivedFrom`. */
  @Column({ name: 'derived_kind', type: 'text', nullable: true })
  derivedKind: DerivedKind | null;

  /** Whether its call was recorded elsewhere: the agent was not called. */
  @Column({ name: 'is_imported', type: 'boolean', default: false })
  isImported: boolean;

  @Column({ type: 'text', default: 'test' })
  origin: RunOrigin;

  /** The UTC day whose production calls it has, `YYYY-MM-DD`; null for other runs. */
  @Column({ type: 'date', nullable: true })
  day: string | null;

  /** Until when calls of its day are expected. */
  @Column({ name: 'open_until', type: 'timestamptz', precision: 3, nullable: true })
  openUntil: Date | null;

  /** Planned calls of the run that it is derived from that it does not have: they count as not tested. */
  @Column({ name: 'left_out_calls', type: 'integer', default: 0 })
  leftOutCalls: number;

  /** Names of critical cases of that run of which it has no call. */
  @Column({ name: 'left_out_critical', type: 'text', array: true, default: () => `'{}'` })
  leftOutCritical: string[];

  @Column({ name: 'agent_snapshot', type: 'jsonb' })
  agentSnapshot: AgentSnapshot;

  /** Why the gate is not met, one sentence each. */
  @Column({ type: 'text', array: true })
  reasons: string[];

  /** What a derived run leaves out, and what the gate could not compare once the run has ended, one sentence each. */
  @Column({ type: 'text', array: true, default: () => `'{}'` })
  warnings: string[];

  /** Its calls by outcome; null until it has ended, and for runs of earlier versions. */
  @Column({ type: 'jsonb', nullable: true })
  outcomes: Outcomes | null;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3, nullable: true })
  startedAt: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt: Date | null;

  /** When the texts of its voice calls were deleted (TRANSCRIPT_RETENTION_DAYS); also set on runs that have none. */
  @Column({ name: 'transcripts_deleted_at', type: 'timestamptz', precision: 3, nullable: true })
  transcriptsDeletedAt: Date | null;
}
