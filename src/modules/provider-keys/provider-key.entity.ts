import { Column, Entity, ForeignKey, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { AgentProvider } from '../../platform/config/agent-providers.js';

/** A workspace's default credential at an agent provider; agents with `isUsingDefaultApiKey` use it. */
@Entity('provider_keys')
export class ProviderKeyEntity {
  @ForeignKey('WorkspaceEntity', { name: 'provider_keys_workspace_id_fkey' })
  @PrimaryColumn({ name: 'workspace_id', type: 'uuid', primaryKeyConstraintName: 'provider_keys_pkey' })
  workspaceId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'provider_keys_pkey' })
  provider: AgentProvider;

  /** Encrypted. */
  @Column({ name: 'api_key', type: 'text' })
  apiKey: string;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt: Date;
}

/** Context that the ciphertext of a default key is bound to. */
export const providerKeyPurpose = (workspaceId: string, provider: string) => `provider_key:${workspaceId}:${provider}`;
