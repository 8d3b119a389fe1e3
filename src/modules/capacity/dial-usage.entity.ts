import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** What calls of a workspace to telephone numbers used on its last day with such calls. */
@Entity('dial_usage')
export class DialUsageEntity {
  @PrimaryColumn({ name: 'workspace_id', type: 'uuid', primaryKeyConstraintName: 'dial_usage_pkey' })
  @ForeignKey('WorkspaceEntity', { name: 'dial_usage_workspace_id_fkey' })
  workspaceId: string;

  /** In UTC. */
  @Column({ type: 'date' })
  day: string;

  @Column({ type: 'integer' })
  calls: number;

  /** Of calls in progress, the most that they can have. */
  @Column({ type: 'integer' })
  seconds: number;
}
