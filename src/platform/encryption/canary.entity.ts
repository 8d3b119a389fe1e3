import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One row that only the keys of this database decrypt. */
@Entity('encryption_canary')
export class EncryptionCanaryEntity {
  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'encryption_canary_pkey' })
  id: number;

  @Column({ type: 'text' })
  sealed: string;
}
