import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { UpdatedRow } from '../../platform/database/timestamps.js';

/** The capacity that calls of an agent over a protocol use; without a row they use none. SQL cannot know a credential. */
@Entity('agent_capacity')
@Index('agent_capacity_credential_idx', ['credential'])
export class AgentCapacityEntity extends UpdatedRow {
  @PrimaryColumn({ name: 'agent_id', type: 'uuid', primaryKeyConstraintName: 'agent_capacity_pkey' })
  agentId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'agent_capacity_pkey' })
  protocol: string;

  /** A keyed hash of platform, host and key. */
  @Column({ type: 'text' })
  credential: string;

  /** Calls of the credential at once. */
  @Column({ type: 'integer' })
  capacity: number;
}
