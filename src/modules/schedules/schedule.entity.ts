import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { UpdatedRow } from '../../platform/database/timestamps.js';

/** When runs of an agent are started. */
@Entity('schedules')
@Index('schedules_list_idx', ['agentId', 'createdAt', 'id'])
export class ScheduleEntity extends UpdatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'schedules_pkey' })
  id: string;

  @Index('schedules_workspace_id_idx')
  @ForeignKey('WorkspaceEntity', { name: 'schedules_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('AgentEntity', { name: 'schedules_agent_id_fkey' })
  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  /** On whose behalf runs are started. No foreign key: removing the user refuses further runs. */
  @Column({ name: 'created_by_user_id', type: 'uuid' })
  createdByUserId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  cron: string;

  /** IANA time zone. */
  @Column({ name: 'time_zone', type: 'text' })
  timeZone: string;

  /** The body of the request that starts a run. */
  @Column({ type: 'jsonb' })
  run: object;

  @Column({ type: 'boolean' })
  enabled: boolean;

  /** Whether another version of the agent ends an alarm. */
  @Column({ name: 'reset_on_version', type: 'boolean' })
  resetOnVersion: boolean;

  /** The most seconds that the platform can bill for the runs of one day in its time zone; null for no limit. */
  @Column({ name: 'max_paid_seconds_per_day', type: 'integer', nullable: true })
  maxPaidSecondsPerDay: number | null;

  @Column({ name: 'heartbeat_url', type: 'text', nullable: true })
  heartbeatUrl: string | null;

  /** Why the last heartbeat failed; null if it did not. */
  @Column({ name: 'heartbeat_error', type: 'text', nullable: true })
  heartbeatError: string | null;

  /** The first due time that has no slot yet. */
  @Column({ name: 'due_at', type: 'timestamptz', precision: 3 })
  dueAt: Date;

  /** `dueAt` and the jitter of the schedule. */
  @Index('schedules_starts_at_idx')
  @Column({ name: 'starts_at', type: 'timestamptz', precision: 3 })
  startsAt: Date;

  /** Due times in a row without a run, the newest ones; pauses not counted. */
  @Column({ name: 'not_run', type: 'integer', default: 0 })
  notRun: number;

  /** The first of them. */
  @Column({ name: 'not_run_since', type: 'timestamptz', precision: 3, nullable: true })
  notRunSince: Date | null;

  /** The day in its time zone that `paidSeconds` counts. */
  @Column({ name: 'paid_on', type: 'text', nullable: true })
  paidOn: string | null;

  /** The most that the platform can bill for the runs of that day. */
  @Column({ name: 'paid_seconds', type: 'integer', default: 0 })
  paidSeconds: number;
}
