import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The first response to a POST that carried an Idempotency-Key. */
@Entity('idempotency_keys')
@Index('idempotency_keys_agent_idx', ['agentId'], { where: 'agent_id IS NOT NULL' })
export class IdempotencyEntity {
  /** SHA-256 of workspace, method, path and key. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'idempotency_keys_pkey' })
  id: string;

  /** SHA-256 of the body as sent. */
  @Column({ name: 'body_hash', type: 'text' })
  bodyHash: string;

  @Column({ type: 'smallint' })
  status: number;

  /** The response's body, encrypted: it can hold credentials. */
  @Column({ type: 'text' })
  response: string;

  /** The API key that sent the request; null in rows of an earlier version. */
  @Column({ name: 'api_key_id', type: 'uuid', nullable: true })
  apiKeyId: string | null;

  /** The agent that the response is about; null for none, and in rows of an earlier version. */
  @Column({ name: 'agent_id', type: 'uuid', nullable: true })
  agentId: string | null;

  @Index('idempotency_keys_expires_at_idx')
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt: Date;
}
