import { Column, CreateDateColumn, UpdateDateColumn } from 'typeorm';

/** Base of entities whose rows record when they were created. */
export abstract class CreatedRow {
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt: Date;
}

/** Base of entities that change. */
export abstract class UpdatedRow extends CreatedRow {
  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt: Date;
}

/** Base of entities whose deleted rows are kept, because others refer to them. */
export abstract class SoftDeletedRow extends UpdatedRow {
  @Column({ name: 'deleted_at', type: 'timestamptz', precision: 3, nullable: true })
  deletedAt: Date | null;
}
