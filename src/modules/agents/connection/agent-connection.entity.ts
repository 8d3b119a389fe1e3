import { Check, Column, Entity, ForeignKey, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import { FIRST_SPEAKERS, type FirstSpeaker, type ProtocolName } from '../../../../libs/simulation/index.js';
import { oneOf } from '../../../platform/database/checks.js';

/** How one agent is reached, instead of by the settings of its provider. */
@Entity('agent_connections')
@Check('agent_connections_first_speaker_check', oneOf('first_speaker', FIRST_SPEAKERS))
export class AgentConnectionEntity {
  @ForeignKey('AgentEntity', { name: 'agent_connections_agent_id_fkey' })
  @PrimaryColumn({ name: 'agent_id', type: 'uuid', primaryKeyConstraintName: 'agent_connections_pkey' })
  agentId: string;

  @Column({ type: 'text' })
  protocol: ProtocolName;

  @Column({ type: 'text' })
  url: string;

  /** Null: the protocol's default. */
  @Column({ name: 'first_speaker', type: 'text', nullable: true })
  firstSpeaker: FirstSpeaker | null;

  /** Without the secret ones. */
  @Column({ type: 'jsonb' })
  options: Readonly<Record<string, unknown>>;

  /** `ConnectionSecrets` as JSON, encrypted. */
  @Column({ type: 'text' })
  secrets: string;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt: Date;
}

/** Context that the ciphertext of a connection's secrets is bound to. */
export const connectionSecretsPurpose = (agentId: string) => `agent_connection:${agentId}`;

/** The secret part of a connection. */
export interface ConnectionSecrets {
  /** Values by name, as it was given. */
  readonly headers: Readonly<Record<string, string>>;
  /** The secret options. */
  readonly options: Readonly<Record<string, unknown>>;
}
