import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { VariablesRow } from '../../../libs/evaluation-definition/index.js';
import type { Attempt, Medium, ProtocolName } from '../../../libs/simulation/index.js';
import type { Outcome } from '../../../libs/statistics/index.js';
import { oneOf } from '../../platform/database/checks.js';
import { UpdatedRow } from '../../platform/database/timestamps.js';

/** QUEUED → RUNNING → ENDED, or CANCELLED; back to QUEUED for a retry or when its lease expired. */
export const CALL_STATUSES = ['QUEUED', 'RUNNING', 'ENDED', 'CANCELLED'] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

export const OUTCOMES = ['passed', 'failed', 'invalid', 'error'] as const satisfies readonly Outcome[];

export const MEDIA = ['text', 'voice'] as const satisfies readonly Medium[];
export type { Medium };

/** One conversation with the agent: the unit of work, of retry and of result. */
@Entity('calls')
@Index('calls_position_key', ['runId', 'position'], { unique: true })
@Index('calls_list_idx', ['runId', 'createdAt', 'id'])
@Index('calls_agent_idx', ['agentId', 'createdAt', 'id'])
@Index('calls_changed_idx', ['runId', 'changedIn'])
@Index('calls_queued_idx', ['runId', 'medium', 'position'], { where: `status = 'QUEUED'` })
@Index('calls_running_idx', ['workspaceId', 'agentId', 'medium'], { where: `status = 'RUNNING'` })
@Index('calls_open_idx', ['runId'], { where: `status IN ('QUEUED', 'RUNNING')` })
@Check('calls_status_check', oneOf('status', CALL_STATUSES))
@Check('calls_outcome_check', oneOf('outcome', OUTCOMES))
@Check('calls_medium_check', oneOf('medium', MEDIA))
@Check('calls_score_check', 'score BETWEEN 0 AND 100')
@Check('calls_outcome_of_ended_check', `(status = 'ENDED') = (outcome IS NOT NULL)`)
@Check('calls_claim_of_running_check', `(status = 'RUNNING') = (claim_id IS NOT NULL AND lease_until IS NOT NULL)`)
export class CallEntity extends UpdatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'calls_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'calls_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  /** No foreign key: calls of an erased agent are deleted after it, with their run. */
  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  /** No foreign key: the calls of a deleted run are deleted later (decision 74). */
  @Column({ name: 'run_id', type: 'uuid' })
  runId: string;

  @Column({ name: 'evaluation_id', type: 'uuid' })
  evaluationId: string;

  /** Identity of its case across runs (`caseKey`). */
  @Column({ name: 'case_key', type: 'text' })
  caseKey: string;

  /** The row of variables of its case; null if the evaluation has none. */
  @Column({ type: 'jsonb', nullable: true })
  variables: VariablesRow | null;

  /** Decided at the start of the run (decision 105); `RECORDING` for a call that was recorded elsewhere. */
  @Column({ type: 'text', nullable: true })
  protocol: ProtocolName | null;

  /** That of the protocol, which decides the kind of slot. */
  @Column({ type: 'text', nullable: true })
  medium: Medium | null;

  /** Whether its platform bills it. */
  @Column({ type: 'boolean', default: false })
  bills: boolean;

  /** Since when it waits for capacity of its platform; null while it does not. */
  @Column({ name: 'capacity_wait_since', type: 'timestamptz', precision: 3, nullable: true })
  capacityWaitSince: Date | null;

  /** How long it has waited for capacity before. */
  @Column({ name: 'waited_for_line_ms', type: 'integer', default: 0 })
  waitedForLineMs: number;

  /** In a derived run, the call that is judged again; it may be deleted. */
  @Column({ name: 'source_call_id', type: 'uuid', nullable: true })
  sourceCallId: string | null;

  /** In a derived run, the call that took place and was recorded; it may be deleted. */
  @Column({ name: 'recorded_call_id', type: 'uuid', nullable: true })
  recordedCallId: string | null;

  /** Whether its evaluation was provisional when the run started: then it is in no figure and no condition of the gate. */
  @Column({ type: 'boolean', default: false })
  provisional: boolean;

  /** Position in the plan, from 0: by evaluation, then by row of variables, then by repetition. */
  @Column({ type: 'integer' })
  position: number;

  /** From 1. */
  @Column({ type: 'integer' })
  repetition: number;

  @Column({ type: 'text' })
  status: CallStatus;

  @Column({ type: 'text', nullable: true })
  outcome: Outcome | null;

  /** 0 to 100; null unless the call is counted. */
  @Column({ type: 'double precision', nullable: true })
  score: number | null;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  /** Oldest first, including the last one. */
  @Column({ type: 'jsonb' })
  attempts: Attempt[];

  /** How often it was repeated after an attempt that ended as `error` or `invalid`; interrupted attempts do not count. */
  @Column({ type: 'integer', default: 0 })
  retries: number;

  /** How often a lease expired before the call had ended. */
  @Column({ name: 'lease_expirations', type: 'integer' })
  leaseExpirations: number;

  /** Response latencies of the attempt that counts, in milliseconds. */
  @Column({ type: 'double precision', array: true })
  latencies: number[];

  /** Earliest start; in the future while the call waits for a retry. */
  @Column({ name: 'due_at', type: 'timestamptz', precision: 3 })
  dueAt: Date;

  /** Fencing token of the attempt in progress: only the current attempt can record an outcome. */
  @Column({ name: 'claim_id', type: 'uuid', nullable: true })
  claimId: string | null;

  /** Renewed by the executing process; after it has expired, another process may claim the call. */
  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil: Date | null;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3, nullable: true })
  startedAt: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt: Date | null;

  /** When its texts were deleted (TRANSCRIPT_RETENTION_DAYS). */
  @Column({ name: 'transcript_deleted_at', type: 'timestamptz', precision: 3, nullable: true })
  transcriptDeletedAt: Date | null;

  /** Id of the transaction that last changed its state; event streams use it to find new changes. */
  @Column({ name: 'changed_in', type: 'bigint' })
  changedIn: string;
}
