import { Column, Entity, PrimaryColumn } from 'typeorm';

/** When the next call over a trunk may begin. */
@Entity('trunk_pace')
export class TrunkPaceEntity {
  /** Its address and user. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'trunk_pace_pkey' })
  trunk: string;

  @Column({ name: 'next_at', type: 'timestamptz', precision: 3 })
  nextAt: Date;
}
