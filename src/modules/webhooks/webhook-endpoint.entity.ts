import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { UpdatedRow } from '../../platform/database/timestamps.js';

/** Why the service disabled an endpoint: it responded with 410, or it failed for five days. */
export const DISABLED_REASONS = ['GONE', 'FAILING'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** What is sent: the event, or a message about it that Slack and compatible receivers show. */
export const WEBHOOK_FORMATS = ['standard', 'slack'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** An address that receives the events of a workspace. */
@Entity('webhook_endpoints')
@Index('webhook_endpoints_list_idx', ['workspaceId', 'createdAt', 'id'])
@Check('webhook_endpoints_events_check', 'cardinality(events) > 0')
@Check('webhook_endpoints_format_check', `format IN ('standard', 'slack')`)
@Check('webhook_endpoints_links_check', `NOT links OR format = 'slack'`)
@Check('webhook_endpoints_disabled_reason_check', `disabled_reason IN ('GONE', 'FAILING')`)
export class WebhookEndpointEntity extends UpdatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'webhook_endpoints_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'webhook_endpoints_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('UserEntity', { name: 'webhook_endpoints_created_by_user_id_fkey' })
  @Column({ name: 'created_by_user_id', type: 'uuid' })
  createdByUserId: string;

  @Column({ type: 'text' })
  url: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ type: 'text', array: true })
  events: string[];

  @Column({ type: 'text', default: 'standard' })
  format: WebhookFormat;

  /** Whether its messages link to the page of the agent, which opens without a key. */
  @Column({ type: 'boolean', default: false })
  links: boolean;

  @Column({ type: 'boolean' })
  enabled: boolean;

  @Column({ name: 'disabled_reason', type: 'text', nullable: true })
  disabledReason: DisabledReason | null;

  @Column({ name: 'disabled_at', type: 'timestamptz', precision: 3, nullable: true })
  disabledAt: Date | null;

  /** First failed attempt since the last success. */
  @Column({ name: 'failing_since', type: 'timestamptz', precision: 3, nullable: true })
  failingSince: Date | null;

  /** Encrypted. */
  @Column({ type: 'text' })
  secret: string;

  /** Encrypted; events are also signed with it until it expires. */
  @Column({ name: 'previous_secret', type: 'text', nullable: true })
  previousSecret: string | null;

  @Column({ name: 'previous_secret_expires_at', type: 'timestamptz', precision: 3, nullable: true })
  previousSecretExpiresAt: Date | null;
}

/** Context that the ciphertext of an endpoint's secret is bound to. */
export const webhookSecretPurpose = (id: string, field: 'secret' | 'previousSecret') => `webhook.${field}:${id}`;
