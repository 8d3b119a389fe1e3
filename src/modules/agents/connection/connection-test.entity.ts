import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A recent test of a connection: limits how many a workspace starts. Kept for a minute. */
@Entity('connection_tests')
@Index('connection_tests_workspace_id_idx', ['workspaceId'])
export class ConnectionTestEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'connection_tests_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'connection_tests_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  @CreateDateColumn({ name: 'started_at', type: 'timestamptz', precision: 3 })
  startedAt: Date;

  /** Until when it counts as running, if its process dies; the end of the test sets it back. */
  @Column({ name: 'running_until', type: 'timestamptz', precision: 3 })
  runningUntil: Date;
}
