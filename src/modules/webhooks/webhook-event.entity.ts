import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedRow } from '../../platform/database/timestamps.js';
import type { WebhookEventType } from './webhook-event.js';

/** An event with at least one receiver; its id is the `webhook-id` of every attempt to deliver it. */
@Entity('webhook_events')
@Index('webhook_events_created_at_idx', ['createdAt'])
@Index('webhook_events_agent_idx', ['agentId'], { where: 'agent_id IS NOT NULL' })
export class WebhookEventEntity extends CreatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'webhook_events_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'webhook_events_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  /** The agent that it is about; null for tests of a webhook. */
  @Column({ name: 'agent_id', type: 'uuid', nullable: true })
  agentId: string | null;

  @Column({ type: 'text' })
  type: WebhookEventType;

  /** Sent byte for byte, because it is signed. */
  @Column({ type: 'text' })
  body: string;
}
