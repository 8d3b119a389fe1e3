import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A process that carries out jobs, as long as it lives; what a dead one had locked is freed. */
@Entity('queue_workers')
export class QueueWorkerEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'queue_workers_pkey' })
  id: string;

  /** Under these names it locks jobs. */
  @Column({ type: 'text', array: true })
  pools: string[];

  /** Which machine (or container) and which process there: on the same machine a dead process is told at once. */
  @Column({ type: 'text' })
  machine: string;

  @Column({ type: 'integer' })
  pid: number;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3 })
  startedAt: Date;

  @Index('queue_workers_seen_at_idx')
  @Column({ name: 'seen_at', type: 'timestamptz', precision: 3 })
  seenAt: Date;
}
