import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A production call that was taken, so that it is not taken again. It outlives its run. */
@Entity('day_calls')
@Index('day_calls_taken_at_idx', ['takenAt'])
export class DayCallEntity {
  @ForeignKey('AgentEntity', { name: 'day_calls_agent_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'agent_id', type: 'uuid', primaryKeyConstraintName: 'day_calls_pkey' })
  agentId: string;

  /** Its id in the records of the platform. */
  @PrimaryColumn({ name: 'external_id', type: 'text', primaryKeyConstraintName: 'day_calls_pkey' })
  externalId: string;

  @Column({ name: 'taken_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  takenAt: Date;
}
