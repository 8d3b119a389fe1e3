import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedRow } from '../../../platform/database/timestamps.js';

/**
 * A link to the report of a run, or to the page of an agent, that works without an API key until it expires. Deleted with its run
 * or agent.
 */
@Entity('report_links')
@Index('report_links_token_hash_key', ['tokenHash'], { unique: true })
@Index('report_links_list_idx', ['runId', 'createdAt', 'id'])
@Index('report_links_agent_idx', ['agentId', 'createdAt', 'id'], { where: 'agent_id IS NOT NULL' })
@Index('report_links_webhook_idx', ['webhookId', 'agentId'], { where: 'webhook_id IS NOT NULL' })
@Check('report_links_subject_check', '(run_id IS NULL) <> (agent_id IS NULL)')
export class ReportLinkEntity extends CreatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'report_links_pkey' })
  id: string;

  @ForeignKey('RunEntity', { name: 'report_links_run_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'run_id', type: 'uuid', nullable: true })
  runId: string | null;

  @ForeignKey('AgentEntity', { name: 'report_links_agent_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'agent_id', type: 'uuid', nullable: true })
  agentId: string | null;

  /** The webhook whose messages have the link. */
  @ForeignKey('WebhookEndpointEntity', { name: 'report_links_webhook_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'webhook_id', type: 'uuid', nullable: true })
  webhookId: string | null;

  @ForeignKey('UserEntity', { name: 'report_links_created_by_user_id_fkey' })
  @Column({ name: 'created_by_user_id', type: 'uuid' })
  createdByUserId: string;

  /** SHA-256 of the token, which is not stored. */
  @Column({ name: 'token_hash', type: 'bytea' })
  tokenHash: Buffer;

  @Column({ name: 'include_recordings', type: 'boolean' })
  includeRecordings: boolean;

  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt: Date;
}
