import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A living process that runs jobs; the jobs of a dead one are unlocked. */
@Entity('queue_workers')
export class QueueWorkerEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'queue_workers_pkey' })
  id: string;

  /** Names under which it locks jobs. */
  @Column({ type: 'text', array: true })
  pools: string[];

  /** The machine or container: a process on the same one can see at once whether this one is dead. */
  @Column({ type: 'text' })
  machine: string;

  @Column({ type: 'integer' })
  pid: number;

  /** Since when it has been seen without a gap. */
  @Column({ name: 'started_at', type: 'timestamptz', precision: 3 })
  startedAt: Date;

  @Index('queue_workers_seen_at_idx')
  @Column({ name: 'seen_at', type: 'timestamptz', precision: 3 })
  seenAt: Date;
}
