import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedRow } from '../../platform/database/timestamps.js';
import type { Tester } from './tester.js';

/**
 * How a case ended in a run that called the agent. Written when the run ends, and kept apart from the run, so that it outlives
 * the run's retention.
 */
@Entity('case_results')
@Index('case_results_run_key', ['runId', 'caseKey'], { unique: true })
@Index('case_results_list_idx', ['agentId', 'caseKey', 'createdAt', 'id'])
@Index('case_results_key_idx', ['agentId', 'evaluationKey', 'createdAt', 'id'], {
  where: 'evaluation_key IS NOT NULL',
})
@Index('case_results_agent_idx', ['agentId', 'endedAt'])
@Index('case_results_schedule_idx', ['scheduleId', 'endedAt'], { where: 'schedule_id IS NOT NULL' })
@Index('case_results_ended_at_idx', ['endedAt'])
export class CaseResultEntity extends CreatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'case_results_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'case_results_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('AgentEntity', { name: 'case_results_agent_id_fkey' })
  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  /** No foreign key: the run may be deleted before. */
  @Column({ name: 'run_id', type: 'uuid' })
  runId: string;

  /** The schedule that started the run; it may be deleted. For a day of production calls the agent; null for other runs. */
  @Column({ name: 'schedule_id', type: 'uuid', nullable: true })
  scheduleId: string | null;

  /** Identity of the case across runs (`caseKey`). */
  @Column({ name: 'case_key', type: 'text' })
  caseKey: string;

  /** That of the evaluation. */
  @Column({ name: 'evaluation_key', type: 'text', nullable: true })
  evaluationKey: string | null;

  /** The evaluation's name and, with variables, their values. */
  @Column({ type: 'text' })
  name: string;

  /** Position in the plan of the run, from 0. */
  @Column({ type: 'integer' })
  position: number;

  /** When the run ended. */
  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3 })
  endedAt: Date;

  @Column({ name: 'agent_version', type: 'text', nullable: true })
  agentVersion: string | null;

  /** SHA-256 of everything that decides what is asked of the agent. */
  @Column({ name: 'definition_hash', type: 'text' })
  definitionHash: string;

  @Column({ type: 'jsonb' })
  tester: Tester;

  /** Calls by outcome; `passed` and `failed` are the counted ones. */
  @Column({ type: 'integer' })
  passed: number;

  @Column({ type: 'integer' })
  failed: number;

  @Column({ type: 'integer' })
  invalid: number;

  @Column({ type: 'integer' })
  error: number;

  /** Median response latency of each counted call that has one, in milliseconds; on voice calls as heard. */
  @Column({ type: 'real', array: true })
  latencies: number[];

  /** The first failed call, else the first that was not counted, else the first one. */
  @Column({ name: 'call_id', type: 'uuid' })
  callId: string;

  /** Repetition of that call, from 1. */
  @Column({ type: 'integer' })
  repetition: number;
}
