import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { ReportedToolCall } from '../../../libs/simulation/index.js';

/** A report as it is stored. */
export type Report = Omit<ReportedToolCall, 'agoMs'> & {
  /** Of the reporter; reports with the same id, name and arguments are one. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/** An attempt at a call whose agent's backend reports its tool calls. */
@Entity('reporting_attempts')
@Index('reporting_attempts_call_id_idx', ['callId'])
@Index('reporting_attempts_open_idx', ['id'], { where: 'reports IS NOT NULL' })
export class ReportingAttemptEntity {
  /** The id that the agent received: the claim of the call. */
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'reporting_attempts_pkey' })
  id: string;

  @ForeignKey('CallEntity', { name: 'reporting_attempts_call_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'call_id', type: 'uuid' })
  callId: string;

  @ForeignKey('WorkspaceEntity', { name: 'reporting_attempts_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3 })
  startedAt: Date;

  /** Null when the result of the call has them, or there will be none: no more are accepted then. */
  @Column({ type: 'jsonb', nullable: true })
  reports: Report[] | null;

  /** Why the first report that was refused was; null if none was. */
  @Column({ type: 'text', nullable: true })
  refusal: string | null;
}
