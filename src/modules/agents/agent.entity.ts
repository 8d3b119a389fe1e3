import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AGENT_PROVIDERS, type AgentProvider } from '../../platform/config/agent-providers.js';
import { oneOf } from '../../platform/database/checks.js';
import { SoftDeletedRow } from '../../platform/database/timestamps.js';

export const AGENT_TYPES = ['INBOUND', 'OUTBOUND'] as const;
export type AgentType = (typeof AGENT_TYPES)[number];

export const PROMPT_TYPES = ['SINGLE', 'MULTIPLE'] as const;
export type PromptType = (typeof PROMPT_TYPES)[number];

/** A voice agent under test. */
@Entity('agents')
@Index('agents_list_idx', ['workspaceId', 'createdAt', 'id'], { where: 'deleted_at IS NULL' })
@Index('agents_deleted_list_idx', ['workspaceId', 'createdAt', 'id'], { where: 'deleted_at IS NOT NULL' })
@Index('agents_erased_idx', ['erasedAt'], { where: 'erased_at IS NOT NULL' })
@Index('agents_provider_list_idx', ['workspaceId', 'provider', 'createdAt', 'id'], { where: 'deleted_at IS NULL' })
@Index('agents_monitored_idx', ['id'], { where: 'call_monitoring AND deleted_at IS NULL' })
// A GIN index, which TypeORM does not support; only created if the extension pg_trgm is available.
@Index('agents_search_idx', { synchronize: false })
@Check('agents_provider_check', oneOf('provider', AGENT_PROVIDERS))
@Check('agents_type_check', oneOf('type', AGENT_TYPES))
@Check('agents_prompt_type_check', oneOf('prompt_type', PROMPT_TYPES))
export class AgentEntity extends SoftDeletedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'agents_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'agents_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('UserEntity', { name: 'agents_created_by_user_id_fkey' })
  @Column({ name: 'created_by_user_id', type: 'uuid' })
  createdByUserId: string;

  @Column({ type: 'text' })
  provider: AgentProvider;

  @Column({ type: 'text', nullable: true })
  type: AgentType | null;

  @Column({ name: 'prompt_type', type: 'text', nullable: true })
  promptType: PromptType | null;

  @Column({ type: 'text', nullable: true })
  name: string | null;

  /** Encrypted; null for an agent created to use the workspace's default key. */
  @Column({ name: 'api_key', type: 'text', nullable: true })
  apiKey: string | null;

  @Column({ name: 'assistant_id', type: 'text' })
  assistantId: string;

  @Column({ type: 'text', nullable: true })
  language: string | null;

  @Column({ name: 'phone_number', type: 'text', nullable: true })
  phoneNumber: string | null;

  @Column({ name: 'phone_number_id', type: 'text', nullable: true })
  phoneNumberId: string | null;

  @Column({ type: 'text', nullable: true })
  prompt: string | null;

  @Column({ name: 'call_monitoring', type: 'boolean' })
  callMonitoring: boolean;

  @Column({ name: 'is_using_default_api_key', type: 'boolean', nullable: true })
  isUsingDefaultApiKey: boolean | null;

  @Column({ name: 'webhook_url', type: 'text', nullable: true })
  webhookUrl: string | null;

  /** Encrypted. */
  @Column({ name: 'webhook_secret', type: 'text', nullable: true })
  webhookSecret: string | null;

  /** Since when nothing of the agent can be read: a job deletes its data, and the agent last. Deleted too. */
  @Column({ name: 'erased_at', type: 'timestamptz', precision: 3, nullable: true })
  erasedAt: Date | null;
}

/** Context that the ciphertext of an agent's secret is bound to. */
export const agentSecretPurpose = (id: string, field: 'apiKey' | 'webhookSecret') => `agent.${field}:${id}`;
