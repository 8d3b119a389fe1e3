import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedRow } from '../../platform/database/timestamps.js';

/** A member of a workspace; recorded as the creator of resources. */
@Entity('users')
export class UserEntity extends CreatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'users_pkey' })
  id: string;

  @Index('users_workspace_id_idx')
  @ForeignKey('WorkspaceEntity', { name: 'users_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @Column({ type: 'text' })
  name: string;
}
