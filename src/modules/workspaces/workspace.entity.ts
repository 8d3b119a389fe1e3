import { Check, Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { Plan } from '../../platform/config/plans.js';

/** A customer: everything else belongs to one. */
@Entity('workspaces')
@Check('workspaces_plan_check', `plan IN ('FREE', 'PRO', 'ENTERPRISE')`)
export class WorkspaceEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'workspaces_pkey' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  plan: Plan;

  /** The workspace's own rate in place of its plan's. */
  @Column({ name: 'requests_per_minute', type: 'integer', nullable: true })
  requestsPerMinute: number | null;

  /** A run that scores below it raises `agent.score_dropped`; 0 to 100. */
  @Column({ name: 'score_threshold', type: 'double precision', nullable: true })
  scoreThreshold: number | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt: Date;
}
