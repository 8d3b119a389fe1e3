import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { FallenCase, Measure } from '../../../libs/statistics/index.js';
import { CreatedRow } from '../../platform/database/timestamps.js';

/**
 * `recovered`: later looks were as good as before. `accepted`: by a user, as the new normal. `new_version`: the agent has another
 * version, and its schedule has `resetOnVersion`. `case_removed`: later looks have none of its cases.
 */
export const ALARM_STATUSES = [
  'open',
  'recovered',
  'accepted',
  'new_version',
  'case_removed',
  'schedule_deleted',
] as const;
export type AlarmStatus = (typeof ALARM_STATUSES)[number];

export interface AlarmCase extends FallenCase {
  readonly name: string;
  /** Of its definition and its tester. */
  readonly hash: string;
}

/** The newest looks of a schedule were worse than those before them. */
@Entity('alarms')
@Index('alarms_list_idx', ['agentId', 'createdAt', 'id'])
@Index('alarms_schedule_idx', ['scheduleId', 'foundAt'])
export class AlarmEntity extends CreatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'alarms_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'alarms_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('AgentEntity', { name: 'alarms_agent_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  /** For days of production calls the agent. No foreign key: alarms outlive their schedule. */
  @Column({ name: 'schedule_id', type: 'uuid' })
  scheduleId: string;

  @Column({ name: 'schedule_name', type: 'text' })
  scheduleName: string;

  @Column({ type: 'text' })
  measure: Measure;

  /** Null: all cases of the schedule together. */
  @Column({ name: 'case_key', type: 'text', nullable: true })
  caseKey: string | null;

  /** Worst first. */
  @Column({ type: 'jsonb' })
  cases: AlarmCase[];

  /** Looks of its window. */
  @Column({ type: 'integer' })
  looks: number;

  @Column({ name: 'p_value', type: 'double precision' })
  pValue: number;

  /** When the first look of its window ended, and its newest run. */
  @Column({ type: 'timestamptz', precision: 3 })
  since: Date;

  @Column({ name: 'since_run_id', type: 'uuid' })
  sinceRunId: string;

  /** When the last look of its window ended. */
  @Column({ name: 'found_at', type: 'timestamptz', precision: 3 })
  foundAt: Date;

  @Column({ type: 'text' })
  status: AlarmStatus;

  /** The end of the first look that does not belong to the fall; null unless it recovered. */
  @Column({ name: 'over_from', type: 'timestamptz', precision: 3, nullable: true })
  overFrom: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt: Date | null;

  /** When it was first sent; null while it is muted. */
  @Column({ name: 'sent_at', type: 'timestamptz', precision: 3, nullable: true })
  sentAt: Date | null;

  /** When it was sent once more. */
  @Column({ name: 'reminded_at', type: 'timestamptz', precision: 3, nullable: true })
  remindedAt: Date | null;
}
