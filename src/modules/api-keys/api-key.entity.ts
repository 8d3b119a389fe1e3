import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Role } from '../../platform/access/caller.js';
import { CreatedRow } from '../../platform/database/timestamps.js';

/** A service credential: one workspace, one user in it, one role. The value itself is not stored. */
@Entity('api_keys')
@Check('api_keys_role_check', `role IN ('VIEWER', 'EDITOR', 'ADMIN')`)
export class ApiKeyEntity extends CreatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'api_keys_pkey' })
  id: string;

  @Index('api_keys_workspace_id_idx')
  @ForeignKey('WorkspaceEntity', { name: 'api_keys_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('UserEntity', { name: 'api_keys_user_id_fkey' })
  @Column({ name: 'user_id', type: 'uuid' })
  userId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  role: Role;

  /** The first characters, to recognise the key. */
  @Column({ type: 'text' })
  prefix: string;

  /** SHA-256 of the whole value, in hexadecimal. */
  @Index('api_keys_hash_key', { unique: true })
  @Column({ type: 'text' })
  hash: string;

  @Column({ name: 'last_used_at', type: 'timestamptz', precision: 3, nullable: true })
  lastUsedAt: Date | null;

  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3, nullable: true })
  expiresAt: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', precision: 3, nullable: true })
  revokedAt: Date | null;

  @Column({ name: 'created_by_user_id', type: 'uuid' })
  createdByUserId: string;
}
