import { CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** A run that was deleted while its calls are still stored: no request can read them, and the prune job deletes them. */
@Entity('deleted_runs')
export class DeletedRunEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'deleted_runs_pkey' })
  id: string;

  @CreateDateColumn({ name: 'deleted_at', type: 'timestamptz', precision: 3 })
  deletedAt: Date;
}
