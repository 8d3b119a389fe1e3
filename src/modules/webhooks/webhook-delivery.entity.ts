import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { UpdatedRow } from '../../platform/database/timestamps.js';

export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One attempt, as stored and as returned by the API. */
export interface DeliveryAttempt {
  readonly time: string;
  /** Null if no complete response was received. */
  readonly responseStatus: number | null;
  readonly durationMs: number;
  /** Null if it succeeded. */
  readonly error: string | null;
}

/** The delivery of an event to one receiver: an endpoint of the workspace or the address of an agent. */
@Entity('webhook_deliveries')
@Index('webhook_deliveries_list_idx', ['endpointId', 'createdAt', 'id'])
@Index('webhook_deliveries_status_list_idx', ['endpointId', 'status', 'createdAt', 'id'])
@Index('webhook_deliveries_parked_idx', ['targetId', 'nextAttemptAt'], { where: 'is_parked' })
@Check('webhook_deliveries_status_check', `status IN ('PENDING', 'DELIVERED', 'FAILED')`)
@Check(
  'webhook_deliveries_target_check',
  'num_nonnulls(endpoint_id, agent_id) = 1 AND target_id = coalesce(endpoint_id, agent_id)',
)
@Check('webhook_deliveries_pending_check', `(status = 'PENDING') = (next_attempt_at IS NOT NULL)`)
export class WebhookDeliveryEntity extends UpdatedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'webhook_deliveries_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'webhook_deliveries_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('WebhookEventEntity', { name: 'webhook_deliveries_event_id_fkey', onDelete: 'CASCADE' })
  @Index('webhook_deliveries_event_id_idx')
  @Column({ name: 'event_id', type: 'uuid' })
  eventId: string;

  @ForeignKey('WebhookEndpointEntity', { name: 'webhook_deliveries_endpoint_id_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'endpoint_id', type: 'uuid', nullable: true })
  endpointId: string | null;

  @ForeignKey('AgentEntity', { name: 'webhook_deliveries_agent_id_fkey' })
  @Index('webhook_deliveries_agent_idx', { where: 'agent_id IS NOT NULL' })
  @Column({ name: 'agent_id', type: 'uuid', nullable: true })
  agentId: string | null;

  /** Id of the endpoint or agent; its deliveries share a concurrency limit. */
  @Index('webhook_deliveries_claimed_idx', { where: 'claimed_by IS NOT NULL' })
  @Column({ name: 'target_id', type: 'uuid' })
  targetId: string;

  @Column({ type: 'text' })
  status: DeliveryStatus;

  /** Oldest first; the latest fifty. */
  @Column({ type: 'jsonb' })
  attempts: DeliveryAttempt[];

  /** Number of attempts since it was created or redelivered: the position in the schedule. */
  @Column({ type: 'integer' })
  tries: number;

  @Index('webhook_deliveries_due_idx', { where: `status = 'PENDING'` })
  @Column({ name: 'next_attempt_at', type: 'timestamptz', precision: 3, nullable: true })
  nextAttemptAt: Date | null;

  /** A test or redelivery, which is sent even if the endpoint is disabled. */
  @Column({ name: 'is_forced', type: 'boolean' })
  isForced: boolean;

  /** Due, but waiting for another delivery to the receiver to end. */
  @Column({ name: 'is_parked', type: 'boolean' })
  isParked: boolean;

  /** Process that makes the attempt; void once that process is dead. */
  @Column({ name: 'claimed_by', type: 'uuid', nullable: true })
  claimedBy: string | null;

  /** Fencing token of the attempt in progress: only the current attempt can record an outcome. */
  @Column({ name: 'claim_id', type: 'uuid', nullable: true })
  claimId: string | null;
}
