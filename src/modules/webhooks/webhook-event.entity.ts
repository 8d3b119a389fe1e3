import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { WebhookEventType } from './webhook-event.js';

/** An event with at least one receiver; its id is the `webhook-id` of every attempt to deliver it. */
@Entity('webhook_events')
export class WebhookEventEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'webhook_events_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'webhook_events_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @Column({ type: 'text' })
  type: WebhookEventType;

  /** Sent byte for byte, because it is signed. */
  @Column({ type: 'text' })
  body: string;

  @Index('webhook_events_created_at_idx')
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt: Date;
}
