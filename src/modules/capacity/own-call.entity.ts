import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A call of this service, which is not a production call: it outlives its run in the records of the platform. */
@Entity('own_calls')
@Index('own_calls_created_at_idx', ['createdAt'])
@Index('own_calls_number_idx', ['number', 'createdAt'], { where: 'number IS NOT NULL' })
export class OwnCallEntity {
  /** HMAC of credential and id of the call; the attempt's id for the number of a telephone call. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'own_calls_pkey' })
  key: string;

  /** Digits of the tester's number, from which or to which it is. */
  @Column({ type: 'text', nullable: true })
  number: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt: Date;

  /** Null for an id, and while the call lasts. */
  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt: Date | null;
}
